"""Pages fit a phone, and a printed page holds what the screen folds away."""

import pytest

pytestmark = pytest.mark.browser

SCROLLING = "chapters/02-autograd/cheat-sheet.html"  # has a table wider than a phone

TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.body.querySelectorAll('*')]
    .filter((element) => element.getBoundingClientRect().right > width + 0.5)
    .map((element) => `${element.tagName}.${element.className}`).slice(0, 5);
}"""


@pytest.mark.parametrize("width", [390, 320])
def test_no_page_is_wider_than_a_phone(visit, page_path, open_all, width):
    page = visit(viewport={"width": width, "height": 800}).open(page_path)
    open_all(page)
    wide = {}
    for mode in ("zh", "en", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        assert page.evaluate("innerWidth") == width
        wide[mode] = page.evaluate(TOO_WIDE)
    assert wide == {"zh": [], "en": [], "both": []}


@pytest.mark.parametrize("width", [390, 320])
def test_the_switch_and_the_menus_can_be_reached_on_a_phone(visit, template_page, width):
    page = visit(viewport={"width": width, "height": 800}).open(template_page)
    for button in page.locator(".bd-header-article button").locator("visible=true").all():
        box = button.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert min(box["width"], box["height"]) >= 24
    page.locator(".primary-toggle").click()
    assert page.locator("dialog[open] a.reference").first.is_visible()


CUT = """() => [...document.querySelectorAll('article pre, figure.drawing')]
  .filter((box) => box.scrollWidth > box.clientWidth + 1
                   && getComputedStyle(box).overflowX !== 'auto'
                   && getComputedStyle(box).overflowX !== 'scroll')
  .map((box) => box.textContent.slice(0, 60))"""


def test_code_and_drawings_scroll_inside_themselves(visit, section):
    page = visit(viewport={"width": 390, "height": 800}).open(section, lang="zh")
    for mode in ("zh", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        assert page.evaluate(CUT) == [], mode


# Code in tables that is cut though a line of 20 rem could hold it, and boxes of tables that do not
# scroll; how many tables scroll, and whether Tab reaches each of these.
TABLES = """() => {
  const cut = [...document.querySelectorAll('article :is(td, th) code')].filter((code) => {
    const lines = new Set([...code.querySelectorAll('.pre')].flatMap((word) => (
      [...word.getClientRects()].map(({ top }) => Math.round(top)))));
    const one = code.textContent.length * parseFloat(getComputedStyle(code).fontSize) * 0.63;
    return lines.size > 1 && one < 290;
  });
  const wide = [...document.querySelectorAll('article .pst-scrollable-table-container')]
    .filter((box) => box.scrollWidth > box.clientWidth);
  return { cut: cut.map((code) => code.textContent), wide: wide.length,
    stuck: wide.filter((box) => (box.scrollLeft = 99, !box.scrollLeft)).length,
    unreachable: wide.filter((box) => box.tabIndex !== 0).length };
}"""


def test_on_a_phone_tables_scroll_instead_of_cutting_code(visit, page_path, open_all):
    page = visit(viewport={"width": 390, "height": 800}).open(page_path, lang="zh")
    open_all(page)
    for mode in ("zh", "en", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        page.wait_for_function(f"({TABLES})().unreachable === 0")  # the theme looks a bit later
        found = page.evaluate(TABLES)
        assert found["cut"] == []
        assert found["stuck"] == 0, mode
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert found["wide"] > 0 or page_path != SCROLLING


def test_print_opens_what_is_folded_shows_outputs_and_hides_forms(visit, section):
    page = visit().open(section, lang="en")
    page.emulate_media(media="print")
    closed = page.evaluate("""() => [...document.querySelectorAll('article details')]
      .filter((fold) => ![...fold.children].slice(1).some((child) => child.checkVisibility(
        { contentVisibilityAuto: true }) && child.getBoundingClientRect().height > 0))
      .map((fold) => fold.textContent.slice(0, 60))""")
    assert closed == []
    assert not page.locator("form, .lang-switch").locator("visible=true").count()
    outputs = page.locator("predict-cell pre").all()
    assert outputs
    assert all(output.is_visible() for output in outputs)
