"""The picture of padded batches shows which places of a batch are data."""

import pytest
import torch

from inside.data.pictures.padded_batches import draw_padded_batches, runs
from mini_samples import pad
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


def masks(*batches, side="right"):
    return [pad([torch.ones(length) for length in lengths], side=side).mask for lengths in batches]


def test_a_row_is_drawn_piece_by_piece():
    assert runs([True, True, False, True]) == [(0, 2), (3, 1)]
    assert runs([False, False, True]) == [(2, 1)]
    assert runs([False]) == []


def test_the_text_tells_the_share_of_padding():
    assert draw_padded_batches(masks([3, 1], [2, 2])).text.splitlines() == [
        "2 rows of 3 places, 33% padding", "2 rows of 2 places, 0% padding"]


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_bar_is_as_long_as_its_row(side):
    picture = draw_padded_batches(masks([4, 2], side=side))
    assert "h348.0" in picture.svg
    assert "h174.0" in picture.svg
    assert ("M175.0" in picture.svg) == (side == "left")


@pytest.mark.parametrize("batches", [[[250] * 9], [[30] * 80, [250, 3]], [[1]]])
def test_picture(batches):
    picture = draw_padded_batches(masks(*batches))
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)


def test_no_batches_are_refused():
    with pytest.raises(ValueError, match="no batches"):
        draw_padded_batches([])
