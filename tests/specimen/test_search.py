"""The search box: by keyboard, on a phone, in both languages, in the dark, without scripts."""

import re

import pytest
from playwright.sync_api import expect

from oracles.web.axe import ON_A_PHONE, violations

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 800}
FILES = "performance.getEntriesByType('resource').map((entry) => entry.name)"


def search(page, text):
    """Open the box, type, and wait for the answer."""
    if not page.locator(".search-input").count() or not page.locator(".search-box[open]").count():
        page.locator("[data-search]").click()
    page.locator(".search-input").fill(text)
    expect(page.locator(".search-status")).to_have_text(re.compile(r"\S"))
    return page.locator(".search-option")


def chosen(page):
    """Text of the option that the input points to."""
    return page.evaluate("""() => {
      const { activeElement } = document;
      const id = activeElement.getAttribute('aria-activedescendant');
      const option = id && document.getElementById(id);
      return option?.getAttribute('aria-selected') === 'true' ? option.id : null;
    }""")


def test_nothing_of_the_search_is_loaded_before_it_is_asked_for(page_of, template):
    page = page_of(template, lang="en")
    page.wait_for_load_state("networkidle")
    assert not [name for name in page.evaluate(FILES) if "/_static/search/" in name]


def test_by_keyboard_alone_a_section_is_found_and_opened(page_of):
    page = page_of("front", lang="en")
    page.keyboard.press("/")
    expect(page.locator(".search-input")).to_be_focused()
    page.keyboard.type("stride explorer")
    first = page.locator(".search-option").first
    expect(first).to_contain_text("Stride explorer")
    assert chosen(page) is None
    page.keyboard.press("ArrowDown")
    assert chosen(page) == "search-option-0"
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("stride-explorer"))


def test_arrows_home_and_end_go_round_the_list(page_of):
    page = page_of("front", lang="en")
    options = search(page, "slice")
    expect(options.nth(1)).to_be_visible()
    last = f"search-option-{options.count() - 1}"
    first = "search-option-0"
    steps = {"ArrowUp": last, "ArrowDown": first, "End": last, "Home": first}
    for key, expected in steps.items():
        page.keyboard.press(key)
        assert chosen(page) == expected, key
    expect(page.locator(".search-input")).to_be_focused()


def test_escape_closes_and_returns_the_focus(page_of):
    page = page_of("section", lang="en")
    page.locator("[data-search]").focus()
    page.keyboard.press("Control+k")
    expect(page.locator(".search-input")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".search-box")).not_to_be_visible()
    expect(page.locator("[data-search]")).to_be_focused()


def test_a_slash_typed_into_a_field_is_a_slash(page_of):
    page = page_of("front", lang="en")
    search(page, "slice")
    page.locator(".search-input").press("End")
    page.keyboard.type("/")
    expect(page.locator(".search-input")).to_have_value("slice/")


@pytest.mark.parametrize(("lang", "query", "title", "tag"), [
    ("zh", "切片", "为什么切片不复制", "zh-Hans"), ("zh", "slice", "为什么切片不复制", "zh-Hans"),
    ("en", "slice", "Why does a slice not copy", "en"),
    ("en", "切片", "Why does a slice not copy", "en"),
])
def test_a_reader_of_either_language_finds_by_words_of_both(page_of, lang, query, title, tag):
    page = page_of("front", lang=lang)
    found = search(page, query).filter(has_text=title)
    expect(found.first).to_be_visible()
    assert found.first.locator(f".search-title > [lang={tag}]:not(.search-kind *)").count() == 1
    assert found.first.locator("mark").count() > 0 or query not in title


def test_side_by_side_a_result_has_both_titles(page_of):
    page = page_of("front", lang="both")
    card = search(page, "slice").filter(has_text="Why does a slice not copy").first
    expect(card).to_contain_text("为什么切片不复制")
    expect(card).to_contain_text("Card")


def test_a_card_opens_at_its_anchor_and_the_language_of_the_address_stays(page_of):
    page = page_of("front", lang="en")
    link = search(page, "Why does a slice not copy?").first
    assert link.get_attribute("href").endswith("section.html?lang=en#tensors-why-shared")
    link.click()
    page.wait_for_url(re.compile(r"section\.html\?lang=en#tensors-why-shared"))
    expect(page.locator("#tensors-why-shared")).to_be_in_viewport()


def test_a_card_shows_its_question_and_its_page_and_not_its_answer(page_of):
    page = page_of("front", lang="en")
    found = search(page, "slice")
    expect(found.locator(".search-context mark").first).to_be_visible()  # excerpts have come
    card = found.filter(has_text="Why does a slice not copy").first
    expect(card.locator(".search-path")).to_have_text("Everything once")
    assert card.locator(".search-context").inner_text() == ""


