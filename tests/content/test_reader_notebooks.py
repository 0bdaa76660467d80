"""Notebooks that readers download run, are in their language, and give no answer away."""

import os
import re

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from book.pipeline import publication
from book.pipeline.notebooks import downloads
from book.pipeline.notebooks import notebook as nb
from book.pipeline.paths import CHAPTERS, SHEET
from book.pipeline.text.prose import HAN
from tests.helpers.golden_example import made_by_hand

SECTIONS = sorted(CHAPTERS.glob("*/*.ipynb"))
MISSING = {"NameError", "AssertionError", "TypeError"}  # how a check meets what is not written


GOLDEN = {"made by hand": made_by_hand(),
          **{f"{path.parent.name}/{path.stem}": nbformat.read(path, 4) for path in SECTIONS}}


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


@pytest.mark.parametrize("name", [name for name in GOLDEN if not name.endswith(f"/{SHEET}")])
def test_every_notebook_but_a_cheat_sheet_has_answers_to_hide(name):
    assert secrets(GOLDEN[name])


def test_options_stand_before_their_cell_and_feedback_nowhere(golden, variant):
    reader = downloads.reader_notebook(golden, variant)
    for cell in nb.code_cells(golden):
        options = cell.metadata.get("predict", {}).get("options", [])
        place = [c.id for c in reader.cells].index(cell.id)
        for option in options:
            for lang in ("zh", "en"):
                stands = f". {option[lang]}" in reader.cells[place - 1].source
                assert stands == (lang in downloads.VARIANTS[variant])
                if "why" in option:
                    assert option["why"][lang] not in nb.write_text(reader)


def test_code_is_the_same_in_every_language_and_only_blanks_differ_from_the_golden(golden):
    zh, en, both = (code(downloads.reader_notebook(golden, variant))
                    for variant in downloads.VARIANTS)
    assert zh == en == both
    changed = [cell for cell, source in zip(nb.code_cells(golden), zh, strict=True)
               if cell.source != source]
    for cell in changed:
        assert cell.metadata.get("complete") or "setup" in cell.metadata["tags"]


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
    assert [cell.id for cell in downloads.reader_notebook(golden, "zh").cells] == [
        "cell0", "cell3", "cell10"]
    assert code(downloads.reader_notebook(golden, "zh")) == code(golden)


# ---- running them ------------------------------------------------------------------------------

def errors(notebook, folder):
    """(index among the code cells, exception) of each code cell that raised, all being run."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    client = NotebookClient(notebook, kernel_name="python3", timeout=120, allow_errors=True,
                            resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment | nb.ENVIRONMENT)
    return [(number, output.ename) for number, cell in enumerate(nb.code_cells(notebook))
            for output in cell.outputs if output.output_type == "error"
            and "raises-exception" not in cell.metadata.get("tags", [])]


def completes(golden):
    return [number for number, cell in enumerate(nb.code_cells(golden))
            if cell.metadata.get("complete")]


@pytest.mark.slow
def test_with_the_solutions_put_in_a_reader_notebook_runs_to_its_end(golden):
    reader = downloads.reader_notebook(golden, "en")
    cells = nb.code_cells(reader)
    for number in completes(golden):
        cells[number].source = nb.code_cells(golden)[number].source
    assert errors(reader, CHAPTERS / "01-tensors") == []


@pytest.mark.slow
def test_without_them_the_checks_fail_and_nothing_before_the_first_check_does(golden):
    blank = completes(golden)
    found = errors(downloads.reader_notebook(golden, "zh"), CHAPTERS / "01-tensors")
    checks = [number + 1 for number in blank]
    assert [number for number, _ in found][:1] == checks[:1]
    raised = dict(found)
    for number in checks:
        assert raised[number] in MISSING, f"code cell {number} does not see its blanks"
    for number in blank:
        assert number not in raised, f"code cell {number} cannot run before it is written"


@pytest.mark.slow
@pytest.mark.parametrize("repository", ["", "https://example.org/book.git"])
def test_alone_it_stops_at_its_first_cell_with_one_line(tmp_path, monkeypatch, repository):
    monkeypatch.setattr(publication, "REPOSITORY", repository)
    reader = downloads.reader_notebook(GOLDEN["made by hand"], "both")
    client = NotebookClient(reader, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(CellExecutionError) as caught:
        client.execute(env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})
    clone = f"git clone {repository}, then " if repository else ""
    assert (caught.value.ename, caught.value.evalue) == (
        "ModuleNotFoundError",
        f"code/ of the book is missing: {clone}put this notebook into chapters/ of the book's "
        f"folder")
