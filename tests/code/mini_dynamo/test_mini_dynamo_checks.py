"""mini_dynamo keeps the checks of Python: of special methods, calls, `super`, `except`, `with`.

Each function runs in plain Python and twice compiled; results and errors, with their words, agree.
"""

import gc
import weakref

import pytest
import torch
from torch import nn

import mini_compile
import mini_dynamo

pytestmark = pytest.mark.filterwarnings("ignore:Guards may run slower")    # Python 3.13.0


class Held:
    def __init__(self, v):
        self.v = v


def answering(name, value):
    """An object of a class whose special method gives this value."""
    return type("K", (Held,), {name: lambda self, *args: value})(1)


def within(manager, x):
    with manager:
        y = x * 2
    return y  # noqa: RET504


USES = [
    ("__bool__", (0.5, 1, None, "a", True), lambda o, x: x * 2 if o else x * 3),
    ("__bool__", (2, False), lambda o, x: (x * 2, not o)),
    ("__bool__", (2, True), lambda o, x: (x * 2, o and 1)),
    ("__bool__", (2, True), lambda o, x: (x * 2, bool(o))),
    ("__bool__", (2, True), lambda o, x: (x * 2, any([o]))),
    ("__len__", (-1, 2.0, None, 3, 0), lambda o, x: x * 2 if o else x * 3),
    ("__len__", (-1, 2.0, 2), lambda o, x: x * len(o)),
    ("__index__", (2.0, None, 1), lambda o, x: x * [1, 2, 3][o]),
    ("__int__", (2.0, "a", 3), lambda o, x: x * int(o)),
    ("__float__", (2, "a", 3.0), lambda o, x: x * float(o)),
    ("__repr__", (2, None, "ok"), lambda o, x: (x * 2, repr(o))),
    ("__str__", (2, None, "ok"), lambda o, x: (x * 2, str(o))),
    ("__str__", (2, "ok"), lambda o, x: (x * 2, f"{o}")),
    ("__format__", (2, "ok"), lambda o, x: (x * 2, f"{o:3}")),
    ("__hash__", (2.0, "a", 3), lambda o, x: (x * 2, hash(o))),
    ("__hash__", (2.0, 3), lambda o, x: x * {o: 2}[o]),
    ("__contains__", (2, None, "", []), lambda o, x: x * 2 if 3 in o else x * 3),
    ("__iter__", (2, None, [1]), lambda o, x: [x * k for k in o]),
    ("__iter__", (2,), lambda o, x: (x * 2, list(o))),
    ("__next__", (2,), lambda o, x: x * next(o)),
    ("__eq__", (2,), lambda o, x: x * 2 if o == 1 else x),
    ("__getitem__", (2,), lambda o, x: x * o[1]),
    ("__abs__", ("a",), lambda o, x: (x * 2, abs(o))),
    ("__exit__", (2,), lambda o, x: within(o, x)), ("__enter__", (2,), lambda o, x: within(o, x)),
]


def special_methods():
    for name, values, use in USES:
        for value in values:
            given = answering(name, value)
            yield f"{name} gives {value!r}", lambda x, use=use, given=given: use(given, x)
            yield f"{name} gives {value!r}, made inside", (
                lambda x, use=use, name=name, value=value: use(answering(name, value), x))


class ThreeFromInit:
    def __init__(self):
        return 3


class TensorFromInit:
    def __init__(self, x):
        return x


def of_keywords(**kwargs):
    return 2


def of_default(a=1):
    return a


def generator():
    yield 1


class Supers:
    def without_first():
        return super().name

    def outside_of_the_class(self):
        return super().__init__


class Other:
    late = Supers.outside_of_the_class


def not_in_a_class(self):
    return super().__init__()


class NoExit:
    def __enter__(self):
        return 1


class NoEnter:
    def __exit__(self, *args):
        return 1


def catches(kinds):
    def caught():
        try:
            return 1 // 0
        except kinds:
            return 2
    return caught


def unknown():
    return undefined_name  # noqa: F821


def told(function):
    """A program that catches the function's error and returns what it says."""
    def program(x):
        y = x * 2
        try:
            function()
        except BaseException as error:
            return y, type(error).__name__, str(error), getattr(error, "name", None)
        return y
    return program


PROGRAMS = [
    ("__init__ returns 3", lambda x: (ThreeFromInit(), x * 2)[1]),
    ("__init__ returns a tensor", lambda x: (TensorFromInit(x), x * 2)[1]),
    ("a keyword that is no string", lambda x: x * of_keywords(**{1: 2})),
    ("a keyword that is no string, no **", lambda x: x * of_default(**{1: 2})),
    ("a keyword", lambda x: x * of_keywords(**{"q": 2})),
    ("the name of a generator", lambda x: (x * 2, generator().__name__, generator().__qualname__)),
    *[(f"told {k}", told(f)) for k, f in enumerate([
        lambda: Supers.without_first(), lambda: not_in_a_class(1),
        lambda: Other().late(), lambda: within(NoExit(), 1), lambda: within(NoEnter(), 1),
        lambda: within(3, 1), catches((3,)), catches((int, ZeroDivisionError)), catches(3),
        catches(ZeroDivisionError), unknown])],
]


