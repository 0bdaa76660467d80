"""The drill in Chromium: a card by keyboard in each language, and no grade is ever lost."""

import gzip
import json
import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest
from jsonschema import Draft202012Validator
from playwright.sync_api import expect

from book.pipeline.ground.paths import ROOT
from oracles.web import chromium as program
from oracles.web.axe import violations
from tests.helpers.languages import CHINESE
from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser

PAGE = PAGES["drill"]
CARDS = 7  # of the specimen: one of each kind and a second that is scored
SCHEMA = json.loads((ROOT / "book/web/drill/event.schema.json").read_text("utf-8"))
EVENT = Draft202012Validator({"$ref": "#/$defs/event", "$defs": SCHEMA["$defs"]})
SCRIPT_BUDGET = 25_000  # bytes, compressed

STORED = """() => new Promise((resolve, reject) => {
  const request = indexedDB.open('pytorch-inside-out');
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const all = request.result.transaction('events').objectStore('events').getAll();
    all.onsuccess = () => {
      request.result.close();
      resolve(all.result.sort((a, b) => a.time - b.time));
    };
  };
})"""
FOCUSED = "document.activeElement.className"


@pytest.fixture
def drill(visit):
    """Open the drill as a new reader, ready to start."""
    def make(lang="en", visitor=None, **options):
        page = (visitor or visit(**options)).open(PAGE, lang=lang)
        page.locator(".drill-numbers").wait_for()
        return page
    return make


def stored(page):
    return page.evaluate(STORED)


def phase(page):
    return page.locator("card-drill").get_attribute("data-phase")


def wait_for(page, name):
    page.locator(f"card-drill[data-phase={name}]").wait_for()


def numbers(page):
    """Due, new and done as the start screen says them."""
    return tuple(int(text) for text in page.locator(".drill-numbers dd").all_inner_texts())


def start(page):
    page.locator(".drill-numbers button").click()
    wait_for(page, "question")


def question(page):
    return page.locator(".drill-question").inner_text()


def to_answer(page, confidence="t", option="1"):
    """From the question to the answer, by keyboard."""
    if page.locator("input[name=response]").count():
        page.keyboard.press(option)
    page.keyboard.press(confidence)
    page.keyboard.press("Enter")
    wait_for(page, "answer")


def grade(page, key="3"):
    """Grade by keyboard and wait for the screen that follows."""
    page.keyboard.press(key)
    page.locator("card-drill:not([data-phase=answer])").wait_for()


def answer_one(page, key="3", **options):
    to_answer(page, **options)
    grade(page, key)


def to_scored(page):
    """Go on to a card with options."""
    for _ in range(20):
        if page.locator("input[name=response]").count():
            return
        answer_one(page)
    raise AssertionError("no card with options came")


def to_layers(page):
    """Go on to a card that answers in layers, and open its answer."""
    for _ in range(20):
        to_answer(page)
        if page.locator(".drill-line").count():
            return
        grade(page)
    raise AssertionError("no card with layers came")


def notice(page):
    return page.locator(":is(.drill-notice, .drill-near):not(:empty)")


def open_files(page):
    page.locator("details:has(input[type=file]) > summary").click()


def import_text(page, text):
    """Import a file with this text; the notice that follows, one line each."""
    page.locator("input[type=file]").set_input_files(
        {"name": "progress.json", "mimeType": "application/json", "buffer": text.encode()})
    expect(notice(page)).not_to_have_text(re.compile(r"^$|Reading the file|Saving \d+ records"))
    return notice(page).inner_text()


def export(page):
    """The text of the file that the Export button saves."""
    with page.expect_download() as download:
        page.locator(".drill-row button").first.click()
    assert re.fullmatch(r"pytorch-inside-out-progress-\d{4}-\d\d-\d\d\.json",
                        download.value.suggested_filename)
    return download.value.path().read_text("utf-8")


# ---- a sitting ----------------------------------------------------------------------------------

