"""A term's card opens by mouse, keyboard and touch, and is out of the way otherwise."""

import pytest
from playwright.sync_api import expect

from oracles.web.axe import violations

pytestmark = pytest.mark.browser

PAGE = "book/glossary.html"
PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True}
OPEN = ".term-card:popover-open"


def word(page, name, lang="en"):
    return page.locator(f".lang-{lang} a.term[data-card=card-{name}]")


def card(page, name):
    return page.locator(f"#card-{name}")


def test_a_mouse_that_stays_opens_the_card_and_one_that_leaves_closes_it(page_of):
    page = page_of("section", "en")
    word(page, "slice").hover()
    expect(card(page, "slice")).to_be_visible()
    expect(card(page, "slice")).to_contain_text("A part of a tensor, made as a view")
    expect(card(page, "slice").locator("b")).to_have_text(["切片", "slice"])
    card(page, "slice").hover()  # into the card: it stays
    word(page, "tensor").hover()
    expect(card(page, "tensor")).to_be_visible()
    assert page.locator(OPEN).count() == 1
    page.mouse.move(5, 5)
    expect(page.locator(OPEN)).to_have_count(0)


def test_the_card_shows_the_language_that_is_read(page_of):
    page = page_of("section", "zh")
    word(page, "slice", "zh").hover()
    expect(card(page, "slice").locator(".term-said").locator("visible=true")).to_have_text(
        ["张量的一段，view 出来的，没有复制。"])


def test_the_keyboard_opens_enters_and_leaves_it(page_of, tab_to):
    page = page_of("section", "en")
    tab_to(page, "a.term[data-card=card-slice]")
    expect(card(page, "slice")).to_be_visible()
    page.keyboard.press("Tab")
    expect(card(page, "slice").locator("a")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(OPEN)).to_have_count(0)
    expect(word(page, "slice")).to_be_focused()
    page.keyboard.press("Tab")
    expect(card(page, "tensor")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # on, out of the card
    expect(page.locator(OPEN)).to_have_count(0)


def test_a_click_leads_on_to_the_glossary(page_of):
    page = page_of("section", "en")
    word(page, "slice").click()
    page.wait_for_url(f"**/{PAGE}#term-slice")
    expect(page.locator("#term-slice")).to_be_in_viewport()


def test_on_touch_the_first_tap_opens_the_card_whose_link_leads_on(page_of):
    page = page_of("section", "en", **PHONE)
    word(page, "slice").tap()
    expect(card(page, "slice")).to_be_visible()
    assert page.url.partition("?")[0].endswith("section.html")
    page.locator("article h1").tap()
    expect(page.locator(OPEN)).to_have_count(0)
    word(page, "slice").tap()
    card(page, "slice").locator("a").tap()
    page.wait_for_url("**/stride-explorer.html#stride-explorer")


@pytest.mark.parametrize(("width", "lang"), [(320, "en"), (320, "zh"), (320, "both"), (1280, "en")])
def test_no_card_leaves_the_screen(page_of, width, lang):
    page = page_of("section", lang, viewport={"width": width, "height": 600}, has_touch=True)
    for one in page.locator("a.term").locator("visible=true").all():
        page.keyboard.press("Escape")  # a card may lie over the next word
        one.tap()
        box = page.locator(OPEN).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["height"] > 60
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(OPEN).count() == 1  # of the last word


def test_a_screen_reader_hears_the_definition_with_the_word(page_of):
    page = page_of("section", "en")
    expect(word(page, "slice")).to_have_accessible_description(
        "A part of a tensor, made as a view and not copied.")
    expect(word(page, "slice")).to_have_accessible_name("slice")


def test_without_javascript_a_term_is_a_link_and_no_card_shows(page_of):
    page = page_of("section", java_script_enabled=False)
    assert page.locator(".term-card").locator("visible=true").count() == 0
    word(page, "slice").click()
    page.wait_for_url(f"**/{PAGE}#term-slice")
    assert page.locator(".glossary > div").count() == 4


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_an_open_card_or_on_the_page_of_all_terms(page_of, visit, scheme):
    page = page_of("section", "en", color_scheme=scheme)
    word(page, "slice").hover()
    expect(card(page, "slice")).to_be_visible()
    assert violations(page, "#card-slice, a.term", at_least=3) == []
    for lang in ("zh", "en", "both"):
        assert violations(visit(color_scheme=scheme).open(PAGE, lang), at_least=20) == []


def test_in_print_nothing_of_it_shows(page_of):
    page = page_of("section", "en")
    word(page, "slice").hover()
    expect(card(page, "slice")).to_be_visible()
    page.emulate_media(media="print")
    assert page.locator(".term-card").locator("visible=true").count() == 0
    assert word(page, "slice").evaluate("a => getComputedStyle(a).textDecorationLine") == "none"


def test_the_glossary_stands_in_the_order_of_the_language_that_is_read(visit):
    page = visit().open(PAGE, "zh")
    ids = "all => all.map((one) => one.id)"
    entries = page.locator(".glossary > div")
    assert entries.evaluate_all(ids) == ["term-formula", "term-slice", "term-line", "term-tensor"]
    page.locator("[data-set-lang=en]").click()
    expect(entries.first).to_contain_text("An equation")
    assert entries.evaluate_all(ids) == ["term-formula", "term-line", "term-slice", "term-tensor"]


def test_a_second_tap_on_the_word_closes_its_card(page_of):
    page = page_of("section", lang="en", has_touch=True)
    before = page.url
    word(page, "slice").tap()
    expect(card(page, "slice")).to_be_visible()
    word(page, "slice").tap()
    expect(card(page, "slice")).to_be_hidden()
    assert page.url == before


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_letters_lead_to_the_first_terms_in_the_order_that_is_read(visit, lang):
    page = visit().open("book/glossary.html", lang)
    links = page.locator(f".letters > .lang-{lang} a")
    targets = links.evaluate_all("all => all.map((link) => link.hash.slice(1))")
    order = page.locator(".glossary > div").evaluate_all("all => all.map((term) => term.id)")
    places = [order.index(target) for target in targets]
    assert places[0] == 0
    assert places == sorted(set(places))
    assert page.locator(".letters a").locator("visible=true").count() == len(targets)
