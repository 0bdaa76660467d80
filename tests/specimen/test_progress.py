"""The book remembers where the reader was and what is read, and says so without moving anything."""

import json
import re

import pytest
from playwright.sync_api import expect

from oracles.web.axe import violations
from tests.specimen.conftest import CHAPTER, PAGES

pytestmark = pytest.mark.browser

SECTION = f"{CHAPTER}/section"
PLACE = "((text) => text?.startsWith('{\"') ? JSON.parse(text) : null)" \
        "(localStorage.getItem('book-position'))"
SCROLL = """(id) => {
  document.documentElement.style.scrollBehavior = 'auto';
  const to = document.getElementById(id).getBoundingClientRect().top + scrollY - innerHeight * 0.3;
  scrollTo({ top: to, behavior: 'instant' });
}"""
# Before a page's scripts: the clock that its script reads can be put forward.
CLOCK = """{ const now = Date.now; let ahead = 0;
  Date.now = () => now() + ahead; window.later = (seconds) => { ahead += seconds * 1000; }; }"""
# By then what a scroll sets off has run; what waits longer runs when the page is left.
FRAMES = """() => new Promise((done) => requestAnimationFrame(
  () => requestAnimationFrame(done)))"""
LONG = 25  # seconds after which a look is reading
TO_END = """() => {
  const end = document.getElementById('recall').previousElementSibling;
  const bottom = end.getBoundingClientRect().bottom + scrollY - innerHeight + 40;
  scrollTo({ top: bottom, behavior: 'instant' });
}"""


def place(page):
    return page.evaluate(PLACE)


def read_to(page, heading):
    """Stay, scroll until a heading is being read, and wait until that is remembered."""
    page.wait_for_load_state()
    page.evaluate("(seconds) => later(seconds)", LONG)
    page.evaluate(SCROLL, heading)
    page.wait_for_function(
        f"(id) => {PLACE}?.pages?.['{SECTION}']?.id === id", arg=heading)


def spend(page, seconds):
    """As if so much time had gone into the section already."""
    page.evaluate(f"""(seconds) => {{
      const all = {PLACE};
      all.pages['{SECTION}'].spent = seconds;
      localStorage.setItem('book-position', JSON.stringify(all));
    }}""", seconds)


@pytest.fixture
def visitor(visit):
    """A reader whose time passes when a test says so."""
    visitor = visit()
    visitor.context.add_init_script(CLOCK)
    return visitor


@pytest.fixture
def reader(visitor):
    """A reader in the middle of the section, and the page."""
    page = visitor.open(PAGES["section"], lang="en")
    read_to(page, "your-turn")
    return visitor, page


def loaded(page):
    """The marks have come: the toggle of a section can be used."""
    expect(page.locator(".read-toggle input")).to_be_enabled()


# ---- where the reader was ------------------------------------------------------------------------

def test_the_place_is_a_heading_by_its_id_with_words_in_both_languages(reader):
    _, page = reader
    at = place(page)
    here = at["pages"][SECTION]
    assert at["last"] == SECTION
    assert (here["id"], here["heading"]) == ("your-turn", ["轮到你", "Your turn"])
    assert here["title"] == ["各有一处", "Everything once"]
    assert all(minutes > 0 for minutes in here["left"])
    assert len(json.dumps(at)) < 600


def test_who_only_opens_a_page_is_nowhere_yet(page_of):
    page = page_of("section", lang="en")
    loaded(page)
    page.goto("about:blank")
    page = page_of("front", lang="en")
    assert place(page) is None
    assert page.locator(".go-on").is_hidden()


def test_a_look_at_another_section_is_no_place_and_marks_nothing(reader):
    visitor, _ = reader
    page = visitor.open(f"{CHAPTER}/stride-explorer.html", lang="en")  # as from the search
    loaded(page)
    page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    page.evaluate(FRAMES)
    page = visitor.open(PAGES["opening"], lang="en")
    assert (place(page)["last"], list(place(page)["pages"])) == (SECTION, [SECTION])
    page.wait_for_function("document.querySelector('article a[data-state]')")
    assert states(page)["stride-explorer"] is None


