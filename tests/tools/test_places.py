"""A list goes below the text of its heading; where the heading is missing, one line says so."""

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx.errors import ExtensionError

from book.extension.places import fill


def page(*ids):
    document = new_document("page")
    document += [nodes.section("", nodes.paragraph("", "text"), ids=[name]) for name in ids]
    return document


def test_each_part_stands_below_the_text_of_its_heading():
    document = page("one", "two")
    fill(document, "chapters/06-memory/index", {"two": "<ul></ul>"})
    one, two = document
    assert [child.astext() for child in one] == ["text"]
    assert [child.astext() for child in two] == ["text", "<ul></ul>"]


def test_a_heading_that_is_missing_is_named_with_its_file():
    with pytest.raises(ExtensionError) as said:
        fill(page("one"), "chapters/06-memory/index", {"sections-of-this-chapter": "<ul></ul>"})
    assert str(said.value).startswith("chapters/06-memory/index.md: no heading makes the id "
                                      "'sections-of-this-chapter'")
    assert str(said.value).endswith("write ## 中文 · Sections of this chapter")
