"""Notebooks that readers download run, are in their language, and give no answer away.

What holds of any notebook is shown on two made here, which are also executed. The notebooks of the
book are only read: their code is that of the golden ones, which nbval executes, but for blanks and
the setup line; what their checks say to empty blanks, `make sync` asks before it writes them.
"""

import copy
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from book.pipeline import sync
from book.pipeline.content import publication
from book.pipeline.ground.paths import CHAPTERS, SHEET
from book.pipeline.notebooks import downloads, unsolved
from book.pipeline.notebooks import notebook as nb
from book.pipeline.notebooks.blanks import blanked
from book.pipeline.text.prose import HAN
from tests.helpers.golden_example import made_by_hand, printed

SECTIONS = sorted(CHAPTERS.glob("*/*.ipynb"))
FOLDER = CHAPTERS / "01-tensors"


def as_sections_are():
    """A companion that is imported, an error that is shown, blanks that need earlier ones."""
    return new_notebook(cells=[
        new_markdown_cell("# 题 · Title", id="a"),
        new_code_cell(nb.SETUP, metadata={"tags": ["setup"]}, id="b"),
        new_code_cell("from mini_tensor_layout import packed_strides", id="c"),
        new_code_cell("packed_strides((2, 3))", id="d",
                      metadata={"tags": ["raises-exception"]}),
        new_code_cell("def stride(shape):\n    return packed_strides(shape, (1, 0))[0]  # blank",
                      metadata={"complete": True}, id="e"),
        new_code_cell("assert stride((2, 3)) == 3\nprint('right')", id="f",
                      outputs=printed("right\n")),
        new_markdown_cell("中文。", metadata={"lang": "zh"}, id="g"),
        new_markdown_cell("English.", metadata={"lang": "en"}, id="h"),
        new_code_cell("def rows(shape):\n    step = stride(shape)\n    return step * 2  # blank",
                      metadata={"complete": True}, id="i"),
        new_code_cell("assert rows((2, 3)) == 6", id="j"),
        new_code_cell("print('after the last check')", id="k"),
    ], metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


GOLDEN = {"made by hand": made_by_hand(), "as sections are": as_sections_are()}


@pytest.fixture(params=GOLDEN)
def golden(request):
    return GOLDEN[request.param]


@pytest.fixture(params=downloads.VARIANTS)
def variant(request):
    return request.param


def code(notebook):
    return [cell.source for cell in nb.code_cells(notebook)]


def prose(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def test_there_are_sections():
    assert SECTIONS


# ---- what is in them ---------------------------------------------------------------------------

def test_a_reader_notebook_is_valid_and_always_the_same(golden, variant):
    before = nb.write_text(golden)
    reader = downloads.reader_notebook(golden, variant)
    nbformat.validate(reader)
    ids = [cell.id for cell in reader.cells]
    assert len(set(ids)) == len(ids)
    assert nb.write_text(downloads.reader_notebook(golden, variant)) == nb.write_text(reader)
    assert nb.write_text(golden) == before


def test_no_digest_and_no_key_of_the_book_is_left(golden, variant):
    reader = downloads.reader_notebook(golden, variant)
    assert "book" not in reader.metadata
    assert {key for cell in reader.cells for key in cell.metadata} <= {"tags"}
    text = nb.write_text(reader)
    assert not re.search(r"[0-9a-f]{64}", text)


def secrets(golden):
    """The cells whose output says what a reader is to find out."""
    cells = nb.code_cells(golden)
    for cell, before in zip(cells, [None, *cells], strict=False):
        if {"predict", "complete"} & cell.metadata.keys() or \
                (before is not None and "complete" in before.metadata):
            yield cell


def test_outputs_that_give_an_answer_away_are_gone_and_the_others_are_kept(golden, variant):
    reader = {cell.id: cell for cell in downloads.reader_notebook(golden, variant).cells}
    hidden = {cell.id for cell in secrets(golden)}
    for cell in nb.code_cells(golden):
        expected = [] if cell.id in hidden else cell.outputs
        assert reader[cell.id].outputs == expected
        assert reader[cell.id].execution_count == (None if cell.id in hidden
                                                   else cell.execution_count)


def test_options_stand_before_their_cell_and_feedback_nowhere(golden, variant):
    reader = downloads.reader_notebook(golden, variant)
    text = nb.write_text(reader)
    for cell in nb.code_cells(golden):
        options = cell.metadata.get("predict", {}).get("options", [])
        place = [c.id for c in reader.cells].index(cell.id)
        for option in options:
            for lang in ("zh", "en"):
                stands = f". {option[lang]}" in reader.cells[place - 1].source
                assert stands == (lang in downloads.VARIANTS[variant])
                if "why" in option:
                    assert option["why"][lang] not in text


def test_code_is_the_same_in_every_language_and_only_blanks_differ_from_the_golden(golden):
    zh, en, both = (code(downloads.reader_notebook(golden, variant))
                    for variant in downloads.VARIANTS)
    assert zh == en == both
    for cell, source in zip(nb.code_cells(golden), zh, strict=True):
        if cell.metadata.get("complete"):
            assert source == blanked(cell.source) != cell.source
        elif "setup" in cell.metadata.get("tags", []):
            first, _, imports = cell.source.partition("\n")
            advised = "\n".join(filter(None, [first, downloads.missing_code(), imports]))
            assert source in (cell.source, advised)
        else:
            assert source == cell.source


def test_each_variant_holds_the_prose_of_its_languages_only(golden):
    zh, en, both = (prose(downloads.reader_notebook(golden, variant))
                    for variant in downloads.VARIANTS)
    for cell in golden.cells:
        if lang := cell.metadata.get("lang"):
            assert (cell.source in zh) == (lang == "zh")
            assert (cell.source in en) == (lang == "en")
            assert cell.source in both
    assert not re.search(HAN, "\n".join(en))
    assert all(re.search(HAN, text) for text in zh if text.startswith("#"))


def test_headings_are_cut_to_their_half():
    heads = [downloads.reader_notebook(GOLDEN["made by hand"], variant).cells[0].source
             for variant in downloads.VARIANTS]
    assert heads == ["# 题\n\n## 又", "# Title\n\n## Again", "# 题 · Title\n\n## 又 · Again"]


def test_the_note_before_the_setup_cell_says_what_the_notebook_holds():
    golden = made_by_hand()
    note, setup = downloads.reader_notebook(golden, "en").cells[2:4]
    assert note.source == " ".join(downloads.TEXTS[key]["en"]
                                   for key in ("folder", "predict", "complete"))
    assert setup.source.startswith(nb.SETUP)
    golden.cells = [cell for cell in golden.cells if cell.id in ("cell0", "cell3", "cell10")]
    in_book = downloads.reader_notebook(made_by_hand(), "en", in_book=True).cells[2]
    assert in_book.source == " ".join(downloads.TEXTS[key]["en"] for key in ("predict", "complete"))
    assert [cell.id for cell in downloads.reader_notebook(golden, "zh").cells] == [
        "cell0", "cell3", "cell10"]
    assert code(downloads.reader_notebook(golden, "zh")) == code(golden)


# ---- the notebooks of the book -----------------------------------------------------------------

OF_EACH = (test_a_reader_notebook_is_valid_and_always_the_same,
           test_no_digest_and_no_key_of_the_book_is_left,
           test_outputs_that_give_an_answer_away_are_gone_and_the_others_are_kept,
           test_options_stand_before_their_cell_and_feedback_nowhere)
OF_ALL = (test_code_is_the_same_in_every_language_and_only_blanks_differ_from_the_golden,
          test_each_variant_holds_the_prose_of_its_languages_only)


@pytest.mark.parametrize("path", SECTIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_all_this_holds_of_every_notebook_of_the_book(path):
    golden = nbformat.read(path, 4)
    assert list(secrets(golden)) or path.stem == SHEET
    for variant in downloads.VARIANTS:
        for holds in OF_EACH:
            holds(golden, variant)
    for holds in OF_ALL:
        holds(golden)


# ---- running them ------------------------------------------------------------------------------

def run(notebook, folder):
    """Run a notebook as a reader does: nothing of this repository is on Python's path."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    client = NotebookClient(notebook, kernel_name="python3", timeout=600,
                            resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment | nb.ENVIRONMENT)


def completes(golden):
    return [number for number, cell in enumerate(nb.code_cells(golden))
            if cell.metadata.get("complete")]


@pytest.mark.slow
def test_with_the_solutions_put_in_a_reader_notebook_runs_to_its_end(golden):
    reader = downloads.reader_notebook(golden, "en")
    cells = nb.code_cells(reader)
    assert "find_spec" in next(c.source for c in cells if "setup" in c.metadata.get("tags", []))
    for number in completes(golden):
        cells[number].source = nb.code_cells(golden)[number].source
    run(reader, FOLDER)
    assert cells[-1].outputs[0].text == nb.code_cells(golden)[-1].source.split("'")[1] + "\n"


@pytest.mark.slow
def test_alone_it_stops_at_its_first_cell_with_one_line(tmp_path):
    with pytest.raises(CellExecutionError) as caught:
        run(downloads.reader_notebook(GOLDEN["made by hand"], "both"), tmp_path)
    assert (caught.value.ename, caught.value.evalue) == (
        "ModuleNotFoundError",
        "code/ of the book is missing: unpack the book's code.zip beside this notebook")


def test_it_says_where_the_book_is_once_that_is_known(monkeypatch):
    monkeypatch.setattr(publication, "REPOSITORY", "https://example.org/book.git")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError) as caught:
        exec(downloads.missing_code(), {})
    assert str(caught.value) == (
        "code/ of the book is missing: unpack the book's code.zip beside this notebook, "
        "or git clone https://example.org/book.git and run `make lab` there")


# ---- without the solutions ---------------------------------------------------------------------

def test_checks_see_empty_blanks_and_nothing_before_them_fails(golden):
    assert list(unsolved.problems(golden, FOLDER)) == []


def change(cell, old, new):
    golden = copy.deepcopy(GOLDEN["as sections are"])
    [found] = [c for c in golden.cells if c.id == cell]
    assert old in found.source
    found.source = found.source.replace(old, new)
    return golden


@pytest.mark.parametrize(("cell", "old", "new", "found"), [
    ("f", "stride((2, 3)) == 3", "stride", ["code cell 5 does not see the blanks"]),
    ("f", "assert", "import sys; sys.exit()\nassert", ["code cell 5 does not see the blanks"]),
    ("j", "rows((2, 3)) == 6", "rows", ["code cell 7 does not see the blanks"] * 2),
    # it fails while the first blank is empty, and would not see its own
    ("j", "rows((2, 3)) == 6", "stride((2, 3)) == 3", ["code cell 7 does not see the blanks"]),
    ("e", "def stride", "stride((1,))\ndef stride",
     ["code cell 4 cannot run before it is written: NameError"]),
    ("c", "packed_strides", "packed_stride",
     ["code cell 2 fails before anything is to be written: ImportError"]),
    ("d", "packed", "import os; os._exit(1); packed",
     ["code cell 5 does not see", "code cell 7 does not see",
      "code cell 3 fails before anything is to be written: the process ended",
      "code cell 7 does not see"]),
])
def test_a_beat_that_leaves_a_reader_alone_is_found(cell, old, new, found):
    texts = list(unsolved.problems(change(cell, old, new), FOLDER))
    assert len(texts) == len(found)
    assert all(text.startswith(start) for text, start in zip(texts, found, strict=True))


def test_sync_does_not_write_such_a_notebook(monkeypatch):
    golden = change("f", "stride((2, 3)) == 3", "stride")
    with pytest.raises(sync.SyncError) as caught:
        sync._check_blanks(golden, Path("chapters/01-tensors/section.md").resolve())
    assert str(caught.value) == ("chapters/01-tensors/section.md: code cell 5 does not see the "
                                 "blanks of the cell before it")


def test_code_that_differs_between_languages_is_seen(monkeypatch):
    made = downloads.reader_notebook

    def other(golden, variant):
        reader = made(golden, variant)
        if variant == "zh":
            nb.code_cells(reader)[-1].source += "\nprint('more')"
        return reader

    monkeypatch.setattr(downloads, "reader_notebook", other)
    with pytest.raises(AssertionError):
        OF_ALL[0](GOLDEN["as sections are"])