@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_day_is_done_by_keyboard_alone(drill, lang):
    page = drill(lang)
    page.locator("article h1").click()
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == "drill-primary":
            break
    due, new, done = numbers(page)
    assert (due, done) == (0, 0)
    assert new == CARDS
    page.keyboard.press("Enter")
    wait_for(page, "question")
    for n in range(new):
        assert page.evaluate(FOCUSED) == "drill-heading drill-question"
        answer_one(page, key="4", confidence="sg"[n % 2])
        assert bool(CHINESE.search(notice(page).inner_text())) == (lang == "zh")
        if phase(page) == "done":
            break
    events = stored(page)
    assert all(event["lang"] == lang and event["button"] == 4 for event in events)
    assert [error.message for event in events for error in EVENT.iter_errors(event)] == []
    assert all(event["grade"] <= 2 for event in events if event["confidence"] == "guess")
    again = sum(event["grade"] == 1 for event in events)
    if phase(page) != "done":  # wrong options come back the same day
        assert again > 0
    assert len({event["device"] for event in events}) == 1


def test_the_focus_follows_the_card(drill):
    page = drill()
    start(page)
    assert page.evaluate(FOCUSED) == "drill-heading drill-question"
    to_answer(page)
    assert page.evaluate(FOCUSED) == "drill-heading"
    grade(page)
    assert page.evaluate(FOCUSED) == "drill-heading drill-question"
    page.locator(".drill-header button").click()
    assert page.evaluate(FOCUSED) == "drill-heading"
    assert numbers(page)[2] == 1


def test_shortcuts_sleep_while_the_focus_is_elsewhere(drill):
    page = drill()
    start(page)
    page.evaluate("document.querySelector('[data-set-lang=en]').focus()")
    page.keyboard.press("s")
    assert page.locator("input[name=confidence]:checked").count() == 0
    page.locator(".drill-question").click()
    page.keyboard.press("Control+s")
    assert page.locator("input[name=confidence]:checked").count() == 0
    page.keyboard.press("s")
    assert page.locator("input[name=confidence]:checked").count() == 1


def test_the_answer_stays_shut_until_the_reader_has_committed(drill):
    page = drill()
    start(page)
    to_scored(page)
    page.keyboard.press("Enter")
    assert page.locator(".drill-hint").inner_text().startswith("Choose an answer")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    assert page.locator(".drill-hint").inner_text().startswith("First say")
    assert page.locator(".drill-answer").count() == 0
    page.keyboard.press("s")
    page.keyboard.press("Space")
    wait_for(page, "answer")


def test_arrow_keys_move_among_the_options(drill):
    page = drill()
    start(page)
    to_scored(page)
    page.keyboard.press("1")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("input[name=response]:checked").get_attribute("value")
    assert chosen == page.locator("input[name=response]").nth(1).get_attribute("value")


def test_a_wrong_option_counts_as_again_and_sure_and_wrong_opens_the_refutation(drill):
    page = drill()
    start(page)
    to_scored(page)
    asked = question(page)
    options = page.locator("input[name=response]")
    values = [option.get_attribute("value") for option in options.all()]
    wrong = next(i for i, value in enumerate(values) if value.startswith("d-"))
    to_answer(page, confidence="s", option=str(wrong + 1))
    assert page.locator(".drill-verdict").inner_text().startswith("That's not it.")
    assert page.locator(".drill-refute").is_visible()
    assert page.locator(".drill-suggestion").inner_text() == "Suggested: Again"
    opened = page.locator("details[open] > summary").all_inner_texts()
    assert opened == ["Common wrong answers", "Proof"]
    assert page.locator(".drill-grade-note").all_inner_texts()[1:] == ["counts as Again"] * 3
    grade(page, "4")
    event = stored(page)[-1]
    assert (event["button"], event["grade"], event["confidence"]) == (4, 1, "sure")
    assert event["response"] == values[wrong]
    for _ in range(12):  # it returns the same day, with its refutation
        if question(page) == asked:
            break
        answer_one(page)
    assert question(page) == asked
    to_answer(page, option=str(1 + next(
        i for i, option in enumerate(page.locator("input[name=response]").all())
        if option.get_attribute("value") == "answer")))
    assert page.locator(".drill-refute").is_visible()


@pytest.mark.parametrize(("lang", "claim"), [
    ("zh", "切片总是复制数据（错误）"), ("en", "A slice always copies its data (wrong)")])
def test_the_answer_says_the_false_claims_that_the_card_refutes(drill, lang, claim):
    page = drill(lang=lang)
    start(page)
    to_answer(page)
    for _ in range(30):
        if page.locator(".drill-corrects").count():
            break
        grade(page)
        to_answer(page)
    said = page.locator(".drill-corrects li").all_inner_texts()
    assert claim in [item.strip() for item in said]


