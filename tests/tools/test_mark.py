"""The mark: one drawing for header and browser tab, seen on light and on dark ground."""

import re

import pytest

from book.pipeline.ground.paths import WEB
from tests.helpers.contrast import Colour, contrast

MARK = (WEB / "mark.svg").read_text()


def rgb(text):
    """`#2f78c4` as a colour."""
    return Colour(*(int(text[place:place + 2], 16) / 255 for place in (1, 3, 5)))


HUES = re.findall(r'fill="(#[0-9a-f]{6})"', MARK)


def test_the_tab_shows_the_mark():
    assert (WEB / "favicon.svg").read_text() == MARK


@pytest.mark.parametrize("ground", ["#ffffff", "#1a1917"])
def test_each_of_its_five_sides_stands_out(ground):
    assert len(set(HUES)) == 5
    assert min(contrast(rgb(hue), rgb(ground)) for hue in HUES) >= 3


def test_in_one_colour_it_takes_that_of_the_text():
    plain = (WEB / "mark-plain.svg").read_text()
    assert re.findall(r'fill="(.*?)"', plain) == ["currentColor"]
    assert re.search(r'viewBox="(.*?)"', plain)[1] == re.search(r'viewBox="(.*?)"', MARK)[1]
