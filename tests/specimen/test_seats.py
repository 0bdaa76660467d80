"""What the other tests rely on: a kept seat is as a new one."""

import pytest

from tests.helpers.browser import until
from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser

LEAVE = """async () => {
  localStorage.setItem('left', '1');
  sessionStorage.setItem('left', '1');
  document.cookie = 'left=1';
  await new Promise((done) => {
    const request = indexedDB.open('left');
    request.onsuccess = () => { request.result.close(); done(); };
  });
  await caches.open('left');
}"""
FIND = """async () => ({
  local: { ...localStorage }, session: { ...sessionStorage }, cookie: document.cookie,
  databases: await indexedDB.databases(), caches: await caches.keys(),
  size: [innerWidth, innerHeight], print: matchMedia('print').matches,
  dark: matchMedia('(prefers-color-scheme: dark)').matches,
  still: matchMedia('(prefers-reduced-motion: reduce)').matches,
  hover: document.querySelectorAll(':hover').length > 0,
})"""

STORE_MADE = """() => indexedDB.databases().then((all) => all.some(
  ({ name, version }) => name === "pytorch-inside-out" && version > 0))"""


def found(page):
    """What is there once the page has made its store, which it does after it is shown."""
    until(page, STORE_MADE)
    return page.evaluate(FIND)


def test_the_next_reader_finds_nothing_of_the_one_before(visit):
    reader = visit()
    page = reader.open(PAGES["section"])
    as_new = found(page)
    page.evaluate(LEAVE)
    page.set_viewport_size({"width": 400, "height": 500})
    page.locator("article h1").hover()
    page.wait_for_function("document.querySelector('article h1:hover') !== null")
    page.emulate_media(media="print", color_scheme="dark", reduced_motion="reduce")
    left = page.evaluate(FIND) | {"hover": True}  # paper may have moved the heading away
    assert [key for key in as_new if left[key] == as_new[key]] == [], "no trace was left"
    assert reader.seat.clean()
    assert found(reader.open(PAGES["section"])) == as_new


def test_a_wait_for_what_comes_by_a_promise_is_refused_unless_it_asks_again(visit):
    page = visit().open(PAGES["section"])
    with pytest.raises(AssertionError, match="until"):
        page.wait_for_function("async () => false")
    page.evaluate("window.asked = 0")
    until(page, "async () => (asked += 1) > 2")
    assert page.evaluate("asked") == 3


def test_where_a_clock_was_stopped_nobody_sits_next(visit):
    reader = visit()
    reader.open(PAGES["section"]).clock.install()
    assert not reader.seat.clean()
