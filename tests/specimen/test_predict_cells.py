"""A predict cell opens its output to a reader who has committed, and remembers what was said."""

import re

import pytest
from playwright.sync_api import expect

from oracles.web.axe import violations
from tests.helpers.browser import until
from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser

LANGS = ["zh", "en"]
OUTPUT, RIGHT, OPTIONS = "[1.0, 1.0, 0.0]", 1, 3  # of the first prediction of the section
VERDICTS = {
    "zh": ["不对。切片是 view，字节是共用的。", "对了。", "不对。只写了前两个。"],
    "en": ["That's not it. A slice is a view: the bytes are shared.", "Right.",
           "That's not it. Only the first two were written."],
}
STORED = """async () => {
  const { openStore } = await import(document.querySelector('script[src*="predict.js"]').src
    .replace(/predict[.]js.*/, 'store.js'));
  return (await openStore()).marks();
}"""
PHONE = {"viewport": {"width": 390, "height": 800}}


@pytest.fixture
def page(page_of):
    return page_of("section", lang="en")


@pytest.fixture
def cell(page):
    return first(page)


def first(page):
    return page.locator("predict-cell").first


def commit(cell, answer, confidence="think"):
    row = cell.locator(".predict-option").nth(answer)
    if answer == OPTIONS:
        row.locator("button").click()
    else:
        row.locator(f"[data-confidence={confidence}]").click()


def shown_feedback(cell):
    return [line.strip() for line in cell.locator("[data-option]:visible").all_inner_texts()]


def state(cell):
    return cell.get_attribute("data-state")


def mark(choice):
    """What stands after an option once it is judged: a sign, not only a colour."""
    return choice.evaluate("e => getComputedStyle(e, '::after').content").strip('"')


def marks(cell):
    found = [mark(choice) for choice in cell.locator(".predict-choice").all()]
    return ["" if one == "none" else one for one in found]


def stored(page, count):
    """The marks of this browser, when there are as many."""
    until(page, f"async count => (await ({STORED})()).length === count", count)
    return page.evaluate(STORED)


def test_the_page_offers_the_options_of_the_notebook_and_not_sure(cell):
    rows = cell.locator(".predict-option")
    assert rows.evaluate_all("rows => rows.map((row) => row.dataset.response)") == [
        "d-3acc21f1", "answer", "d-7bac8576", "unsure"]
    texts = [text.split(",")[0].strip() for text in
             cell.locator(".predict-choice").all_inner_texts()]
    assert texts == ["No: the slice is a copy", "The first two change", "All of them change",
                     "Not sure"]
    assert cell.locator("pre").first.evaluate("e => e.textContent").strip() == OUTPUT


@pytest.mark.parametrize("lang", LANGS)
def test_each_option_is_answered_with_its_own_line(page_of, lang):
    for answer, expected in enumerate(VERDICTS[lang]):
        cell = first(page_of("section", lang=lang))
        commit(cell, answer)
        assert shown_feedback(cell) == [expected]


# ---- one tap ------------------------------------------------------------------------------------

@pytest.mark.parametrize("confidence", ["sure", "think", "guess"])
def test_one_tap_commits_an_option_and_how_sure(page_of, confidence):
    page = page_of("section", lang="zh", has_touch=True, **PHONE)
    cell = first(page)
    cell.locator(".predict-option").nth(2).locator(f"[data-confidence={confidence}]").tap()
    assert state(cell) == "committed"
    assert cell.locator("pre").first.is_visible()
    assert marks(cell) == ["", "✓", "✗", ""]
    words = {"sure": "很有把握", "think": "有些把握", "guess": "猜的"}
    assert cell.locator(".predict-said").inner_text().strip() == words[confidence]


def test_not_sure_asks_for_no_confidence(page, cell):
    commit(cell, OPTIONS)
    assert cell.locator("pre").first.is_visible()
    assert marks(cell) == ["", "✓", "", ""]
    assert cell.locator(".predict-said").count() == 0
    assert [stored(page, 1)[0][key] for key in ("response", "confidence", "right")] == [
        "unsure", None, False]


@pytest.mark.parametrize(("lang", "names"), [
    ("en", ["The first two change , I think so", "The first two change , Sure",
            "The first two change , A guess"]),
    ("zh", ["前两个变了 ，有些把握", "前两个变了 ， 很有把握", "前两个变了 ， 猜的"])])
def test_a_screen_reader_hears_the_option_and_the_confidence(page_of, lang, names):
    buttons = first(page_of("section", lang=lang)).locator(".predict-option").nth(RIGHT)
    for name in names:
        assert buttons.get_by_role("button", name=name, exact=True).count() == 1