def test_an_offer_whose_block_is_gone_leads_to_the_heading_and_goes(reader):
    visitor, page = reader
    page.evaluate(f"""() => {{
      const all = {PLACE};
      all.pages['{SECTION}'].block = 99;
      localStorage.setItem('book-position', JSON.stringify(all));
      onpagehide = () => localStorage.setItem('book-position', JSON.stringify(all));
    }}""")
    page = visitor.open(PAGES["section"], lang="en")
    page.locator(".go-on a").click()
    assert page.locator(".go-on").is_hidden()
    assert page.evaluate("location.hash") == "#your-turn"


@pytest.mark.parametrize("name", ["front", "drill"])
def test_front_page_and_drill_offer_to_go_on_at_the_heading(reader, name):
    visitor, page = reader
    page = visitor.open(PAGES[name], lang="en")
    line = page.locator(".go-on")
    minutes = place(page)["pages"][SECTION]["left"][1]
    assert line.inner_text() == f"Go on reading: Everything once · Your turn, {minutes} min left"
    page.locator("[data-set-lang=zh]").click()
    assert line.inner_text().startswith("接着读：各有一处 · 轮到你，还剩 ")
    line.locator("a").click()
    page.wait_for_url(f"**/{SECTION}.html#your-turn")


def test_who_comes_back_is_offered_the_block_and_is_not_moved(reader):
    visitor, page = reader
    page.evaluate("""() => {
      const block = document.querySelector('#your-turn').children[3];
      scrollTo({ top: block.getBoundingClientRect().top + scrollY - innerHeight * 0.3,
                 behavior: 'instant' });
    }""")
    page.wait_for_function(f"{PLACE}.pages['{SECTION}'].block === 3")
    page = visitor.open(PAGES["section"], lang="zh")
    line = page.locator(".go-on")
    assert line.inner_text().startswith("上次读到：轮到你")
    assert page.evaluate("scrollY") == 0
    line.locator("a").click()
    top = page.locator("#your-turn > *").nth(3).evaluate("(e) => e.getBoundingClientRect().top")
    assert 0 <= top < 250
    assert line.is_hidden()
    assert page.evaluate("document.activeElement.parentElement.id") == "your-turn"


def test_the_offer_can_be_put_away(reader):
    visitor, page = reader
    page = visitor.open(PAGES["section"], lang="en")
    page.locator(".go-on button").click()
    assert page.locator(".go-on").is_hidden()


def test_who_comes_by_an_anchor_or_goes_back_is_offered_nothing(reader):
    visitor, page = reader
    page.goto(f"{visitor.site}{PAGES['section']}#two-predictions")
    page.reload()
    assert page.locator(".go-on").is_hidden()
    page = visitor.open(PAGES["section"], lang="en")
    assert page.locator(".go-on").is_visible()
    page.goto(f"{visitor.site}{PAGES['drill']}")
    page.go_back()
    expect(page.locator("article h1")).to_be_visible()
    assert page.locator(".go-on").is_hidden()


@pytest.mark.parametrize("text", [
    "{broken", "null", '{"last": "x", "pages": null}',
    f'{{"last": "{SECTION}", "pages": {{"{SECTION}": null}}}}',
    f'{{"last": "{SECTION}", "pages": {{"{SECTION}": {{"id": "recall"}}}}}}'])
def test_a_broken_memory_is_no_place(visitor, text):
    page = visitor.open(PAGES["front"], lang="en")
    page.evaluate("(text) => localStorage.setItem('book-position', text)", text)
    for name in ("front", "section"):
        page = visitor.open(PAGES[name], lang="en")
        assert page.locator(".go-on").is_hidden()
    read_to(page, "your-turn")


# ---- sections that are read ----------------------------------------------------------------------

def states(page):
    """Page -> how a list of the page marks it."""
    return page.locator("article a[data-page]").evaluate_all("""(links) => Object.fromEntries(
      links.map((link) => [link.dataset.page.split('/').at(-1), link.dataset.state ?? null]))""")


