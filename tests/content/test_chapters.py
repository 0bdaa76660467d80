"""The chapters of the book say of themselves what every page needs."""

import re

from book.pipeline.content import chapters
from book.pipeline.ground.paths import ROOT, WEB


def test_the_book_has_its_five_machines_and_all_chapters_are_well_formed():
    assert list(chapters.problems(ROOT)) == []
    machines = [one.number for one in chapters.read().values() if one.machine]
    assert machines == [1, 2, 3, 4, 5]


def test_every_chapter_has_a_colour_of_its_own():
    style = (WEB / "styles" / "base.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r'^\[data-chapter="(\d+)"\] \{ --chapter: (.+); \}$', style, re.M))
    assert {str(one.number) for one in chapters.read().values()} <= colours.keys()
    assert len(set(colours.values())) == len(colours)
