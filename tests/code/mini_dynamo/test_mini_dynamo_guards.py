"""The guards of mini_dynamo: each fails when what it checks has changed, and only then."""

import functools
import math

import pytest
import torch

import mini_dynamo

pytestmark = pytest.mark.usefixtures("one_thread")
SCALE = 2
TABLE = {"a": 1, "b": 2}


def x3():
    return torch.tensor([1.0, 2.0, 3.0])


def graphs(fn, first, second):
    """How many graphs after the calls first, second, first, each with fresh arguments; the results
    are those of plain Python."""
    fast = mini_dynamo.compile(fn)
    for make in (first, second, first):
        torch.testing.assert_close(fast(*make()), fn(*make()), equal_nan=True)
    return mini_dynamo.stats(fast).graphs


class Box:
    def __init__(self, n=1, other=None):
        self.n, self.other = n, other


class Other(Box):
    pass


def by_two(x):
    return x * 2


def by_three(x):
    return x * 3


def lambda_of():
    return lambda x: x + 1


def add_all(x, items):
    return x + sum(items)


def same(x, y):
    return x + 1 if x is y else x - y


twice = x3()

CHANGED = {
    "another number": (lambda x, n: x * n, lambda: (x3(), 2), lambda: (x3(), 3)),
    "another word": (lambda x, w: x * len(w), lambda: (x3(), "a"), lambda: (x3(), "ab")),
    "1 is not True": (lambda x, n: x + (n is True), lambda: (x3(), 1), lambda: (x3(), True)),
    "1 is not 1.0": (lambda x, n: (x > 1) * n, lambda: (x3(), 1), lambda: (x3(), 1.0)),
    "0.0 is not -0.0": (lambda x, s: x * math.copysign(1, s),
                        lambda: (x3(), 0.0), lambda: (x3(), -0.0)),
    "None is not a number": (lambda x, n: x + 1 if n is None else x + n,
                             lambda: (x3(), None), lambda: (x3(), 1)),
    "shape": (lambda x: x * x.shape[0], lambda: (x3(),), lambda: (torch.ones(4),)),
    "dtype": (lambda x: x + 1, lambda: (x3(),), lambda: (x3().double(),)),
    "requires_grad": (lambda x: x + 1 if x.requires_grad else x + 2,
                      lambda: (x3(),), lambda: (x3().requires_grad_(),)),
    "stride": (lambda x: x + x.stride(0), lambda: (torch.ones(2, 3),),
               lambda: (torch.ones(3, 2).t(),)),
    "Parameter": (lambda x: x + isinstance(x, torch.nn.Parameter),
                  lambda: (x3().requires_grad_(),), lambda: (torch.nn.Parameter(x3()),)),
    "aliasing begins": (same, lambda: (twice, twice.clone()), lambda: (twice, twice)),
    "aliasing ends": (same, lambda: (twice, twice), lambda: (twice, twice.clone())),
    "a longer list": (add_all, lambda: (x3(), [1, 2]), lambda: (x3(), [1, 2, 3])),
    "another item": (add_all, lambda: (x3(), [1, 2]), lambda: (x3(), [1, 5])),
    "a tuple for a list": (lambda x, i: x + isinstance(i, list), lambda: (x3(), [1]),
                           lambda: (x3(), (1,))),
    "another key": (lambda x, d: x * len("".join(d)), lambda: (x3(), {"a": 1}),
                    lambda: (x3(), {"bc": 1})),
    "keys in another order": (lambda x, d: x * next(iter(d.values())),
                              lambda: (x3(), {"a": 1, "b": 2}), lambda: (x3(), {"b": 2, "a": 1})),
    "a key of another type": (lambda x, d: x + (next(iter(d)) is True),
                              lambda: (x3(), {1: 0}), lambda: (x3(), {True: 0})),
    "another function": (lambda x, f: f(x), lambda: (x3(), by_two), lambda: (x3(), by_three)),
    "another closure": (lambda x, f: f(x), lambda: (x3(), (lambda k: lambda x: x * k)(2)),
                        lambda: (x3(), (lambda k: lambda x: x * k)(3))),
    "an attribute": (lambda x, b: x * b.n, lambda: (x3(), Box(1)), lambda: (x3(), Box(2))),
    "the type of an object": (lambda x, b: x + isinstance(b, Other), lambda: (x3(), Box()),
                              lambda: (x3(), Other())),
    "one object for two": (lambda x, a, b: x + (a is b), lambda: (x3(), Box(), Box()),
                           lambda: (x3(), *[Box()] * 2)),
    "a partial's argument": (lambda x, f: f(x),
                             lambda: (x3(), functools.partial(torch.mul, other=2)),
                             lambda: (x3(), functools.partial(torch.mul, other=3))),
    "a size": (lambda x, s: x.reshape(s), lambda: (x3(), torch.Size([3])),
               lambda: (x3(), torch.Size([3, 1]))),
    "a dtype as argument": (lambda x, d: x.to(d), lambda: (x3(), torch.float64),
                            lambda: (x3(), torch.float16)),
}


@pytest.mark.parametrize("case", CHANGED.values(), ids=CHANGED)
def test_a_guard_fails_when_what_it_checks_has_changed(case):
    assert graphs(*case) == 2


