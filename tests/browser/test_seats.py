"""What the other tests rely on: a kept seat is as a new one, and a template speaks for its kind."""

import re
from urllib.parse import urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from book.pipeline.paths import SITE

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


def test_the_next_reader_finds_nothing_of_the_one_before(visit, one_section):
    reader = visit()
    page = reader.open(one_section)
    as_new = page.evaluate(FIND)
    page.evaluate(LEAVE)
    page.set_viewport_size({"width": 400, "height": 500})
    page.locator("article h1").hover()
    page.wait_for_function("document.querySelector('article h1:hover') !== null")
    page.emulate_media(media="print", color_scheme="dark", reduced_motion="reduce")
    left = page.evaluate(FIND) | {"hover": True}  # paper may have moved the heading away
    assert [key for key in as_new if left[key] == as_new[key]] == [], "no trace was left"
    assert reader.seat.clean()
    assert reader.open(one_section).evaluate(FIND) == as_new


def test_where_a_clock_was_stopped_nobody_sits_next(visit, one_section):
    reader = visit()
    reader.open(one_section).clock.install()
    assert not reader.seat.clean()


ELEMENT = {"predict": "predict-cell", "drill": "card-drill"}  # others are named as their script


def scripts(page):
    """What the head of a page runs: addresses in the site and texts, and by itself which of its
    elements with a script stand on the page."""
    soup = BeautifulSoup((SITE / page).read_text(encoding="utf-8"), "html.parser")
    found = {urlsplit(urljoin(f"/{page}", tag["src"])).path if tag.get("src") else tag.get_text()
             for tag in soup.head.find_all("script")}
    own = {script for script in found if soup.find(element(script))}
    return found - own, own, {tag.name for tag in soup.find_all(re.compile("-"))}


def element(script):
    stem = script.rpartition("/")[2].removesuffix(".js")
    return ELEMENT.get(stem, stem) if script.startswith("/_static/") else "no element"


def test_what_scripts_do_on_a_template_they_do_on_this_page(page_path):
    """What sets theme and language is the same on all pages; an element brings its own script."""
    common, own, elements = scripts(page_path)
    assert common == scripts("book/index.html")[0] != set()
    assert {element(script) for script in own} == elements
