"""Variable as programs use it: what they can observe is the same as in torch."""

import copy
import pickle
import random
from collections import Counter

import pytest
import torch

from oracles import scalar_graphs as graphs
from oracles import variable_programs as programs
from oracles.variable_programs import number as read
from tests.helpers.depth import cases
from variable import Variable, grad

PROGRAMS = cases(1_000)

pytestmark = [
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
]


def book_leaf(value):
    return Variable(value, requires_grad=True)


def same_in_both(program):
    """What `program(leaf, grad)` returns, once torch and Variable have returned the same."""
    ours = program(book_leaf, grad)
    theirs = program(graphs.torch_leaf, torch.autograd.grad)
    assert ours == theirs
    return ours


def test_random_programs_see_the_same_in_both_engines(counted):
    ran = Counter()
    for seed in range(PROGRAMS):
        rng = random.Random(seed)
        leaves = [rng.choice([0.0, 0.3, -0.7, 2.0, 1.0]) for _ in range(3)]
        found, steps = programs.difference(programs.draw(rng), leaves, ran)
        assert found is None, (seed, found)
        ran["steps"] += steps
    for name in programs.STEPS:
        assert ran[name] >= PROGRAMS / 20, name
    assert ran["refused"] >= PROGRAMS / 4
    counted("programs of Variable", PROGRAMS)


@pytest.mark.parametrize("base", [0.0, -0.0])
@pytest.mark.parametrize("exponent", [-0.5, -1, -2, 0.5, 3])
def test_a_power_by_a_number_keeps_the_sign_of_zero(base, exponent):
    def program(leaf, _):
        return str(read(leaf(base) ** exponent))
    same_in_both(program)


def test_a_leafs_grad_is_its_own_whatever_arrived():
    """Clipping one gradient in place leaves the other as it is."""
    def program(leaf, _):
        a, b = leaf(1.0), leaf(2.0)
        (a + b).backward()
        a.grad.mul_(10.0)
        return read(a.grad), read(b.grad)
    assert same_in_both(program) == (10.0, 1.0)


def test_a_gradient_that_a_hook_kept_is_not_the_leafs():
    def program(leaf, _):
        a, kept = leaf(1.0), []
        a.register_hook(kept.append)
        (a * 2).backward()
        a.grad.mul_(10.0)
        return read(kept[0]), read(a.grad)
    assert same_in_both(program) == (2.0, 20.0)


def test_a_retained_grad_is_a_copy_and_a_second_pass_makes_a_new_one():
    def program(leaf, engine_grad):
        y = leaf(1.0) * 2
        y.retain_grad()
        given, = engine_grad(y * 3, [y], retain_graph=True)
        y.grad.mul_(10.0)
        before = y.grad
        (y * 1).backward()
        return read(given), read(before), read(y.grad)
    assert same_in_both(program) == (3.0, 30.0, 31.0)


def test_grad_may_return_one_object_for_two_inputs():
    """As in torch: a sum passes one and the same gradient both ways."""
    def program(leaf, engine_grad):
        a, b = leaf(1.0), leaf(2.0)
        first, second = engine_grad(a + b, [a, b])
        first.mul_(10.0)
        return read(second)
    assert same_in_both(program) == 10.0


def test_retain_grad_follows_the_value_through_a_write_in_place():
    def program(leaf, _):
        b = leaf(1.0) * 2
        b.retain_grad()
        b.mul_(3.0)
        (b * 5).backward()
        return read(b.grad)
    assert same_in_both(program) == 5.0


def test_a_tensor_hook_stays_with_the_value_before_the_write():
    def program(leaf, _):
        b, seen = leaf(1.0) * 2, []
        b.register_hook(lambda g: seen.append(read(g)))
        b.mul_(3.0)
        (b * 5).backward()
        return seen
    assert same_in_both(program) == [15.0]


@pytest.mark.parametrize("at", [-1.0, 0.0, 2.0])
def test_the_derivative_of_relu_can_be_differentiated(at):
    def program(leaf, engine_grad):
        x = leaf(at)
        first, = engine_grad(x.relu(), [x], create_graph=True)
        second, = engine_grad(first, [x], create_graph=True)
        third, = engine_grad(second, [x], allow_unused=True) if second.requires_grad else [None]
        return read(first), read(second), read(third)
    assert same_in_both(program)[:2] == (float(at > 0), 0.0)


def test_the_derivative_of_relu_is_freed_though_only_its_mask_was_recorded():
    def program(leaf, engine_grad):
        x = leaf(2.0)
        y = x.relu()
        first, = engine_grad(y, [x], create_graph=True)
        second, = engine_grad(first, [y])
        with pytest.raises(RuntimeError):
            first.backward()
        return read(second)
    assert same_in_both(program) == 0.0


