"""The drawn order of cache entries is torch's own."""

from inside.compile.observe.guard_cache import orders
from inside.compile.pictures.guard_cache import CALLS, draw_guard_cache
from tests.helpers.pictures import PHONE, assert_every_text_lies_inside, size


def test_a_new_entry_stands_in_front_and_a_hit_moves_there():
    assert orders([2, 3, 4, 2, 3]) == [[2], [3, 2], [4, 3, 2], [2, 4, 3], [3, 2, 4]]


def test_each_call_is_a_line_that_tells_hit_from_capture():
    lines = repr(draw_guard_cache()).splitlines()
    assert len(lines) == len(CALLS)
    assert sum("capture" in line for line in lines) == len(set(CALLS))


def test_every_text_lies_inside_the_picture_on_a_phone():
    assert_every_text_lies_inside(draw_guard_cache())
    assert size(draw_guard_cache())[0] <= PHONE