def test_a_quoted_section_opens_with_its_heading_at_the_top_at_once(page_of):
    page = page_of("front", lang="en")
    search(page, "slice")
    found = page.locator(".search-option[href*='#']:has(.search-context mark)").first
    expect(found).to_be_visible()
    address = found.get_attribute("href")
    assert ":~:" not in address
    page.goto(address)
    anchor = re.search(r"#(.+)$", address)[1]
    top = page.locator(f"[id='{anchor}']").evaluate("(e) => e.getBoundingClientRect().top")
    assert 0 <= top < 200


# of the two predictions of a section
EXPLAINED = "A slice has no storage of its own", "takes new storage"


def explained(page):
    return [page.locator("p:visible", has_text=text).count() == 1 for text in EXPLAINED]


@pytest.mark.parametrize(("query", "shown"), [
    ("names clone", [True, False]), ("clone takes", [False, True]),
    ("copy write original", [False, False])])
@pytest.mark.parametrize("start", ["front", "section"])
def test_where_words_stand_only_behind_a_prediction_that_is_shown_and_no_other(
        page_of, start, query, shown):
    page = page_of(start, lang="en")
    found = search(page, query).filter(has_text="Two predictions")
    expect(found.locator("mark").first).to_be_visible()
    assert explained(page) == [False, False]
    found.first.click()
    page.wait_for_url(re.compile("section.html.*#two-predictions"))
    expect(page.locator("predict-cell").last).to_have_attribute("data-state", re.compile("."))
    assert explained(page) == shown
    page.reload()
    expect(page.locator("predict-cell").last).to_have_attribute("data-state", re.compile("."))
    assert explained(page) == [False, False]


def test_the_address_of_the_shortcut_opens_the_box(visit):
    visitor = visit()
    page = visitor.open("book/index.html", "en")
    page.goto("about:blank")
    page.goto(f"{visitor.site}book/index.html#search")
    expect(page.locator(".search-box[open] .search-input")).to_be_focused()


def test_a_result_quotes_the_line_in_which_it_was_found(page_of):
    page = page_of("front", lang="en")
    search(page, "slice")
    context = page.locator(".search-context:has(mark)").first
    expect(context.locator("mark").first).to_be_visible()
    assert len(context.inner_text()) < 130


def test_the_last_query_stays_while_a_reader_goes_back_and_forth(page_of):
    page = page_of("front", lang="en")
    search(page, "stride explorer").first.click()
    page.wait_for_url(re.compile("stride-explorer"))
    page.keyboard.press("Control+k")
    expect(page.locator(".search-input")).to_have_value("stride explorer")
    expect(page.locator(".search-option").first).to_contain_text("Stride explorer")


@pytest.mark.parametrize(("lang", "words"), [("zh", "没有找到"), ("en", "Nothing found")])
def test_nothing_found_is_said_with_a_hint(page_of, lang, words):
    page = page_of("front", lang=lang)
    search(page, "qwertyuiop")
    expect(page.locator(".search-status")).to_contain_text(words)
    assert page.locator(".search-option").count() == 0
    assert page.locator(".search-input").get_attribute("aria-expanded") == "false"


def test_a_pasted_traceback_becomes_its_last_line(page_of):
    page = page_of("front", lang="en")
    search(page, "x")
    page.evaluate("""() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text', 'Traceback (most recent call last):\\n'
        + '  File "/a/b/c.py", line 3\\nValueError: slice cannot\\n  be copied');
      const input = document.querySelector('.search-input');
      input.select();
      input.dispatchEvent(new ClipboardEvent('paste', { clipboardData, cancelable: true }));
    }""")
    expect(page.locator(".search-input")).to_have_value("ValueError: slice cannot be copied")


def test_on_a_phone_the_box_fills_the_screen(page_of):
    page = page_of("section", lang="zh", viewport=PHONE)
    search(page, "切片")
    box = page.locator(".search-box").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 390, 800)
    close = page.locator(".search-close").bounding_box()
    assert min(close["width"], close["height"]) >= 44
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page, ".search-box", rules=ON_A_PHONE) == []
    page.locator(".search-close").click()
    expect(page.locator(".search-box")).not_to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_axe_finds_nothing_in_the_box(page_of, scheme, lang):
    page = page_of("section", lang=lang, color_scheme=scheme, reduced_motion="reduce")
    options = search(page, "slice" if lang == "en" else "切片")
    expect(options.first.locator(".search-context mark").or_(options.first.locator("mark")).first
           ).to_be_visible()
    page.keyboard.press("ArrowDown")
    assert violations(page, ".search-box", at_least=8) == []


def test_without_scripts_there_is_no_button(page_of, template):
    page = page_of(template, java_script_enabled=False)
    assert page.locator(".search-seat").count() == 1
    assert not page.locator(".search-seat").is_visible()


