"""The picture of growing tensors names each way in both languages."""

import pytest

from inside.tensors.pictures.growth import WAYS, draw_growth
from tests.helpers.pictures import (
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def test_each_way_is_named_in_both_languages():
    picture = draw_growth({way: [1, 2, 4] for way in WAYS})
    assert all(name in picture.svg for names in WAYS.values() for name in names)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)


def test_unknown_way_is_refused():
    with pytest.raises(KeyError):
        draw_growth({"by_magic": [1]})
