"""The picture of the two flows shows what passed in a real epoch."""

import pytest

from inside.data.pictures.two_flows import draw_two_flows, run
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


def test_indices_become_samples_in_their_order():
    flows = run("abcde", 2, [3, 0, 4, 1])
    assert flows.indices == (3, 0, 4, 1)
    assert flows.lists == ((3, 0), (4, 1))
    assert flows.batches == (("d", "a"), ("e", "b"))


def test_a_short_last_batch_is_a_list_too():
    assert run("abc", 2, range(3)).lists == ((0, 1), (2,))


@pytest.mark.parametrize("count", [1, 4, 7])
def test_picture(count):
    picture = draw_two_flows("abcdefg", 2, range(count))
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)


def test_eight_samples_do_not_fit():
    with pytest.raises(ValueError, match="8 samples"):
        draw_two_flows("abcdefgh", 2, range(8))
