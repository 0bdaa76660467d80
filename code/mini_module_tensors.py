"""The level below mini_module: the two marks on a tensor, and how a parameter changes its data.

This file knows no Module.
"""
import warnings

import torch

# --- 1. Two marks --------------------------------------------------------------------------------

class Parameter(torch.Tensor):
    """A tensor that a module registers as a parameter when it is assigned to an attribute.

    It shares the storage of `data`, of any shape and dtype, and is a leaf. The class adds nothing
    but its type: that is what `Module.__setattr__` asks for.
    Source: torch/nn/parameter.py:Parameter.
    """

    def __new__(cls, data=None, requires_grad=True):
        data = torch.empty(0) if data is None else data
        return torch.Tensor._make_subclass(cls, data, requires_grad)

    # Otherwise weight * 2 would be a Parameter, too, and to keep it in an attribute an error or,
    # under no_grad, a registration by accident.
    __torch_function__ = torch._C._disabled_torch_function_impl

    def __deepcopy__(self, memo):
        if id(self) not in memo:                     # tied parameters stay tied in the copy
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        """Pickled like a Tensor it would come back as the result of an operation: no leaf, so that
        no gradient would ever reach it."""
        return rebuilt, (type(self), self.data, self.requires_grad, vars(self))


def rebuilt(kind, data, requires_grad, attributes):
    """A parameter as pickle, copy.copy and torch.save left it; its gradient is not kept."""
    param = kind(data, requires_grad)
    vars(param).update(attributes)
    return param


torch.serialization.add_safe_globals([Parameter, rebuilt])     # torch.load(…, weights_only=True)


def Buffer(data, *, persistent=True):
    """A plain tensor with the mark of a buffer; it shares the storage of `data`.

    Called like a class, as in torch, where it also returns a plain tensor. It is none, though, so
    `isinstance(x, Buffer)` is a TypeError here; ask for `_is_buffer`.
    """
    data = torch.empty(0) if data is None else data
    marked = data.detach().requires_grad_(data.requires_grad)
    marked._is_buffer, marked.persistent = True, persistent
    return marked


# --- 2. New data in the same object --------------------------------------------------------------

def conversion(*args, **kwargs):
    """The function of a tensor that `to` with these arguments of Tensor.to applies.

    Only floating-point and complex tensors are cast. TypeError for a dtype that is neither.
    """
    device, dtype, non_blocking, layout = torch._C._nn._parse_to(*args, **kwargs)
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError("nn.Module.to only accepts floating point or complex "
                        f"dtypes, but got desired dtype={dtype}")
    if dtype is not None and dtype.is_complex:
        warnings.warn("Complex modules are a new feature under active development whose design "
                      "may change", stacklevel=3)                        # who calls `to`

    def convert(t):
        cast = dtype if t.is_floating_point() or t.is_complex() else None
        layout_of_images = layout if t.dim() in (4, 5) else None
        return t.to(device, cast, non_blocking, memory_format=layout_of_images)
    return convert


def converted(param, fn):
    """The parameter with fn of its data and gradient: the same object, so that ties survive.

    Where torch cannot exchange the data in place (cpu to meta, for example), it is a new one.
    """
    with torch.no_grad():
        data = fn(param)
        grad = None if param.grad is None else fn(param.grad)
    if torch._has_compatible_shallow_copy_type(param, data):
        param.data = data
        if grad is not None:
            param.grad.data = grad
        return param
    new = Parameter(data, param.requires_grad)
    new.grad = grad
    return new
