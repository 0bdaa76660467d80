"""What is wide scrolls inside itself on a phone; a printed page holds what is folded away."""

import pytest

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 800}
MODES = ("zh", "en", "both")

# The specimen's wide things: how each overflows, whether it scrolls, and whether Tab reaches it.
WIDE = """() => Object.fromEntries(Object.entries({
  code: '.cell_input pre', formula: '.math .katex-html', output: '.cell_output > .output',
  table: '.pst-scrollable-table-container',
}).map(([name, selector]) => {
  const shown = [...document.querySelectorAll(`article ${selector}`)].filter(
    (box) => box.scrollWidth > box.clientWidth + 1 && box.checkVisibility());
  return [name, shown.map((box) => [getComputedStyle(box).overflowX,
    (box.scrollLeft = 99, box.scrollLeft > 0), box.tabIndex === 0])];
}))"""

# Code in tables that is cut though a line of 20 rem could hold it.
CUT = """() => [...document.querySelectorAll('article :is(td, th) code')].filter((code) => {
  const lines = new Set([...code.querySelectorAll('.pre')].flatMap((word) => (
    [...word.getClientRects()].map(({ top }) => Math.round(top)))));
  const one = code.textContent.length * parseFloat(getComputedStyle(code).fontSize) * 0.63;
  return lines.size > 1 && one < 290;
}).map((code) => code.textContent)"""
REACHED = """() => [...document.querySelectorAll('article .pst-scrollable-table-container')]
  .every((box) => (box.tabIndex === 0) === (box.scrollWidth > box.clientWidth))"""


def test_what_is_wide_scrolls_inside_itself(page_of, open_all):
    page = page_of("section", lang="zh", viewport=PHONE)
    open_all(page)
    for mode in MODES:
        page.locator(f"[data-set-lang={mode}]").click()
        page.wait_for_function(REACHED)  # the theme looks a bit later
        wide = page.evaluate(WIDE)
        tables = 2 if mode == "both" else 1
        assert wide["code"], mode
        assert len(wide["table"]) == tables, (mode, wide)
        assert all(overflow == "auto" and scrolled for found in wide.values()
                   for overflow, scrolled, _ in found), (mode, wide)
        assert all(by_keyboard for found in (wide["code"], wide["table"])
                   for *_, by_keyboard in found), (mode, wide)
        assert page.evaluate(CUT) == [], mode
        assert page.evaluate("[innerWidth, document.documentElement.scrollWidth]") == [390, 390]


def test_the_wide_formula_and_the_html_table_of_an_output_scroll_too(page_of, open_all):
    page = page_of("section", lang="en", viewport=PHONE)
    open_all(page)
    wide = page.evaluate(WIDE)
    assert len(wide["formula"]) == 1
    assert len(wide["output"]) == 1


def test_the_switch_and_the_menus_can_be_reached_on_a_phone(page_of, template):
    page = page_of(template, viewport=PHONE)
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        buttons = page.locator(".bd-header-article button").locator("visible=true").all()
        assert len(buttons) >= 5
        for button in buttons:
            box = button.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert min(box["width"], box["height"]) >= 24
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator(".primary-toggle").click()
    assert page.locator("dialog[open] a.reference").first.is_visible()


def test_print_opens_what_is_folded_shows_outputs_and_hides_forms(page_of):
    page = page_of("section", lang="en")
    page.emulate_media(media="print")
    folds, closed = page.evaluate("""() => {
      const folds = [...document.querySelectorAll('article details')];
      return [folds.length, folds
        .filter((fold) => ![...fold.children].slice(1).some((child) => child.checkVisibility(
          { contentVisibilityAuto: true }) && child.getBoundingClientRect().height > 0))
        .map((fold) => fold.textContent.slice(0, 60))];
    }""")
    assert folds > 15
    assert closed == []
    assert not page.locator("form, .lang-switch").locator("visible=true").count()
    outputs = page.locator("predict-cell pre").all()
    assert len(outputs) == 2
    assert all(output.is_visible() for output in outputs)
