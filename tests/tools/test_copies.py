"""A reader's copies are renewed with the book, and what the reader changed is never lost."""

import copy
import json
import multiprocessing
import os
import signal
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

from book.pipeline.notebooks import copies
from book.pipeline.notebooks import notebook as nb
from book.pipeline.notebooks.copies import MEMORY, Copies
from tests.helpers.golden_example import made_by_hand

NAME, BESIDE = "01-tensors/views.en.ipynb", "01-tensors/views.en.updated.ipynb"


def version(number):
    """A notebook of the book; every version says something else in its last cell."""
    made = made_by_hand()
    made.cells[-1].source = f"print({number})"
    return nb.write_text(made)


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path / "lab")


class Lab:
    """A reader's folder, renewed again and again."""

    def __init__(self, folder):
        self.folder = folder

    def renew(self, files, gone=()):
        return list(Copies(self.folder).renew(files, set(gone)))

    def text(self, name=NAME):
        return (self.folder / name).read_text(encoding="utf-8")

    def change(self, how, name=NAME):
        """What a reader does to a copy in JupyterLab; the text as it is then."""
        notebook = nbformat.reads(self.text(name), 4)
        how(notebook)
        (self.folder / name).write_text(nbformat.writes(notebook), encoding="utf-8")
        return self.text(name)

    def names(self):
        return sorted(file.relative_to(self.folder).as_posix()
                      for file in self.folder.rglob("*") if file.is_file() and
                      file.name != MEMORY)


def run_it(notebook):
    """Run the cells as JupyterLab does: outputs, counts, metadata, an empty cell at the end."""
    for number, cell in enumerate(nb.code_cells(notebook), 1):
        cell.outputs, cell.execution_count = [new_output("stream", text="mine\n")], number
        cell.metadata["collapsed"] = True
    notebook.metadata["language_info"]["version"] = "3.12.1"
    notebook.metadata["kernelspec"]["display_name"] = "Python 3 (ipykernel)"
    notebook.cells.append(new_code_cell(""))


def write_a_blank(notebook):
    notebook.cells[6].source = "def twice(x):\n    return x + x\ntwice"


def add_a_note(notebook):
    notebook.cells.insert(1, nbformat.v4.new_markdown_cell("I see."))


def remove_a_cell(notebook):
    del notebook.cells[4]


EDITS = [write_a_blank, add_a_note, remove_a_cell]


def test_the_first_time_everything_is_written_and_the_second_time_nothing(lab):
    files = {NAME: version(1), "01-tensors/exercises/check.py": "print('check')\n"}
    assert lab.renew(files) == []
    assert {name: lab.text(name) for name in lab.names()} == files
    before = {name: (lab.folder / name).stat().st_mtime_ns for name in files}
    assert lab.renew(files) == []
    assert {name: (lab.folder / name).stat().st_mtime_ns for name in files} == before


@pytest.mark.parametrize("do", [None, run_it])
def test_a_copy_that_was_at_most_run_is_replaced_by_the_new_version(lab, do):
    lab.renew({NAME: version(1)})
    if do:
        lab.change(do)
    assert lab.renew({NAME: version(2)}) == []
    assert lab.names() == [NAME]
    assert lab.text() == version(2)


def test_a_copy_that_was_run_keeps_its_outputs_while_the_book_stays_as_it_is(lab):
    lab.renew({NAME: version(1)})
    after = lab.change(run_it)
    assert lab.renew({NAME: version(1)}) == []
    assert lab.text() == after


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_copy_stays_and_the_new_version_is_put_beside_it_in_one_line(lab, edit):
    lab.renew({NAME: version(1)})
    mine = lab.change(edit)
    assert lab.renew({NAME: version(1)}) == []
    assert lab.renew({NAME: version(2)}) == [
        f"{NAME}: you have changed it, so it stays; the new version is {BESIDE}"]
    assert (lab.text(), lab.text(BESIDE)) == (mine, version(2))
    assert lab.renew({NAME: version(2)}) == []      # told once
    assert lab.names() == [NAME, BESIDE]


def test_the_version_beside_is_renewed_too_and_kept_if_changed(lab):
    lab.renew({NAME: version(1)})
    mine = lab.change(write_a_blank)
    lab.renew({NAME: version(2)})
    assert lab.renew({NAME: version(3)})[0].endswith(BESIDE)
    assert lab.text(BESIDE) == version(3)
    also_mine = lab.change(add_a_note, BESIDE)
    assert lab.renew({NAME: version(4)})[0].endswith("views.en.updated-2.ipynb")
    assert (lab.text(), lab.text(BESIDE)) == (mine, also_mine)


def test_a_version_beside_that_was_thrown_away_comes_back_only_with_a_newer_one(lab):
    lab.renew({NAME: version(1)})
    lab.change(write_a_blank)
    lab.renew({NAME: version(2)})
    (lab.folder / BESIDE).unlink()
    assert lab.renew({NAME: version(2)}) == []
    assert lab.names() == [NAME]
    assert len(lab.renew({NAME: version(3)})) == 1
    assert lab.text(BESIDE) == version(3)


def test_a_reader_who_takes_the_new_version_over_is_asked_no_more(lab):
    lab.renew({NAME: version(1)})
    lab.change(write_a_blank)
    lab.renew({NAME: version(2)})
    (lab.folder / BESIDE).replace(lab.folder / NAME)
    assert lab.renew({NAME: version(2)}) == []
    assert lab.renew({NAME: version(3)}) == []
    assert lab.names() == [NAME]
    assert lab.text() == version(3)


