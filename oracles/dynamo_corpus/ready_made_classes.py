"""partial, lambda, dataclass, namedtuple, enum, caches: what the library of Python makes."""

import enum
import functools
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import torch

from oracles.dynamo_cases import built, case, t

Pair = namedtuple("Pair", "first second")


class Typed(NamedTuple):
    x: torch.Tensor
    n: int = 2


@dataclass
class Options:
    scale: float = 2.0
    names: list = field(default_factory=list)

    def __post_init__(self):
        self.half = self.scale / 2


@dataclass(frozen=True)
class Fixed:
    n: int = 3


class Mode(enum.Enum):
    UP = "up"
    DOWN = "down"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


def scaled(x, n, m=1):
    return x * n + m


@case()
def a_partial(x):
    f = functools.partial(scaled, m=5)
    return f(x, 2), functools.partial(scaled, x)(3)


@built
def a_partial_from_outside():
    f = functools.partial(scaled, n=3)

    def run(x):
        return f(x) + 1
    return run, [lambda: t(3)]


@case()
def lambdas(x):
    f = lambda z, n=2: z * n
    return f(x), (lambda: x + 1)()


@case()
def a_namedtuple_is_made(x):
    p = Pair(x, second=x + 1)
    return p, p.first + p[1], p._replace(second=3)


@case(lambda: Pair(t(2), 5))
def a_namedtuple_is_given(p):
    a, b = p
    return a * p.second, b, p._fields


@case(lambda: Typed(t(2)))
def a_typed_namedtuple(p):
    return Typed(p.x * p.n, n=7)


@case(lambda: (t(2), Options()), lambda: (t(2), Options(4.0)))
def a_dataclass_is_given(x, options):
    options.names.append("seen")
    return x * options.scale + options.half


@case()
def a_dataclass_is_made(x):
    o = Options(scale=3.0)
    o.names.append(x)
    return o, o == Options(3.0)


@case(lambda: Fixed(4))
def a_frozen_dataclass(f):
    return torch.ones(f.n), replace(f, n=5), f == Fixed(4)


@case(lambda: (t(2), Mode.UP), lambda: (t(2), Mode.DOWN))
def by_an_enum(x, mode):
    if mode is Mode.UP:
        return x + 1
    return x - 1, mode.value, mode.name, mode


@case(lambda: (t(2), Level.LOW))
def a_number_that_is_an_enum(x, level):
    return x * level, level < Level.HIGH, level + 1


@built
def a_cached_function():
    @functools.lru_cache
    def slow(n):
        return n * n

    def run(x):
        return x * slow(3) + slow(3)
    return run, [lambda: t(2)] * 2


@built
def a_decorated_function():
    def noted(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return f(*args, **kwargs) + 1
        return wrapper

    @noted
    def inner(x):
        return x * 2
    return (lambda x: inner(x)), [lambda: t(2)]


@built
def a_cached_property():
    class Holder:
        @functools.cached_property
        def value(self):
            return 7
    holder = Holder()
    return (lambda x: x * holder.value), [lambda: t(2)] * 2, holder


@case()
def types_as_values(x):
    make = {"pair": Pair, "tuple": lambda *args: args}
    return make["pair"](x, 1), make["tuple"](x, 2)