UNCHANGED = {
    "other numbers in the tensor": (lambda x: x + 1, lambda: (x3(),), lambda: (x3() * 7,)),
    "an argument that is not read": (lambda x, n: x + 1, lambda: (x3(), 1), lambda: (x3(), 2)),
    "an attribute that is not read": (lambda x, b: x + b.n, lambda: (x3(), Box(1, "a")),
                                      lambda: (x3(), Box(1, "b"))),
    "an equal list": (add_all, lambda: (x3(), [1, 2]), lambda: (x3(), [1, 2])),
    "an equal dict": (lambda x, d: x * d["a"], lambda: (x3(), {"a": 1}), lambda: (x3(), {"a": 1})),
    "another object of the type": (lambda x, b: x * b.n, lambda: (x3(), Box()),
                                   lambda: (x3(), Box())),
    "a new lambda of the same code": (lambda x, f: f(x), lambda: (x3(), lambda_of()),
                                      lambda: (x3(), lambda_of())),
}


@pytest.mark.parametrize("case", UNCHANGED.values(), ids=UNCHANGED)
def test_a_guard_holds_while_what_it_checks_is_the_same(case):
    assert graphs(*case) == 1


# ---- what is not an argument ---------------------------------------------------------------------

def test_a_global_that_was_read_is_guarded(monkeypatch):
    fast = mini_dynamo.compile(lambda x: x * SCALE + TABLE["a"])
    assert fast(x3()).tolist() == [3, 5, 7]
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert fast(x3()).tolist() == [4, 7, 10]
    monkeypatch.setitem(TABLE, "a", 0)
    assert fast(x3()).tolist() == [3, 6, 9]
    assert mini_dynamo.stats(fast).recompile_reasons == ["G['SCALE'] == 2", "G['TABLE']['a'] == 1"]


def test_a_builtin_that_is_hidden_by_a_global_is_noticed(monkeypatch):
    fast = mini_dynamo.compile(lambda x: x * len("ab"))
    assert fast(x3()).tolist() == [2, 4, 6]
    monkeypatch.setitem(globals(), "len", lambda text: 5)
    assert fast(x3()).tolist() == [5, 10, 15]


def test_a_cell_that_another_function_writes_is_guarded():
    k = 2

    def scale(x):
        return x * k
    fast = mini_dynamo.compile(scale)
    assert fast(x3()).tolist() == [2, 4, 6]
    k = 3
    assert fast(x3()).tolist() == [3, 6, 9]


def test_an_instance_attribute_that_hides_the_method_is_noticed():
    class Layer:
        def scale(self):
            return 2
    layer = Layer()
    fast = mini_dynamo.compile(lambda x: x * layer.scale())
    assert fast(x3()).tolist() == [2, 4, 6]
    layer.scale = lambda: 3
    assert fast(x3()).tolist() == [3, 6, 9]


def test_the_training_flag_is_guarded_only_if_it_is_read():
    for layer, expected in ((torch.nn.Dropout(0.5), 2), (torch.nn.Linear(3, 3), 1)):
        fast = mini_dynamo.compile(layer)
        fast(x3())
        layer.eval()
        fast(x3())
        assert mini_dynamo.stats(fast).graphs == expected


def test_a_hook_that_is_added_later_fires():
    layer = torch.nn.Linear(3, 3)
    fast = mini_dynamo.compile(lambda x: layer(x) + 0)
    fast(x3())
    layer.register_forward_hook(lambda module, args, output: output * 0)
    assert fast(x3()).tolist() == [0, 0, 0]


SURROUNDINGS = {
    "grad mode": torch.no_grad, "inference mode": torch.inference_mode,
    "default device": lambda: torch.device("meta"),
    "autocast": lambda: torch.autocast("cpu", torch.bfloat16)}


@pytest.mark.parametrize("surrounding", SURROUNDINGS.values(), ids=SURROUNDINGS)
def test_switches_around_the_call_are_guarded(surrounding):
    fast = mini_dynamo.compile(lambda x: x + torch.ones(3))
    fast(x3())
    with surrounding():
        try:
            fast(x3())
        except RuntimeError:                          # plain Python refuses meta beside CPU, too
            assert surrounding is SURROUNDINGS["default device"]
    assert len(fast.session.points) == 1
    assert "GLOBAL_STATE changed" in mini_dynamo.stats(fast).recompile_reasons[0]


def test_default_dtype_is_guarded():
    fast = mini_dynamo.compile(lambda: torch.ones(2))
    assert fast().dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert fast().dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


# ---- words ---------------------------------------------------------------------------------------

def test_a_tensor_guard_names_what_differs():
    fast = mini_dynamo.compile(lambda x: x + 1)
    fast(x3())
    fast(torch.ones(2, 2))
    fast(torch.ones(2, 2).double())
    assert mini_dynamo.stats(fast).recompile_reasons == [
        "tensor L['x'] shape mismatch: expected (3,), got (2, 2)",
        "tensor L['x'] dtype mismatch: expected torch.float32, got torch.float64"]


def test_guards_print_as_conditions():
    fast = mini_dynamo.compile(lambda x, d, f: f(x) * d["k"])
    fast(x3(), {"k": 2}, by_two)
    said = [str(guard) for guard in mini_dynamo.stats(fast).guards[0]]
    assert "L['d']['k'] == 2" in said
    assert "list(L['d']) == ['k']" in said
    assert "L['f'].__code__ is by_two's" in said
    assert any(words.startswith("L['x'] is a Tensor float32 [3]") for words in said)