def test_a_copy_that_was_deleted_comes_back(lab):
    lab.renew({NAME: version(1)})
    (lab.folder / NAME).unlink()
    assert lab.renew({NAME: version(1)}) == []
    assert lab.text() == version(1)


@pytest.mark.parametrize("memory", [None, "", "{", "[]", "[" * 100_000])
def test_without_its_memory_nothing_that_differs_is_overwritten(lab, memory):
    lab.renew({NAME: version(1)})
    if memory is None:
        (lab.folder / MEMORY).unlink()
    else:
        (lab.folder / MEMORY).write_text(memory)
    assert lab.renew({NAME: version(1)}) == []
    (lab.folder / MEMORY).unlink()
    assert len(lab.renew({NAME: version(2)})) == 1
    assert (lab.text(), lab.text(BESIDE)) == (version(1), version(2))


DEEP = b"[" * 100_000  # deeper than a parser that recurs can follow


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"cells": [{}]}', DEEP])
def test_what_is_no_notebook_any_more_counts_as_changed(lab, content):
    lab.renew({NAME: version(1)})
    (lab.folder / NAME).write_bytes(content)
    assert len(lab.renew({NAME: version(2)})) == 1
    assert (lab.folder / NAME).read_bytes() == content


def test_a_python_file_is_compared_to_the_letter(lab):
    name = "01-tensors/exercises/tensor_blanks.py"
    lab.renew({name: "x = ...\n"})
    (lab.folder / name).write_text("x = ... \n")
    assert lab.renew({name: "y = ...\n"}) == [
        f"{name}: you have changed it, so it stays; the new version is "
        "01-tensors/exercises/tensor_blanks.updated.py"]


def test_of_a_removed_section_only_a_changed_copy_stays(lab):
    other = "02-graph/graph.en.ipynb"
    lab.renew({NAME: version(1), other: version(1)})
    lab.change(run_it, other)
    mine = lab.change(write_a_blank)
    assert lab.renew({}, gone=[NAME, other]) == [
        f"{NAME}: the book no longer has it; your changed copy stays"]
    assert lab.names() == [NAME]
    assert lab.text() == mine
    assert not (lab.folder / "02-graph").exists()
    assert lab.renew({}) == []


def test_a_write_that_fails_leaves_the_old_copies_and_what_is_known_of_them(lab, monkeypatch):
    lab.renew({NAME: version(1), "a.py": "1\n"})
    write = copies.write_atomic

    def full(path, text):
        if path.suffix == ".ipynb":
            raise OSError("No space left on device")
        write(path, text)

    monkeypatch.setattr(copies, "write_atomic", full)
    with pytest.raises(OSError, match="No space left"):
        lab.renew({"a.py": "2\n", NAME: version(2)})
    monkeypatch.undo()
    assert (lab.text(), lab.text("a.py")) == (version(1), "2\n")
    assert lab.renew({"a.py": "2\n", NAME: version(2)}) == []
    assert lab.names() == [NAME, "a.py"]
    assert lab.text() == version(2)


def killed_at(moment, folder, files):
    """A renewal that is killed when a file is about to be put in its place the n-th time."""
    def dies(self, target, replace=Path.replace):
        if dies.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        dies.left -= 1
        return replace(self, target)

    dies.left = moment
    Path.replace = dies
    list(Copies(folder).renew(files, set()))


@pytest.mark.parametrize("moment", range(5))
def test_a_renewal_that_was_killed_takes_no_copy_for_a_changed_one(lab, moment):
    names = [f"{number}.en.ipynb" for number in range(3)]
    lab.renew(dict.fromkeys(names, version(1)))
    process = multiprocessing.get_context("fork").Process(
        target=killed_at, args=(moment, lab.folder, dict.fromkeys(names, version(2))))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL)
    assert lab.renew(dict.fromkeys(names, version(3))) == []
    assert lab.names() == names                     # and no half-written file beside them
    assert {lab.text(name) for name in names} == {version(3)}


def test_only_its_own_half_written_files_are_taken_away(lab):
    lab.renew({NAME: version(1)})
    (lab.folder / "01-tensors/tmp_notes").write_text("mine")
    with tempfile.NamedTemporaryFile(dir=lab.folder / "01-tensors", delete=False):
        pass
    lab.renew({NAME: version(1)})
    assert "01-tensors/tmp_notes" in lab.names()


def test_a_killed_renewal_does_not_take_a_reader_s_change_for_its_own(lab):
    lab.renew({NAME: version(1)})
    mine = lab.change(write_a_blank)
    process = multiprocessing.get_context("fork").Process(
        target=killed_at, args=(1, lab.folder, {NAME: version(2)}))
    process.start()
    process.join()
    lab.renew({NAME: version(3)})
    assert lab.text() == mine


@pytest.mark.parametrize("broken", [False, True])
def test_a_copy_that_is_a_link_stays_one(lab, tmp_path, broken):
    real = tmp_path / "elsewhere.ipynb"
    lab.renew({NAME: version(1)})
    (lab.folder / NAME).replace(real)
    (lab.folder / NAME).symlink_to(real)
    if broken:
        real.unlink()
    assert lab.renew({NAME: version(2)}) == []
    assert (lab.folder / NAME).is_symlink()
    assert real.read_text("utf-8") == version(2)


def test_the_digest_of_a_notebook_looks_at_sources_however_they_are_stored():
    notebook = json.loads(version(1))
    joined = copy.deepcopy(notebook)
    for cell in joined["cells"]:
        cell["source"] = "".join(cell["source"])
    assert (copies.digest(json.dumps(joined), NAME) == copies.digest(version(1), NAME)
            != copies.digest(version(2), NAME))
