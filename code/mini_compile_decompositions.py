"""Operators that are taken apart before there are loops: the fewer there are, the fewer rules.

AOTAutograd applies these while it traces. Most come with torch; the two at the end are our own,
because torch's leave var and the like to the back end. An operator is only taken apart where eager
takes it (mini_compile_eager), and if its tensors are floats of one dtype. Some are not in the list:
- the slopes of elu, hardtanh, hardswish, hardsigmoid and smooth_l1_loss, the mean of var_mean: the
  parts treat NaN in another way (for most, eager itself has two answers, by the place)
- logit: of small floats, eager rounds each of its steps
- detach: a detached alias would be one tensor with what it was detached from, gradients included
Source: torch/_decomp/decompositions.py, torch/_inductor/decomposition.py.
"""
import math

import torch
from torch._decomp import get_decompositions

from mini_compile_eager import refusal

__all__ = ["DECOMPOSITIONS"]
aten = torch.ops.aten

FROM_TORCH = """_softmax _softmax_backward_data _log_softmax _log_softmax_backward_data
    native_layer_norm_backward gelu gelu_backward silu silu_backward tanh_backward
    sigmoid_backward threshold_backward leaky_relu leaky_relu_backward elu hardtanh hardswish
    hardsigmoid softplus softplus_backward log_sigmoid_forward
    log_sigmoid_backward mish mse_loss mse_loss_backward smooth_l1_loss huber_loss addcmul addcdiv
    lerp celu nan_to_num native_dropout_backward frac logsumexp isfinite xlogy sinc"""
OF_ANY_DTYPE = "masked_fill new_full new_zeros new_ones full_like zeros_like ones_like fill"


def from_torch(names):
    return get_decompositions([getattr(aten, name) for name in names.split()])


def where_eager_agrees(operator, decomposition, of_floats=True):
    """The decomposition, which leaves alone (NotImplemented) what eager may refuse."""
    def decomposed(*args, **kwargs):
        if (of_floats and not floats_alike(args)) or refusal(operator, args, kwargs):
            return NotImplemented
        return decomposition(*args, **kwargs)
    return decomposed


def floats_alike(args):
    """Whether the first tensor holds floats, and no other tensor holds floats of another dtype."""
    dtypes = [one.dtype for one in args if isinstance(one, torch.Tensor)]
    return bool(dtypes) and dtypes[0].is_floating_point and not any(
        one.is_floating_point and one != dtypes[0] for one in dtypes)


def var_mean(x, dim=None, *, correction=None, keepdim=False):
    """Two sweeps over a row: first the mean, then the squares of what is left."""
    dims = list(range(x.dim())) if dim is None or not len(dim) else [d % x.dim() for d in dim]
    count = math.prod(x.shape[d] for d in dims)
    mean = aten.mean.dim(x, dims, True)
    centred = x - mean
    total = aten.sum.dim_IntList(centred * centred, dims, keepdim)
    divisor = count - (1 if correction is None else correction)
    if isinstance(divisor, (int, float)):
        divisor = max(divisor, 0)
    return total / divisor, mean if keepdim else aten.mean.dim(x, dims, False)


def wide(x):
    """Small floats are widened first, as eager does inside."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


def var_correction(x, dim=None, **given):
    if x.dim() == 0:
        return NotImplemented
    return var_mean(wide(x), dim, **given)[0].to(x.dtype)


def layer_norm(x, shape, weight, bias, eps):
    x = x.contiguous()                               # so the result is, as in eager
    var, mean = var_mean(wide(x), range(x.dim() - len(shape), x.dim()), correction=0, keepdim=True)
    scale = torch.rsqrt(var + eps)
    out = (x - mean) * scale
    if weight is not None:
        out = out * weight
    if bias is not None:
        out = out + bias
    return out.to(x.dtype), mean.to(x.dtype), scale.to(x.dtype)


OURS = {aten.var.correction: var_correction, aten.native_layer_norm.default: layer_norm}
DECOMPOSITIONS = {
    **{one: where_eager_agrees(one, rule) for one, rule in (from_torch(FROM_TORCH) | OURS).items()},
    **{one: where_eager_agrees(one, rule, of_floats=False)
       for one, rule in from_torch(OF_ANY_DTYPE).items()}}
