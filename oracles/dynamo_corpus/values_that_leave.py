"""Numbers that leave the tensor: item, tolist, numpy, float, and what comes of them."""

import numpy as np
import torch

from oracles.dynamo_cases import case, pos, t


@case(lambda: pos(3))
def item_then_more(x):
    n = x.sum().item()
    return x * n


@case(lambda: pos(3))
def item_at_the_end(x):
    return (x * 2).sum().item()


@case(lambda: pos(3), lambda: pos(3) + 1)
def item_and_a_branch(x):
    y = x + 1
    if y.max().item() > 2:
        return y * 2
    return y


@case(lambda: pos(3))
def float_and_int(x):
    return float(x.sum()), int(x.sum() * 10), x + float(x[0])


@case(lambda: pos(3))
def to_a_list(x):
    numbers = (x * 2).tolist()
    numbers.append(1.0)
    return x * len(numbers), numbers


@case(lambda: pos(3))
def to_numpy_and_back(x):
    a = (x + 1).numpy()
    return torch.from_numpy(a * 2)


@case(lambda: pos(3))
def numpy_inside(x):
    return x + float(np.sqrt(4.0)), np.arange(3).sum()


@case(lambda: (t(3), np.array([1.0, 2.0, 3.0])))
def an_array_as_argument(x, a):
    return x + torch.from_numpy(a), a * 2


@case(lambda: pos(4))
def an_index_from_data(x):
    i = int(x.argmax())
    return x[i], x[:i]


@case(lambda: torch.tensor([3]))
def a_size_from_data(x):
    return torch.ones(x.item()) * 2


@case(lambda: pos(3))
def a_tensor_as_text(x):
    return str(x + 1), f"{x.sum():.2f}"


@case(lambda: pos(3))
def item_of_two(x):
    a = x.min().item()
    b = x.max().item()
    return (x - a) / (b - a)


@case(lambda: torch.tensor([1, 2, 2, 3]))
def unique_values(x):
    return torch.unique(x).sum(), len(torch.unique(x))