@pytest.mark.parametrize(("keys", "answer", "confidence"), [
    (["Enter"], 0, "think"), (["ArrowDown", "Enter"], 1, "think"), (["s"], 0, "sure"),
    (["ArrowDown", "ArrowRight", "Enter"], 1, "sure"), (["ArrowDown", "g"], 1, "guess"),
    (["ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "Space"], 1, "guess"),
    (["ArrowUp", "Enter"], 3, None), (["ArrowDown", "ArrowLeft", "t"], 1, "think")])
def test_by_keyboard_alone(page, cell, tab_to, keys, answer, confidence):
    tab_to(page, "predict-cell button")
    for key in keys[:-1]:
        page.keyboard.press(key)
        assert state(cell) == "asking"
    page.keyboard.press(keys[-1])
    assert state(cell) == "committed"
    expect(cell.locator(".predict-option").nth(answer)).to_contain_class("is-chosen")
    assert stored(page, 1)[0]["confidence"] == confidence


def test_one_press_of_tab_passes_the_options(page, tab_to):
    tab_to(page, "predict-cell .predict-choice")
    page.keyboard.press("ArrowDown")
    tab_to(page, "predict-cell .predict-skip", limit=1)
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.textContent").startswith("前两个变了")


def test_the_output_cannot_be_opened_before(cell):
    assert not cell.locator("details pre").is_visible()
    assert not cell.locator("summary").is_visible()


OUTLINE = "e => [getComputedStyle(e).outlineStyle, parseFloat(getComputedStyle(e).outlineWidth)]"


def test_by_keyboard_the_keys_are_told_and_the_output_shows_that_it_has_the_focus(
        page, cell, tab_to):
    keys = cell.locator(".predict-ways small")
    assert not keys.is_visible()
    tab_to(page, "predict-cell .predict-choice")
    assert keys.is_visible()
    assert keys.inner_text() == "↑ ↓ option, ← → how sure, Enter commits"
    box, legend = keys.bounding_box(), cell.locator("legend").bounding_box()
    assert legend["y"] <= box["y"] <= legend["y"] + legend["height"], "above the options"
    page.keyboard.press("Enter")
    assert cell.locator(".predict-output").evaluate(OUTLINE) == ["solid", 2]


def test_after_a_click_no_outline_stands_around_the_output(cell):
    cell.locator(".predict-choice").first.click()
    assert cell.locator(".predict-output").evaluate(OUTLINE)[0] == "none"


def test_right_and_wrong_have_colours_of_their_own(page):
    colours = []
    for answer, name in ((RIGHT, "success"), (0, "danger")):
        page.evaluate("localStorage.clear()")
        cell = first(page)
        if state(cell) == "committed":
            cell.locator(".predict-anew").click()
        commit(cell, answer)
        line = cell.locator("[data-option]:visible")
        colours.append(line.evaluate("e => getComputedStyle(e).borderInlineStartColor"))
        expected = page.evaluate("""name => {
          const probe = document.body.appendChild(document.createElement('i'));
          probe.style.color = `var(--pst-color-${name})`;
          return getComputedStyle(probe).color; }""", name)
        assert colours[-1] == expected
    assert colours[0] != colours[1]


def test_after_the_commit_the_answer_cannot_be_changed_and_the_output_has_the_focus(page, cell):
    commit(cell, 0)
    assert all(button.is_disabled() for button in cell.locator("fieldset button").all())
    assert not cell.locator("[data-confidence=sure]").first.is_visible()
    assert page.evaluate("document.activeElement.className") == "predict-output"
    assert cell.get_by_role("status").inner_text().strip() == VERDICTS["en"][0]


def test_the_page_does_not_jump_where_the_output_can_be_seen_and_shows_it_where_not(page_of):
    page = page_of("section", lang="en", reduced_motion="reduce", **PHONE)
    cell = first(page)
    for top in (120, 560):
        page.reload()
        cell.evaluate("(e, top) => scrollTo(0, e.getBoundingClientRect().top + scrollY - top)", top)
        before = page.evaluate("scrollY")
        cell.locator(".predict-choice").first.evaluate("e => e.click()")
        moved = page.evaluate("scrollY") - before
        assert (moved == 0) == (top == 120)
        box = cell.locator("pre").first.bounding_box()
        assert box["y"] + box["height"] <= 800
        cell.locator(".predict-anew").click()
        page.evaluate("localStorage.clear()")
        page.evaluate("indexedDB.deleteDatabase('pytorch-inside-out')")


def test_the_form_has_its_place_while_its_script_loads(visit):
    heights = []
    for blocked in (True, False):
        visitor = visit(**PHONE)
        if blocked:
            visitor.context.route(re.compile("/predict[.]js"), lambda route: route.fulfill(
                body="", content_type="text/javascript"))
        cell = first(visitor.open(PAGES["section"], lang="en"))
        heights.append(cell.evaluate("e => e.getBoundingClientRect().height"))
    assert heights[0] == pytest.approx(heights[1], abs=0.5)


# ---- remembered ---------------------------------------------------------------------------------

def test_a_prediction_is_a_mark_with_what_was_said(page, cell):
    commit(cell, 0, "sure")
    made, = stored(page, 1)
    asked = cell.evaluate("e => [e.dataset.cell, e.dataset.edition]")
    assert [made["cell"], made["edition"]] == asked
    told = {key: made[key] for key in ("kind", "page", "response", "right", "confidence", "lang")}
    assert told == {"kind": "prediction", "page": "chapters/01-tensors/section", "lang": "en",
                    "response": "d-3acc21f1", "right": False, "confidence": "sure"}


def test_what_was_committed_shows_again_and_can_be_tried_anew(page, cell):
    commit(cell, 0, "guess")
    stored(page, 1)
    page.reload()
    assert state(cell) == "committed"
    assert (marks(cell), shown_feedback(cell)) == (["✗", "✓", "", ""], [VERDICTS["en"][0]])
    assert cell.locator(".predict-said").inner_text() == "A guess"
    assert cell.locator("pre").first.is_visible()
    assert page.locator(".explanation > .bi-pair").first.is_visible()
    assert state(page.locator("predict-cell").nth(1)) == "asking"
    cell.get_by_role("button", name="Try again").click()
    assert not cell.locator("pre").first.is_visible()
    assert page.evaluate("document.activeElement.matches('.predict-choice')")
    commit(cell, RIGHT, "sure")
    assert [made["right"] for made in stored(page, 2)] == [False, True]
    page.reload()
    assert marks(cell) == ["", "✓", "", ""]


def test_what_was_committed_shows_without_waiting_for_the_store(visit):
    visitor = visit()
    page = visitor.open(PAGES["section"], lang="en")
    commit(first(page), RIGHT)
    stored(page, 1)
    visitor.context.route(re.compile("/store[.]js"), lambda route: None)  # it never comes
    page.reload()
    assert state(first(page)) == "committed"


def test_an_answer_to_a_question_that_was_edited_does_not_show(visit):
    visitor = visit()
    page = visitor.open(PAGES["section"], lang="en")
    cell = first(page)
    commit(cell, RIGHT)
    stored(page, 1)
    page.evaluate("""() => { for (const [key, text] of Object.entries(localStorage)) {
      if (key.startsWith('book-predictions')) localStorage.setItem(key, text.replace(
        document.querySelector('predict-cell').dataset.edition, '000000000000')); } }""")
    visitor.context.route(re.compile("/store[.]js"), lambda route: None)
    page.reload()
    assert state(cell) == "asking"


def test_a_skipped_prediction_is_not_remembered(page, cell):
    cell.locator(".predict-skip").click()
    assert page.evaluate("document.activeElement.className") == "predict-output"
    page.reload()
    assert state(cell) == "asking"
    assert stored(page, 0) == []


def test_another_open_tab_shows_it_and_an_imported_one_too(visit):
    visitor = visit()
    left, right = (visitor.open(PAGES["section"], lang="en") for _ in range(2))
    stored(right, 0)
    commit(first(left), RIGHT)
    expect(first(right)).to_have_attribute("data-state", "committed")
    left.evaluate("localStorage.clear()")  # as when the marks come from another device
    left.reload()
    expect(first(left)).to_have_attribute("data-state", "committed")


def test_without_any_storage_it_works_for_the_visit(visit):
    visitor = visit()
    visitor.context.add_init_script("""for (const name of ['indexedDB', 'localStorage']) {
      Object.defineProperty(window, name, { get() { throw new Error('denied'); } }); }""")
    page = visitor.open(PAGES["section"], lang="en")
    commit(first(page), RIGHT)
    assert marks(first(page)) == ["", "✓", "", ""]
    page.reload()
    assert state(first(page)) == "asking"


def test_what_is_restored_does_not_shift_the_place_that_one_reads(visit):
    visitor = visit()
    page = visitor.open(PAGES["section"], lang="en")
    for cell in page.locator("predict-cell").all():
        commit(cell, 0)
    stored(page, 2)
    page.reload()
    heading = page.locator("article h2").last
    before = heading.evaluate("e => e.getBoundingClientRect().top + scrollY")
    visitor.context.route(re.compile("/predict[.]js"), hold := Held())
    page.goto(page.url.partition("?")[0] + "?lang=en", wait_until="commit")
    heading.wait_for()
    heading.evaluate("e => scrollTo({ top: e.getBoundingClientRect().top + scrollY - 100, "
                     "behavior: 'instant' })")
    top = heading.evaluate("e => e.getBoundingClientRect().top")
    assert heading.evaluate("e => e.getBoundingClientRect().top + scrollY") < before - 100
    hold.release()
    expect(first(page)).to_have_attribute("data-state", "committed")
    assert abs(heading.evaluate("e => e.getBoundingClientRect().top") - top) <= 1


class Held:
    """Keeps a request waiting until it is released."""

    def __call__(self, route):
        self.route = route

    def release(self):
        self.route.continue_()


# ---- reading straight through -------------------------------------------------------------------

def switch(page):
    page.locator(".reading-switch").click()


def test_the_switch_opens_all_on_every_page_and_folds_what_was_not_committed(page, cell):
    other = page.locator("predict-cell").nth(1)
    commit(cell, RIGHT)
    switch(page)
    outputs = page.locator("predict-cell pre")
    assert all(output.is_visible() for output in outputs.all())
    assert all(part.is_visible() for part in page.locator(".explanation > .bi-pair").all())
    assert not page.locator(".explanation-note:visible").count()
    assert not other.locator("[data-confidence=sure]").first.is_visible()
    assert not page.locator("details.fold pre:visible, .card-answer:visible").count()
    page.reload()
    assert page.evaluate("window.atBody.open") == "", "set before the first paint"
    assert page.locator(".reading-switch").get_attribute("aria-pressed") == "true"
    assert all(output.is_visible() for output in outputs.all())
    switch(page)
    assert outputs.first.is_visible()
    assert not other.locator("pre").first.is_visible()
    page.reload()
    assert not other.locator("pre").first.is_visible()


def test_the_switch_folds_what_was_only_looked_at(page, cell):
    cell.locator(".predict-skip").click()
    switch(page)
    switch(page)
    assert not cell.locator("pre").first.is_visible()
    commit(cell, RIGHT)
    assert cell.locator("pre").first.is_visible()


def test_read_straight_through_a_question_shows_what_is_right_and_can_be_answered_after_all(
        page, cell):
    switch(page)
    assert marks(cell) == ["", "✓", "", ""]
    assert cell.locator("legend").inner_text().strip() == "Output"
    cell.get_by_role("button", name="Predict after all").click()
    assert not cell.locator("pre").first.is_visible()
    assert not page.locator(".explanation").first.locator("> .bi-pair").first.is_visible()
    assert page.locator(".explanation-note:visible").count() == 1
    assert page.locator("predict-cell pre").nth(1).is_visible(), "the others stay open"
    commit(cell, RIGHT)
    assert page.locator(".explanation > .bi-pair").first.is_visible()
    assert stored(page, 1)[0]["right"] is True


def test_read_straight_through_shows_before_the_script_as_it_does_after(visit):
    visitor = visit(**PHONE)
    page = visitor.open(PAGES["section"], lang="en")
    switch(page)
    after = first(page).evaluate("e => e.getBoundingClientRect().height")
    visitor.context.route(re.compile("/predict[.]js"), lambda route: route.fulfill(
        body="", content_type="text/javascript"))
    page.reload()
    cell = first(page)
    assert state(cell) is None
    assert marks(cell) == ["", "✓", "", ""]
    assert cell.locator("pre").first.is_visible()
    assert cell.evaluate("e => e.getBoundingClientRect().height") == pytest.approx(after, abs=0.5)


def test_a_page_whose_script_was_lost_on_the_way_is_read_straight_through(visit):
    visitor = visit()
    visitor.context.route(re.compile("/predict[.]js"), lambda route: route.abort())
    page = visitor.open(PAGES["section"], lang="en")
    assert all(one.is_visible() for one in page.locator("predict-cell pre").all())
    assert all(one.is_visible() for one in page.locator(".explanation > .bi-pair").all())
    assert page.evaluate("localStorage.getItem('book-open')") is None
    lost, = visitor.errors
    assert "ERR_FAILED" in lost
    visitor.errors.clear()


@pytest.mark.parametrize(("lang", "on", "off"), [
    ("zh", "通读：结果、解释和答案都显示", "先预测：结果和解释等你作答"),
    ("en", "Reading through: outputs, explanations and answers show",
     "Predicting: outputs and explanations wait for you")])
def test_a_sign_in_the_header_tells_for_a_moment_what_it_did(page_of, lang, on, off):
    page = page_of("section", lang=lang, **PHONE)
    page.clock.install()
    told = page.get_by_role("status").and_(page.locator(".notice"))
    assert told.inner_text() == ""
    switch(page)
    assert told.inner_text() == on
    switch(page)
    assert told.inner_text() == off
    page.locator(".theme-button").click()
    assert told.inner_text() == {"zh": "明暗配色：亮色", "en": "Colour mode: light"}[lang]
    page.clock.run_for(3000)
    assert told.inner_text() == ""


def test_another_open_tab_follows_the_switch(visit):
    visitor = visit()
    left, right = (visitor.open(PAGES["section"], lang="en") for _ in range(2))
    switch(left)
    expect(right.locator("predict-cell pre").first).to_be_visible()
    assert right.locator(".reading-switch").get_attribute("aria-pressed") == "true"


def test_the_switch_has_a_name_and_says_its_state(page_of):
    for lang, name in (("zh", "通读"), ("en", "Read through")):
        page = page_of("section", lang=lang, **PHONE)
        button = page.get_by_role("button", name=name, exact=True, pressed=False)
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        button.click()
        assert page.get_by_role("button", name=name, exact=True, pressed=True).count() == 1


# ---- the page -----------------------------------------------------------------------------------

@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_before_and_after_and_read_straight_through(page_of, scheme):
    page = page_of("section", color_scheme=scheme, reduced_motion="reduce", **PHONE)
    found = {}
    for mode in ("zh", "en", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        found[mode] = violations(page, "predict-cell, .reading-switch", at_least=5)
    commit(first(page), 0, "sure")
    found["committed"] = violations(page, "predict-cell", at_least=5)
    switch(page)
    found["open"] = violations(page, "predict-cell", at_least=5)
    assert found == {key: [] for key in found}


SMALL = """() => [...document.querySelectorAll('predict-cell button')]
  .filter((button) => button.checkVisibility({ visibilityProperty: true }))
  .map((button) => [button.outerHTML.slice(0, 80), button.getBoundingClientRect()])
  .filter(([, box]) => box.height < 44 || box.width < 44).map(([html]) => html)"""


@pytest.mark.parametrize("width", [320, 390])
def test_a_finger_hits_each_button_on_a_phone_and_nothing_overflows(page_of, width):
    page = page_of("section", viewport={"width": width, "height": 800})
    for mode in ("zh", "en", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(SMALL) == []


def test_the_drill_page_tells_how_often_sure_was_right(visit):
    visitor = visit()
    page = visitor.open(PAGES["section"], lang="en")
    commit(page.locator("predict-cell").nth(0), 0, "sure")
    commit(page.locator("predict-cell").nth(1), RIGHT, "sure")
    stored(page, 2)
    page = visitor.open(PAGES["drill"], lang="en")
    page.locator(".record").wait_for()
    rows = page.locator(".record tr").evaluate_all(
        "rows => rows.map((row) => [...row.cells].slice(1).map((cell) => cell.innerText.trim()))")
    assert rows[1:] == [["1 / 2", "–", "–", "–"]] * 2
    assert "tells nothing yet" in page.locator(".record-summary").inner_text()
    assert violations(page, "prediction-record", at_least=3) == []


@pytest.mark.parametrize(("lang", "words"), [
    ("zh", ["正文", "卡片不计"]), ("en", ["in the chapters", "cards are not counted"])])
def test_the_drill_page_says_that_only_predictions_in_the_chapters_count(visit, lang, words):
    record = visit().open(PAGES["drill"], lang=lang).locator("prediction-record")
    expect(record.locator("p")).to_be_visible()
    said = record.inner_text()
    assert all(word in said for word in words), said


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
    cell.locator(".predict-skip").click()
    assert cell.locator("details pre").first.is_visible()
    assert page.locator(".explanation > .bi-pair").first.is_visible()
    assert shown_feedback(cell) == []
    assert marks(cell) == ["", "✓", "", ""], "which one is right, and nothing of the reader"
    assert cell.locator("legend").inner_text().strip() == "Output"
    cell.get_by_role("button", name="Predict after all").click()
    assert cell.locator("legend").inner_text().strip() == "Predict, then see the output"
    assert not cell.locator("details pre").first.is_visible()
    assert marks(cell) == [""] * 4
    commit(cell, 0)
    assert [made["response"] for made in stored(page, 1)] == ["d-3acc21f1"]


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
