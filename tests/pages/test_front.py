"""The front page on two screens: what a reader sees first, and how the house of machines stands."""

import re
from itertools import pairwise

import pytest

from book.pipeline.ground.paths import CHAPTERS, SITE
from book.pipeline.serve import served

pytestmark = pytest.mark.browser

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 800}
BOXES = """query => [...document.querySelectorAll(query)].filter(one => one.offsetParent).map(
  one => {
  const box = one.getBoundingClientRect();
  return { left: box.left, right: box.right, top: box.top + scrollY, bottom: box.bottom + scrollY };
})"""
WORDS = """() => [...document.querySelectorAll('.house svg text')].map(
  text => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
LEAST = 11  # px
# Parts of the machines that a frame cuts at a side; what runs on beyond it is drawn as `.ink`.
CUT = """() => [...document.querySelectorAll('.machine svg')].flatMap((svg) => {
  const frame = svg.parentElement.getBoundingClientRect();
  return [...svg.querySelectorAll('text, path:not(.ink)')].filter((part) => {
    const { left, right } = part.getBoundingClientRect();
    return left < frame.left || right > frame.right;
  }).map((part) => part.textContent || part.getAttribute('d'));
})"""
OPENINGS = sorted(page.parent.name for page in CHAPTERS.glob("*/machine.svg"))


@pytest.fixture(scope="module")
def front(browser):
    """Open the front page, or another, on a screen, in a language."""
    with served(SITE) as address:
        pages = []

        def opened(screen, lang, name="book/index"):
            pages.append(browser.new_page(viewport=screen, reduced_motion="reduce"))
            pages[-1].goto(f"{address}{name}.html?lang={lang}")
            return pages[-1]

        yield opened
        for page in pages:
            page.close()


def boxes(page, query):
    return page.evaluate(BOXES, query)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_desk_shows_the_ways_in_and_the_first_question_at_once(front, lang):
    page = front(DESK, lang)
    cards = boxes(page, "#where-to-start li")
    assert len(cards) == 3
    assert len({card["top"] for card in cards}) == 1  # beside one another
    [question] = boxes(page, "#guess-first h2")
    assert question["bottom"] <= DESK["height"]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_phone_shows_all_three_readers_at_once(front, lang):
    cards = boxes(front(PHONE, lang), "#where-to-start li")
    assert [card["left"] for card in cards] == [cards[0]["left"]] * 3
    assert cards[-1]["bottom"] <= PHONE["height"]


@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_on_a_desk_the_rooms_make_one_house(front, lang):
    compiler, data, modules, autograd, tensors = boxes(front(DESK, lang), ".machine")
    assert data["top"] == compiler["top"]
    assert data["right"] <= compiler["left"]
    assert modules["top"] == autograd["top"] == compiler["bottom"]
    assert data["bottom"] == modules["bottom"] == autograd["bottom"] == tensors["top"]
    assert (tensors["left"], tensors["right"]) == (data["left"], compiler["right"])


def test_on_a_phone_they_are_stacked_and_their_words_can_be_read(front):
    page = front(PHONE, "zh")
    rooms = boxes(page, ".machine")
    assert len(rooms) == 5
    assert all(upper["bottom"] <= lower["top"] for upper, lower in pairwise(rooms))
    assert {(room["left"], room["right"]) for room in rooms} == {(rooms[0]["left"],
                                                                  rooms[0]["right"])}
    assert min(page.evaluate(WORDS)) >= LEAST


@pytest.mark.parametrize("width", [320, 390])
@pytest.mark.parametrize("name", ["book/index", *(f"chapters/{one}/index" for one in OPENINGS)])
def test_no_machine_is_cut_on_a_phone(front, name, width):
    page = front({"width": width, "height": 800}, "zh", name)
    assert page.locator(".machine svg").count() >= 1
    assert page.evaluate(CUT) == []


def test_the_place_for_the_readers_own_progress_is_above_the_ways_in(front):
    page = front(DESK, "en")
    assert page.evaluate("""document.querySelector('.go-on').compareDocumentPosition(
        document.getElementById('where-to-start')) & Node.DOCUMENT_POSITION_FOLLOWING""")


def test_the_ways_in_give_no_time_that_the_lists_below_give(front):
    ways = front(DESK, "en").locator("#where-to-start").text_content()
    assert re.findall(r"\d+ (?:分钟|minutes|min)", ways) == []
