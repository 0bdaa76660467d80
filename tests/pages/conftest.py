"""One Chromium and one tab over the built site, for all pages that a process visits."""

import pytest
from playwright.sync_api import sync_playwright

from benchmarks import chromium
from book.pipeline.paths import SITE
from book.pipeline.serve import served
from tests.helpers.site import NO_SITE, pages
from tests.pages.visit import Tab


def pytest_generate_tests(metafunc):
    if "page_path" in metafunc.fixturenames:
        metafunc.parametrize("page_path", pages() or [NO_SITE])


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