def test_the_end_after_a_plausible_time_counts_and_leads_on_to_the_next_section(reader):
    visitor, page = reader
    loaded(page)
    spend(page, 3600)
    page.evaluate(TO_END)
    expect(page.locator(".read-toggle input")).to_be_checked()
    at = place(page)
    assert SECTION not in at["pages"]
    page = visitor.open(PAGES["front"], lang="en")
    assert page.locator(".go-on").inner_text().startswith("Go on reading: ")
    assert page.locator(".go-on a").get_attribute("href") == f"../{CHAPTER}/stride-explorer.html"
    assert ("Stride explorer · With other strides, do you still read the same memory?, "
            in page.locator(".go-on").inner_text())
    page = visitor.open(PAGES["opening"], lang="en")
    page.wait_for_function("document.querySelector('a[data-state=read]')")
    assert states(page)["section"] == "read"


def test_a_section_that_is_read_is_not_offered_again_when_it_is_looked_at(reader):
    visitor, page = reader
    loaded(page)
    page.get_by_label("I have read this section").check()
    page = visitor.open(PAGES["section"], lang="en")
    page.wait_for_function("document.querySelector('.read-toggle input:enabled:checked')")
    page.evaluate("(seconds) => later(seconds)", LONG)
    page.evaluate(SCROLL, "your-turn")
    page.evaluate(FRAMES)
    page = visitor.open(PAGES["front"], lang="en")
    assert place(page)["last"] == f"{CHAPTER}/stride-explorer"
    assert SECTION not in place(page)["pages"]
    assert page.locator(".go-on").inner_text().startswith("Go on reading: Stride explorer")


def test_a_mark_that_cannot_be_stored_is_not_shown(visitor):
    page = visitor.open(PAGES["section"], lang="en")
    loaded(page)
    page.evaluate("""() => { IDBDatabase.prototype.transaction = () => {
      throw new DOMException("The database connection is closing.", "InvalidStateError"); }; }""")
    page.locator(".read-toggle input").click()
    expect(page.locator(".read-toggle input")).not_to_be_checked()


def test_who_jumps_to_the_end_has_not_read(reader):
    _, page = reader
    loaded(page)
    page.evaluate(TO_END)
    page.wait_for_function(f"{PLACE}.pages['{SECTION}'].id === 'what-is-wide'")
    assert not page.locator(".read-toggle input").is_checked()


def test_the_toggle_marks_takes_back_and_is_remembered(visit):
    visitor = visit()
    page = visitor.open(PAGES["section"], lang="en")
    box = page.locator(".read-toggle input")
    for wanted in (True, False, True):
        loaded(page)
        page.get_by_label("I have read this section").set_checked(wanted)
        opening = visitor.open(PAGES["opening"], lang="en")
        expect(opening.locator(".progress-summary .lang-en")).to_have_text(
            "1 of 7 read · about 10 min left" if wanted else re.compile("^0 of 7 read"))
        assert (states(opening)["section"] == "read") is wanted
        page = visitor.open(PAGES["section"], lang="en")
        loaded(page)
        assert box.is_checked() is wanted


def test_lists_mark_what_is_read_and_what_is_in_the_middle_also_for_the_ear(reader):
    visitor, page = reader
    loaded(page)
    for name in ("opening", "front"):
        page = visitor.open(PAGES[name], lang="en")
        link = page.locator(f"article a[data-page='{SECTION}']").last
        expect(link).to_have_attribute("data-state", "begun")
        assert link.locator(".read-state").inner_text() == "(begun)"
        assert set(states(page).values()) == {"begun", None}


