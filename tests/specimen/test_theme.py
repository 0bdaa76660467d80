"""Dark is dark, light is light: as the system has it, until the reader chooses; remembered."""

import pytest

from tests.helpers.contrast import colour, contrast, faded, luminance, over

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


def test_the_theme_button_works_and_is_remembered(page_of):
    page = page_of("section", color_scheme="light")
    button = page.locator(".theme-switch-button:visible")
    for _ in range(3):
        button.click()
        if page.evaluate("document.documentElement.dataset.theme") == "dark":
            break
    assert is_dark(page)
    page.reload()
    assert is_dark(page)
    assert page.evaluate("atBody.theme") == "dark"


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
