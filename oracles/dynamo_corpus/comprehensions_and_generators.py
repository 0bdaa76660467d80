"""Comprehensions of every sort, generators that are consumed, half consumed or handed out."""

import torch

from oracles.dynamo_cases import case, t


@case()
def a_list(x):
    return [x * i for i in range(3)]


@case()
def with_a_condition(x):
    return [x * i for i in range(6) if i % 2 if i > 1]


@case()
def a_dict(x):
    return {f"k{i}": x + i for i in range(3)}


@case()
def a_set(x):
    return x, {i % 2 for i in range(5)}


@case()
def nested(x):
    return [[x * i * j for j in range(i)] for i in range(3)]


@case()
def two_loops_in_one(x):
    return [x + i * j for i in range(2) for j in range(i + 1)]


@case()
def with_a_closure(x):
    n = 3
    return [(lambda z: z * n + i)(x) for i in range(2)]


@case()
def a_generator_is_summed(x):
    return sum(x * i for i in range(4))


@case()
def all_and_any(x):
    return x, all(n > 0 for n in (1, 2)), any(n > 5 for n in (1, 2)), max(n * n for n in (-3, 2))


@case(lambda: [t(2), t(3)])
def over_the_tensors_of_the_caller(xs):
    return torch.cat([x * 2 for x in xs])


def numbers(n):
    for i in range(n):
        yield i * 2


@case()
def a_generator_function(x):
    for i in numbers(3):
        x = x + i
    return x


@case()
def a_generator_half_consumed(x):
    g = numbers(5)
    x = x + next(g)
    x = x + next(g)
    return x, list(g)


@case()
def yield_from(x):
    def both():
        yield x
        yield from (x * i for i in (2, 3))
    return list(both())


@case()
def a_generator_with_an_effect(x):
    log = []

    def noted():
        for i in range(2):
            log.append(i)
            yield x + i
        log.append("end")
    return [*noted()], log


@case()
def print_in_a_comprehension(x):
    return [print(i) or x * i for i in range(2)]


@case()
def names_do_not_leak(x):
    i = "kept"
    values = [i for i in range(3)]
    return x + sum(values), i


@case()
def sent_values(x):
    def echo():
        got = yield x
        yield x * got
    g = echo()
    first = next(g)
    return first, g.send(3)
