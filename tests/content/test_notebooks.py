"""The book's own notebooks: each begins with the setup cell, each heading has an id of its own."""

from itertools import pairwise

import nbformat
import pytest
from markdown_it import MarkdownIt

from book.extension import slugs
from book.pipeline.ground.paths import CHAPTERS
from book.pipeline.notebooks import notebook, on_device

NOTEBOOKS = sorted(CHAPTERS.glob("*/*.ipynb"))


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def section(request):
    return nbformat.read(request.param, 4)


def test_there_are_notebooks_to_check():
    assert NOTEBOOKS


def test_every_notebook_begins_with_the_setup_cell(section):
    first, *others = notebook.code_cells(section)
    assert f"{first.source}\n".startswith(f"{notebook.SETUP}\n")  # imports may follow
    assert {*first.metadata["tags"]} - on_device.REASONS.keys() == {"setup"}
    assert not first.outputs
    assert not any("setup" in cell.metadata.get("tags", []) for cell in others)


def headings(section):
    """The plain text of a notebook's headings."""
    for cell in section.cells:
        if cell.cell_type != "markdown":
            continue
        tokens = MarkdownIt().parse(cell.source)
        for opening, inline in pairwise(tokens):
            if opening.type == "heading_open":
                yield "".join(part.content for part in inline.children)


def test_each_heading_of_a_page_has_an_id_of_its_own(section):
    ids = [slugs.slug(title) for title in headings(section)]
    assert ids
    assert all(ids)
    assert len(set(ids)) == len(ids)
