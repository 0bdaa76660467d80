"""Operators that are taken apart before there are loops: the fewer there are, the fewer rules.

AOTAutograd applies these while it traces. Most come with torch; the two at the end are our own,
because torch's leave var and the like to the back end.
Source: torch/_decomp/decompositions.py, torch/_inductor/decomposition.py.
"""
import math

import torch
from torch._decomp import get_decompositions

__all__ = ["DECOMPOSITIONS"]
aten = torch.ops.aten

FROM_TORCH = """_softmax _softmax_backward_data _log_softmax _log_softmax_backward_data
    native_layer_norm native_layer_norm_backward gelu gelu_backward silu silu_backward tanh_backward
    sigmoid_backward threshold_backward leaky_relu leaky_relu_backward elu elu_backward
    hardtanh hardtanh_backward hardswish hardswish_backward hardsigmoid hardsigmoid_backward
    softplus softplus_backward log_sigmoid_forward log_sigmoid_backward mish mse_loss
    mse_loss_backward smooth_l1_loss smooth_l1_loss_backward huber_loss addcmul addcdiv lerp
    masked_fill celu logit nan_to_num native_dropout_backward frac new_full new_zeros new_ones
    full_like zeros_like ones_like logsumexp isfinite fill xlogy sinc detach"""


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


def with_floats(function):
    """Small floats are widened first, as eager does inside."""
    def decomposed(x, dim=None, **given):
        if x.is_complex() or x.dim() == 0:
            return NotImplemented
        wide = x.float() if x.dtype in (torch.bfloat16, torch.float16) else x
        return function(wide, dim, x.dtype, **given)
    return decomposed


@with_floats
def var_mean_correction(x, dim, dtype, **given):
    var, mean = var_mean(x, dim, **given)
    return var.to(dtype), mean.to(dtype)


@with_floats
def var_correction(x, dim, dtype, **given):
    return var_mean(x, dim, **given)[0].to(dtype)


DECOMPOSITIONS = get_decompositions([getattr(aten, name) for name in FROM_TORCH.split()]) | {
    aten.var_mean.correction: var_mean_correction, aten.var.correction: var_correction}
