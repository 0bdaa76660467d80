"""The picture of a sum's error names the orders in both languages."""

import pytest

from inside.tensors.pictures.sum_errors import NAMES, draw_sum_errors


def test_each_order_of_adding_is_named_in_both_languages():
    picture = draw_sum_errors({name: [1e-8, 1e-7] for name in NAMES}, start=4)
    assert all(word in picture.svg for pair in NAMES.values() for word in pair)


def test_an_order_without_a_name_is_refused():
    with pytest.raises(ValueError, match="'by chance': one of one by one"):
        draw_sum_errors({"by chance": [1e-8]}, start=4)