# ---- an answer in layers ------------------------------------------------------------------------

LINES = {"zh": "切片共用字节，复制品自己有一份。",
         "en": "A slice shares the bytes; a clone has its own."}
PUSH = {"zh": "如果追问", "en": "If they push"}
SIZE = "e => { const s = getComputedStyle(e); return [parseFloat(s.fontSize), +s.fontWeight]; }"


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_line_stands_out_then_come_the_reasons_and_the_limit_waits_under_its_label(drill, lang):
    page = drill(lang)
    start(page)
    to_layers(page)
    line, because = page.locator(".drill-line"), page.locator(".drill-because")
    assert line.inner_text() == LINES[lang]
    (large, bold), (size, weight) = line.evaluate(SIZE), because.evaluate(SIZE)
    assert large > size
    assert bold >= 600 > weight
    push = page.locator(".drill-answer details").first
    assert push.locator("summary").inner_text() == PUSH[lang]
    heights = [part.bounding_box()["y"] for part in (line, because, push)]
    assert heights == sorted(heights)
    assert push.locator("code").locator("visible=true").count() == 0


def test_the_limit_opens_by_keyboard(drill, tab_to):
    page = drill()
    start(page)
    to_layers(page)
    limit = page.get_by_text("not the graph")
    assert not limit.locator("visible=true").count()
    tab_to(page, ".drill-because + details > summary")
    page.keyboard.press("Enter")
    assert phase(page) == "answer"
    expect(limit.locator("visible=true")).to_have_count(1)


def test_a_reader_who_was_sure_and_said_again_meets_the_limit_open_the_next_time(drill):
    page = drill()
    start(page)
    for _ in range(20):
        to_answer(page, confidence="s")
        if page.locator(".drill-line").count():
            break
        grade(page, "4")
    asked = question(page)
    assert page.locator(".drill-because + details").get_attribute("open") is None
    grade(page, "1")
    for _ in range(12):
        if question(page) == asked:
            break
        answer_one(page, key="4")
    to_answer(page)
    assert page.locator(".drill-because + details").get_attribute("open") == ""


def test_not_sure_is_scored_without_asking_how_sure(drill):
    page = drill()
    start(page)
    to_scored(page)
    page.keyboard.press(str(page.locator("input[name=response]").count()))
    assert not page.locator(".drill-confidence").is_visible()
    page.keyboard.press("Enter")
    wait_for(page, "answer")
    grade(page, "3")
    event = stored(page)[-1]
    assert (event["response"], event["confidence"], event["grade"]) == ("unsure", "guess", 1)


def test_the_right_option_is_what_the_snippet_printed(drill):
    page = drill()
    start(page)
    to_scored(page)
    right = page.locator("label:has(input[value=answer])")
    text = right.locator("code").inner_text()
    right.click()
    page.keyboard.press("t")
    page.keyboard.press("Enter")
    assert page.locator(".drill-answer .drill-output").first.inner_text() == text
    assert page.locator(".drill-verdict").inner_text() == "Right."


def test_the_suggestion_follows_the_points(drill):
    page = drill()
    start(page)
    to_answer(page, confidence="t")
    points = page.locator(".drill-points input")
    suggestion = page.locator(".drill-suggestion")
    expect(suggestion).to_have_text("Suggested: Again", use_inner_text=True)
    for letter in "abcd"[:points.count()]:
        page.keyboard.press(letter)
    assert all(point.is_checked() for point in points.all())
    expect(suggestion).to_have_text("Suggested: Good", use_inner_text=True)
    assert page.locator(".is-suggested").get_attribute("data-grade") == "3"
    page.keyboard.press("a")
    expect(suggestion).to_have_text("Suggested: Hard", use_inner_text=True)
    grade(page, "3")
    assert stored(page)[-1]["points"] == [False, True, True]


def test_a_guess_says_on_the_buttons_that_it_counts_as_hard(drill):
    page = drill()
    start(page)
    to_answer(page, confidence="g")
    assert page.locator(".drill-grade-note").all_inner_texts() == [
        "today", "1 day", "counts as Hard", "counts as Hard"]
    grade(page, "3")
    assert [stored(page)[-1][key] for key in ("button", "grade")] == [3, 2]


