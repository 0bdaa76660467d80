"""Contents in a drawer, the section being read, a copy button, 44 columns of code on a phone."""

import pytest

from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser

PHONE = {"width": 390, "height": 800}
HERE = "[...document.querySelectorAll('#on-this-page .is-here')].map((a) => a.hash)"
PLACE = "document.getElementById('contents').parentElement.className"
FOCUSED = "document.activeElement.className"


# ---- the contents --------------------------------------------------------------------------------

def test_on_a_phone_the_contents_open_over_the_page_and_close_where_they_were(page_of, tab_to):
    page = page_of("section", lang="en", viewport=PHONE)
    assert not page.locator("#contents").is_visible()
    tab_to(page, ".contents-button")
    page.keyboard.press("Enter")
    drawer = page.locator("dialog[open]")
    assert drawer.locator("#contents [aria-current=page]").inner_text() == "Everything once"
    assert drawer.locator("#on-this-page a").first.is_visible()
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    page.keyboard.press("Escape")
    assert not drawer.count()
    assert page.evaluate(FOCUSED) == "contents-button"
    assert page.evaluate(PLACE) == "page has-headings"


def test_a_way_in_the_drawer_closes_it(page_of):
    page = page_of("section", lang="en", viewport=PHONE)
    page.locator(".contents-button").click()
    page.locator("dialog[open] #on-this-page a").last.click()
    assert page.locator("dialog[open]").count() == 0
    assert page.evaluate("location.hash") == "#recall"


def test_beside_the_drawer_a_tap_closes_it(page_of):
    page = page_of("section", viewport=PHONE)
    page.locator(".contents-button").click()
    page.mouse.click(385, 400)
    assert page.locator("dialog[open]").count() == 0


def test_on_a_wide_screen_the_contents_stand_beside_the_text(page_of):
    page = page_of("section", lang="en")
    assert page.locator("#contents").is_visible()
    assert page.locator("#on-this-page").is_visible()
    assert not page.locator(".contents-button").is_visible()
    page.locator("[data-set-lang=both]").click()  # the two languages take their place
    assert not page.locator("#contents").is_visible()
    assert page.locator(".contents-button").is_visible()


def test_the_section_being_read_is_marked(page_of):
    page = page_of("section", lang="en")
    assert page.evaluate(HERE) == ["#two-predictions"]
    for name in ("recall", "your-turn"):
        page.evaluate("id => document.getElementById(id).scrollIntoView()", name)
        page.wait_for_function(f"{HERE}.join() === '#{name}'")


def test_who_comes_by_an_anchor_is_in_its_section_until_they_scroll(visit):
    visitor = visit(viewport={"width": 1280, "height": 2400})  # the last section stands far down
    page = visitor.open(PAGES["front"], lang="en")
    page.goto(f"{visitor.site}{PAGES['section']}#recall")
    page.wait_for_function(f"{HERE}.join() === '#recall'")
    assert page.evaluate("document.getElementById('recall').getBoundingClientRect().top") > 300
    page.mouse.move(600, 400)
    page.mouse.wheel(0, -10)
    page.wait_for_function(f"{HERE}.join() !== '#recall'")


# ---- side by side --------------------------------------------------------------------------------

@pytest.mark.parametrize(("width", "beside"), [(1280, True), (1000, False), (390, False)])
def test_side_by_side_the_languages_stand_beside_each_other_where_there_is_room(
        page_of, width, beside):
    page = page_of("section", lang="both", viewport={"width": width, "height": 800})
    for pair in ("h1", ".bi-pair"):
        zh, en = (page.locator(f"{pair} > .lang-{lang}").first.bounding_box()
                  for lang in ("zh", "en"))
        assert (zh["x"] + zh["width"] <= en["x"]) == beside, pair
        assert (zh["y"] + zh["height"] <= en["y"]) != beside, pair
    assert page.evaluate("document.documentElement.scrollWidth") == width


# ---- code and tables -----------------------------------------------------------------------------

def copied(page, replace):
    """What the first copy button gives, with the clipboard replaced by this script."""
    page.evaluate(replace)
    code = page.locator(".cell_input .highlight").locator("visible=true").first
    code.hover()
    code.locator(".copy").click()
    code.locator(".copy [role=status]").wait_for()
    return page.evaluate("window.copied"), code.locator("pre").inner_text().strip()


@pytest.mark.parametrize("clipboard", [
    "navigator.clipboard.writeText = async (text) => { window.copied = text; }",
    """navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
    addEventListener("copy", () => { window.copied = document.activeElement.value; });"""],
    ids=["with a clipboard", "without"])
def test_code_is_copied(page_of, clipboard):
    given, shown = copied(page_of("section", lang="en"), clipboard)
    assert given == shown == "import torch"


def test_only_code_has_a_copy_button(page_of):
    page = page_of("section")
    assert page.locator(".cell_input .copy").count() > 3
    assert page.locator(".cell_output .copy").count() == 0


def test_44_columns_of_code_fit_on_a_line_of_a_phone_and_longer_ones_break(page_of):
    page = page_of("section", lang="zh", viewport=PHONE)
    code = page.locator(".cell_input pre").locator("visible=true").first
    code.evaluate("pre => pre.parentElement.querySelector('.copy').remove()")  # it takes room
    for columns, lines in ((44, 1), (60, 2)):
        found = code.evaluate("""(pre, columns) => {
          pre.textContent = "x".repeat(columns);
          const words = document.createRange();
          words.selectNodeContents(pre);
          return [pre.scrollWidth > pre.clientWidth, words.getClientRects().length];
        }""", columns)
        assert found == [False, lines], columns
    shades = code.evaluate("pre => getComputedStyle(pre).backgroundAttachment").split(", ")
    assert shades.count("local") == 2, "those that hide a shade at an end scroll with the code"
    assert shades.count("scroll") == 3


def test_the_first_column_of_a_wide_table_stays(page_of):
    page = page_of("section", lang="en", viewport=PHONE)
    page.wait_for_function(
        "document.querySelector('article .lang-en .wide-table')?.tabIndex === 0")
    left = page.locator("article .lang-en .wide-table").first.evaluate("""(box) => {
      const cells = [...box.querySelector("tbody tr").cells].slice(0, 2);
      const at = () => cells.map((cell) => Math.round(cell.getBoundingClientRect().left));
      const before = at();
      box.scrollLeft = 40;
      return at().map((x, i) => x - before[i]);
    }""")
    assert left == [0, -40]
