"""Branches that Python values decide: shapes, numbers, None, types, flags."""

import torch

from oracles.dynamo_cases import case, t


@case(lambda: t(4), lambda: t(2))
def by_a_size(x):
    if x.shape[0] > 3:
        return x + 1
    return x - 1


@case(lambda: t(4), lambda: t(2, 2))
def by_the_number_of_dimensions(x):
    return x.sum() if x.dim() == 1 else x.sum(dim=1)


@case(lambda: (t(3), True), lambda: (t(3), False), lambda: (t(3), True))
def by_a_flag(x, flag):
    return x * 2 if flag else x / 2


@case(lambda: (t(3), 1), lambda: (t(3), 5), lambda: (t(3), 10))
def by_a_number(x, n):
    if n < 3:
        x = x + 1
    elif n < 7:
        x = x + 2
    else:
        x = x + 3
    return x * n


@case(lambda: (t(3), None), lambda: (t(3), t(3)))
def by_none(x, other):
    if other is None:
        return x
    return x + other


@case(lambda: (t(3), "up"), lambda: (t(3), "down"))
def by_a_word(x, way):
    if way == "up":
        return x + 1
    return x - 1


@case(lambda: (t(3), []), lambda: (t(3), [1]))
def by_an_empty_list(x, some):
    if some:
        return x * some[0]
    return x


@case(lambda: t(3), lambda: t(3, dtype=torch.float64), lambda: t(3, dtype=torch.int64))
def by_the_dtype(x):
    if x.dtype == torch.float64:
        return x * 2
    if x.is_floating_point():
        return x * 3
    return x * 4


@case(lambda: t(3), lambda: 3, lambda: [t(3)])
def by_isinstance(x):
    if isinstance(x, torch.Tensor):
        return x + 1
    if isinstance(x, list | tuple):
        return x[0] + 2
    return x + 3


@case(lambda: (t(3), 0, 5), lambda: (t(3), 2, 0))
def with_and_and_or(x, a, b):
    if a and b or not a:
        x = x + 1
    return x * (a or b), a and b


@case(lambda: (t(3), 3), lambda: (t(3), 8))
def chained_comparison(x, n):
    if 0 < n <= 5 < 9:
        return x + n
    return x - n


@case(lambda: (t(3), {"mode": "fast"}), lambda: (t(3), {}))
def by_membership(x, options):
    if "mode" in options and options["mode"] not in ("slow", "off"):
        return x * 2
    return x


@case(lambda: t(3), lambda: t(3, grad=True))
def by_requires_grad(x):
    return x * 2 if x.requires_grad else x * 3


@case(lambda: t(3), lambda: t(0))
def by_an_empty_tensor(x):
    if x.numel() == 0:
        return torch.zeros(1)
    return x.mean()


@case(lambda: (t(3), 2), lambda: (t(3), 2.0), lambda: (t(3), True))
def by_the_type_of_a_number(x, n):
    return x * n, type(n) is int, type(n).__name__


@case(lambda: (t(3), 1), lambda: (t(3), 2))
def by_a_conditional_in_an_index(x, n):
    return x[0 if n == 1 else -1] * (n if n > 1 else 10)