def test_cards_return_on_their_day(visit, drill):
    visitor = visit(timezone_id="Asia/Shanghai")
    page = visitor.context.new_page()
    page.clock.install(time="2026-03-01T12:00:00+08:00")
    page.goto(f"{visitor.site}{PAGE}?lang=en")
    page.locator(".drill-numbers").wait_for()
    start(page)
    to_answer(page)
    assert page.locator(".drill-grade-note").all_inner_texts()[2] == "2 days"
    grade(page, "3")
    assert stored(page)[0]["zone"] == 480
    for moment, due in (("2026-03-03T03:59:00+08:00", 0), ("2026-03-03T04:00:00+08:00", 1)):
        page.clock.set_fixed_time(moment)
        page.reload()
        page.locator(".drill-numbers").wait_for()
        assert numbers(page)[0] == due
    start(page)
    answer_one(page)
    assert [event["elapsed"] for event in stored(page)] == [None, 2]


# ---- on a phone ---------------------------------------------------------------------------------

HELD = """() => [...document.querySelectorAll('card-drill .highlight pre')].map((pre) => {
  pre.closest('details')?.setAttribute('open', '');
  const line = pre.querySelector('.line');
  return [pre.scrollWidth > pre.clientWidth, line ? getComputedStyle(line).display : null];
})"""


@pytest.mark.parametrize("width", [320, 390])
def test_code_wraps_on_a_phone(drill, width):
    page = drill(viewport={"width": width, "height": 800})
    start(page)
    to_scored(page)
    to_answer(page)
    held = page.evaluate(HELD)
    assert "block" in [display for _, display in held], "the proof has long lines"
    assert not any(scrolls for scrolls, _ in held), held


def test_on_a_phone_nothing_but_the_card_stands_below_the_title(drill):
    page = drill(viewport={"width": 390, "height": 800})
    later = [page.locator("prediction-record"), page.locator("article h2:not(.drill-heading)").last]
    assert all(part.is_visible() for part in later)
    start(page)
    assert not any(part.is_visible() for part in later)
    to_answer(page)
    assert not any(part.is_visible() for part in later)
    page.set_viewport_size({"width": 1280, "height": 800})
    assert all(part.is_visible() for part in later)
    page.set_viewport_size({"width": 390, "height": 800})
    page.locator(".drill-header button").click()
    assert all(part.is_visible() for part in later)


def test_a_narrow_screen_shows_no_keys(drill):
    page = drill()
    start(page)
    key = page.locator("card-drill kbd").first
    assert key.is_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert not key.is_visible()


def test_the_lines_of_an_option_begin_at_one_edge(drill):
    page = drill(lang="both")
    start(page)
    to_scored(page)
    lefts = page.locator(".drill-option-output").first.evaluate("""(code) => {
      code.textContent = '[0.0]\\n[1.0]';
      const words = document.createRange();
      words.selectNodeContents(code);
      return [...words.getClientRects()].filter(({ width }) => width).map(({ left }) => left);
    }""")
    assert len(lefts) == 2
    assert lefts[0] == lefts[1]


# ---- nothing is lost, nothing counts twice ------------------------------------------------------

def test_a_reload_in_mid_card_keeps_what_was_graded_and_asks_the_same_card(drill):
    page = drill()
    start(page)
    answer_one(page)
    answer_one(page)
    asked = question(page)
    to_answer(page)
    page.reload()
    page.locator(".drill-numbers").wait_for()
    assert numbers(page)[2] == 2
    start(page)
    assert question(page) == asked
    assert len(stored(page)) == 2


