"""Costs are those of the operators that run, and the slower of two limits decides each of them."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from inside.autograd.observe.step_costs import Cost, costs, roofline_time
from inside.autograd.pictures.attention_share import draw_attention_share


def meta(*shape):
    return torch.empty(shape, device="meta", requires_grad=True)


def test_a_product_has_two_flops_for_each_pair_and_the_bytes_of_three_matrices():
    x, w = meta(4, 5), meta(5, 6)
    assert costs(lambda: x @ w) == [Cost("mm", 2 * 4 * 5 * 6, 4 * (20 + 30 + 24))]


def test_a_pointwise_operator_has_bytes_only():
    x, y = meta(10), meta(10)
    assert costs(lambda: x + y) == [Cost("add", 0, 3 * 40)]


def test_an_input_that_is_given_twice_is_read_once():
    x = torch.empty(10, device="meta")
    assert costs(lambda: x * x) == [Cost("mul", 0, 2 * 40)]
    assert costs(lambda: torch.cat([x, x])) == [Cost("cat", 0, 40 + 80)]
    assert costs(lambda: x.mul_(x)) == [Cost("mul_", 0, 2 * 40)]


def test_views_and_unsafe_views_are_left_out():
    x, w = meta(2, 3, 4), meta(4, 5)
    assert [one.name for one in costs(lambda: (x @ w).transpose(0, 1))] == ["mm"]


def test_backward_is_included_and_agrees_with_the_counter_of_torch():
    x, w = meta(4, 5), meta(5, 6)
    with FlopCounterMode(display=False) as counter:
        (x @ w).sum().backward()
    found = costs(lambda: (x @ w).sum().backward())
    assert sum(one.flops for one in found) == counter.get_total_flops() == 3 * 240


def test_an_in_place_operator_reads_and_writes_its_tensor():
    x = torch.empty(10, device="meta")
    assert costs(lambda: x.mul_(2)) == [Cost("mul_", 0, 80)]


@pytest.mark.parametrize(("flops", "moved", "seconds"), [(100, 5, 10), (10, 50, 50), (0, 7, 7)])
def test_each_operator_takes_the_longer_of_both_times(flops, moved, seconds):
    assert roofline_time([Cost("x", flops, moved)], 10, 1) == seconds
    assert roofline_time([Cost("x", flops, moved)] * 2, 10, 1) == 2 * seconds


def test_the_picture_names_its_axes_in_both_languages():
    picture = draw_attention_share({"d = 64": [1.0, 2.0, 4.0]}, start=6)
    assert picture.text == "d = 64: 1 at 6, 2 at 7, 4 at 8"
    for words in ("序列长度是 2 的几次方", "power of two of the sequence length",
                  "数出来的 FLOPs 是 6ND 的几倍", "counted FLOPs over 6ND"):
        assert words in picture.svg
