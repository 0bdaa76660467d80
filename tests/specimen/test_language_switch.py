"""The switch 中文 / English / 对照 shows what the reader chose, everywhere and at once."""

import pytest

from tests.helpers.languages import CHINESE
from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser

SWITCH = {"zh": "中文", "en": "English", "both": "对照"}

# which of the language classes have an element that is displayed, and one that is not
DISPLAYED = """() => Object.fromEntries(['zh', 'en', 'sep'].map((kind) => {
  const shown = new Set([...document.querySelectorAll('.lang-' + kind)].map(
    (element) => getComputedStyle(element).display !== 'none'));
  return [kind, [...shown].sort()];
}))"""
# Four frames: the switch puts the block back in the first, the browser would correct in another.
FRAMES = """new Promise((done) => {
  let left = 4;
  requestAnimationFrame(function next() { left-- ? requestAnimationFrame(next) : done(); });
})"""


def choose(page, mode):
    page.get_by_role("button", name=SWITCH[mode], exact=True).click()


def mode_of(page):
    return page.evaluate("document.documentElement.dataset.lang")


def turn_the_page(page):
    """Follow the link to the next page, or to the one before."""
    before = page.url
    page.locator("a.left-prev, a.right-next").first.click()
    page.wait_for_url(lambda url: url.partition("?")[0] != before.partition("?")[0])


def test_only_the_chosen_language_is_displayed(page_of, template):
    page = page_of(template, lang="zh")
    for mode in ("en", "zh", "both", "en"):
        choose(page, mode)
        shown = page.evaluate(DISPLAYED)
        assert shown["zh"] == [mode != "en"], mode
        assert shown["en"] == [mode != "zh"], mode
        assert (True in shown["sep"]) == (mode == "both"), mode


def test_lang_title_and_pressed_button_follow(page_of, template):
    page = page_of(template, lang="en")
    for mode in ("zh", "both", "en"):
        choose(page, mode)
        lang = "en" if mode == "en" else "zh-Hans"
        assert page.evaluate("document.documentElement.lang") == lang
        pressed = page.locator("[data-set-lang][aria-pressed=true]").all_inner_texts()
        assert pressed == [SWITCH[mode]]
        title, book = page.title(), "PyTorch Inside Out"
        assert bool(CHINESE.search(title)) == (mode != "en")
        assert (book in title) == (mode != "zh" and template != "front")
        assert title.count(book) <= 1


def test_an_english_page_shows_no_chinese_but_the_names_of_languages(page_of, template, open_all):
    page = page_of(template, lang="en")
    open_all(page)
    left = [line for line in page.inner_text("body").splitlines() if CHINESE.search(line)]
    downloads = page.locator(".downloads").count()
    assert downloads == (template in ("opening", "section", "sheet"))
    assert left == ["中文", "对照", *["中文"] * downloads]


def test_the_choice_holds_on_the_next_page_and_after_reload(page_of):
    page = page_of("section", locale="zh-CN")
    choose(page, "en")
    page.reload()
    assert mode_of(page) == "en"
    turn_the_page(page)
    assert mode_of(page) == "en"


def test_lang_in_the_address_wins_and_lasts_until_the_reader_chooses(visit):
    visitor = visit()
    choose(visitor.open(PAGES["section"]), "en")
    page = visitor.open(PAGES["section"], lang="zh")
    assert mode_of(page) == "zh"
    turn_the_page(page)
    assert mode_of(page) == "zh"
    page.go_back()
    choose(page, "both")
    page.reload()
    assert mode_of(page) == "both"


@pytest.mark.parametrize(("locale", "mode"), [("en-US", "en"), ("zh-CN", "zh"), ("zh-TW", "zh"),
                                              ("de-DE", "en")])
def test_a_first_visit_follows_the_browser(page_of, locale, mode):
    assert mode_of(page_of("section", locale=locale)) == mode


def test_another_open_tab_follows(visit):
    visitor = visit()
    first, second = visitor.open(PAGES["section"]), visitor.open(PAGES["drill"])
    choose(first, "both")
    second.wait_for_function("document.documentElement.dataset.lang === 'both'")
    assert second.locator("[data-set-lang=both]").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_block_being_read_stays_where_it_is(page_of, width):
    page = page_of("section", lang="zh", viewport={"width": width, "height": 800})
    for selector in ("h2", ".bi-pair", "predict-cell", "article.card"):
        blocks = page.locator(f"{selector}:not(details *, .explanation *)")
        block = blocks.nth(blocks.count() // 2)
        block.evaluate("e => scrollTo({ top: e.getBoundingClientRect().top + scrollY - 90, "
                       "behavior: 'instant' })")
        top = block.evaluate("e => e.getBoundingClientRect().top")
        assert 80 < top < 100, selector
        for mode in ("both", "en", "zh"):
            switch = page.locator(f"[data-set-lang={mode}]")
            switch.dispatch_event("click")  # a real one would scroll
            page.evaluate(FRAMES)
            moved = block.evaluate("e => e.getBoundingClientRect().top") - top
            assert abs(moved) <= 3, (selector, mode)


def test_language_and_theme_are_set_before_the_body_exists(page_of, template):
    at_body = page_of(template, locale="zh-CN", color_scheme="dark").evaluate("atBody")
    assert (at_body["mode"], at_body["lang"], at_body["theme"]) == ("zh", "zh-Hans", "dark")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_jumps_while_the_page_loads(visit, template, width):
    reader = visit(viewport={"width": width, "height": 800})
    tab = (reader.context.pages or [reader.context.new_page()])[0]
    # So slow that the text is shown before all of the file is read.
    reader.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": 8})
    page = reader.open(PAGES[template], "both")
    assert page == tab
    shifts = page.evaluate("""() => new Promise((done) => {
      const shifts = [];
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput, sources } of list.getEntries()) {
          // as Cumulative Layout Shift counts: not what a new size of the window moves
          if (!hadRecentInput) shifts.push([value, sources.map(({ node }) => node?.nodeName
            + "." + node?.className)]);
        }
      }).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => done(shifts), 150);
    })""")
    assert sum(value for value, _ in shifts) < 0.02, shifts


@pytest.mark.parametrize(("lang", "asked"), [("zh", []), ("en", ["link"]), ("both", ["link"])])
def test_the_face_of_english_is_asked_for_once_by_the_head_and_only_where_it_is_read(
        page_of, lang, asked):
    assert page_of("section", lang).evaluate("""() => performance.getEntriesByType('resource')
      .filter(({ name }) => name.includes('source-serif')).map((file) => file.initiatorType)
    """) == asked