def outcome(function, x):
    try:
        return repr(function(x))
    except Exception as error:                       # the file of the definition may be named
        return f"{type(error).__name__}: {error}".split(" (")[0]


@pytest.mark.parametrize(("name", "fn"), [*special_methods(), *PROGRAMS])
def test_errors_and_results_are_those_of_python(name, fn):
    fast, x = mini_dynamo.compile(fn), torch.ones(2)
    wanted = outcome(fn, x)
    assert [outcome(fast, x), outcome(fast, x)] == [wanted, wanted]


class Hidden(nn.Module):
    """Its class says something about the name of a submodule, a parameter and a buffer."""

    w = 5.0

    def __init__(self):
        super().__init__()
        self._modules["act"] = nn.ReLU()
        self._parameters["w"] = nn.Parameter(torch.ones(2) * 9)
        self._buffers["b"] = torch.ones(2) * 7
        self._buffers["free"] = torch.ones(2)

    def act(self, x):
        return x * 3

    @staticmethod
    def b():
        return 2.0

    def forward(self, x):
        return self.act(x) * self.w + self.b() + self.free


def test_a_class_attribute_wins_over_a_parameter_buffer_or_submodule_of_its_name():
    model, x = Hidden(), torch.ones(2)
    fast = mini_dynamo.compile(model)
    assert torch.equal(fast(x), model(x))
    assert not mini_dynamo.stats(fast).break_reasons
    Hidden.free = 10.0                               # also if it comes later
    try:
        assert torch.equal(fast(x), model(x))
    finally:
        del Hidden.free


@pytest.mark.parametrize("switch", [torch.set_grad_enabled(False), torch.set_grad_enabled(True),
                                    torch.no_grad(), torch.enable_grad()])
def test_a_gradient_mode_as_a_decorator(switch):
    torch.set_grad_enabled(True)
    decorated, x = switch(lambda x: x * 2), torch.ones(2, requires_grad=True)
    for fn in (decorated, lambda x: decorated(x * 3) + 1):
        fast = mini_dynamo.compile(fn)
        for _ in range(2):
            assert repr(fast(x)) == repr(fn(x))


# --- How inputs overlap ---------------------------------------------------------------------------

def parts(first, second):
    def make():
        room = torch.arange(8.0)
        return room[first:first + 4], room[second:second + 4]
    return make


OVERLAPS = [parts(0, 4), parts(0, 2), parts(2, 0), parts(0, 1), parts(4, 0), parts(0, 0)]


@pytest.mark.parametrize("backend", [None, mini_compile.backend])
@pytest.mark.parametrize("order", [OVERLAPS, OVERLAPS[::-1]])
@pytest.mark.parametrize("fn", [
    lambda x, y: x.mul_(2) + y, lambda x, y: (y.add_(1), x * 2)[1],
    lambda x, y: (x[1:].mul_(2), x + y)[1], lambda x, y: (y.copy_(x + 1), x + y)[1]])
def test_a_graph_that_writes_is_kept_for_inputs_that_overlap_alike(fn, order, backend):
    fast = mini_dynamo.compile(fn, backend=backend)
    for make in order:
        ours, theirs = make(), make()
        assert torch.equal(fast(*ours), fn(*theirs))
        assert all(map(torch.equal, ours, theirs))


def test_a_graph_that_writes_to_nothing_does_not_ask_how_inputs_overlap():
    fast = mini_dynamo.compile(lambda x, y: x * 2 + y)
    for make in OVERLAPS[:5]:
        fast(*make())
    assert mini_dynamo.stats(fast).graphs == 1


# --- What is kept ---------------------------------------------------------------------------------

@pytest.mark.parametrize("fn", [
    lambda x, o: x * o.v, lambda x, o: [x * o.v, print(end=""), x + 1][2],
    lambda x, o: x * 2 if x.sum() > 0 else x, lambda x, o: (lambda: x * o.v)(),
    lambda x, o: o.v])
def test_the_inputs_of_the_first_call_are_freed_at_once(fn):
    mini_dynamo.compile(lambda x: x * 2)(torch.ones(3))    # what torch loads once may keep frames
    fast, x, o = mini_dynamo.compile(fn), torch.ones(3), Held(2)
    seen = [weakref.ref(x), weakref.ref(o)]
    gc.collect()
    gc.disable()
    try:
        fast(x, o)
        del x, o
        assert [ref() for ref in seen] == [None, None]
    finally:
        gc.enable()
