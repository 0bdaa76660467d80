"""No jump, no call of a function of the user's."""

import math
import operator

import torch
import torch.nn.functional as F

from oracles.dynamo_cases import Kw, case, pos, t


@case()
def adds_a_number(x):
    return x + 1


@case(lambda: (t(2, 3), t(3)))
def adds_two(a, b):
    return a + b


@case()
def returns_what_it_got(x):
    return x


@case()
def returns_nothing(x):
    x * 2


@case()
def returns_a_constant(x):
    return 7


@case()
def the_same_result_twice(x):
    y = x * 2
    return y, y


@case(lambda: (t(3), 2))
def a_number_as_argument(x, n):
    return x * n - n


@case(lambda: (t(4, 4),))
def operators_of_every_sort(x):
    y = -x + abs(x) * 2 - x / 4 + x ** 2 + x // 0.5 + x % 0.75
    return y @ x, x > 0, x == y, x <= y, ~(x > 0), (x > 0) & (x < 1), (x > 0) ^ (x < 1)


@case(lambda: (t(3), 3))
def numbers_on_the_left(x, n):
    return n - x, n * x, n / (x + 10), 2 ** x


@case(lambda: t(2, 3))
def functions_of_torch(x):
    return torch.cat([x, torch.sin(x)], dim=1).sum(0), torch.stack((x, x)).mean()


@case(lambda: t(2, 3))
def functional_layers(x):
    return F.softmax(F.relu(x), dim=-1), F.gelu(x, approximate="tanh")


@case(lambda: t(2, 3))
def methods_with_keywords(x):
    return x.sum(dim=1, keepdim=True), x.max(dim=0), x.clamp(min=0.0)


@case(lambda: t(3))
def operators_by_name(x):
    return operator.add(x, 1), operator.mul(x, x), operator.neg(x)


@case(lambda: pos(3))
def mathematics_of_numbers(x):
    return x * math.sqrt(16) + math.pi, math.floor(2.5), math.prod((2, 3))


@case(lambda: (t(3), Kw(scale=2)))
def a_keyword_argument(x, scale=1):
    return x * scale


@case(lambda: t(2, 2))
def a_new_tensor(x):
    return x + torch.ones(2, 2), torch.zeros_like(x), torch.arange(3), torch.tensor([1.0, 2.0])


@case(lambda: (2, 3))
def no_tensor_at_all(a, b):
    return a * b + a ** b - a // b, a / b, a << b, a | b


@case(lambda: t(3))
def deleted_names(x):
    y = x + 1
    z = y * 2
    del y
    return z


@case(lambda: t(3))
def one_name_for_many_values(x):
    x = x + 1
    x = x * 2
    y = x
    x = 3
    return y, x


@case(lambda: t(2, 3))
def matrices_turned(x):
    return x.T, x.t() @ x, x.mT, x.transpose(0, 1).contiguous()


@case(lambda: (t(3), t(3)))
def the_same_tensor_computed_from_two(a, b):
    return torch.where(a > 0, a, b), torch.maximum(a, b), torch.lerp(a, b, 0.5)


@case(lambda: (lambda x: (x, x))(t(3)))
def one_tensor_twice_as_argument(a, b):
    return a + b, a is b
