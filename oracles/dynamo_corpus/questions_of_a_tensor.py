"""dtype, device, shape, layout and mode: asked inside, and changed between calls."""

import torch

from oracles.dynamo_cases import case, t


@case(lambda: t(2, 3))
def what_it_is(x):
    return (x.dtype, x.device, x.shape, x.ndim, x.numel(), x.stride(), x.is_contiguous(),
            x.requires_grad, x.is_leaf, x.layout, x.element_size())


@case(lambda: t(2), lambda: t(2, dtype=torch.float64))
def made_to_fit(x):
    return torch.zeros(2, dtype=x.dtype, device=x.device) + x


@case(lambda: t(2))
def converted(x):
    return x.double(), x.to(torch.int64), x.half().float(), x.type(torch.float64), x.long().dtype


@case(lambda: t(2, 3))
def sizes_in_arithmetic(x):
    n = x.size(0) * x.shape[1] + x.dim()
    return x.view(-1)[:n] * n, x.new_zeros(n), x.shape[0] == 2


@case(lambda: t(2, 3))
def a_shape_as_a_tuple(x):
    a = torch.zeros(x.shape)
    b = torch.ones(*x.shape[:1], 4)
    return a, b, x.shape == (2, 3), tuple(x.shape) + (1,), list(x.shape)


@case(lambda: t(2))
def on_a_named_device(x):
    return x.to("cpu") + torch.ones(2, device="cpu"), x.device.type == "cpu", x.is_cuda


@case(lambda: t(2))
def limits_of_a_type(x):
    return x + torch.finfo(x.dtype).eps, torch.iinfo(torch.int8).max


@case(lambda: t(2))
def the_mode_of_the_thread(x):
    return x, torch.is_grad_enabled(), torch.get_default_dtype(), torch.is_tensor(x)


@case(lambda: t(2, 2), lambda: t(2, 2).t())
def by_the_stride(x):
    return x.stride(), x.is_contiguous(), x.reshape(4)


@case(lambda: t(2), lambda: torch.nn.Parameter(t(2)))
def a_parameter_or_not(x):
    return isinstance(x, torch.nn.Parameter), x * 2
