"""A predict cell opens its output to a reader who has committed, and to nobody else."""

import pytest

from book.extension.predict import TEXTS

pytestmark = pytest.mark.browser

LANGS = ["zh", "en"]


def stored_output(cell):
    """The text of a notebook cell's outputs; what the page shows as HTML is left out."""
    parts = [output.get("text") or output["data"].get("text/plain", "")
             for output in cell["outputs"] if "text/html" not in output.get("data", {})]
    return "".join("".join(part) for part in parts)


def predictions(notebook):
    """For each predict cell of a notebook its options and the index the output proves right."""
    for cell in notebook["cells"]:
        if options := cell["metadata"].get("predict", {}).get("options"):
            hits = [i for i, o in enumerate(options) if str(o["match"]) in stored_output(cell)]
            assert len(hits) == 1
            yield options, hits[0], stored_output(cell)


def commit(form, answer, confidence=0):
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


def test_the_page_offers_every_prediction_of_the_notebook(visit, section, notebook):
    cells = visit().open(section).locator("predict-cell").all()
    expected = list(predictions(notebook(section)))
    assert len(cells) == len(expected) > 0
    for cell, (options, right, output) in zip(cells, expected, strict=True):
        assert cell.get_attribute("data-right") == str(right)
        assert cell.locator(".options input").count() == len(options) + 1
        assert cell.locator("pre").first.evaluate("e => e.textContent").strip() == output.strip()


@pytest.mark.parametrize("lang", LANGS)
def test_each_option_is_answered_with_its_own_line(visit, section, notebook, lang):
    page = visit().open(section, lang=lang)
    expected = predictions(notebook(section))
    for number, (options, right, _) in enumerate(expected):
        cell = page.locator("predict-cell").nth(number)
        answer = number % len(options)
        commit(cell.locator("form"), answer)
        why = options[answer].get("why", {lang: ""})[lang].replace("`", "").strip()
        [line] = shown_feedback(cell)
        verdict = TEXTS["right" if answer == right else "wrong"][LANGS.index(lang)]
        assert line.replace(" ", "").strip() == (verdict + why).replace(" ", "")


@pytest.mark.parametrize("lang", LANGS)
@pytest.mark.parametrize("kind", ["right", "wrong", "not sure"])
def test_by_keyboard_alone(visit, one_section, notebook, tab_to, lang, kind):
    page = visit().open(one_section, lang=lang)
    options, right, output = next(predictions(notebook(one_section)))
    answer = {"right": right, "wrong": (right + 1) % len(options), "not sure": len(options)}[kind]
    cell = page.locator("predict-cell").first
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
    assert shown.inner_text().strip() == output.strip()
    wrong = [answer] if kind == "wrong" else []
    assert marks(cell) == ["✓" if i == right else "✗" if i in wrong else ""
                           for i in range(len(options) + 1)]
    assert len(shown_feedback(cell)) == (kind != "not sure")
    assert page.evaluate("committed") == {
        "answer": answer, "right": kind == "right", "confidence": "think"}


def test_neither_an_option_nor_a_confidence_alone_opens_the_output(visit, one_section):
    page = visit().open(one_section)
    cell = page.locator("predict-cell").first
    form, output = cell.locator("form"), cell.locator("details pre")
    for only in (".options", ".confidence"):
        page.reload()
        assert not output.is_visible()
        assert not cell.locator("summary").is_visible(), "the fold can be opened by hand"
        form.locator(f"{only} input").first.check()
        form.locator("[type=submit]").click()
        assert not output.is_visible()


def test_after_the_commit_the_answer_cannot_be_changed(visit, one_section):
    cell = visit().open(one_section).locator("predict-cell").first
    commit(cell.locator("form"), 0)
    assert all(control.is_disabled() for control in cell.locator("form input").all())
    assert not cell.locator("form [type=submit]").is_visible()


def test_after_the_commit_the_keyboard_goes_on_from_here(visit, one_section, tab_to):
    page = visit().open(one_section)
    tab_to(page, "predict-cell .options input")
    for key in ("Space", "Tab", "Space", "Tab", "Enter", "Tab"):
        page.keyboard.press(key)
    assert page.evaluate("""() => {
      const cell = document.querySelector('predict-cell');
      return cell.contains(document.activeElement);
    }""")


def test_the_feedback_is_announced(visit, one_section):
    cell = visit().open(one_section).locator("predict-cell").first
    commit(cell.locator("form"), 0)
    assert len(cell.get_by_role("status").inner_text().strip()) > 3


EXPLAINED = ".cell:has(predict-cell):has(+ .explanation)"


def test_the_explanation_waits_for_the_commit(visit, section):
    page = visit().open(section)
    explained, notes = page.locator(".explanation > .bi-pair"), page.locator(".explanation-note")
    assert explained.count() > 0
    assert not any(one.is_visible() for one in explained.all())
    assert all(note.is_visible() for note in notes.all())
    commit(page.locator(EXPLAINED).first.locator("form"), 0)
    assert page.locator(".explanation").first.locator("> .bi-pair").first.is_visible()
    assert [note.is_visible() for note in notes.all()].count(False) == 1


# What stands after each prediction, up to a heading or the next cell that asks for something: the
# number of parts that wait and of those that show, what is in the open, and whether a cell that
# asks ends it.
FOLLOWING = """() => [...document.querySelectorAll('.cell:has(predict-cell)')].map((cell) => {
  const next = 'section, .cell:has(predict-cell), .cell.complete', open = [];
  let end = cell.nextElementSibling;
  for (; end && !end.matches(next); end = end.nextElementSibling) open.push(end);
  const waits = open[0]?.matches('.explanation') ? open.shift() : null;
  const parts = [...waits?.children ?? []].slice(1); // the first is the note
  const pairs = open.filter((node) => node.matches('.bi-pair'));
  return {
    waiting: parts.length, shown: parts.filter((part) => part.checkVisibility()).length,
    open: open.length, pairs: pairs.length, asks: Boolean(end?.matches('.cell')),
    answers: open.filter((node) => node.matches('.cell:has(.cell_output), details')).length
      + pairs.filter((pair) => pair.querySelectorAll('.lang-en > p').length > 1).length,
  };
})"""


def test_all_that_follows_a_prediction_waits_but_the_next_question(visit, section):
    """An output, a picture or a text in the open would answer it."""
    cells = visit().open(section, lang="en").evaluate(FOLLOWING)
    assert cells
    for number, cell in enumerate(cells):
        where = (number, cell)
        assert (cell["shown"], cell["answers"]) == (0, 0), where
        if cell["open"]:
            assert cell["asks"], where
            assert cell["pairs"] in (1, 2), where
        if not cell["waiting"]:
            assert cell["open"] <= 1, where


def test_output_and_explanation_can_be_had_without_a_prediction(visit, one_section):
    page = visit().open(one_section)
    cell = page.locator(EXPLAINED).first
    cell.locator("form [type=button]").click()
    assert cell.locator("details pre").first.is_visible()
    assert page.locator(".explanation > .bi-pair").first.is_visible()
    assert shown_feedback(cell) == []
    assert "✓" not in marks(cell), "it was not judged"


def test_a_printed_page_holds_the_explanations(visit, one_section):
    page = visit().open(one_section)
    page.emulate_media(media="print")
    assert all(one.is_visible() for one in page.locator(".explanation > .bi-pair").all())
    assert not any(note.is_visible() for note in page.locator(".explanation-note").all())
