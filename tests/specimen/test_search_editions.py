"""The search without a network, and on a page that is open while the site changes below it."""

import shutil

import pytest
from playwright.sync_api import expect

from book.pipeline.finish import offline, search
from tests.helpers.editions import says
from tests.specimen.conftest import PAGES
from tests.specimen.test_offline import built, host, reader  # noqa: F401
from tests.specimen.test_one_word import CHANGED, WORD

pytestmark = pytest.mark.browser
NAMES = "_static/search/names.json"
IN_TEXT, NEW = "offset", "wombat"  # a word of a text, and one that a later edition has


def asked(page, text):
    """The options after a text was typed into the box."""
    page.keyboard.press("Escape")
    page.locator("[data-search]").click()
    page.locator(".search-input").fill(text)
    return page.locator(".search-option")


def says_nothing(page):
    return expect(page.locator(".search-status")).to_contain_text("Nothing found")


@pytest.fixture
def later(built, tmp_path):  # noqa: F811
    """A later edition, in which a section has another word."""
    folder = shutil.copytree(built, tmp_path / "later")
    page = folder / PAGES["section"]
    text = page.read_text(encoding="utf-8")
    assert WORD in text
    page.write_text(text.replace(WORD, CHANGED.replace("memory", NEW)), encoding="utf-8")
    static = folder / "_static"
    shutil.move(next((static / search.FOLDER).glob("box.*")), static / search.BOX)
    shutil.rmtree(static / search.FOLDER)
    search.write(folder)
    offline.write(folder)
    return folder


def test_who_has_searched_once_can_search_without_a_network(host, reader):  # noqa: F811
    one = reader()
    one.read(PAGES["section"])
    page = one.read(PAGES["section"])  # the worker is there now
    expect(asked(page, IN_TEXT).first).to_be_visible()
    host.stop()
    page.reload()
    expect(asked(page, IN_TEXT).first).to_be_visible()
    expect(page.locator(".search-missing")).to_be_empty()
    host.start()


def test_the_kept_book_is_searched_without_a_network_and_after_a_half_fetched_edition(
        host, reader, later):  # noqa: F811
    one = reader()
    one.keep_book()
    host.stop()
    page = one.open(PAGES["section"])
    expect(asked(page, IN_TEXT).first).to_be_visible()
    host.start()
    host.folder = later
    host.faults = {PAGES["section"]: says(503, "no"), NAMES: says(503, "no")}
    one.open(PAGES["use"])  # learns of the edition, and cannot have all of it
    page.wait_for_timeout(500)
    host.stop()
    page = one.open(PAGES["drill"])
    expect(asked(page, IN_TEXT).first).to_be_visible()
    host.start()


def test_a_server_that_never_says_the_names_leaves_those_that_are_kept(host, reader):  # noqa: F811
    one = reader()
    page = one.keep_book()
    host.faults = {NAMES: lambda handler: handler.rfile.read(1)}  # waits for what never comes
    page.reload()
    expect(asked(page, IN_TEXT).first).to_be_visible()


@pytest.mark.parametrize("kept", [False, True])
def test_a_page_that_stays_open_searches_the_edition_that_is_there(
        host, reader, later, kept):  # noqa: F811
    one = reader()
    page = one.keep_book() if kept else one.open(PAGES["section"])
    host.folder = later
    expect(asked(page, NEW).first).to_be_visible()


def test_a_page_that_searched_before_the_site_changed_finds_the_new_files_when_opened_again(
        host, reader, later):  # noqa: F811
    one = reader()
    page = one.open(PAGES["section"])
    page.locator("[data-search]").click()  # the box and the headings of the old edition
    expect(page.locator(".search-input")).to_be_focused()
    page.wait_for_load_state("networkidle")
    host.folder = later
    page.locator(".search-input").fill(IN_TEXT)  # of a chapter that is gone from the server
    expect(page.locator(".search-missing")).to_contain_text("only their headings")
    expect(asked(page, NEW).first).to_be_visible()
    expect(page.locator(".search-missing")).to_be_empty()
    assert page.locator(".search-box").count() == 1
