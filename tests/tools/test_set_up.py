"""What a set-up cell holds beside the lines that find the book's code stands folded on the page."""

import pytest
from docutils import nodes

from book.extension.set_up import FINDS_CODE, FoldSetUp
from book.pipeline.notebooks.notebook import SETUP


@pytest.mark.parametrize(("source", "rest"), [
    (SETUP, ""),
    (f"{SETUP}\nfrom inside import use_device; use_device()", ""),
    (f"{SETUP}\nfrom inside import use_device; use_device()\nimport copy\n\ndef f():\n    pass",
     "import copy\n\ndef f():\n    pass"),
    (f"{SETUP}\nimport numpy\nfrom inside import use_device\nfrom inside.recorded import recorded"
     "\nuse_device()\nx = 1", "import numpy\nfrom inside.recorded import recorded\nx = 1"),
    (f"{SETUP}\nfrom inside import use_device, show", "from inside import use_device, show"),
])
def test_only_the_lines_that_find_the_code_are_left_out(source, rest):
    assert FINDS_CODE.sub("", source).strip("\n") == rest


def page_with(source):
    """A page of a set-up cell and a paragraph, as myst-nb puts them into a tree."""
    cell = nodes.container("", nodes.literal_block(source, source), classes=["cell", "tag_setup"])
    page = nodes.section("", cell, nodes.paragraph("", "text"))
    FoldSetUp.fold(None, cell)
    return page


def test_the_rest_of_the_cell_stands_in_a_closed_fold_right_below_it():
    _, fold, text = page_with(f"{SETUP}\nimport copy\n\ndef show(x):\n    return x")
    assert (fold["tag"], fold["html"]) == ("details", {"class": "fold set-up"})
    summary, code = fold
    assert "Set-up of this section" in summary.astext()
    assert "本节的准备代码" in summary.astext()
    assert (code.astext(), code["language"]) == (
        "import copy\n\ndef show(x):\n    return x", "python")
    assert text.astext() == "text"


def test_a_cell_that_only_finds_the_code_gets_no_fold():
    assert len(page_with(SETUP)) == 2
