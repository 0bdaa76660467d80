"""Branches that the numbers of a tensor decide: each side must be possible after the break."""

import torch

from oracles.dynamo_cases import case, neg, pos, t


@case(lambda: pos(3), lambda: neg(3))
def an_if_on_a_sum(x):
    y = x * 2
    if y.sum() > 0:
        return y + 1
    return y - 1


@case(lambda: pos(3), lambda: neg(3))
def an_if_without_a_return(x):
    if x.sum() > 0:
        x = x * 2
    return x + 1


@case(lambda: pos(3), lambda: neg(3))
def a_conditional_expression(x):
    return x.exp() if x.mean() > 0 else x.abs()


@case(lambda: pos(3), lambda: neg(3))
def two_in_a_row(x):
    if x.sum() > 0:
        x = x - 10
    if x.sum() > 0:
        x = x + 5
    return x * 2


@case(lambda: (pos(3), pos(3)), lambda: (pos(3), neg(3)), lambda: (neg(3), pos(3)))
def and_of_two(x, y):
    if x.sum() > 0 and y.sum() > 0:
        return x + y
    return x - y


@case(lambda: (pos(3), pos(3)), lambda: (neg(3), neg(3)))
def or_of_two(x, y):
    if x.sum() < 0 or y.sum() < 0:
        return x + y
    return x - y


@case(lambda: pos(3), lambda: neg(3))
def not_of_a_tensor(x):
    if not (x > 0).all():
        return x * 2
    return x


@case(lambda: pos(3), lambda: neg(3))
def nested_ifs(x):
    if x.sum() > 0:
        y = x + 1
        if y.max() > 1:
            return y * 2
        return y
    return x


@case(lambda: pos(3))
def an_assertion_that_holds(x):
    assert x.sum() > 0, "positive"
    return x * 2


@case(lambda: neg(3))
def an_assertion_that_fails(x):
    y = x + 1
    assert y.sum() > 100, "large"
    return y


@case(lambda: pos(3), lambda: neg(3))
def a_bool_of_a_tensor(x):
    large = bool((x > 0).any())
    return x + 1, large


@case(lambda: (pos(3), 2), lambda: (neg(3), 2), lambda: (pos(3), 3))
def python_values_live_across_the_break(x, n):
    names = ["a", "b"]
    y = x * n
    if y.sum() > 0:
        names.append("c")
        n += 1
    return y * n, names, n


@case(lambda: pos(2))
def both_sides_of_a_walrus(x):
    if (total := x.sum()) > 0:
        return x / total
    return x


@case(lambda: t(4))
def indices_from_data(x):
    found = torch.nonzero(x > 0)
    return found, x[x > 0], len(found)


@case(lambda: pos(3), lambda: neg(3))
def a_loop_before_and_after(x):
    for i in range(2):
        x = x + i
    if x.sum() > 0:
        x = -x
    for i in range(2):
        x = x * 2
    return x


@case(lambda: pos(3), lambda: neg(3))
def only_effects_differ(x):
    log = []
    if x.sum() > 0:
        log.append("positive")
    else:
        log.append("negative")
    return log
