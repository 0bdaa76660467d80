"""A widget's script is asked for when the widget comes near the screen, and not before."""

import pytest

from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser
DEFINED = "customElements.get('stride-explorer') !== undefined"
# Runs before the page's scripts: a widget far below, which nobody has come near.
FAR = """document.addEventListener("DOMContentLoaded", () => {
  const above = document.createElement("div");
  above.style.blockSize = "5000px";
  document.querySelector("stride-explorer").before(above);
})"""


@pytest.fixture
def far(browser, site):
    """A page whose widget is far below, and the scripts of widgets that it has asked for."""
    context = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 720})
    page, asked = context.new_page(), []
    page.add_init_script(FAR)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{site}{PAGES['explorer']}?lang=en", wait_until="networkidle")
    yield page, lambda: [url for url in asked if "stride-explorer.js" in url]
    context.close()


def test_far_away_its_table_shows_and_nothing_is_loaded(far):
    page, asked = far
    assert asked() == []
    assert not page.evaluate(DEFINED)
    assert page.locator("stride-explorer > table").count() == 1


def test_a_screen_away_it_is_loaded_once_and_nothing_above_it_moves(far):
    page, asked = far
    page.evaluate("scrollBy({ top: 5000 - 720, behavior: 'instant' })")
    above = "document.querySelector('article h1').getBoundingClientRect().top"
    before = page.evaluate(above)
    page.wait_for_function(DEFINED)
    page.locator("stride-explorer .w-frame").first.wait_for()
    assert page.evaluate(above) == before
    assert len(asked()) == 1
    assert "?v=" in asked()[0], "an old one is never kept"
