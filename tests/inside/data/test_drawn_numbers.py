"""The picture of drawn numbers shades equal numbers equally and says how many differ."""

import re

from inside.data.pictures.drawn_numbers import draw_numbers
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone

TABLES = {"stored": [[0.25, 0.75] * 12] * 10, "key": [[i / 24 for i in range(24)]] * 10}


def test_equal_numbers_have_equal_shades():
    picture = draw_numbers({"stored": TABLES["stored"]})
    shades = re.findall(r'fill-opacity="([\d.]+)"', picture.svg)
    assert len(shades) == 240
    assert len(set(shades)) == 2


def test_the_text_counts_the_numbers_that_differ():
    assert draw_numbers(TABLES).text.splitlines() == [
        "stored: 10 epochs of 24, 2 different", "key: 10 epochs of 24, 24 different"]


def test_it_fits_on_a_phone():
    picture = draw_numbers(TABLES)
    assert_narrow_enough_for_a_phone(picture)
    assert_every_text_lies_inside(picture)
