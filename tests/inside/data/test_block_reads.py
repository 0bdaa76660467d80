"""The picture of block reads shows what each worker asks for and what is read for it."""

import pytest

from inside.data.pictures.block_reads import draw_block_reads, reads, runs
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


def in_order(total, size):
    return [list(range(first, first + size)) for first in range(0, total, size)]


def test_a_block_is_read_by_each_worker_that_asks_for_some_of_it():
    found = reads(in_order(8, 2), workers=2, size=4)
    assert found == [([0, 1, 4, 5], [(0, 4), (4, 4)]), ([2, 3, 6, 7], [(0, 4), (4, 4)])]


def test_a_worker_that_gets_whole_blocks_reads_them_once():
    batches = [[0, 1], [4, 5], [2, 3], [6, 7]]
    assert reads(batches, workers=2, size=4) == [([0, 1, 2, 3], [(0, 4)]), ([4, 5, 6, 7], [(4, 4)])]


def test_neighbours_are_drawn_as_one():
    assert runs([5, 1, 2, 0, 7]) == [(0, 3), (5, 1), (7, 1)]
    assert runs([]) == []


@pytest.mark.parametrize("workers", [1, 8])
def test_picture(workers):
    picture = draw_block_reads({"in order": in_order(800, 20), "by blocks": in_order(800, 100)},
                               workers, 100)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert "800 samples" in picture.text
