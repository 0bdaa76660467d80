"""In-place operations, views, and several names for one memory."""

import torch

from oracles.dynamo_cases import built, case, t


@case()
def the_argument_is_changed(x):
    x.add_(1)
    return x * 2


@case()
def augmented_assignment_changes_the_argument(x):
    x += 1
    x *= 2
    return x


@case()
def changed_and_returned_itself(x):
    y = x.mul_(2)
    return y is x, y


@case(lambda: t(2, 3))
def a_view_is_changed(x):
    row = x[0]
    row.zero_()
    return x + 1


@case(lambda: t(2, 3))
def views_are_handed_out(x):
    return x[0], x.view(-1), x.T, x[:, 1:], x.unsqueeze(0), x.expand(2, 2, 3)


@case(lambda: t(4))
def items_are_assigned(x):
    x[0] = 5
    x[1:3] = x[2:4] * 2
    x[x > 4] = -1
    return x.clone()


@case(lambda: (lambda x: (x, x[1:]))(t(4)))
def arguments_that_share_memory(a, b):
    a.mul_(2)
    return b + 1


@case(lambda: (lambda x: (x, x))(t(3)), lambda: (t(3), t(3)))
def one_argument_twice_or_two(a, b):
    a.add_(1)
    return a + b


@case()
def an_in_place_result_of_ones_own(x):
    y = torch.zeros(3)
    y.copy_(x)
    y[1] = 7
    return y


@case()
def out_is_given(x):
    y = torch.empty(3)
    z = torch.add(x, 1, out=y)
    return y, z is y


@case(lambda: t(3))
def changed_before_and_after_a_break(x):
    x.add_(1)
    print("between")
    x.mul_(2)
    return x - 1


@case(lambda: t(2, 3))
def a_view_across_a_break(x):
    row = x[1]
    print("between")
    row.add_(10)
    return x.sum()


@case(lambda: t(2, 2, grad=True))
def an_in_place_operation_with_gradients(x):
    y = x * 2
    y.relu_()
    y[0] = 0
    return y.sum()


@case(lambda: t(3))
def data_is_replaced(x):
    x.data = x.data * 3
    return x + 1


@case(lambda: t(2, 3))
def shape_changed_in_place(x):
    x.t_()
    x.unsqueeze_(0)
    return x * 2


@case(lambda: t(3))
def a_clone_stays(x):
    y = x.clone()
    x.zero_()
    return y, x


@case(lambda: t(3))
def detached_memory_is_shared(x):
    y = x.detach()
    y.add_(1)
    return x is y, x * 1


@case(lambda: t(4, 2))
def chunks_and_splits(x):
    a, b = x.chunk(2)
    c, d = torch.split(x, [1, 3])
    a.add_(b)
    return c, d


@built
def a_tensor_of_the_closure_is_changed():
    total = torch.zeros(3)

    def run(x):
        total.add_(x)
        return total * 2
    return run, [lambda: t(3)] * 2, total


@case(lambda: ([t(2), t(2)],))
def tensors_in_a_list_are_changed(xs):
    for x in xs:
        x.mul_(3)
    xs[0] += xs[1]
    return xs[0] is xs[1]


@case(lambda: t(3, grad=True))
def the_leaf_is_changed_which_torch_refuses(x):
    x.add_(1)
    return x
