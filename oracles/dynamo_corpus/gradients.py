"""autograd: recorded through the graph, run inside the function, hooked, cut."""

import torch

from oracles.dynamo_cases import built, case, t


@case(lambda: t(3, grad=True))
def a_loss(x):
    return (x * x).sum()


@case(lambda: (t(3, grad=True), t(3)))
def of_one_of_two(x, y):
    return (x * y).sum() + y.sum()


@case(lambda: t(3, grad=True))
def two_results(x):
    return x * 2, (x * 3).sum()


@case(lambda: t(3, grad=True))
def backward_inside(x):
    loss = (x * x).sum()
    loss.backward()
    return x.grad * 2


@case(lambda: t(3, grad=True))
def grad_inside(x):
    y = (x ** 3).sum()
    (g,) = torch.autograd.grad(y, x)
    return g


@case(lambda: t(3, grad=True))
def detached(x):
    y = x * 2
    return y.detach() * x, y.detach().requires_grad


@case(lambda: t(3, grad=True))
def gradients_through_a_break(x):
    y = x * 2
    print("between")
    return (y * x).sum()


@case(lambda: t(3))
def switched_on_inside(x):
    y = x.clone().requires_grad_()
    (y * y).sum().backward()
    return y.grad


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 + ctx.saved_tensors[0]


@case(lambda: t(3, grad=True))
def a_function_of_ones_own(x):
    return Twice.apply(x + 1)


@case(lambda: t(3, grad=True))
def a_hook_on_a_tensor(x):
    y = x * 2
    y.register_hook(lambda g: g * 10)
    return (y * 3).sum()


@built
def a_gradient_is_collected():
    weight = t(3, grad=True)

    def run(x):
        return (weight * x).sum()
    return run, [lambda: t(3)] * 2, weight


@case(lambda: t(3, grad=True))
def a_gradient_is_set(x):
    x.grad = torch.ones(3)
    return x * 2


@case(lambda: t(3, grad=True), lambda: t(3))
def with_and_without(x):
    return x.exp() if x.requires_grad else x


@case(lambda: t(3, grad=True))
def under_no_grad_in_part(x):
    with torch.no_grad():
        scale = x.abs().max()
    return x / scale


@case(lambda: t(3, grad=True))
def retained(x):
    y = x * 2
    y.retain_grad()
    (y * y).sum().backward()
    return y.grad
