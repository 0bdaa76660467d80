"""The functions that Python brings along, on numbers, containers and tensors."""

import copy
import functools

import torch

from oracles.dynamo_cases import case, t


@case(lambda: t(3, 2))
def len_of_things(x):
    return len(x), len([1, 2]), len("abc"), len({1: 2}), len(x.shape)


@case()
def min_max_sum_abs(x):
    return x * max(1, 5, 3), min([4, 2]), sum([1, 2], 3), abs(-2), max("a", "b"), min(2.5, 1)


@case()
def sum_of_tensors(x):
    return sum([x, x * 2]), sum((x, x), start=x)


@case()
def map_and_filter(x):
    return list(map(lambda n: x * n, [1, 2])), list(filter(lambda n: n > 1, [1, 2, 3]))


@case()
def zip_and_enumerate(x):
    return list(zip([1, 2], "ab")), list(enumerate("ab", 3)), dict(zip("ab", [x, x + 1]))


@case()
def conversions(x):
    return (int(2.9), float(3), bool([]), str(1.5), tuple([1, 2]), list((3, 4)), set([1, 1]),
            dict([("a", x)]), complex(1, 2))


@case()
def rounding(x):
    return x * round(2.567, 1), divmod(17, 5), pow(2, 10), pow(3, 4, 5), round(2.5)


@case()
def sorting(x):
    rows = [("b", 2), ("a", 3), ("c", 1)]
    return x, sorted(rows), sorted(rows, key=lambda row: row[1]), list(reversed(rows))


@case()
def callable_and_type(x):
    return callable(len), callable(3), type(x) is torch.Tensor, isinstance(x, int)


@case()
def identity(x):
    y = x
    return x is y, x is not None, id(x) == id(y), x + 1


@case()
def a_reduction(x):
    return functools.reduce(lambda a, b: a * 2 + b, [x, x + 1, x + 2])


@case(lambda: [t(2), [1, 2]])
def copies(xs):
    a, b = copy.copy(xs), xs.copy()
    a[1].append(3)
    return a is xs, b, a


@case(lambda: {"a": [1, t(2)]})
def a_deep_copy(d):
    e = copy.deepcopy(d)
    e["a"].append(3)
    return e


@case()
def ranges(x):
    r = range(2, 10, 3)
    return list(r), r[1], len(r), 5 in r, r.step, x * r[-1]


@case()
def bytes_and_numbers_as_text(x):
    return hex(255), bin(5), oct(8), ord("a"), chr(98), "a".encode(), x + int("0x10", 16)


@case()
def iteration_tools(x):
    it = iter((1, 2, 3))
    return next(it), list(it), next(it, None), x


@case()
def hash_and_ids(x):
    return hash(3) == hash(3), hash("a") == hash("a"), {(1, 2): x}[(1, 2)] + 1


@case()
def eval_of_a_text(x):
    return x * eval("1 + 2")


@case()
def names_of_locals(x):
    a = 1
    return x + a, sorted(locals())
