"""Dark is dark, light is light: as the system has it, until the reader chooses; remembered."""

import pytest

from tests.helpers.contrast import colour, contrast, faded, luminance, over
from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser

BACKGROUND = "getComputedStyle(document.body).backgroundColor"

# axe does not judge SVG text; the boxes under it are nearly transparent tints of the text colour
SVG_TEXTS = """() => [...document.querySelectorAll('figure.drawing text')].map((text) => {
  const { fill, fillOpacity } = getComputedStyle(text);
  return [fill, Number(fillOpacity), getComputedStyle(document.body).backgroundColor];
})"""


def is_dark(page):
    return luminance(page.evaluate(BACKGROUND)) < 0.1


def turn(page, scheme):
    """The system changes its theme, and the page follows without being loaded again."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("s => document.documentElement.dataset.theme === s", arg=scheme)


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_is_opened_in_the_system_theme(page_of, template, scheme, dark):
    assert is_dark(page_of(template, color_scheme=scheme)) == dark


def test_the_page_follows_the_system_theme(page_of):
    page = page_of("section", color_scheme="dark")
    followed = [is_dark(page)]
    for scheme in ("light", "dark"):
        turn(page, scheme)
        followed.append(is_dark(page))
    assert followed == [True, False, True]


STATE = "[document.documentElement.dataset.mode, document.documentElement.dataset.theme]"


def test_the_theme_button_goes_round_and_says_where_it_is(page_of):
    page = page_of("section", color_scheme="dark")
    button, seen = page.locator(".theme-button"), []
    for _ in range(4):
        name = button.get_attribute("aria-label").rpartition(": ")[2]
        seen.append((*page.evaluate(STATE), name))
        button.click()
    system = ("auto", "dark", "as the system")
    assert seen == [system, ("light", "light", "light"), ("dark", "dark", "dark"), system]


def test_the_theme_is_remembered_and_another_tab_follows(visit):
    visitor = visit(color_scheme="light")
    page, other = visitor.open(PAGES["section"]), visitor.open(PAGES["drill"])
    for _ in range(2):
        page.locator(".theme-button").click()
    assert is_dark(page)
    other.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    page.reload()
    assert is_dark(page)
    assert page.evaluate("atBody.theme") == "dark"
    kept = page.evaluate("[localStorage.getItem('mode'), localStorage.getItem('theme')]")
    assert kept == ["dark", "dark"]


@pytest.mark.parametrize("name", ["section", "opening"])
def test_the_text_of_drawings_is_legible(page_of, name):
    page = page_of(name, reduced_motion="reduce")
    for scheme in ("light", "dark"):
        turn(page, scheme)
        texts = page.evaluate(SVG_TEXTS)
        assert len(texts) == 4
        assert {is_dark(page), *(luminance(ground) < 0.1 for _, _, ground in texts)} == {
            scheme == "dark"}
        for fill, opacity, ground in texts:
            seen = contrast(over(faded(colour(fill), opacity), colour(ground)), ground)
            assert seen >= 4.5, (scheme, fill, opacity)