@contextmanager
def chromium(browser_type, profile):
    """A Chromium of our own, so that it can be killed; yields its process and a connection."""
    (profile / "DevToolsActivePort").unlink(missing_ok=True)
    process = subprocess.Popen(
        [program.path(), *program.FLAGS, "--headless", "--remote-debugging-port=0",
         f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process, browser_type.connect_over_cdp(f"http://127.0.0.1:{port_of(profile)}")
    finally:
        kill(process)


def port_of(profile, seconds=600):
    """The debugging port, which Chromium writes into its profile when it is up."""
    file = profile / "DevToolsActivePort"
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if file.exists() and (lines := file.read_text().split()):
            return int(lines[0])
        time.sleep(0.05)
    raise AssertionError("Chromium did not come up")


def kill(process):
    """Kill a browser with all its processes, at once and without any farewell."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_browser_killed_right_after_a_grade_has_it(browser, site, tmp_path):
    for sitting in (1, 2, 3):
        with chromium(browser.browser_type, tmp_path) as (process, connection):
            page = connection.contexts[0].new_page()
            page.goto(f"{site}{PAGE}?lang=en")
            page.locator(".drill-numbers").wait_for()
            assert numbers(page)[2] == sitting - 1
            start(page)
            to_answer(page, option="5")
            page.keyboard.press("3")
            wait_for(page, "question")
            kill(process)
    with chromium(browser.browser_type, tmp_path) as (_, connection):
        page = connection.contexts[0].new_page()
        page.goto(f"{site}{PAGE}?lang=en")
        page.locator(".drill-numbers").wait_for()
        assert len(stored(page)) == 3


def test_a_grade_in_one_tab_moves_the_other_on_and_counts_once(visit, drill):
    visitor = visit()
    left, right = drill(visitor=visitor), drill(visitor=visitor)
    start(left)
    start(right)
    asked = question(left)
    assert question(right) == asked
    to_answer(right)
    answer_one(left)
    expect(notice(right)).to_contain_text("Another tab")
    assert phase(right) == "question"
    assert question(right) == question(left) != asked
    assert len(stored(left)) == 1


def test_two_tabs_that_grade_at_the_same_moment_count_once(visit, drill):
    visitor = visit()
    left, right = drill(visitor=visitor), drill(visitor=visitor)
    right.evaluate("document.querySelector('card-drill').session.store.channel.close()")
    start(left)
    start(right)  # no message reaches it any more
    to_answer(left)
    to_answer(right)
    grade(left)
    grade(right)
    expect(notice(right)).to_contain_text("Another tab")
    assert len(stored(left)) == 1
    assert question(right) == question(left)


def test_the_start_screen_of_another_tab_follows(visit, drill):
    visitor = visit()
    left, right = drill(visitor=visitor), drill(visitor=visitor)
    start(left)
    answer_one(left)
    expect(right.locator(".drill-count-done dd")).to_have_text("1")


def test_without_a_database_the_drill_works_and_says_what_is_lost(visit):
    visitor = visit()
    visitor.context.add_init_script(
        "Object.defineProperty(window, 'indexedDB', { get() { throw new Error('denied'); } })")
    page = visitor.open(PAGE, lang="en")
    page.locator(".drill-numbers").wait_for()
    assert "progress is lost" in page.locator(".drill-unsaved").inner_text()
    start(page)
    answer_one(page)
    page.locator(".drill-header button").click()
    assert numbers(page)[2] == 1
    open_files(page)
    assert len(json.loads(export(page))["events"]) == 1


def test_a_write_that_fails_is_said_and_the_card_stays(drill):
    page = drill()
    start(page)
    page.evaluate("document.querySelector('card-drill').session.store.db.close()")
    to_answer(page)
    page.keyboard.press("3")
    expect(notice(page)).to_contain_text("Not saved")
    assert phase(page) == "answer"
    assert stored(page) == []


def test_a_write_that_fails_is_said_where_the_thumb_is(drill):
    page = drill(viewport={"width": 390, "height": 844})
    start(page)
    page.evaluate("document.querySelector('card-drill').session.store.db.close()")
    to_answer(page)
    page.locator("[data-grade='3']").click()
    expect(notice(page)).to_contain_text("Not saved")
    expect(notice(page)).to_be_in_viewport(ratio=1)
    expect(page.locator("[data-grade='3']")).to_be_in_viewport(ratio=1)
    gap = page.evaluate("""() => {
      const [buttons, told] = [".drill-buttons", ".drill-near:not(:empty)"].map(
        (one) => document.querySelector(one).getBoundingClientRect());
      return buttons.top - told.bottom;
    }""")
    assert 0 <= gap < 40


def test_what_came_of_a_file_is_said_beside_the_button(drill, tmp_path):
    page = drill(viewport={"width": 390, "height": 844})
    open_files(page)
    (tmp_path / "other.json").write_text("{}")
    page.set_input_files("card-drill input[type=file]", tmp_path / "other.json")
    expect(notice(page)).to_contain_text("Nothing imported")
    expect(notice(page)).to_be_in_viewport(ratio=0.9)


def test_a_long_import_says_at_once_that_it_goes_on_and_how_far(drill, tmp_path):
    page = drill()
    start(page)
    answer_one(page)
    page.locator(".drill-header button").click()
    open_files(page)
    data = json.loads(export(page))
    [event] = data["events"]
    data["events"] = [event | {"id": f"00000000-0000-4000-8000-{n:012x}", "time": event["time"] + n}
                      for n in range(1, 6001)]
    (tmp_path / "many.json").write_text(json.dumps(data))
    page.evaluate("""() => { window.said = [];
      const near = document.querySelector(".drill-near");
      const look = new MutationObserver(() => said.push(near.innerText));
      look.observe(near, { childList: true }); }""")
    page.set_input_files("card-drill input[type=file]", tmp_path / "many.json")
    expect(notice(page)).to_contain_text("6000 new")
    said = page.evaluate("said")
    assert said[0] == "Reading the file …"
    assert "Saving 6000 records, 2000 done …" in said


def test_why_there_is_nothing_to_drill_is_said_with_the_way_on(drill):
    page = drill()
    nothing, button = page.locator(".drill-nothing"), page.get_by_role(
        "button", name="Choose all cards")
    assert not button.count()
    page.locator(".drill-fold", has_text="Choose cards").locator("summary").click()
    boxes = page.locator("input[name=chapter]")
    for box in boxes.all():
        box.uncheck()
    expect(nothing).to_contain_text("No cards are chosen.")
    button.click()
    assert all(box.is_checked() for box in boxes.all())
    assert numbers(page)[1] == CARDS
    assert not nothing.count()
    limit = page.locator("input[name=limit]")
    limit.fill("")
    limit.press("Enter")
    expect(limit).to_have_value("10")  # nothing is no number, and changes nothing
    limit.fill("0")
    limit.press("Enter")
    expect(nothing).to_contain_text("“New cards a day” is 0")


def test_due_cards_that_the_choice_hides_are_said(drill):
    page = drill()
    start(page)
    to_answer(page)
    page.keyboard.press("1")
    page.locator(".drill-header button").click()
    page.locator(".drill-fold", has_text="Choose cards").locator("summary").click()
    assert numbers(page)[0] == 1
    for box in page.locator("input[name=kind]").all():
        box.uncheck()
    expect(page.locator(".drill-left-out")).to_contain_text("1 more card is due")
    page.get_by_role("button", name="Choose all cards").click()
    assert numbers(page)[0] == 1
    assert not page.locator(".drill-left-out").count()


def test_choices_are_remembered(drill):
    page = drill()
    page.locator(".drill-fold > summary").first.click()
    page.locator("input[name=limit]").fill("3")
    page.locator("input[name=limit]").press("Enter")
    page.locator("input[name=level][value=staff]").uncheck()
    expect(page.locator(".drill-count-new dd")).to_have_text("3")
    page.reload()
    page.locator(".drill-numbers").wait_for()
    assert numbers(page)[1] == 3
    assert not page.locator("input[name=level][value=staff]").is_checked()
    start(page)
    assert "Junior" in page.locator(".drill-header").inner_text()


# ---- files --------------------------------------------------------------------------------------

@pytest.fixture
def practised(drill):
    """A page with three reviews, on its start screen, with the fold of the progress file open."""
    page = drill()
    start(page)
    for _ in range(3):
        answer_one(page)
    page.locator(".drill-header button").click()
    open_files(page)
    return page


def test_an_export_obeys_the_schema_and_importing_it_again_changes_nothing(practised, drill):
    text = export(practised)
    Draft202012Validator(SCHEMA).validate(json.loads(text))
    assert len(json.loads(text)["events"]) == 3
    assert import_text(practised, text) == "The file holds 3 reviews, 0 new."
    assert export(practised) == text
    other = drill()
    open_files(other)
    assert import_text(other, text) == "The file holds 3 reviews, 3 new."
    assert numbers(other)[2] == 3
    assert export(other) == text


def test_two_devices_merge_to_the_same_progress_either_way(practised, drill):
    other = drill()
    start(other)
    answer_one(other, key="1")
    other.locator(".drill-header button").click()
    open_files(other)
    here, there = export(practised), export(other)
    import_text(practised, there)
    import_text(other, here)
    merged = export(practised)
    assert export(other) == merged
    assert len(json.loads(merged)["events"]) == 4
    assert len({event["device"] for event in json.loads(merged)["events"]}) == 2


def test_a_card_of_a_later_edition_is_kept_and_named(practised):
    content = json.loads(export(practised))
    content["events"] = [content["events"][0] | {
        "id": "00000000-0000-4000-8000-000000000001", "card": "tensors-of-next-year"}]
    told = import_text(practised, json.dumps(content))
    assert told == ("The file holds 1 review, 1 new. "
                    "Kept, though this edition does not have these cards: tensors-of-next-year.")
    assert "tensors-of-next-year" in export(practised)


FAULTS = {
    "cut short": (lambda text: text[:-30], "not JSON"),
    "of another program": (lambda _: '{"cards": []}', "not a progress file of this book"),
    "of a later version": (lambda text: text.replace('"schema": 2', '"schema": 3'), "newer"),
    "with a broken field": (lambda text: text.replace('"grade":', '"grade":"x","was":', 1),
                            'review 1 .*: grade is "x", expected'),
    "with a field too many": (lambda text: text.replace('"mode":', '"more":1,"mode":', 1),
                              '"more" is unknown'),
    "with a contradiction": (lambda text: text.replace('"button":3', '"button":2'),
                             "two different records"),
    "with a broken mark": (lambda text: text.replace('"marks": [', '"marks": [{"kind": "dream"}'),
                           "mark 1: id is missing"),
    "without its marks": (lambda text: text.replace('"marks"', '"remarks"'),
                          "no list called marks"),
    "with markup": (lambda text: text.replace('"mode":"page"', '"mode":"<img src=x>"'),
                    "<img src=x>"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_is_refused_in_one_line_and_changes_nothing(practised, fault):
    change, reason = FAULTS[fault]
    before = export(practised)
    broken = change(before)
    assert broken != before
    told = import_text(practised, broken)
    assert re.search(rf"^Nothing imported, progress unchanged: .*{reason}", told)
    assert "\n" not in told
    assert export(practised) == before
    practised.locator("[data-set-lang=zh]").click()
    assert notice(practised).inner_text().startswith("没有导入，进度未变：")


# ---- an older edition of the book ---------------------------------------------------------------

OLD_TAB = """(events) => new Promise((resolve, reject) => {
  const request = indexedDB.open('pytorch-inside-out', 1);
  request.onupgradeneeded = () => {
    const db = request.result;
    db.createObjectStore('events', { keyPath: 'id' }).createIndex('card', 'card');
    db.createObjectStore('settings');
  };
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    window.old = request.result;
    window.old.onversionchange = () => window.old.close();  // as that edition does
    const tx = window.old.transaction(['events', 'settings'], 'readwrite');
    for (const event of events) tx.objectStore('events').add(event);
    tx.objectStore('settings').put('00000000-0000-4000-8000-00000000000d', 'device');
    tx.oncomplete = () => resolve();
  };
})"""
MARK = {"kind": "read", "page": "chapters/01-tensors/section"}
ADD_MARK = "mark => document.querySelector('card-drill').session.store.mark(mark)"
MARKS = "document.querySelector('card-drill').session.store.marks()"


@pytest.fixture
def old_tab(visit, practised):
    """A tab of the edition that stored no marks, with three reviews, and its visitor."""
    events = stored(practised)
    visitor = visit()
    tab = visitor.open("_static/drill-cards.json")  # no script of this edition runs there
    tab.evaluate(OLD_TAB, events)
    return visitor, tab, events


def test_what_an_older_edition_stored_is_kept_also_with_its_tab_still_open(old_tab, drill):
    visitor, tab, events = old_tab
    page = drill(visitor=visitor)
    assert stored(page) == events
    assert numbers(page)[2] == 3
    made = page.evaluate(ADD_MARK, MARK)
    assert made["device"].endswith("d")  # this browser keeps its name
    assert page.evaluate(MARKS) == [made]
    assert "InvalidStateError" in tab.evaluate(
        "() => { try { old.transaction('events'); } catch (error) { return error.name; } }")
    page.reload()
    page.locator(".drill-numbers").wait_for()
    assert page.evaluate(MARKS) == [made]
    assert stored(page) == events


def test_a_file_of_an_older_edition_is_taken(practised, drill):
    content = json.loads(export(practised))
    old = {"format": content["format"], "schema": 1, "events": content["events"]}
    other = drill()
    open_files(other)
    assert import_text(other, json.dumps(old)) == "The file holds 3 reviews, 3 new."
    assert export(other) == export(practised)


def test_marks_go_with_the_progress_file_and_reach_other_tabs(visit, drill):
    visitor = visit()
    left, right = drill(visitor=visitor), drill(visitor=visitor)
    left.evaluate(ADD_MARK, MARK)
    for page in (left, right):
        page.reload() if page is left else None
        open_files(page)
        expect(page.locator(".drill-start")).to_contain_text("0 reviews and 1 mark from reading")
    text = export(right)
    Draft202012Validator(SCHEMA).validate(json.loads(text))
    other = drill()
    open_files(other)
    assert import_text(other, text) == ("The file holds 0 reviews, 0 new. "
                                        "It also holds 1 mark from reading, 1 new.")
    assert export(other) == text


# ---- the page -----------------------------------------------------------------------------------

SCREENS = ("start", "question", "answer", "layers")


def show(page, screen):
    """A screen with all that it can show: folds open, options there."""
    if screen == "layers":
        start(page)
        to_layers(page)
    elif screen != "start":
        start(page)
        to_scored(page)
    if screen == "answer":
        wrong = page.locator("input[value^=d-]").first
        wrong.click()
        page.keyboard.press("s")
        page.keyboard.press("Enter")
        wait_for(page, "answer")
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_drill(drill, scheme, screen):
    page = drill(color_scheme=scheme, reduced_motion="reduce")
    show(page, screen)
    found = {}
    for mode in ("zh", "en", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        found[mode] = violations(page, "card-drill", at_least=11)
    assert found == {"zh": [], "en": [], "both": []}


SMALL = """() => [...document.querySelectorAll(
  'card-drill :is(button, summary, label, input[type=number])')]
  .filter((element) => element.getClientRects().length)
  .map((element) => [element.outerHTML.slice(0, 80), element.getBoundingClientRect()])
  .filter(([, box]) => box.height < 44 || box.width < 44).map(([html]) => html)"""


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_shows_it_without_overflow_and_a_finger_hits_each_control(drill, width, screen):
    page = drill(viewport={"width": width, "height": 700}, has_touch=True)
    show(page, screen)
    for mode in ("zh", "en", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate(SMALL) == []


def test_a_card_is_done_by_touch(drill):
    page = drill("zh", has_touch=True, viewport={"width": 390, "height": 800})
    page.locator(".drill-numbers button").tap()
    wait_for(page, "question")
    if page.locator("input[name=response]").count():
        page.locator(".drill-options label").first.tap()
    page.locator(".drill-confidence label").first.tap()
    page.locator("button[type=submit]").tap()
    wait_for(page, "answer")
    page.locator(".drill-points label").first.tap()
    page.locator("[data-grade='2']").tap()
    wait_for(page, "question")
    assert stored(page)[0]["points"][0] is True


def test_switching_the_language_keeps_the_card_and_what_was_chosen(drill):
    page = drill("zh")
    start(page)
    to_scored(page)
    page.keyboard.press("2")
    chinese = question(page)
    page.locator("[data-set-lang=en]").click()
    assert page.locator("input[name=response]").nth(1).is_checked()
    assert CHINESE.search(chinese)
    assert not CHINESE.search(page.locator("card-drill").inner_text())


def test_without_scripts_the_page_points_to_the_cards_of_the_sections(visit):
    page = visit(java_script_enabled=False).open(PAGE)
    text = page.locator("card-drill").inner_text()
    assert "练习需要 JavaScript" in text
    assert "The drill needs JavaScript" in text


def test_cards_that_cannot_be_loaded_are_said(visit):
    visitor = visit()
    visitor.context.route("**/drill-cards.json*", lambda route: route.fulfill(status=503))
    page = visitor.open(PAGE, lang="en")
    expect(notice(page)).to_contain_text("could not be loaded")
    visitor.errors.clear()  # Chromium logs the 503 itself


def test_links_of_a_card_lead_to_it_in_the_book(drill):
    page = drill()
    start(page)
    to_answer(page)
    page.get_by_role("link", name="See this card in the book").click()
    assert "/chapters/" in page.url
    card = page.locator(f"article[id='{page.url.partition('#')[2]}']")
    expect(card).to_be_visible()


def test_the_scripts_stay_small(specimen):
    sizes = [len(gzip.compress((specimen / "_static" / name).read_bytes(), 6))
             for name in ("drill.js", "drill.css")]
    print(f"drill: {sum(sizes)} bytes")
    assert sum(sizes) <= SCRIPT_BUDGET
