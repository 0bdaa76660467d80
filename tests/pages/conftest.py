"""One Chromium and one tab over the built site, for all pages that a process visits."""

from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from book.pipeline.finish import search
from book.pipeline.ground.paths import CODE, ROOT, SITE
from book.pipeline.notebooks import depends
from book.pipeline.serve import served
from oracles.web import chromium
from tests.helpers.site import NO_SITE, pages
from tests.pages.visit import Tab

HERE = Path(__file__).parent
SEARCH = SITE / "_static" / search.FOLDER
# What visits a page: these tests with all that they import, and what they inject.
OWN = sorted(HERE.glob("*.py"))
TOOLS = [*OWN, *sorted(depends.files((file.read_text("utf-8") for file in OWN), (ROOT, CODE))),
         HERE / "look.js", Path(chromium.path()), ROOT / "node_modules/axe-core/axe.min.js",
         ROOT / "tests/conftest.py", ROOT / "pyproject.toml"]


def pytest_generate_tests(metafunc):
    if "page_path" in metafunc.fixturenames:
        metafunc.parametrize("page_path", [*map(visited, pages())] or [NO_SITE])


def visited(page):
    """A page, with all that a visit of it looks at: the drill alone reads the cards' files, and no
    visit opens the search, whose files change with any page; test_search.py looks at those."""
    shared = [file for file in sorted((SITE / "_static").rglob("*")) if file.is_file()
              and ("drill" in page or "drill-cards" not in file.as_posix())
              and SEARCH not in file.parents]
    return pytest.param(page, marks=pytest.mark.remember(SITE / page, *shared, *TOOLS))


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.path(), args=chromium.FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tab(browser):
    """The tab in which the pages of the book are visited."""
    assert pages(), NO_SITE
    with served(SITE) as address:
        yield Tab(browser, address, SITE)
