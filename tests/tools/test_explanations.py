"""What follows a prediction waits for the commit, except the question of the next cell."""

import pytest
from docutils import nodes

from book.extension.bilingual import Element
from book.extension.predict import wrap_explanation


def cell(asks="", output=False):
    box = nodes.container(nb_element="cell_code", cell_metadata={asks: True} if asks else {})
    box += nodes.container(nb_element="cell_code_source")
    if output:
        box += nodes.container(nb_element="cell_code_output")
    return box


def pair(*blocks):
    """A pair of languages; a block is the text of a paragraph, or a node."""
    return nodes.container("", *(nodes.container("", *(
        nodes.paragraph("", f"{lang} {block}") if isinstance(block, str) else block.deepcopy()
        for block in blocks)) for lang in ("zh", "en")), classes=["bi-pair"])


def told(node):
    """A node in short: what a cell is, the paragraphs of a pair."""
    if node.get("nb_element") == "cell_code":
        return next(iter(node["cell_metadata"]), "printing" if len(node) > 1 else "silent")
    if isinstance(node, nodes.section):
        return "section"
    zh, en = ([block.astext() for block in box] for box in node)
    assert [text.replace("zh ", "en ") for text in zh] == en
    return "/".join(text.removeprefix("en ") for text in en)


def waiting(*after):
    """What waits in its element for the commit after a prediction, and what shows at once."""
    predict = cell("predict")
    section = nodes.section("", predict, *after)
    wrap_explanation(predict)
    first, *rest = section[1:] or [None]
    if not isinstance(first, Element):
        return [], [told(node) for node in section[1:]]
    assert (first["tag"], first["html"]) == ("div", {"class": "explanation"})
    note, *explains = first
    assert "explanation-note" in note.astext()
    return [told(node) for node in explains], [told(node) for node in rest]


@pytest.mark.parametrize("end", [[], [nodes.section()]])
def test_up_to_a_heading_or_the_end_everything_waits(end):
    after = [cell(output=True), pair("why"), cell(), pair("more", "and more"), *end]
    assert waiting(*after) == (
        ["printing", "why", "silent", "more/and more"], ["section"] * len(end))


@pytest.mark.parametrize("asks", ["predict", "complete"])
def test_the_question_of_the_next_cell_shows(asks):
    after = [cell(output=True), pair("why"), cell(output=True), pair("question"), cell(asks)]
    assert waiting(*after) == (["printing", "why", "printing"], ["question", asks])


@pytest.mark.parametrize("asks", ["predict", "complete"])
def test_a_pair_is_split_before_its_last_paragraph(asks):
    assert waiting(pair("why", "more", "question"), cell(asks)) == (
        ["why/more"], ["question", asks])


def test_a_list_after_the_last_paragraph_belongs_to_the_question():
    points = nodes.bullet_list("", nodes.list_item("", nodes.paragraph("", "point")))
    assert waiting(pair("why", "these:", points), cell("predict")) == (
        ["why"], ["these:/point", "predict"])
    assert waiting(pair(points, "question"), cell("predict")) == (
        ["point"], ["question", "predict"])


def test_a_question_alone_leaves_nothing_to_wait():
    assert waiting(pair("question"), cell("predict")) == ([], ["question", "predict"])
    assert waiting(cell("predict")) == ([], ["predict"])
    assert waiting(nodes.section()) == ([], ["section"])
    assert waiting() == ([], [])


def test_code_that_prepares_the_next_cell_shows_with_its_text():
    assert waiting(pair("why", "set-up:"), cell(), cell("complete")) == (
        ["why"], ["set-up:", "silent", "complete"])
    assert waiting(pair("why", "set-up:"), cell(), pair("question"), cell("predict")) == (
        ["why"], ["set-up:", "silent", "question", "predict"])
    assert waiting(pair("why"), cell(), cell(output=True), pair("question"), cell("predict")) == (
        ["why", "silent", "printing"], ["question", "predict"])


def test_an_output_right_before_the_next_cell_waits():
    assert waiting(pair("why"), cell(output=True), cell("predict")) == (
        ["why", "printing"], ["predict"])


def test_a_cell_that_checks_a_complete_cell_is_no_explanation():
    assert waiting(pair("why", "task"), cell("complete"), cell(output=True)) == (
        ["why"], ["task", "complete", "printing"])
