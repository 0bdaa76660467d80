"""Lists, tuples, dicts and sets: built, changed, handed back; those of the caller too."""

from collections import Counter, OrderedDict, defaultdict, deque

import torch

from oracles.dynamo_cases import case, t


@case()
def a_list_is_built(x):
    out = []
    out.append(x)
    out.append(x + 1)
    out.extend([x * 2, 3])
    out.insert(0, "first")
    return out


@case(lambda: ([t(2), t(2)],))
def the_list_of_the_caller_grows(xs):
    xs.append(xs[0] + xs[1])
    return xs[-1] * 2


@case(lambda: ([t(2), 5, "a"],))
def the_list_of_the_caller_is_changed(xs):
    xs[0] = xs[0] * 2
    xs[1] += 1
    last = xs.pop()
    xs.reverse()
    return last


@case(lambda: ({"a": t(2)},))
def the_dict_of_the_caller_is_changed(d):
    d["b"] = d["a"] + 1
    d["a"] = d["b"] * 2
    d.setdefault("c", []).append(1)
    d.update(e=5)
    return d.get("nothing", "missing"), len(d)


@case(lambda: ({"a": 1, "b": t(2), "c": 3},))
def entries_taken_out(d):
    del d["a"]
    x = d.pop("b")
    return x * 2, d.pop("x", None), sorted(d)


@case()
def a_dict_of_results(x):
    return {"sum": x.sum(), "twice": x * 2, 3: (x, [x])}


@case()
def two_names_for_one_list(x):
    a = []
    b = a
    b.append(x)
    c = list(a)
    c.append(1)
    return a, b, c, a is b, a is c


@case(lambda: (lambda some: (some, some))([t(2)]))
def one_list_twice_as_argument(a, b):
    a.append(b[0] + 1)
    return len(b), a is b


@case()
def tuples_compared_and_joined(x):
    a = (1, 2) + (3,)
    return a, a * 2, a == (1, 2, 3), a < (1, 3), a.index(2), a.count(1), x + len(a)


@case()
def sets_of_numbers(x):
    s = {1, 2, 3}
    s.add(4)
    s.discard(1)
    return x * len(s), sorted(s | {9}), 2 in s, s & {2, 7}


@case(lambda: ({1, 2}, t(2)))
def the_set_of_the_caller_is_changed(s, x):
    s.add(5)
    s.remove(1)
    return x * sum(s)


@case()
def a_default_dict(x):
    d = defaultdict(list)
    d["a"].append(x)
    d["a"].append(x + 1)
    d["b"]
    return dict(d)


@case()
def a_deque(x):
    d = deque([1, 2], maxlen=2)
    d.append(x)
    d.appendleft(5)
    return list(d)


@case()
def an_ordered_dict(x):
    d = OrderedDict(a=1, b=x)
    d.move_to_end("a")
    return list(d.items())


@case()
def counted_words(x):
    c = Counter("abca")
    return x * c["a"], c.most_common(1)


@case(lambda: [[t(2)], [1, [2]]])
def nested_lists_of_the_caller(xs):
    xs[0].append(xs[0][0] * 2)
    xs[1][1][0] = "changed"
    return xs[1]


@case(lambda: ([1, 2, 3, 4, 5],))
def slices_assigned(xs):
    xs[1:3] = ["a"]
    del xs[-1]
    xs[::2] = [0, 0]
    return torch.ones(len(xs))


@case(lambda: (t(3), [3, 1, 2]))
def sorted_in_place(x, xs):
    xs.sort(key=lambda n: -n)
    return x + xs[0], xs.index(1)


@case(lambda: ({"x": t(2)}, {"y": 1}))
def dicts_merged(a, b):
    c = {**a, **b, "z": 2}
    d = a | b
    a |= b
    return c, d


@case()
def a_list_that_holds_itself(x):
    a = [x + 1]
    a.append(a)
    return a


@case(lambda: ([t(2)],))
def a_list_changed_around_a_break(xs):
    xs.append(xs[0] + 1)
    print(len(xs))
    xs.append(xs[1] * 2)
    return xs[2] + 1


@case(lambda: ({"a": 1, "b": 2}, t(2)), lambda: ({"b": 2, "a": 1}, t(2)))
def the_order_of_keys(d, x):
    return list(d), [x * n for n in d.values()]
