"""Random draws: the same numbers in the same order, and the same state of the generator after."""

import random

import numpy as np
import torch
import torch.nn.functional as F

from oracles.dynamo_cases import case, t


@case(lambda: t(3), lambda: t(3))
def drawn_and_added(x):
    return x + torch.rand(3)


@case()
def drawn_twice(x):
    return torch.randn(3) + x, torch.randint(0, 9, (3,)), torch.rand_like(x)


@case()
def drawn_around_a_break(x):
    a = x + torch.rand(3)
    print("between")
    return a, torch.rand(3)


@case(lambda: t(6), lambda: t(6))
def dropped_out(x):
    return F.dropout(x, 0.5, training=True)


@case()
def seeded_inside(x):
    torch.manual_seed(3)
    return x + torch.rand(3)


@case()
def drawn_by_python(x):
    return x * random.random(), random.randint(0, 9)


@case()
def drawn_by_numpy(x):
    return x + np.random.rand(), np.random.randint(0, 9)


@case()
def a_generator_of_ones_own(x):
    g = torch.Generator().manual_seed(1)
    return x + torch.rand(3, generator=g), torch.rand(1, generator=g)


@case(lambda: torch.zeros(3))
def filled_in_place(x):
    x.uniform_(0, 1)
    return torch.bernoulli(x)


@case()
def shuffled(x):
    order = torch.randperm(3)
    return x[order]
