"""axe finds nothing in either theme and any language; dark mode is dark and remembered."""

import pytest

from book.pipeline.paths import ROOT

pytestmark = pytest.mark.browser

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RUN = """async ([rules, within]) => {
  const { violations, passes } = await axe.run(within, { runOnly: rules });
  return [violations.flatMap(({ id, nodes }) => nodes.map(
    (node) => `${id}: ${node.target} ${node.failureSummary}`)), passes.length];
}"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor"


def luminance(colour):
    """Relative luminance of `rgb(r, g, b)`, WCAG 2."""
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1:-1].split(",")[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(visit, page_path, open_all, scheme):
    page = visit(color_scheme=scheme, reduced_motion="reduce").open(page_path)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = {}
    found["before"], _ = page.evaluate(RUN, [RULES, "predict-cell, .explanation, h1"])
    open_all(page)
    for mode in ("zh", "en", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        found[mode], passed = page.evaluate(RUN, [RULES, "html"])
        assert passed > 20
    assert found == {"before": [], "zh": [], "en": [], "both": []}


def test_on_a_phone_what_scrolls_can_be_reached_and_buttons_are_large_enough(
    visit, page_path, open_all
):
    page = visit(viewport={"width": 390, "height": 800}, reduced_motion="reduce").open(page_path)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    open_all(page)
    found, _ = page.evaluate(RUN, [["scrollable-region-focusable", "target-size"], "html"])
    assert found == []


def is_dark(page):
    return luminance(page.evaluate(BACKGROUND)) < 0.1


def turn(page, scheme):
    """The system changes its theme, and the page follows without being loaded again."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("s => document.documentElement.dataset.theme === s", arg=scheme)


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_is_opened_in_the_system_theme(visit, template_page, scheme, dark):
    assert is_dark(visit(color_scheme=scheme).open(template_page)) == dark


def test_the_page_follows_the_system_theme(visit, page_path):
    page = visit(color_scheme="dark").open(page_path)
    followed = [is_dark(page)]
    for scheme in ("light", "dark"):
        turn(page, scheme)
        followed.append(is_dark(page))
    assert followed == [True, False, True]


def test_the_theme_button_works_and_is_remembered(visit, template_page):
    page = visit(color_scheme="light").open(template_page)
    button = page.locator(".theme-switch-button:visible")
    for _ in range(3):
        button.click()
        if page.evaluate("document.documentElement.dataset.theme") == "dark":
            break
    assert luminance(page.evaluate(BACKGROUND)) < 0.1
    page.reload()
    assert luminance(page.evaluate(BACKGROUND)) < 0.1
    assert page.evaluate("atBody.theme") == "dark"


# axe does not judge SVG text; the boxes under it are nearly transparent tints of the text colour
SVG_TEXTS = """() => [...document.querySelectorAll('figure.drawing text')].map((text) => {
  const { fill, fillOpacity } = getComputedStyle(text);
  return [fill, Number(fillOpacity), getComputedStyle(document.body).backgroundColor];
})"""


def test_the_text_of_drawings_is_legible(visit, section):
    page = visit(reduced_motion="reduce").open(section)
    for scheme in ("light", "dark"):
        turn(page, scheme)
        texts = page.evaluate(SVG_TEXTS)
        assert all((luminance(ground) < 0.1) == (scheme == "dark") for _, _, ground in texts)
        for fill, opacity, ground in texts:
            ink = [opacity * f + (1 - opacity) * g
                   for f, g in zip(rgb(fill), rgb(ground), strict=True)]
            seen = contrast(f"rgb({', '.join(str(round(c)) for c in ink)})", ground)
            assert seen >= 4.5, (scheme, fill, opacity)


def rgb(colour):
    return [int(part) for part in colour[colour.index("(") + 1:-1].split(",")[:3]]
