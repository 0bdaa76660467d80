"""A predict cell opens its output to a reader who has committed, and to nobody else."""

import pytest

pytestmark = pytest.mark.browser

LANGS = ["zh", "en"]
OUTPUT, RIGHT, OPTIONS = "[1.0, 1.0, 0.0]", 1, 3  # of the first prediction of the section
VERDICTS = {
    "zh": ["不对。切片是 view，字节是共用的。", "对了。", "不对。只写了前两个。"],
    "en": ["Not quite. A slice is a view: the bytes are shared.", "Right.",
           "Not quite. Only the first two were written."],
}


@pytest.fixture
def page(page_of):
    return page_of("section", lang="en")


@pytest.fixture
def cell(page):
    return page.locator("predict-cell").first


def commit(cell, answer, confidence=0):
    form = cell.locator("form")
    form.locator(".options input").nth(answer).check()
    form.locator(".confidence input").nth(confidence).check()
    form.locator("[type=submit]").click()


def shown_feedback(cell):
    return cell.locator("[data-option]:visible").all_inner_texts()


def mark(label):
    """What stands after an option once it is judged: a sign, not only a colour."""
    return label.evaluate("e => getComputedStyle(e, '::after').content").strip('"')


def marks(cell):
    found = [mark(label) for label in cell.locator(".options label").all()]
    return ["" if one == "none" else one for one in found]


def test_the_page_offers_the_options_of_the_notebook_and_not_sure(page, cell):
    assert page.locator("predict-cell").evaluate_all(
        "cells => cells.map((cell) => cell.dataset.right)") == ["1", "1"]
    labels = [text.strip() for text in cell.locator(".options label").all_inner_texts()]
    assert labels == ["No: the slice is a copy", "The first two change", "All of them change",
                      "Not sure"]
    assert cell.locator("pre").first.evaluate("e => e.textContent").strip() == OUTPUT


@pytest.mark.parametrize("lang", LANGS)
def test_each_option_is_answered_with_its_own_line(page_of, lang):
    page = page_of("section", lang=lang)
    for answer, expected in enumerate(VERDICTS[lang]):
        page.reload()
        cell = page.locator("predict-cell").first
        commit(cell, answer)
        assert [line.strip() for line in shown_feedback(cell)] == [expected]


@pytest.mark.parametrize("kind", ["right", "wrong", "not sure"])
def test_by_keyboard_alone(page, cell, tab_to, kind):
    answer = {"right": RIGHT, "wrong": RIGHT + 1, "not sure": OPTIONS}[kind]
    page.evaluate("addEventListener('predict', (event) => { window.committed = event.detail; })")
    shown = cell.locator("pre").first

    tab_to(page, "predict-cell .options input")
    page.keyboard.press("Space")
    for _ in range(answer):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert not shown.is_visible(), "opened without a confidence"
    assert page.locator(".confidence input:focus").count(), "the browser leads to what is missing"
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    assert not shown.is_visible(), "opened before the commit"
    tab_to(page, "predict-cell form [type=submit]", limit=1)
    page.keyboard.press("Enter")

    assert shown.is_visible()
    assert shown.inner_text().strip() == OUTPUT
    wrong = [answer] if kind == "wrong" else []
    assert marks(cell) == ["✓" if i == RIGHT else "✗" if i in wrong else ""
                           for i in range(OPTIONS + 1)]
    assert len(shown_feedback(cell)) == (kind != "not sure")
    assert page.evaluate("committed") == {
        "answer": answer, "right": kind == "right", "confidence": "think"}


def test_neither_an_option_nor_a_confidence_alone_opens_the_output(page, cell):
    form, output = cell.locator("form"), cell.locator("details pre")
    for only in (".options", ".confidence"):
        page.reload()
        assert not output.is_visible()
        assert not cell.locator("summary").is_visible(), "the fold can be opened by hand"
        form.locator(f"{only} input").first.check()
        form.locator("[type=submit]").click()
        assert not output.is_visible()


def test_after_the_commit_the_answer_cannot_be_changed(cell):
    commit(cell, 0)
    assert all(control.is_disabled() for control in cell.locator("form input").all())
    assert not cell.locator("form [type=submit]").is_visible()


def test_after_the_commit_the_keyboard_goes_on_from_here(page, tab_to):
    tab_to(page, "predict-cell .options input")
    for key in ("Space", "Tab", "Space", "Tab", "Enter", "Tab"):
        page.keyboard.press(key)
    assert page.evaluate("""() => {
      const cell = document.querySelector('predict-cell');
      return cell.contains(document.activeElement);
    }""")


def test_the_feedback_is_announced(cell):
    commit(cell, 0)
    assert cell.get_by_role("status").inner_text().strip() == VERDICTS["en"][0]


# ---- what stands after a prediction -------------------------------------------------------------

def test_the_explanation_waits_for_the_commit_of_its_own_cell(page):
    explained, notes = page.locator(".explanation"), page.locator(".explanation-note")
    assert explained.count() == notes.count() == 2
    inside = [one.locator("> :not(.explanation-note)") for one in explained.all()]
    assert [part.count() for part in inside] == [3, 1]

    def seen():
        return [[one.is_visible() for one in part.all()] for part in inside]

    assert seen() == [[False] * 3, [False]]
    assert all(note.is_visible() for note in notes.all())
    commit(page.locator("predict-cell").first, 0)
    assert seen() == [[True] * 3, [False]]
    assert [note.is_visible() for note in notes.all()] == [False, True]


def test_the_question_of_the_next_prediction_does_not_wait(page):
    """The last paragraph before it, and the silent code that prepares it; the one above waits."""
    question = page.locator("p:visible", has_text="The next question")
    assert question.count() == 1
    assert page.locator(".cell:visible pre", has_text="c = t.clone()").count() == 1
    assert page.locator("p:visible", has_text="This is how it looks").count() == 0


def test_output_and_explanation_can_be_had_without_a_prediction(page, cell):
    cell.locator("form [type=button]").click()
    assert cell.locator("details pre").first.is_visible()
    assert page.locator(".explanation > .bi-pair").first.is_visible()
    assert shown_feedback(cell) == []
    assert "✓" not in marks(cell), "it was not judged"


def test_a_printed_page_holds_the_explanations(page):
    page.emulate_media(media="print")
    assert all(one.is_visible() for one in page.locator(".explanation > .bi-pair").all())
    assert not any(note.is_visible() for note in page.locator(".explanation-note").all())


# ---- complete beats -----------------------------------------------------------------------------

def test_a_complete_cell_shows_its_blank_and_the_solution_when_asked(page):
    cell = page.locator(".cell.complete")
    blank, solution = cell.locator("pre").all()
    assert blank.inner_text().strip() == "def twice(x):\n    ...  # blank"
    assert not solution.is_visible()
    cell.locator("summary").focus()
    page.keyboard.press("Enter")
    assert "return 2 * x" in solution.inner_text()
    assert page.locator("pre:visible", has_text="twice is right").count() > 0, "what checks it"
