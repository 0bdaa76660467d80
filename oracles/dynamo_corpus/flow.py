"""Early returns, the walrus, match, ternaries, and jumps that are easy to get wrong."""

from dataclasses import dataclass

from oracles.dynamo_cases import case, t


@dataclass
class Box:
    size: int
    name: str = "box"


@case(lambda: (t(3), 0), lambda: (t(3), 1), lambda: (t(3), 2))
def early_returns(x, n):
    if n == 0:
        return x
    x = x + 1
    if n == 1:
        return x
    x = x * 2
    return x


@case()
def the_walrus(x):
    if (n := len(x)) > 2:
        x = x * n
    return x, [y := 1, y + 1]


@case(lambda: (t(3), 1), lambda: (t(3), 2), lambda: (t(3), 9))
def match_on_numbers(x, n):
    match n:
        case 1:
            return x + 1
        case 2 | 3:
            return x + 2
        case _:
            return x + 3


@case(lambda: (t(3), [1, 2]), lambda: (t(3), [5]), lambda: (t(3), []))
def match_on_sequences(x, xs):
    match xs:
        case [a, b]:
            return x * a + b
        case [a]:
            return x * a
        case []:
            return x


@case(lambda: (t(3), {"op": "add", "n": 2}), lambda: (t(3), {"op": "neg"}))
def match_on_mappings(x, command):
    match command:
        case {"op": "add", "n": n}:
            return x + n
        case {"op": name, **rest}:
            return -x, name, rest


@case(lambda: (t(3), Box(2)), lambda: (t(3), Box(3, "bag")), lambda: (t(3), 4))
def match_on_classes(x, thing):
    match thing:
        case Box(size=2, name=name):
            return x, name
        case Box(size, name) if size > 2:
            return x * size, name
        case int() as n:
            return x + n


@case(lambda: (t(3), 4), lambda: (t(3), -4))
def nested_ternaries(x, n):
    return x + (1 if n > 3 else 2 if n > 0 else 3)


@case(lambda: (t(3), 5))
def break_out_of_two_loops(x, n):
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                break
            x = x + j
        else:
            continue
        break
    return x, i, j


@case(lambda: (t(3), 3))
def continue_in_while(x, n):
    while n:
        n -= 1
        if n == 1:
            continue
        x = x + n
    return x


@case()
def a_loop_in_try_in_a_loop(x):
    for i in range(3):
        try:
            if i == 1:
                continue
            x = x + i
        finally:
            x = x * 2
    return x


@case()
def return_in_a_loop_in_try(x):
    for i in range(5):
        try:
            if i == 2:
                return x + i
        finally:
            x = x * 3
    return x


@case(lambda: (t(3), 1), lambda: (t(3), 0))
def short_circuit_has_no_effect(x, n):
    log = []
    n and log.append("and")
    n or log.append("or")
    return x, log


@case()
def an_empty_loop(x):
    for _ in []:
        x = x + 1
    while False:
        x = x + 2
    return x


@case()
def nothing_but_pass(x):
    pass


@case()
def an_ellipsis_and_none(x):
    y = x[..., None]
    return y + 1, ...
