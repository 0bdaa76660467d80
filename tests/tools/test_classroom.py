"""The folder for a class holds all that its notebooks need, and keeps what was changed in it."""

import json
import subprocess
import sys

import nbformat
import pytest

from book.pipeline import classroom
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import notebook as nb
from tests.helpers.golden_example import made_by_hand

TOC = """
root: book/index
chapters:
  - file: chapters/02-autograd/first
"""
FIND = "import inside, mini_tensor; from inside.recorded import recorded; recorded('loader')"


@pytest.fixture
def root(tmp_path):
    chapter = tmp_path / "book/chapters/02-autograd"
    chapter.mkdir(parents=True)
    (tmp_path / "book/_toc.yml").write_text(TOC, encoding="utf-8")
    (chapter / "chapter.yaml").write_text("name: {zh: 求导, en: Autograd}\n", encoding="utf-8")
    (chapter / "first.ipynb").write_text(nb.write_text(made_by_hand()), encoding="utf-8")
    return tmp_path / "book"


def made(root, folder, *more):
    """What the command says when it makes the folder from the book at `root`."""
    code = ("import sys; from pathlib import Path; from book.pipeline import classroom;"
            f"classroom.files = (lambda made: lambda _, v: made(Path({str(root)!r}), v))"
            "(classroom.files); sys.exit(classroom.main())")
    return subprocess.run([sys.executable, "-c", code, str(folder), *more], cwd=ROOT, text=True,
                          capture_output=True, check=False)


def test_outside_the_repository_its_setup_line_finds_the_code(root, tmp_path):
    folder = tmp_path / "class"
    said = made(root, folder, "--read", "en")
    assert said.returncode == 0, said.stderr
    assert "begin with contents.en.ipynb" in said.stdout
    setup = next(line for line in nb.SETUP.splitlines() if "sys.path" in line)
    run = subprocess.run([sys.executable, "-c", f"{setup}\n{FIND}\nprint(inside.__file__)"],
                         cwd=folder / "02-autograd", text=True, capture_output=True, check=False)
    assert run.stdout.strip() == str(folder / "code/inside/__init__.py"), run.stderr


def test_the_contents_do_not_send_a_student_to_make(root):
    start = classroom.files(root, "both")["contents.both.ipynb"]
    text = nbformat.reads(start, 4).cells[0].source
    assert "02-autograd/first.both.ipynb" in text
    assert "make " not in text


def test_what_was_changed_stays_and_is_told(root, tmp_path):
    folder = tmp_path / "class"
    made(root, folder)
    mine = folder / "code/mini_tensor.py"
    mine.write_text("mine")
    memory = folder / ".copies.json"
    memory.write_text(json.dumps({name: "an older version" if name == "code/mini_tensor.py" else old
                                  for name, old in json.loads(memory.read_text()).items()}))
    assert "classroom: code/mini_tensor.py: you have changed it" in made(root, folder).stdout
    assert mine.read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_told_in_one_line(root, tmp_path):
    (tmp_path / "file").write_text("")
    said = made(root, tmp_path / "file" / "class")
    assert said.returncode == 1
    assert said.stderr.startswith("classroom: ")
    assert said.stderr.count("\n") == 1
