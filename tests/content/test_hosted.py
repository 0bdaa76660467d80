"""What hosts read, `.devcontainer/` and `binder/`, asks for the book's versions and commands."""

import json
import re
import stat
import subprocess
import sys

from book.pipeline import environment
from book.pipeline.ground.paths import ROOT

CONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
BINDER = ROOT / "binder"
POST_BUILD = BINDER / "postBuild"


def python(text):
    return tuple(map(int, re.search(r"(\d+)\.(\d+)\s*$", text).groups()))


def test_both_hosts_take_one_python_that_the_book_was_tried_on():
    found = {python(CONTAINER["image"]), python((BINDER / "runtime.txt").read_text())}
    assert len(found) == 1
    assert environment.OLDEST <= found.pop() <= environment.NEWEST_TRIED


def test_binder_installs_what_make_lab_does_and_names_no_version_of_its_own():
    lines = [line for line in (BINDER / "requirements.txt").read_text().splitlines()
             if line and not line.startswith("#")]
    assert lines == [f"-r ../{environment.WANTED['lab']}", "-c ../constraints.txt"]
    assert all((BINDER / line.split()[1]).resolve().is_file() for line in lines)


def test_pip_reads_the_requirements_of_binder():
    said = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index",
         "--quiet", "-r", "binder/requirements.txt"], cwd=ROOT, capture_output=True, text=True,
        check=False)
    assert said.returncode == 0, said.stderr


def test_the_container_sets_up_as_make_lab_does():
    assert CONTAINER["postCreateCommand"] == "python3 book/pipeline/environment.py lab"
    assert environment.WANTED["lab"] == "requirements-lab.txt"
    interpreter = CONTAINER["customizations"]["vscode"]["settings"][
        "python.defaultInterpreterPath"]
    assert interpreter.endswith(str(environment.VENV_PYTHON.relative_to(environment.ROOT)))


def test_binder_makes_the_notebooks_of_a_class_where_git_does_not_see_them(tmp_path):
    assert POST_BUILD.stat().st_mode & stat.S_IXUSR
    commands = [line for line in POST_BUILD.read_text().splitlines()
                if line and not line.startswith(("#", "set "))]
    [command] = commands
    assert command == "python -m book.pipeline.classroom class"
    assert "/class/" in (ROOT / ".gitignore").read_text().splitlines()
    words = [sys.executable, *command.split()[1:-1], str(tmp_path / "class")]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    assert (tmp_path / "class/contents.both.ipynb").is_file()
    assert len(list((tmp_path / "class").glob("*/*.both.ipynb"))) > 40