def test_marks_that_come_late_move_nothing(reader):
    visitor, _ = reader
    for name in ("opening", "front", "section"):
        page = visitor.open(PAGES[name], lang="en")
        page.wait_for_function("""() => document.querySelector('a[data-state]')
          ?? document.querySelector('.read-toggle input:enabled')""")
        moved = page.evaluate("""() => new Promise((done) => {
          new PerformanceObserver((list) => done(list.getEntries().reduce((sum, entry) =>
            sum + entry.value, 0))).observe({ type: 'layout-shift', buffered: true });
          requestAnimationFrame(() => requestAnimationFrame(() => done(0)));
        })""")
        assert moved < 0.01, name


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_holds_it_in_each_language_and_axe_finds_nothing(reader, visit, width):
    visitor, page = reader
    for name in ("section", "opening"):
        page = visitor.open(PAGES[name], lang="en")
        page.wait_for_function(
            "document.querySelector('a[data-state], .read-toggle input:enabled')")
        page.set_viewport_size({"width": width, "height": 700})
        for mode in ("zh", "en", "both"):
            page.locator(f"[data-set-lang={mode}]").click()
            assert page.evaluate("document.documentElement.scrollWidth") == width
        part = ".go-on, .kicker, .read-toggle" if name == "section" else ".progress-summary"
        assert violations(page, part, at_least=1) == []


def test_without_javascript_the_minutes_stand_there_and_nothing_that_needs_it(visit):
    visitor = visit(java_script_enabled=False)
    page = visitor.open(PAGES["opening"])
    assert "7 sections, about 19 min" in page.locator(".progress-summary").inner_text()
    page = visitor.open(PAGES["section"])
    assert page.locator(".kicker").first.is_visible()
    assert page.locator(".go-on").is_hidden()
    assert page.locator(".read-toggle").is_hidden()


# ---- from page to page, and to the cards ---------------------------------------------------------

def test_the_way_on_asks_the_next_section_s_question(page_of):
    page = page_of("section", lang="en")
    way = page.locator(".right-next")
    assert way.locator(".section-question").inner_text() == (
        "With other strides, do you still read the same memory?")
    page.locator("[data-set-lang=zh]").click()
    assert "还是同一块内存吗？" in way.inner_text()


def test_a_section_leads_to_its_cards_and_to_the_drill_of_these_alone(page_of):
    page = page_of("section", lang="en")
    page.locator(".kicker a").locator("visible=true").first.click()
    page.wait_for_url("**#recall")
    page.locator(".cards-drill a").click()
    page.locator(".drill-numbers").wait_for()
    assert page.locator(".drill-section").inner_text().startswith(
        "One section only: Everything once, 7 cards.")
    assert page.locator(".drill-count-new dd").inner_text() == "7"
    page.locator(".drill-section a").click()
    page.locator(".drill-scope").wait_for()


def test_an_address_with_an_unknown_section_says_so_and_shows_all_cards(visit):
    page = visit().open(PAGES["drill"] + "?section=01-tensors/gone")
    page.locator(".drill-numbers").wait_for()
    assert 'no section "01-tensors/gone"' in page.locator(".drill-notice").inner_text()
    assert page.locator(".drill-count-new dd").inner_text() == "7"


def test_one_tap_keeps_to_a_chapter_and_the_boxes_follow(page_of):
    page = page_of("drill", lang="en")
    chapter = page.locator("[data-only='01-tensors']")
    every = page.locator("[data-only='']")
    expect(every).to_have_attribute("aria-pressed", "true")  # the specimen has one chapter
    page.locator(".drill-fold > summary").first.click()
    box = page.locator("input[name=chapter]")
    box.uncheck()
    expect(every).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".drill-count-new dd")).to_have_text("0")
    chapter.click()
    expect(box).to_be_checked()
    expect(page.locator(".drill-count-new dd")).to_have_text("7")


@pytest.mark.parametrize("denied", [
    "Object.defineProperty(window, 'indexedDB', { value: undefined })",
    "for (const name of ['localStorage', 'indexedDB']) Object.defineProperty(window, name,"
    " { get() { throw new DOMException('denied', 'SecurityError'); } })"])
def test_where_nothing_can_be_stored_the_mark_says_why_it_will_not_stay(visit, denied):
    visitor = visit()
    visitor.context.add_init_script(denied)
    page = visitor.open(PAGES["section"], "en")
    page.get_by_text("does not let this page store anything").wait_for()
    page.locator(".read-toggle input").check()
