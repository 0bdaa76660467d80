"""Left sides with many names, and indices of all forms."""

import torch

from oracles.dynamo_cases import case, t


@case(lambda: ((t(2), t(2)),))
def a_pair(pair):
    a, b = pair
    return a - b


@case(lambda: [t(2), 1, 2, 3])
def a_star(xs):
    first, *middle, last = xs
    return first * last, middle


@case(lambda: (1, (t(2), [3, 4])))
def nested(n, rest):
    x, (a, b) = rest
    return x * a + b * n


@case(lambda: (t(2), t(2)))
def swapped(a, b):
    a, b = b, a + b
    a, b = b, a
    return a, b


@case(lambda: t(2, 3))
def a_shape_unpacked(x):
    rows, columns = x.shape
    return x.reshape(columns, rows), x.size(), x.size(0)


@case(lambda: t(3))
def a_tensor_unpacked(x):
    a, b, c = x
    return a + b * c


@case(lambda: t(2, 3))
def results_unpacked(x):
    values, indices = x.max(dim=1)
    return values * 2, indices


@case(lambda: t(4, 4))
def indices_of_all_forms(x):
    return (x[1], x[-1], x[1:3], x[:, 0], x[..., 1], x[None].shape, x[::2, 1:], x[[0, 2]],
            x[torch.tensor([1, 0])], x[1, 2], x[:, None, 0])


@case(lambda: (t(6), 1, 4))
def slices_from_numbers(x, a, b):
    s = slice(a, b)
    return x[s], x[a:b:2], [1, 2, 3, 4, 5][s], s


@case(lambda: [1, 2, 3, 4])
def slices_of_lists(xs):
    return xs[1:], xs[:-1], xs[::-1], xs[10:], torch.ones(len(xs[1:3]))


@case()
def chains_of_assignment(x):
    a = b = x + 1
    c, d = e = (a, 2)
    return a is b, e, c * d


@case(lambda: {"a": t(2), "b": 3})
def a_dict_unpacked(d):
    a, b = d.values()
    (k, _), *_ = d.items()
    return a * b, k


@case(lambda: [t(2), 1])
def augmented_items(xs):
    xs[1] += 4
    xs[0] *= xs[1]
    xs += [5]
    return xs
