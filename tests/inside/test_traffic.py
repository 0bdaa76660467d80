"""Bytes are counted per operator, views are free, and nothing is computed."""

import torch

from inside.observe.traffic import traffic


def test_each_operator_reads_its_arguments_and_writes_its_result():
    found = traffic(lambda x: x * 2 + x, (10,))
    assert found.operators == [("mul", 80), ("add", 120)]
    assert (found.bytes, found.least, found.flops) == (200, 80, 0)


def test_a_view_moves_nothing():
    assert traffic(lambda x: x.t()[0], (4, 5)).bytes == 0


def test_a_copy_for_contiguity_does():
    assert traffic(lambda x: x.t().contiguous(), (4, 5)).operators == [("clone", 160)]


def test_matmul_has_the_bytes_of_three_matrices_and_two_flops_for_each_product():
    found = traffic(torch.matmul, (4, 5), (5, 6))
    assert found.operators == [("mm", 4 * (20 + 30 + 24))]
    assert found.bytes == found.least
    assert found.flops == 2 * 4 * 5 * 6


def test_all_arguments_count_once_in_the_least():
    assert traffic(lambda x, y: x + y, (3,), (3,)).least == 36
