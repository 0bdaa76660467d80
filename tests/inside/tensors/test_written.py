"""`written` counts the bytes that putting pieces together writes."""

import torch

from inside.tensors.observe.written import written


def test_cat_writes_its_whole_result():
    a, b = torch.ones(3, 4), torch.ones(2, 4)
    assert written(torch.cat, [a, b]) == 5 * 4 * 4


def test_stack_writes_each_piece_once():
    assert written(torch.stack, [torch.ones(4)] * 3) == 3 * 4 * 4


def test_assigning_a_row_writes_only_the_row():
    def assign(out, row):
        out[1] = row

    assert written(assign, torch.ones(3, 4), torch.zeros(4)) == 4 * 4


def test_views_and_allocation_write_nothing():
    def look(x):
        return x[1:].t(), torch.empty_like(x)

    assert written(look, torch.ones(3, 4)) == 0


def test_element_size_counts():
    assert written(torch.stack, [torch.ones(4, dtype=torch.float64)]) == 4 * 8