def test_relu_stops_an_infinite_gradient():
    """A product with 0 would be nan."""
    def program(leaf, _):
        x = leaf(-1.0)
        (x.relu() ** 0.5).backward()
        return read(x.grad)
    assert same_in_both(program) == 0.0


def test_a_gradient_is_captured_before_the_hooks_where_the_node_itself_runs():
    def program(leaf, engine_grad):
        x = leaf(1.0)
        y = x * 2
        y.register_hook(lambda g: g * 10)
        out = y * 1
        both = engine_grad(out, [y, x], retain_graph=True)
        alone = engine_grad(out, [y])
        return [read(g) for g in (*both, *alone)]
    assert same_in_both(program) == [1.0, 20.0, 10.0]


def test_a_number_over_a_value_saves_the_reciprocal_not_the_value():
    def program(leaf, _):
        x = leaf(3.0)
        y = x * 1
        z = 7 / y
        y.add_(1.0)
        z.backward()
        return read(z), read(x.grad)
    same_in_both(program)


def test_a_second_pass_adds_in_place_unless_it_is_recorded():
    def program(leaf, engine_grad):
        x = leaf(2.0)
        (x * 3).backward()
        first = x.grad
        (x * 3).backward()
        plain = read(first), x.grad is first
        (x * x).backward(create_graph=True)
        recorded = read(first), x.grad is first, read(x.grad)
        second, = engine_grad(x.grad, [x])
        return plain, recorded, read(second)
    assert same_in_both(program) == ((6.0, True), (6.0, False, 10.0), 2.0)


def test_the_first_gradient_of_a_recorded_pass_can_be_differentiated():
    def program(leaf, engine_grad):
        x = leaf(2.0)
        (x ** 3).backward(create_graph=True)
        return read(x.grad), read(engine_grad(x.grad, [x])[0])
    assert same_in_both(program) == (12.0, 12.0)


# ---- registrations of hooks ----------------------------------------------------------------------

class Equal:
    """A hook that equals every other."""

    def __init__(self, log):
        self.log = log

    def __call__(self, given):
        self.log.append("called")

    def __eq__(self, other):
        return True

    __hash__ = None


def registrations(rng, leaf, kind):
    """Hooks added several times, removed in any order, twice, and while hooks run."""
    log, removers, x = [], [], leaf(2.0)
    y = x if kind == "register_post_accumulate_grad_hook" else x * 3
    add = getattr(y, kind)

    def added(hook):
        handle = add(hook)
        removers.append(getattr(handle, "remove", handle))

    def removes(_):
        log.append("removes")
        removers[rng.randrange(len(removers))]()

    def adds(_):
        log.append("adds")
        added(plain)

    def plain(_):
        log.append("plain")
    equal = Equal(log)
    for _ in range(3):
        for _ in range(rng.randint(1, 5)):
            if removers and rng.random() < 0.4:
                removers[rng.randrange(len(removers))]()
            else:
                added(rng.choice([plain, plain, removes, adds, equal, equal, log.append]))
        (y * 1).backward(retain_graph=True)
    return [entry if isinstance(entry, str) else "value" for entry in log]


@pytest.mark.parametrize("kind", ["register_hook", "register_post_accumulate_grad_hook"])
def test_each_registration_of_a_hook_is_removed_by_itself_and_as_often_as_one_likes(kind):
    wrong = []
    for seed in range(200):
        def program(leaf, _, seed=seed):
            return registrations(random.Random(seed), leaf, kind)
        try:
            same_in_both(program)
        except (AssertionError, ValueError) as error:
            wrong.append((seed, repr(error)))
    assert len(wrong) == 0, (len(wrong), wrong[0])


@pytest.mark.parametrize("requires_grad", [True, False])
def test_a_shallow_copy_of_a_leaf_is_a_leaf_of_its_own(requires_grad):
    def program(leaf, _):
        x = leaf(2.0) if requires_grad else leaf(2.0).detach()
        y = copy.copy(x)
        if requires_grad:
            (y * 3).backward()
        return y.requires_grad, y.is_leaf, x.grad is None, y.grad is not None, read(y)
    same_in_both(program)


def test_a_shallow_copy_of_a_result_is_a_leaf():
    def program(leaf, _):
        x = leaf(2.0)
        y = copy.copy(x * 3)
        y.backward()
        return y.requires_grad, y.is_leaf, x.grad is None, read(y.grad)
    same_in_both(program)


def test_a_leaf_that_is_pickled_or_copied_deeply_trains():
    def program(leaf, _):
        found = []
        for again in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
            x = leaf(2.0)
            x, y = again([x, x])
            (x * 3).backward()
            found.append((x is y, x.is_leaf, read(x.grad), read(x)))
        return found
    same_in_both(program)
