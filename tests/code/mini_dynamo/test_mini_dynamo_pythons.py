"""mini_dynamo's table of instructions under each Python that is installed here; needs no torch."""

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from book.pipeline.ground.paths import CODE, ROOT

PROBE = ROOT / "tests/helpers/dynamo_probe.py"
VERSIONS = "3.11", "3.12", "3.13", "3.14"
# Instructions without a rule: a frame that holds one is not traced.
LEFT_OUT = {
    "coroutines": "ASYNC_GEN_WRAP BEFORE_ASYNC_WITH CLEANUP_THROW END_ASYNC_FOR GET_AITER "
                  "GET_ANEXT GET_AWAITABLE",
    "bodies of classes and modules": "DELETE_NAME IMPORT_STAR LOAD_CLASSDEREF "
                                     "LOAD_FROM_DICT_OR_DEREF LOAD_FROM_DICT_OR_GLOBALS "
                                     "LOAD_LOCALS LOAD_NAME SETUP_ANNOTATIONS STORE_NAME",
    "except*": "CALL_INTRINSIC_2 CHECK_EG_MATCH PREP_RERAISE_STAR",
    "match on classes": "MATCH_CLASS",
    "t-strings": "BUILD_INTERPOLATION BUILD_TEMPLATE",
    "the interpreter's own": "ENTER_EXECUTOR EXIT_INIT_CHECK INTERPRETER_EXIT PRINT_EXPR RESERVED",
}
UNKNOWN = {name for names in LEFT_OUT.values() for name in names.split()}


def candidates(version):
    """Where this Python may be: the one that runs, on PATH, beside others of pyenv."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield sys.executable
    if found := shutil.which(f"python{version}"):
        yield found
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from map(str, sorted(pyenv.glob(f"{version}.*/bin/python{version}")))


@functools.cache
def probed(version):
    """What the probe says under a Python of this version; the test is skipped where none runs."""
    for python in candidates(version):
        done = subprocess.run([python, "-I", "-B", "-W", "ignore", PROBE, CODE],
                              capture_output=True, text=True, check=False)
        if not done.returncode:
            return json.loads(done.stdout)
        if "Traceback" in done.stderr:
            raise AssertionError(done.stderr)
    return pytest.skip(f"no Python {version} that runs on this machine")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_instruction_has_a_rule_or_is_left_out_with_a_reason(version):
    found = probed(version)
    assert found["version"].startswith(version)
    assert set(found["no rule"]) <= UNKNOWN
    assert not UNKNOWN & set(found["rules"])
    assert found["code objects"] > 2000


@pytest.mark.parametrize("version", VERSIONS)
def test_exception_tables_are_read_as_python_reads_them(version):
    assert probed(version)["tables"] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_programs_come_out_as_in_python_when_interpreted_in_the_real_world(version):
    assert probed(version)["programs"] == []
    assert probed(version)["interpreted"] > 40                 # calls, not left to Python
