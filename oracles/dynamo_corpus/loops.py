"""for and while, over ranges and containers, with break, continue and else."""

import itertools

import torch

from oracles.dynamo_cases import case, pos, t


@case()
def over_a_range(x):
    for i in range(3):
        x = x * 2 + i
    return x


@case(lambda: (t(3), 4), lambda: (t(3), 2), lambda: (t(3), 0))
def as_often_as_told(x, n):
    for _ in range(n):
        x = x + 1
    return x


@case()
def range_with_a_step(x):
    seen = []
    for i in range(7, 0, -3):
        x = x - i
        seen.append(i)
    return x, seen, i


@case(lambda: ([t(2), t(2), t(2)],), lambda: ([t(2)],))
def over_a_list_of_tensors(xs):
    total = 0
    for x in xs:
        total = total + x
    return total


@case(lambda: t(3, 2))
def over_a_tensor(x):
    total = torch.zeros(2)
    for row in x:
        total = total * 2 + row
    return total


@case()
def with_break(x):
    for i in range(10):
        if i == 3:
            break
        x = x + i
    return x, i


@case()
def with_continue(x):
    for i in range(6):
        if i % 2:
            continue
        x = x + i
    return x


@case(lambda: (t(3), 9), lambda: (t(3), 1))
def with_else(x, stop):
    for i in range(4):
        if i == stop:
            break
    else:
        x = x * 10
    return x


@case()
def counting_while(x):
    n = 0
    while n < 4:
        x = x + n
        n += 1
    return x, n


@case()
def while_true(x):
    n = 3
    while True:
        x = x * 0.5
        n -= 1
        if not n:
            return x


@case()
def nested_loops(x):
    for i in range(3):
        for j in range(i):
            x = x + i * j
    return x


@case(lambda: (t(3), {"a": 1, "b": 2}))
def over_a_dict(x, weights):
    for name, weight in weights.items():
        x = x * weight + len(name)
    return x, list(weights), sum(weights.values())


@case()
def with_enumerate_and_zip(x):
    for i, (a, b) in enumerate(zip([1, 2, 3], (4, 5, 6)), start=1):
        x = x + a * b * i
    return x


@case()
def over_reversed_and_sorted(x):
    for i in reversed([3, 1, 2]):
        x = x * 2 + i
    for i in sorted([3, 1, 2], reverse=True):
        x = x * 2 - i
    return x


@case()
def with_itertools(x):
    for a, b in itertools.product([1, 2], [3, 4]):
        x = x + a * b
    for a in itertools.chain([1], (2,), range(2)):
        x = x - a
    return x


@case(lambda: pos(3))
def until_the_data_say_stop(x):
    while x.sum() < 20:
        x = x * 2
    return x


@case()
def printing_in_each_turn(x):
    for i in range(3):
        x = x + i
        print("turn", i)
    return x


@case()
def printing_after_the_loop(x):
    for i in range(3):
        x = x + i
    print("done")
    return x * 2


@case(lambda: t(4))
def item_in_a_loop(x):
    total = 0.0
    for i in range(4):
        total += x[i].item()
    return x * total


@case(lambda: (t(3), "abc"))
def over_a_string(x, text):
    for letter in text:
        x = x + ord(letter)
    return x


@case()
def an_iterator_by_hand(x):
    numbers = iter([1, 2, 3])
    x = x * next(numbers)
    x = x + next(numbers)
    return x, next(numbers), next(numbers, "empty")


@case(lambda: ([1, 2, 3], t(2)))
def a_list_that_grows_while_it_is_read(numbers, x):
    for n in numbers:
        if len(numbers) < 6:
            numbers.append(n * 10)
        x = x + n
    return x
