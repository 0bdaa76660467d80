"""The picture of places shows how far a shuffle moves its samples."""

import pytest
import torch

from inside.data.pictures.places import POINTS, draw_places, moved
from mini_shards import shuffle_buffer
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


def test_moves_are_counted_in_both_directions():
    assert moved([0, 1, 2]) == "0 places early at most, 0 late"
    assert moved([3, 1, 2, 0]) == "3 places early at most, 3 late"


def test_a_sample_of_the_diagonal_lies_on_it():
    drawn = draw_places({"in order": list(range(4))}).svg
    assert "M1.0 180.0h0M41.0 140.0h0M81.0 100.0h0M121.0 60.0h0" in drawn


def test_picture():
    draws = torch.Generator().manual_seed(0)
    orders = {f"size={size}": list(shuffle_buffer(range(3_000), size, draws)) for size in (10, 99)}
    picture = draw_places(orders)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert "size=10: 3000 samples, 9 places early at most" in picture.text
    assert picture.svg.count("h0") == 2 * POINTS


def test_more_squares_do_not_fit():
    with pytest.raises(ValueError, match="3 orders"):
        draw_places({name: [0] for name in "abc"})
