"""The text face of English is small, the same each time, and has what the book sets in it."""

import pytest
from fontTools.ttLib import TTFont

from book.pipeline.ground import face


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("face")
    face.write(folder)
    return folder


def test_it_has_plain_latin_text_and_two_weights(folder):
    with TTFont(folder / face.NAME) as font:
        letters = set(font.getBestCmap())
        [axis] = font["fvar"].axes
    assert {ord(letter) for letter in "Aa0{}~“”’–—…×"} <= letters
    assert ord("ж") not in letters
    assert (axis.axisTag, axis.minValue, axis.maxValue) == ("wght", 400, 700)


def test_it_is_small_and_comes_with_its_licence(folder):
    assert 10_000 < (folder / face.NAME).stat().st_size <= 25_000
    assert "SIL OPEN FONT LICENSE" in (folder / face.LICENCE).read_text("utf-8").upper()


def test_it_is_the_same_each_time(folder, tmp_path):
    face.write(tmp_path)
    assert (tmp_path / face.NAME).read_bytes() == (folder / face.NAME).read_bytes()
