"""Values whose kind, identity or text an interpreter easily takes for granted."""

import collections.abc
import enum
import functools
import sys
import traceback
import typing

import torch
import torch.nn.functional as F

from oracles.dynamo_cases import built, case, neg, pos, t

SCALE = 3


class Plain:
    def __init__(self):
        self.k = 3


class Same(enum.Enum):
    ONE = 1
    TWO = 2

    def __repr__(self):
        return "Same"


class Sequence:
    def __getitem__(self, k):
        if k > 2:
            raise IndexError
        return k + 1

    def __reversed__(self):
        return iter([7, 8])

    def __round__(self):
        return 5

    def __invert__(self):
        return 6

    def __lshift__(self, other):
        return 8

    def __ne__(self, other):
        return False


class Mapping:
    def keys(self):
        return ["a"]

    def __getitem__(self, key):
        return 5


class Slots:
    __slots__ = ("a",)


@typing.runtime_checkable
class HasK(typing.Protocol):
    k: int


def product(x, a=1, b=1):
    return x * a * b


def timesone(n):
    def act(x):
        return x * n
    return act


@case(lambda: (t(3), Plain()), lambda: (t(3), torch.nn.Linear(2, 2)))
def what_an_abstract_class_says(x, p):
    kinds = collections.abc.Iterable, collections.abc.Callable, collections.abc.Sized
    return x * 1, [isinstance(p, kind) for kind in kinds], isinstance(x, collections.abc.Sized)


@case(lambda: (t(3), Plain()))
def what_a_protocol_says(x, p):
    return x * 2 if isinstance(p, HasK) else x


@case(lambda: (lambda x: (x, {x: 4}))(t(3)), lambda: (t(3), {t(3): 4}))
def a_dict_with_tensors_as_keys(x, d):
    return x * d.get(x, 9)


@case(lambda: (lambda p: (t(3), p, {p: 4}))(Plain()))
def a_dict_with_objects_as_keys(x, p, d):
    d.pop(p, None)
    return x * len(d)


@case(lambda: (t(3), functools.partial(product)), lambda: (t(3), functools.partial(product, b=5)),
      lambda: (t(3), functools.partial(product, a=3)))
def a_partial_with_more_arguments(x, p):
    return p(x)


@built
def an_attribute_of_a_tensor_appears():
    def run(x):
        return x * 2 if hasattr(x, "tag") else x * getattr(x, "scale", 3)

    def tagged():
        x = t(3)
        x.tag = 1
        return x
    return run, [lambda: t(3), tagged]


@case(lambda: t(6)[:3], lambda: t(6)[2:5])
def where_a_view_begins(x):
    return x * x.storage_offset()


@case(lambda: (t(3), 0), lambda: (t(3), 1), lambda: (t(3), 0))
def a_name_that_is_bound_sometimes(x, n):
    if n:
        y = x * 5
    print("between")
    try:
        z = y
    except NameError:
        z = x
    return z * 2


@built
def functions_as_keys():
    a, b = timesone(2), timesone(3)
    table = {a: 10, b: 20}
    return lambda x, act: x * table[act], [lambda: (t(3), b), lambda: (t(3), a)]


@case(lambda: (lambda n: (t(3), n, n))(float("2.5")), lambda: (t(3), float("2.5"), float("2.5")))
def numbers_that_are_one_object(x, a, b):
    return x * 2 if a is b else x * 3


@built
def two_cells_then_one():
    def make():
        n = 0

        def more():
            nonlocal n
            n += 1
            return n
        return more, lambda: n

    def run(x, more, get):
        more()
        return x * get()
    return run, [lambda: (t(3), make()[0], make()[1]), lambda: (t(3), *make())]


@case(lambda: (t(3), Same.ONE), lambda: (t(3), Same.TWO))
def two_members_with_one_text(x, e):
    return x * e.value


@case(lambda: (t(3), Slots()))
def a_slot_that_is_not_there(x, p):
    try:
        p.b = x * 2
    except AttributeError:
        return x * 5
    return x


@case(lambda: (t(3), Sequence()))
def special_methods_seldom_used(x, p):
    try:
        total = sum(list(p)) + round(p) + (~p) + (p << 1) + sum(reversed(p))
    except TypeError:
        total = 100
    return x * total, p != Sequence()


@case(lambda: (t(3), Mapping()))
def an_object_as_a_mapping(x, p):
    try:
        return x * dict(p)["a"] + {**p}["a"], product(x, **p)
    except TypeError:
        return x * 100


@case(lambda: (t(3), Plain()))
def an_attribute_in_a_format(x, p):
    try:
        return x * 2, "{0.k} {0.attrs}".format(p)
    except AttributeError:
        return x * 5


@built
def a_method_of_a_dict():
    def run(x, read):
        return x * read("a")
    d = {"a": 3}
    return run, [lambda: (t(3), d.get), lambda: (t(3), d.pop)], d


@case(lambda: (t(3), [1, 2].__len__), lambda: (t(3), [1].__len__))
def a_special_method_as_argument(x, count):
    return x * count()


@case()
def a_default_inside_try(x):
    try:
        return product(x)
    except TypeError:
        return x * 100


@case()
def a_global_by_the_table_of_globals(x):
    return x * globals()["SCALE"]


def again():
    raise


@case()
def a_helper_raises_again(x):
    y = x * 2
    try:
        raise ValueError("v")
    except ValueError:
        print(sys.exc_info()[1], traceback.format_exc().splitlines()[-1])
        try:
            again()
        except ValueError as error:
            return y, str(error)


@case(lambda: (neg(3), pos(2), torch.tensor([5])))
def numbers_drawn_before_an_error(x, y, i):
    a = F.rrelu(x, training=True)
    try:
        return y[i]
    except IndexError:
        return a


@case(lambda: (t(3), {0.0: 1}), lambda: (t(3), {-0.0: 1}), lambda: (t(3), {(1,): 1}),
      lambda: (t(3), {(True,): 1}))
def keys_that_are_equal(x, d):
    return x * 2, [str(key) for key in d]
