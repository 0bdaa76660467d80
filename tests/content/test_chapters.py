"""The chapters of the book say of themselves what every page needs."""

import re

import pytest

from book.pipeline.content import chapters, planned
from book.pipeline.ground.paths import ROOT, WEB

ANNOUNCED = {"zh": re.compile(r"第 (\d+) 章（([^（）]+)，编写中）"),
             "en": re.compile(r"[Cc]hapter (\d+) \(([^()]+), being written\)")}


def test_the_book_has_its_five_machines_and_all_chapters_are_well_formed():
    assert list(chapters.problems(ROOT)) == []
    machines = [one.number for one in chapters.read().values() if one.machine]
    assert machines == [1, 2, 3, 4, 5]


def test_every_chapter_has_a_colour_of_its_own():
    style = (WEB / "styles" / "base.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r'^\[data-chapter="(\d+)"\] \{ --chapter: (.+); \}$', style, re.M))
    assert {str(one.number) for one in chapters.read().values()} <= colours.keys()
    assert len(set(colours.values())) == len(colours)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_chapter_that_a_text_calls_being_written_is_one_and_has_that_name(lang):
    names = {str(one.number): dict(zip(planned.LANGS, one.name, strict=True))[lang].lower()
             for one in planned.read()}
    found = {match for page in ROOT.glob("chapters/*/*.md")
             for match in ANNOUNCED[lang].findall(page.read_text(encoding="utf-8"))}
    assert len(found) >= 4
    assert [(number, name) for number, name in found if names.get(number) != name] == []
