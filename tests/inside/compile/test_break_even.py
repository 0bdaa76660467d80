"""The totals cross where they are drawn, and a row that never pays is refused."""

import re

import pytest

from inside.compile.pictures import break_even
from inside.compile.pictures.break_even import draw_break_even, total

ROW = {"key": "k", "zh": "核", "en": "kernel", "eager": 6.0, "compiled": 2.0, "cold": 12.0,
       "warm": 2.0, "even_cold": 3000, "even_warm": 500}


@pytest.mark.parametrize(("name", "calls"), [("cold", 3000), ("warm", 500)])
def test_a_dot_stands_on_the_first_call_at_which_compiling_has_paid(name, calls):
    assert total(ROW, name, calls) <= total(ROW, "eager", calls)
    assert total(ROW, name, calls - 1) > total(ROW, "eager", calls - 1)


def test_the_first_compiled_call_takes_what_was_measured():
    assert total(ROW, "cold", 1) == 12
    assert total(ROW, "eager", 2) == 0.012


def test_the_lines_start_at_their_first_call_and_cross_at_the_dots():
    last, top = 3750, 22.5
    picture = draw_break_even(ROW)
    for calls in (3000, 500):
        x, y = break_even.place(calls, total(ROW, "eager", calls), last, top)
        assert f'cx="{x:g}" cy="{y:g}"' in picture.svg
    assert re.findall(r">(3,000|500)<", picture.svg) == ["3,000", "500"]
    assert "没有缓存" in picture.svg
    assert "without a cache" in picture.svg


def test_each_line_has_dashes_of_its_own_since_colours_may_be_missing():
    assert len({dashes for _, dashes, *_ in break_even.LINES.values()}) == 3


def test_everything_lies_within_the_frame():
    points = re.findall(r"L([\d.]+) ([\d.]+)\"", draw_break_even(ROW).svg)
    assert len(points) == 3
    assert all(0 <= float(x) <= break_even.WIDTH for x, _ in points)
    assert all(float(y) >= break_even.TOP for _, y in points)


def test_a_row_that_never_pays_is_refused_in_a_line():
    lost = {key: value for key, value in ROW.items() if not key.startswith("even")}
    with pytest.raises(ValueError, match="k: compiled calls are not faster"):
        draw_break_even(lost)


def test_the_picture_is_told_in_words():
    assert repr(draw_break_even(ROW)) == (
        "kernel: the total of compiled calls falls below eager mode's after 3,000 calls "
        "without a cache, 500 with one")
