"""Classes whose attributes run code, or that change between two calls."""

import enum
import typing

import torch
from torch.nn.modules.module import register_module_forward_hook

from oracles.dynamo_cases import built, pos, t


@built
def a_property_of_a_namedtuple():
    log = []

    class Pair(typing.NamedTuple):
        a: object

        @property
        def double(self):
            log.append(1)
            return self.a * 2
    return lambda p: p.double + 1, [lambda: (Pair(t(3)),)] * 2, log


@built
def a_list_in_a_namedtuple():
    class Pair(typing.NamedTuple):
        a: object
    Pair.log = log = []

    def run(p):
        p.log.append(1)
        return p.a * len(p.log)
    return run, [lambda: (Pair(t(3)),)] * 2, log


@built
def a_property_of_an_exception():
    seen = []

    class Wrong(Exception):
        @property
        def k(self):
            seen.append(1)
            return len(seen)

        def __str__(self):
            return "e" * len(seen)

    def run(x):
        try:
            raise Wrong("a")
        except Wrong as error:
            return x * error.k, str(error)
    return run, [lambda: t(3)] * 2, seen


@built
def a_list_in_an_enum():
    class Kind(enum.Enum):
        A = []

        @property
        def k(self):
            self.value.append(2)
            return len(self.value)

    def run(x):
        Kind.A.value.append(1)
        return x * len(Kind.A.value) + Kind.A.k
    return run, [lambda: t(3)] * 2, Kind.A.value


@built
def a_descriptor_on_the_class():
    read = []

    class Counts:
        def __get__(self, this, kind):
            read.append(1)
            return len(read)

    class Meta(type):
        @property
        def k(cls):
            read.append(2)
            return len(read)

    class Holds(metaclass=Meta):
        d = Counts()
    return lambda x: x * Holds.d + Holds.k, [lambda: t(3)] * 2, read


@built
def a_property_is_replaced():
    class Holds:
        @property
        def k(self):
            return 2
    p = Holds()

    def replaced():
        Holds.k = property(lambda self: 7)
        return t(3), p
    return lambda x, p: x * p.k, [lambda: (t(3), p), replaced]


@built
def a_hook_on_every_module_appears():
    net, handles = torch.nn.Linear(3, 3), []
    with torch.no_grad():
        net.weight.fill_(1.0)
        net.bias.fill_(0.0)

    def hooked():
        handles.append(register_module_forward_hook(lambda module, x, y: y * 2))
        return pos(3)

    def free():
        handles.pop().remove()
        return pos(3)
    return lambda x: net(x), [lambda: pos(3), hooked, free]


@built
def the_call_of_a_module_is_replaced():
    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2
    net = Net()

    def replaced():
        Net.__call__ = lambda self, x: x * 9
        return t(3)
    return lambda x: net(x), [lambda: t(3), replaced]


@built
def a_nearer_class_says_more():
    class A:
        def m(self, x):
            return x * 2

        @staticmethod
        def s(x):
            return x * 3

    class B(A):
        pass

    class D(B):
        def m(self, x):
            return super().m(x) + 1
    p = D()

    def method():
        B.m = lambda self, x: x * 100
        return t(3), p

    def static():
        B.s = staticmethod(lambda x: x * 1000)
        return t(3), p
    return lambda x, p: p.m(x) + p.s(x), [lambda: (t(3), p), method, static]


@built
def special_methods_appear():
    class Bare:
        pass
    p, q = Bare(), Bare()

    def equal():
        Bare.__eq__ = lambda self, other: True
        return t(3), p, q

    def empty():
        Bare.__len__ = lambda self: 0
        return t(3), p, q

    def run(x, p, q):
        return (x * 2 if p else x * 3), (x * 4 if p == q else x * 5)
    return run, [lambda: (t(3), p, q), equal, empty]
