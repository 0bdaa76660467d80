"""What the Scalar engine promises beyond numbers: depth, identity, accumulation, memory."""

import gc
import math
import subprocess
import sys
import weakref

import pytest
import torch

from book.pipeline.ground.paths import CODE
from pytorch_deep_dive import Scalar, zero_grad


@pytest.mark.slow
def test_backward_survives_a_million_nodes_deep():
    x = y = Scalar(1.0)
    for _ in range(1_000_000):
        y = y + x
    y.backward()
    assert y.data == x.grad == 1_000_001
    assert len(y.nodes()) == 1_000_001


@pytest.mark.slow
def test_a_million_operations_of_different_kinds_keep_the_chain_rule():
    x = Scalar(0.5)
    y = x
    for _ in range(250_000):
        y = -(-(y * 2.0) / 2.0)
    y.backward()
    assert y.data == 0.5
    assert x.grad == 1.0


def test_second_backward_of_a_shared_square_gives_24_where_micrograd_gives_32():
    x, t = Scalar(2.0), torch.tensor(2.0, requires_grad=True)
    ours, theirs = (x * x) * x, (t * t) * t
    for expected in (12.0, 24.0, 36.0):
        ours.backward()
        theirs.backward(retain_graph=True)
        assert x.grad == t.grad.item() == expected


def test_a_leaf_receives_the_sum_of_one_backward_at_once_as_accumulate_grad_does():
    x, t = Scalar(1.0), torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    for leaf, backward in ((x, Scalar.backward), (t, torch.Tensor.backward)):
        backward(leaf * 1e308)
        backward(leaf * -1e308 + leaf * 1e308)     # added one by one this passes through inf
    assert x.grad == t.grad.item() == 1e308


def test_backward_on_a_leaf_adds_one_each_time():
    x = Scalar(3.0)
    x.backward()
    x.backward()
    assert x.grad == 2.0


def test_backward_from_two_roots_accumulates_in_the_shared_leaf():
    x, t = Scalar(3.0), torch.tensor(3.0, requires_grad=True)
    for leaf in (x, t):
        square = leaf * leaf
        (square + 1).backward(**({"retain_graph": True} if leaf is t else {}))
        (square * 2).backward()
    assert x.grad == t.grad.item() == 18.0


def test_zero_grad_lets_the_next_backward_start_again():
    x = Scalar(3.0)
    y = x * x
    y.backward()
    zero_grad(y.nodes())
    assert x.grad == y.grad == 0.0
    y.backward()
    assert x.grad == 6.0


def test_equality_is_identity():
    a, b = Scalar(1.0), Scalar(1.0)
    assert a != b
    assert a == a
    assert a != 1.0
    assert len({a, b, a}) == 2
    assert Scalar.__eq__ is object.__eq__
    assert Scalar.__hash__ is object.__hash__


@pytest.mark.parametrize("other", [Scalar(2.0), 2.0, 2], ids=["Scalar", "float", "int"])
def test_order_is_by_value(other):
    low, even, high = Scalar(1.0), Scalar(2.0), Scalar(3.0)
    assert low < other
    assert not even < other
    assert not high < other
    assert low <= other
    assert even <= other
    assert not high <= other
    assert high > other
    assert not even > other
    assert not low > other
    assert high >= other
    assert even >= other
    assert not low >= other
    assert other < high
    assert other >= even
    assert not other > even


def test_nothing_is_ordered_with_nan():
    nan = Scalar(math.nan)
    assert not (nan < 1)
    assert not (nan <= 1)
    assert not (nan > 1)
    assert not (nan >= 1)
    assert not (nan <= nan)


def test_zero_gradient_times_inf_is_nan():
    x, t = Scalar(0.0), torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    (x.log() * 0.0).backward()                      # the zero meets log'(0) = inf
    (t.log() * 0.0).backward()
    assert math.isnan(x.grad)
    assert math.isnan(t.grad.item())


def test_a_dead_relu_stops_even_an_infinite_gradient_yet_keeps_its_operand():
    x, t = Scalar(-1.0), torch.tensor(-1.0, dtype=torch.float64, requires_grad=True)
    ours = x.relu()
    (ours * math.inf).backward()
    (t.relu() * math.inf).backward()
    assert x.grad == t.grad.item() == 0.0
    assert ours.left is x
    assert x in ours.nodes()


def test_power_zero_has_gradient_zero_even_where_the_product_is_nan():
    x, t = Scalar(0.0), torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    (x ** 0 * math.inf).backward()
    (t ** 0 * math.inf).backward()
    assert x.grad == t.grad.item() == 0.0


def test_division_divides_the_gradient_where_the_reciprocal_overflows():
    tiny, small = 1e-310, 1e-10
    x, t = Scalar(1.0), torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    (x / tiny * small).backward()
    (t / tiny * small).backward()
    assert x.grad == t.grad.item()
    assert math.isfinite(x.grad)


def test_nodes_stand_before_their_operands():
    x = Scalar(1.5)
    y = x.exp()
    root = (y + x) * y.tanh() - y / x
    place = {node: i for i, node in enumerate(root.nodes())}
    assert len(place) == 7
    for node in place:
        for operand in (node.left, node.right):
            assert operand is None or place[node] < place[operand]


def test_number_operands_stay_in_the_graph():
    x = Scalar(2.0)
    assert ((x + 3).left, (x + 3).right) == (x, 3.0)
    assert ((3 - x).left, (3 - x).right) == (3.0, x)
    assert ((3 ** x).left, (x ** 3).right) == (3.0, 3.0)
    assert (3 / x).left.op == "reciprocal"


def test_a_graph_is_freed_without_the_cycle_collector():
    class Watched(Scalar):                          # a subclass can be weakly referenced
        pass

    gc.disable()
    try:
        leaf = Watched(2.0)
        gone = weakref.ref(leaf)
        root = (leaf * leaf + leaf).tanh()
        root.backward()
        del leaf, root
        assert gone() is None
    finally:
        gc.enable()


def test_data_is_always_a_float():
    x = Scalar(3)
    for node in (x, x + 1, 2 * x, x ** 2, x / 2, 1 - x, x.relu(), x.exp()):
        assert type(node.data) is float
        assert type(node.grad) is float


@pytest.mark.parametrize("wrong", ["1", None, [1.0], 1j, torch.tensor(1.0)], ids=repr)
def test_a_wrong_operand_is_refused_by_name(wrong):
    for operation in (lambda x: x + wrong, lambda x: x ** wrong, lambda x: x / wrong):
        with pytest.raises(TypeError, match=f"not with {type(wrong).__name__}"):
            operation(Scalar(1.0))


def test_the_engine_imports_nothing_but_math_and_sys():
    code = ("import sys; before = set(sys.modules); import pytorch_deep_dive; "
            "print(*sorted(set(sys.modules) - before - {'math', 'pytorch_deep_dive'}))")
    done = subprocess.run([sys.executable, "-c", code], cwd=CODE, text=True, capture_output=True)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
