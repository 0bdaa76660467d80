"""The chapters of the book say of themselves what every page needs."""

from book.pipeline.content import chapters
from book.pipeline.ground.paths import ROOT


def test_the_book_has_its_five_machines_and_all_chapters_are_well_formed():
    assert list(chapters.problems(ROOT)) == []
    machines = [one.number for one in chapters.read().values() if one.machine]
    assert machines == [1, 2, 3, 4, 5]
