"""The picture of steps shows which rank made how many, and who waits."""

import pytest

from inside.data.pictures.steps_of_ranks import draw_steps, fates
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


def test_the_first_rank_to_finish_stops_the_others():
    assert fates([3, 2], epochs=2) == [
        [(1, "made"), (1, "made"), (1, "made"), (2, "made"), (2, "waits"), (2, "never")],
        [(1, "made"), (1, "made"), (2, "made"), (2, "made")]]


def test_ranks_of_equal_steps_make_all_of_them():
    assert {what for fate in fates([4, 4, 4], epochs=3) for _, what in fate} == {"made"}


@pytest.mark.parametrize("steps", [[12, 10, 6, 6, 6], [3, 2], [8] * 5])
def test_picture(steps):
    picture = draw_steps(steps, epochs=3)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert f"rank 0: {steps[0]} steps an epoch, {3 * min(steps)} made" in picture.text
