"""Corners where an interpreter of values may slip: signs, identities, iterators, odd classes."""

import sys

import torch

from oracles.dynamo_cases import built, case, pos, t


class Words(list):
    def first(self):
        return self[0]


class Strange(dict):
    def __missing__(self, key):
        return len(key)


class Guarded:
    def __init__(self):
        self.log = []

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value * 2 if name == "n" else value)

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return found + 1 if name == "n" else found


class Lazy:
    loads = 0

    @property
    def value(self):
        self.loads += 1
        return self.loads


class Number(int):
    def doubled(self):
        return self * 2


@case(lambda: (t(3), 0.0), lambda: (t(3), -0.0))
def zeros_with_a_sign(x, zero):
    return torch.atan2(x * 0 + zero, x), str(zero)


@case(lambda: (t(3), float("nan")), lambda: (t(3), float("nan")))
def a_number_that_is_none(x, n):
    return x + n, n == n, n != n


@case(lambda: (t(3), 2 ** 70), lambda: (t(3), -1))
def a_large_number(x, n):
    return x + 1, n // 3, n % 7


@case(lambda: (t(3), 1), lambda: (t(3), True), lambda: (t(3), 1.0), lambda: (t(3), 1 + 0j))
def equal_but_not_the_same(x, n):
    return str(n), n + n, isinstance(n, bool)


@case()
def operations_that_give_back_what_they_got(x):
    return (x.contiguous() is x, x.to(torch.float32) is x, x.requires_grad_(False) is x,
            x.clone() is x, x.detach() is x, x.float() is x, x.cpu() is x)


@case(lambda: (t(3), t(3)))
def tensors_in_sets_and_keys(x, y):
    s, d = {x, y, x}, {x: 1, y: 2}
    return len(s), d[y], x in d, x in s


@case(lambda: (t(3), t(3)))
def a_tensor_is_looked_for(x, y):
    return x in [x, y], [x].index(x), [x, y].count(x) if x is y else 0


@case()
def lists_of_tensors_compared(x):
    return [x] == [x], (x, 1) == (x, 1)


@case(lambda: (t(3), iter([1, 2, 3])))
def an_iterator_from_outside(x, numbers):
    x = x + next(numbers)
    for n in numbers:
        x = x * n
    return x, next(numbers, "empty")


@case(lambda: (t(3), (n * 2 for n in range(4))))
def a_generator_from_outside(x, numbers):
    x = x + next(numbers)
    print("between")
    return x * sum(numbers)


@case(lambda: (t(3), Words(["a", "bc"])))
def a_subclass_of_list(x, words):
    words.append("d")
    return x * len(words), words.first(), words


@case(lambda: (t(3), Strange(a=1)))
def a_subclass_of_dict(x, d):
    return x * d["a"], d["missing"], d


@case(lambda: (t(3), Number(4)))
def a_subclass_of_int(x, n):
    return x * n, n.doubled(), type(n).__name__


@built
def attributes_with_a_will_of_their_own():
    thing = Guarded()

    def run(x):
        thing.n = 3
        return x * thing.n
    return run, [lambda: t(3)] * 2


@built
def a_property_with_an_effect():
    thing = Lazy()

    def run(x):
        return x * thing.value + thing.value
    return run, [lambda: t(3)] * 2, thing


@case()
def text_written_otherwise(x):
    sys.stdout.write("written\n")
    x = x + 1
    print("printed", file=sys.stdout, flush=True)
    return x


@case()
def functions_with_attributes(x):
    def f(z):
        f.calls += 1
        return z + f.calls
    f.calls = 0
    return f(x) + f(x), f.calls


@built
def a_function_that_counts_itself():
    def run(x):
        run.calls = getattr(run, "calls", 0) + 1
        return x + run.calls
    return run, [lambda: t(3)] * 3, run


@case(lambda: (pos(3), torch.tensor([0, 7])))
def an_index_that_only_the_numbers_refuse(x, index):
    return x[index] + 1


@case(lambda: (pos(3), torch.tensor([0, 7])))
def an_index_that_is_refused_and_caught(x, index):
    try:
        return x[index] + 1
    except IndexError:
        return x


@case(lambda: ([1], pos(3), torch.tensor([0, 7])))
def an_effect_before_the_numbers_refuse(xs, x, index):
    xs.append(2)
    y = x[index]
    xs.append(3)
    return y


@case(lambda: (pos(3), torch.tensor([0, 7])))
def in_place_before_the_numbers_refuse(x, index):
    x.add_(1)
    return x[index]


@case(lambda: [t(2)])
def the_same_list_in_two_places(xs):
    both = {"a": xs, "b": [xs, xs]}
    xs.append(1)
    both["b"][0].append(2)
    return both


@case()
def a_circle_of_objects(x):
    a, b = {}, {}
    a["b"], b["a"], a["x"] = b, a, x + 1
    return a


@case(lambda: t(3), lambda: t(3))
def the_same_object_each_time(x):
    return sys.intern("a"), None, (), x.shape is not None


@case()
def many_results_of_one_operation(x):
    y = x + 1
    return [y, y, (y, {"y": y}), y[0], y[0]]


@case()
def a_long_chain(x):
    for i in range(40):
        x = x * 0.5 + i if i % 3 else x - i
    return x
