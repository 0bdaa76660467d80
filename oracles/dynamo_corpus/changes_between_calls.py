"""What is not an argument changes between two calls: a guard has to notice it, whatever it is."""

import types

import torch
from torch import nn

from oracles.dynamo_cases import built, t

WEIGHT = None
SIZE = 2


def helper(x):
    return x + 1


def other(x):
    return x * 10


def fill(x, n=1):
    return x + n


def after(change):
    """A call whose arguments are made after the change."""
    def make():
        change()
        return t(3)
    return make


def first():
    return t(3)


@built
def a_global_function_is_replaced():
    globals()["helper"] = fill

    def run(x):
        return helper(x)
    return run, [first, after(lambda: globals().update(helper=other)), first]


@built
def a_global_tensor_is_replaced():
    globals()["WEIGHT"] = t(3)

    def run(x):
        return x * WEIGHT
    return run, [first, after(lambda: globals().update(WEIGHT=t(3) + 5))]


@built
def a_default_is_replaced():
    fill.__defaults__ = (1,)

    def run(x):
        return fill(x)
    return run, [first, after(lambda: setattr(fill, "__defaults__", (7,)))]


@built
def the_code_of_a_function_is_replaced():
    inner = types.FunctionType((lambda x: x + 1).__code__, {})

    def run(x):
        return inner(x)
    return run, [first, after(lambda: setattr(inner, "__code__", (lambda x: x * 5).__code__))]


@built
def a_name_of_builtins_is_hidden():
    globals().pop("abs", None)

    def run(x):
        return abs(x)
    return run, [first, after(lambda: globals().update(abs=lambda x: x + 100)),
                 after(lambda: globals().pop("abs"))]


@built
def a_method_is_replaced():
    class Thing:
        def go(self, x):
            return x + 1
    thing = Thing()

    def run(x):
        return thing.go(x)
    return run, [first, after(lambda: setattr(Thing, "go", lambda self, x: x * 3))]


@built
def a_class_attribute_is_hidden():
    class Thing:
        n = 1
    thing = Thing()

    def run(x):
        return x * thing.n
    return run, [first, after(lambda: setattr(thing, "n", 5)),
                 after(lambda: delattr(thing, "n")), after(lambda: setattr(Thing, "n", 9))]


@built
def an_attribute_appears():
    class Thing:
        pass
    thing = Thing()

    def run(x):
        return x * getattr(thing, "n", 2), hasattr(thing, "n")
    return run, [first, after(lambda: setattr(thing, "n", 5))]


@built
def an_object_gets_another_class():
    class A:
        n = 1

    class B:
        n = 2
    thing = A()

    def run(x):
        return x * thing.n
    return run, [first, after(lambda: setattr(thing, "__class__", B))]


@built
def a_layer_is_replaced():
    net = nn.Sequential(nn.ReLU(), nn.Identity())

    def run(x):
        return net(x) + 1
    return run, [first, after(lambda: net.__setitem__(0, nn.Tanh())),
                 after(lambda: net.append(nn.Sigmoid()))]


@built
def a_parameter_is_replaced():
    net = nn.Module()
    net.w = nn.Parameter(t(3))

    def run(x):
        return x * net.w
    return run, [first, after(lambda: setattr(net, "w", nn.Parameter(t(3) + 1))),
                 after(lambda: net.w.requires_grad_(False)),
                 after(lambda: setattr(net, "w", nn.Parameter(t(1))))]


@built
def a_hook_appears():
    net = nn.ReLU()

    def run(x):
        return net(x) + 1
    return run, [first, after(lambda: net.register_forward_hook(lambda m, args, out: out * 7))]


@built
def forward_is_replaced():
    net = nn.ReLU()

    def run(x):
        return net(x) + 1
    return run, [first, after(lambda: setattr(net, "forward", lambda x: x * 7))]


@built
def an_entry_appears():
    table = {"a": 1}

    def run(x):
        return x * table.get("b", 2), "b" in table, len(table)
    return run, [first, after(lambda: table.update(b=5)), after(table.clear)]


@built
def an_item_of_a_list_becomes_another():
    xs = [1, t(3)]

    def run(x):
        return x * xs[0] + xs[1]
    return run, [first, after(lambda: xs.__setitem__(0, 1.5)), after(lambda: xs.__setitem__(1, 4)),
                 after(lambda: xs.__setitem__(0, t(3)))]


@built
def a_deep_attribute_changes():
    class Node:
        def __init__(self, below):
            self.below, self.n = below, 1
    top = Node(Node(Node(None)))

    def run(x):
        return x * top.below.below.n
    return run, [first, after(lambda: setattr(top.below.below, "n", 3)),
                 after(lambda: setattr(top, "below", Node(Node(None))))]


@built
def a_tensor_of_the_closure_changes_its_shape():
    w = t(1)

    def run(x):
        return x * w

    def swap():
        nonlocal w
        w = t(2, 3)
    return run, [first, after(swap)]


@built
def what_a_tensor_holds_changes():
    w = t(3)

    def run(x):
        return x * w
    return run, [first, after(lambda: w.add_(5)), after(lambda: w.requires_grad_()),
                 after(lambda: w.data.zero_())]


@built
def two_names_become_one():
    a, b = t(3), t(3)

    def run(x):
        a.add_(1)
        return x * b

    def join():
        nonlocal b
        b = a
    return run, [first, after(join)], a


@built
def a_method_of_a_subclass_is_added():
    class Base:
        def n(self):
            return 1

    class Sub(Base):
        pass
    thing = Sub()

    def run(x):
        return x * thing.n()
    return run, [first, after(lambda: setattr(Sub, "n", lambda self: 8))]


@built
def a_constant_of_a_module_is_patched():
    module = types.SimpleNamespace(n=1, f=lambda x: x + 1)

    def run(x):
        return module.f(x) * module.n
    return run, [first, after(lambda: setattr(module, "n", 4)),
                 after(lambda: setattr(module, "f", torch.relu))]