def test_a_search_that_cannot_load_says_so_and_tries_again(visit):
    visitor = visit()
    visitor.context.route(re.compile("/_static/search/"), lambda route: route.abort())
    page = visitor.open("book/index.html", "en")
    page.locator("[data-search]").click()
    expect(page.locator(".search-failed")).to_be_visible()
    visitor.context.unroute(re.compile("/_static/search/"))
    visitor.context.unroute_all()
    page.locator("[data-search]").click()
    expect(page.locator(".search-input")).to_be_focused()
    expect(page.locator(".search-failed")).not_to_be_visible()
    visitor.errors.clear()  # the browser has named the request that was stopped


CHAPTERS = re.compile(r"/_static/search/(01-tensors|book)-\w+\.")


@pytest.fixture
def held(visit):
    """A page whose chapters do not come until they are let go: the page, and `go`."""
    visitor, waiting = visit(), []
    visitor.context.route(CHAPTERS, lambda route: waiting.append(route))

    def go():
        visitor.context.unroute(CHAPTERS)
        for route in waiting:
            route.continue_()
    return visitor.open("book/index.html", "en"), go


def test_headings_answer_before_the_texts_have_come_and_what_was_chosen_stays(held):
    page, go = held
    options = search(page, "slice")
    expect(options.first).to_be_visible()
    assert not options.filter(has_text="Why does a slice not copy").count()  # a card
    page.keyboard.press("ArrowDown")
    address = page.locator("[aria-selected=true]").get_attribute("href")
    go()
    expect(options.filter(has_text="Why does a slice not copy").first).to_be_visible()
    assert page.locator("[aria-selected=true]").get_attribute("href") == address
    assert chosen(page)


def test_nothing_is_said_to_be_not_found_while_texts_are_on_their_way(held):
    page, go = held
    search(page, "offset")
    expect(page.locator(".search-status")).to_contain_text(
        "In no heading; looking through the texts …")
    page.keyboard.press("Enter")  # waits for what there will be
    go()
    page.wait_for_url(lambda url: "book/index.html" not in url)


@pytest.mark.parametrize(("lang", "line"), [
    ("en", "Some chapters did not load, so only their headings were searched."),
    ("zh", "有的章没有加载成功，那里只查了标题。")])
def test_a_chapter_that_does_not_load_leaves_the_rest_and_a_line_says_so(visit, lang, line):
    visitor = visit()
    lost = re.compile(r"/_static/search/01-tensors-")
    visitor.context.route(lost, lambda route: route.abort())
    page = visitor.open("book/index.html", lang)
    missing = page.locator(".search-missing")
    options = search(page, "stride")
    expect(missing).to_contain_text(line)
    title = {"en": "Stride explorer", "zh": "步长"}[lang]
    expect(options.filter(has_text=title).first).to_be_visible()
    assert missing.get_attribute("role") == "status"
    page.keyboard.press("Escape")
    visitor.context.unroute(lost)
    search(page, "offset")
    expect(options.first).to_be_visible()
    expect(missing).to_be_empty()
    visitor.errors.clear()  # the browser has named the requests that were stopped


def test_a_page_that_is_being_written_answers_that_it_is(page_of):
    page = page_of("front", lang="en")
    found = search(page, "unwritten section").filter(has_text="An unwritten section")
    expect(found.locator(".search-kind")).to_have_text(re.compile("Being written"))
    expect(found).to_have_attribute("href", re.compile(r"unwritten\.html"))


@pytest.mark.parametrize(("lang", "query", "kind", "title"), [
    ("zh", "多卡", "编写中", "分布式训练：多卡、集合通信"),
    ("en", "GPUs", "Being written", "Distributed training: several GPUs, collectives")])
def test_a_chapter_that_has_no_page_yet_answers_by_what_it_will_be_about(
        page_of, lang, query, kind, title):
    page = page_of("front", lang=lang)
    found = search(page, query).first
    expect(found.locator(".search-kind")).to_have_text(re.compile(kind))
    expect(found.locator(".search-title")).to_contain_text(title)
    found.click()
    page.wait_for_url(re.compile("index.html.*#distributed-training"))
    expect(page.locator("#distributed-training")).to_be_in_viewport()
    assert title in page.locator("#distributed-training").inner_text()


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_chinese_word_is_found_as_a_latin_keyboard_spells_it(page_of, lang):
    page = page_of("front", lang=lang)
    title = {"zh": "为什么切片不复制", "en": "Why does a slice not copy"}[lang]
    expect(search(page, "qiepian").filter(has_text=title).first).to_be_visible()


@pytest.mark.parametrize(("lang", "query"), [
    ("zh", "忘了 slice"), ("en", "I forgot qwertyuiop slice copy")])
def test_where_no_place_has_all_words_those_with_most_of_them_are_found(page_of, lang, query):
    page = page_of("front", lang=lang)
    expect(search(page, query).first).to_be_visible()
