"""The switch 中文 / English / 对照 shows what the reader chose, everywhere and at once."""

import re

import pytest

pytestmark = pytest.mark.browser

CHINESE = re.compile(r"[\u4e00-\u9fff]")
SWITCH = {"zh": "中文", "en": "English", "both": "对照"}

# which of the language classes have an element that is displayed, and one that is not
DISPLAYED = """() => Object.fromEntries(['zh', 'en', 'sep'].map((kind) => {
  const shown = new Set([...document.querySelectorAll('.lang-' + kind)].map(
    (element) => getComputedStyle(element).display !== 'none'));
  return [kind, [...shown].sort()];
}))"""


def choose(page, mode):
    page.get_by_role("button", name=SWITCH[mode], exact=True).click()


def mode_of(page):
    return page.evaluate("document.documentElement.dataset.lang")


def test_only_the_chosen_language_is_displayed(visit, page_path):
    page = visit().open(page_path, lang="zh")
    for mode in ("en", "zh", "both", "en"):
        choose(page, mode)
        shown = page.evaluate(DISPLAYED)
        assert shown["zh"] == [mode != "en"], mode
        assert shown["en"] == [mode != "zh"], mode
        assert (True in shown["sep"]) == (mode == "both"), mode


@pytest.mark.parametrize("mode", SWITCH)
def test_lang_title_and_pressed_button_follow(visit, template_page, mode):
    page = visit().open(template_page, lang="en" if mode == "zh" else "zh")
    choose(page, mode)
    assert page.evaluate("document.documentElement.lang") == ("en" if mode == "en" else "zh-Hans")
    pressed = page.locator("[data-set-lang][aria-pressed=true]").all_inner_texts()
    assert pressed == [SWITCH[mode]]
    title, book = page.title(), "PyTorch Inside Out"
    assert bool(CHINESE.search(title)) == (mode != "en")
    assert (book in title) == (mode != "zh")
    assert title.count(book) <= 1


def test_an_english_page_shows_no_chinese_but_the_names_of_languages(visit, page_path, open_all):
    page = visit().open(page_path, lang="en")
    open_all(page)
    left = [line for line in page.inner_text("body").splitlines() if CHINESE.search(line)]
    downloads = page.locator(".downloads").count()
    assert left == ["中文", "对照", *["中文"] * downloads]


def test_the_choice_holds_on_the_next_page_and_after_reload(visit, template_page):
    page = visit(locale="zh-CN").open(template_page)
    choose(page, "en")
    page.reload()
    assert mode_of(page) == "en"
    page.locator("a.left-prev, a.right-next").first.click()
    page.wait_for_url(lambda url: template_page not in url)
    assert mode_of(page) == "en"


def test_lang_in_the_address_wins_and_lasts_until_the_reader_chooses(visit, template_page):
    visitor = visit()
    choose(visitor.open(template_page), "en")
    page = visitor.open(template_page, lang="zh")
    assert mode_of(page) == "zh"
    page.locator("a.left-prev, a.right-next").first.click()
    page.wait_for_url(lambda url: template_page not in url)
    assert mode_of(page) == "zh"
    page.go_back()
    choose(page, "both")
    page.reload()
    assert mode_of(page) == "both"


@pytest.mark.parametrize(("locale", "mode"), [("en-US", "en"), ("zh-CN", "zh"), ("zh-TW", "zh"),
                                              ("de-DE", "en")])
def test_a_first_visit_follows_the_browser(visit, template_page, locale, mode):
    page = visit(locale=locale).open(template_page)
    assert mode_of(page) == mode


def test_another_open_tab_follows(visit, template_page):
    visitor = visit()
    first, second = visitor.open(template_page), visitor.open(template_page)
    choose(first, "both")
    second.wait_for_function("document.documentElement.dataset.lang === 'both'", timeout=3000)
    assert second.locator("[data-set-lang=both]").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("selector", ["h2", ".bi-pair", "predict-cell", "article.card"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_block_being_read_stays_where_it_is(visit, one_section, selector, width):
    page = visit(viewport={"width": width, "height": 800}).open(one_section, lang="zh")
    blocks = page.locator(f"{selector}:not(details *)")
    block = blocks.nth(blocks.count() // 2)
    block.evaluate("e => scrollTo({ top: e.getBoundingClientRect().top + scrollY - 90, "
                   "behavior: 'instant' })")
    top = block.evaluate("e => e.getBoundingClientRect().top")
    assert 80 < top < 100
    for mode in ("both", "en", "zh"):
        page.locator(f"[data-set-lang={mode}]").dispatch_event("click")  # a real one would scroll
        page.evaluate("new Promise((done) => setTimeout(done, 60))")
        assert abs(block.evaluate("e => e.getBoundingClientRect().top") - top) <= 3


def test_language_and_theme_are_set_before_the_body_exists(visit, template_page):
    visitor = visit(locale="zh-CN", color_scheme="dark")
    at_body = visitor.open(template_page).evaluate("atBody")
    assert (at_body["mode"], at_body["lang"], at_body["theme"]) == ("zh", "zh-Hans", "dark")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_jumps_while_the_page_loads(visit, template_page, width):
    page = visit(viewport={"width": width, "height": 800}).open(template_page, lang="both")
    shift = page.evaluate("""() => new Promise((done) => {
      let sum = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) sum += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => done(sum), 150);
    })""")
    assert shift < 0.02
