"""Every link and anchor inside the site resolves; section ids come from the English half."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from book.pipeline.paths import SITE

pytestmark = pytest.mark.browser


@cache
def soup(file):
    return BeautifulSoup(file.read_text(encoding="utf-8"), "html.parser")


def targets(page):
    """Every address of the site that a page names."""
    for attribute in ("href", "src"):
        for tag in soup(SITE / page).find_all(attrs={attribute: True}):
            address = urlsplit(tag[attribute])
            if not address.scheme and not address.netloc:
                yield unquote(address.path), unquote(address.fragment)


def test_every_link_inside_the_site_resolves(page_path):
    here, broken = SITE / page_path, []
    for path, fragment in set(targets(page_path)):
        file = (here.parent / path).resolve() if path else here
        if not file.is_file():
            broken.append(path)
        elif fragment and not soup(file).find(id=fragment):
            broken.append(f"{path}#{fragment}")
    assert broken == []


def test_the_front_door_leads_to_the_book():
    refresh = soup(SITE / "index.html").find("meta", attrs={"http-equiv": "Refresh"})
    assert (SITE / refresh["content"].split("url=")[1]).is_file()


def test_no_id_stands_twice_on_a_page(page_path):
    ids = Counter(tag["id"] for tag in soup(SITE / page_path).find_all(id=True))
    assert [name for name, times in ids.items() if times > 1] == []


def test_section_ids_come_from_the_english_half(page_path):
    headings = soup(SITE / page_path).select("article section > :is(h1, h2, h3)")
    assert headings
    for heading in headings:
        english = heading.select_one(".lang-en").get_text()
        slug = re.sub(r"[^a-z0-9]+", "-", english.lower()).strip("-")
        assert heading.parent["id"] == slug


def test_headings_go_down_one_level_at_a_time(page_path):
    names = soup(SITE / page_path).select("article :is(h1, h2, h3, h4, [role=heading])")
    levels = [int(h.get("aria-level") or h.name[1]) for h in names]
    assert levels[0] == 1
    assert levels.count(1) == 1
    steps = pairwise(levels)
    assert [(above, below) for above, below in steps if below > above + 1] == []
