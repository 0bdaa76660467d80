"""Attacks on what a guard, a replayed effect or a resumed frame could forget."""

import os
import random

import torch

from oracles.dynamo_cases import built, case, pos, t
from oracles.dynamo_corpus import closures_and_globals as elsewhere
from oracles.dynamo_corpus.closures_and_globals import a_global_is_counted

WEIGHT = pos(3)


class Shelf:
    items = []
    kinds = {"a": 1}

    def __init__(self):
        self.n = 0


def deep(x, n):
    return x if n == 0 else deep(x + 1, n - 1)


def with_tensor_default(x, w=WEIGHT):
    return x * w


@case(lambda: (t(3), 120))
def recursion_far_down(x, n):
    return deep(x, n)


@case(lambda: (t(2), [1], [1]), lambda: (lambda xs: (t(2), xs, xs))([1]))
def two_lists_then_one(x, a, b):
    a.append(2)
    return x * len(b), a is b


@built
def two_objects_then_one():
    def run(x, p, q):
        p.n = p.n + 1
        return x * q.n, p is q
    return run, [lambda: (t(2), Shelf(), Shelf()), lambda: (lambda p: (t(2), p, p))(Shelf())]


@built
def two_functions_then_one():
    def make(n):
        return lambda x: x * n
    f, g = make(2), make(3)

    def run(x, a, b):
        return a(x) + b(x), a is b
    return run, [lambda: (t(2), f, g), lambda: (t(2), f, f), lambda: (t(2), g, f)]


@case(lambda: (t(3), t(3)), lambda: (lambda x: (x, x))(t(3)))
def two_tensors_then_one(a, b):
    return a is b, a + 1


@built
def a_list_of_a_class_grows():
    Shelf.items, Shelf.kinds = [], {"a": 1}

    def run(x):
        Shelf.items.append(x.shape[0])
        Shelf.kinds["a"] += 1
        return x * len(Shelf.items)
    return run, [lambda: t(2)] * 3, [Shelf.items, Shelf.kinds]


@built
def a_global_of_another_module_is_written():
    elsewhere.FACTOR = 3

    def run(x):
        elsewhere.FACTOR += 1
        return x * elsewhere.FACTOR
    return run, [lambda: t(2)] * 2, vars(elsewhere)["FACTOR"]


@built
def a_function_of_another_module_writes_there():
    elsewhere.TOTAL = 0
    TOTAL = 100

    def run(x):
        y = a_global_is_counted(x) + TOTAL
        print("between")
        return a_global_is_counted(y), elsewhere.TOTAL
    return run, [lambda: t(2)] * 2


@case()
def a_tensor_as_default(x):
    return with_tensor_default(x) + with_tensor_default(x, x)


@case(lambda: t(3), lambda: t(3))
def an_attribute_of_a_tensor(x):
    x.tag = "mine"
    y = x + 1
    return y, x.tag, hasattr(y, "tag")


@built
def a_gradient_appears():
    w = t(3, grad=True)

    def run(x):
        return x if w.grad is None else w.grad * 2

    def with_gradient():
        (w * w).sum().backward()
        return t(3)
    return run, [lambda: t(3), with_gradient, with_gradient], w


@built
def a_variable_of_the_environment_changes():
    os.environ.pop("MINI_SCALE", None)

    def run(x):
        return x * int(os.environ.get("MINI_SCALE", "2"))

    def change():
        os.environ["MINI_SCALE"] = "5"
        return t(3)
    return run, [lambda: t(3), change]


@case(lambda: t(3), lambda: t(3))
def the_state_of_the_generator_is_read(x):
    before = torch.get_rng_state()
    a = torch.rand(3)
    torch.set_rng_state(before)
    return x + a, torch.rand(3), torch.initial_seed()


@case(lambda: (t(3), random.Random(1)), lambda: (t(3), random.Random(2)))
def a_generator_of_python_from_outside(x, rng):
    return x * rng.randint(0, 9), rng.random()


@case(lambda: t(3), lambda: t(3))
def the_default_dtype_is_changed_inside(x):
    torch.set_default_dtype(torch.float64)
    y = torch.ones(3)
    torch.set_default_dtype(torch.float32)
    return y + x, torch.ones(1)


@case()
def a_name_deleted_before_a_break(x):
    y = x + 1
    del x
    print("between")
    try:
        return x  # noqa: F821
    except UnboundLocalError as error:
        return y, str(error)


@case(lambda: ([t(2)], {"a": [1]}))
def changed_on_both_sides_of_three_breaks(xs, d):
    xs.append(1)
    print(len(xs))
    d["a"].append(len(xs))
    xs = xs + [2]
    print(len(xs), d)
    xs.append(xs[0] * d["a"][-1])
    d["b"] = d["a"]
    print(len(xs), list(d))
    d["b"].append(3)
    return xs, d


@case(lambda: [pos(2), pos(2)])
def a_loop_variable_after_a_break(xs):
    for x in xs:
        y = x * 2
    print("between")
    return x, y


@built
def a_cell_is_shared_by_two_results():
    def run(x):
        n = 1

        def more():
            nonlocal n
            n += 1
            return n

        def less():
            nonlocal n
            n -= 1
            return n
        print(more())
        more()
        return more, less, x + n
    return run, [lambda: t(2)]


@case(lambda: (lambda x: (x, x.view(3), x[1:]))(t(3)))
def views_of_one_memory_as_arguments(a, b, c):
    b.mul_(2)
    c.add_(1)
    return a + 1, a is b


@case(lambda: (t(3), lambda: print("called back")))
def a_callback_prints(x, callback):
    y = x + 1
    callback()
    return y * 2


@case()
def an_exception_kept_and_raised_later(x):
    kept = None
    try:
        {}["k"]
    except KeyError as error:
        kept = error
    y = x + 1
    print(type(kept).__name__, str(kept))
    raise kept


@case(lambda: t(3, grad=True))
def the_mode_is_left_off_by_a_raise(x):
    try:
        with torch.no_grad():
            raise ValueError("inside")
    except ValueError:
        y = x * 2
    return y, torch.is_grad_enabled()
