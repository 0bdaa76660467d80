"""The bytes that the build computes for a page are those that a browser asks for."""

import re

import pytest

from benchmarks import pages
from book.pipeline.finish import sizes
from book.pipeline.ground.paths import widgets
from oracles.web.serving import served
from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser
CLOSE = 0.03  # of what a browser loads; a font of a folded formula is what differs


def near(specimen, page):
    """The names of the page's widgets: a folded one loads later, and is counted all the same."""
    return re.findall(r'data-near-([\w-]+)="', (specimen / f"{page}.html").read_text("utf-8"))


@pytest.mark.parametrize("name", PAGES)
def test_the_bytes_of_a_page_are_those_that_a_browser_loads(browser, specimen, name):
    page = PAGES[name].removesuffix(".html")
    computed = next(size for size in sizes.measure(specimen) if size.page == page)
    with served(specimen) as site:
        _, asked = pages.load(browser, f"{site}{page}.html")
    asked = {url.split("?")[0] for url in asked}
    asked |= {f"{site}_static/{name}.js" for name in widgets() if name in near(specimen, page)}
    if "<offline-book" in (specimen / f"{page}.html").read_text("utf-8"):
        asked |= {f"{site}{name}" for name in sizes.LISTS}  # by the page or by its worker
    loaded = sum(pages.body_sizes(asked, site, specimen))
    assert computed.total == pytest.approx(loaded, rel=CLOSE), (
        sorted(file.name for file in computed.files), sorted(asked))
