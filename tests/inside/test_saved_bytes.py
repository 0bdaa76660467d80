"""`saved_bytes` counts what the nodes of a graph keep, and changes nothing else."""

import gc

import pytest
import torch
from torch import nn

from inside.observe.saved import saved_bytes


def leaf(count=100):
    return torch.ones(count, requires_grad=True)  # 400 bytes by default


def test_one_storage_counts_once_however_often_it_is_saved():
    x = leaf()
    with saved_bytes() as saved:
        y = (x * x) + x.sin()
    assert (saved.held, y.numel()) == (400, 100)


def test_a_saved_view_counts_its_whole_storage():
    with saved_bytes() as saved:
        y = (leaf() * 1)[:10].sin()
    assert (saved.held, y.numel()) == (400, 10)


def test_what_lies_apart_is_not_counted():
    model = nn.Linear(5, 3)
    x = torch.ones(2, 5)
    with saved_bytes(model.parameters()) as saved:
        out = model(x).sin()
    assert saved.held == x.nbytes + out.nbytes
    with saved_bytes([*model.parameters(), x]) as saved:
        out = model(x).sin()
    assert saved.held == out.nbytes


def test_addition_saves_nothing():
    with saved_bytes() as saved:
        kept = leaf() + leaf()
    assert saved.held == saved.peak == 0
    assert kept.requires_grad


def test_python_number_is_saved_unseen():
    with saved_bytes() as saved:
        y = leaf() * 3
    assert y.grad_fn._saved_other.item() == 3
    assert saved.held == 0


def test_hooks_inside_the_block_replace_the_count():
    same = torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t)
    with saved_bytes() as saved:
        with same:
            inner = leaf().sin()
        outer = leaf(10).sin()
    assert inner.requires_grad
    assert outer.requires_grad
    assert saved.held == 40


def test_backward_lets_go_node_by_node():
    x, seen = leaf(), []
    with saved_bytes() as saved:
        a = x.sin()
        b = a.exp()
        loss = b.tanh().sum()
    for tensor in (b, a):
        tensor.register_hook(lambda grad: seen.append(saved.held))
    assert saved.held == 1200
    loss.backward()
    assert seen == [800, 400]
    assert (saved.held, saved.peak) == (0, 1200)


def test_retained_graph_keeps_and_dropped_graph_lets_go_without_the_collector():
    x = leaf()
    with saved_bytes() as saved:
        loss = x.sin().exp().sum()
    loss.backward(retain_graph=True)
    assert saved.held == 800
    gc.disable()
    try:
        del loss
        assert saved.held == 0
    finally:
        gc.enable()


def test_gradients_of_both_orders_are_those_without_counting():
    def second(x):
        y = (x.exp() * x).sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        return first, torch.autograd.grad(first.sum(), x)[0]

    x = torch.linspace(-1, 1, 7, requires_grad=True)
    plain = second(x)
    with saved_bytes():
        counted = second(x)
    assert all(torch.equal(a, b) for a, b in zip(plain, counted, strict=True))


@pytest.mark.parametrize("function", [torch.sin, torch.exp])
def test_change_in_place_still_raises(function):
    x = leaf() * 1
    with saved_bytes():
        y = function(x)
    for tensor in (x, y):
        tensor.detach().add_(1)
    with pytest.raises(RuntimeError, match="changed in place"):
        y.sum().backward()


def test_sparse_tensor_is_refused_and_leaves_the_count_alone():
    matrix = torch.eye(3).to_sparse()
    with saved_bytes() as saved, pytest.raises(NotImplementedError):
        torch.sparse.mm(matrix, leaf(3).reshape(3, 1)).sum()
    assert saved.held == 0
