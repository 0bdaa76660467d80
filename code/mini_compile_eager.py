"""What eager mode refuses: asked of eager itself, with tensors of one number.

A decomposition or a loop would compute what an operator refuses, a softmax of integers for example,
because the operator's own checks are gone with it. So each operator is called once for real while
the graph is compiled, with the dtypes, devices and numbers of the graph. If that raises an error,
the operator stays as it is and raises it where the program runs.
"""
import warnings

import torch
from torch.utils._python_dispatch import _disable_current_modes

__all__ = ["refusal"]
SHAPES = {"size", "normalized_shape"}                # arguments that are shrunk like the tensors


def refusal(operator, args, kwargs):
    """The error that eager raises for such arguments, in one line; None if it takes them."""
    names = [one.name for one in operator._schema.arguments]
    with _disable_current_modes(), torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")              # var of one number
        given = [tiny(value, name) for name, value in zip(names, args, strict=False)]
        named = {name: tiny(value, name) for name, value in kwargs.items()}
        try:
            operator(*given, **named)
        except Exception as error:
            return f"eager refuses it: {str(error).splitlines()[0][:100]}"
    return None


def tiny(value, name=""):
    """A tensor with 1 for each size that isn't 0; a number as it is, a symbol as it is now."""
    if isinstance(value, torch.fx.Node):
        return tiny(value.meta["val"], name)
    if isinstance(value, torch.Tensor):
        return torch.ones(shrunk(value.shape), dtype=value.dtype, device=value.device)
    if name in SHAPES:
        return shrunk(value)
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return value.node.hint if value.node.has_hint() else 1
    return type(value)(map(tiny, value)) if isinstance(value, (list, tuple)) else value


def shrunk(shape):
    return [min(size, 1) if isinstance(size, int) else 1 for size in shape]
