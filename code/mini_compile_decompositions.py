"""Operators that are taken apart before there are loops: the fewer there are, the fewer rules.

AOTAutograd applies these while it traces. Most come with torch; the three at the end are our own,
because torch's leave var and the like to the back end. An operator is only taken apart where eager
takes it (mini_compile_eager), and if its tensors are floats of one dtype. Some are not in the list:
- the slopes of elu, hardtanh, hardswish, hardsigmoid and smooth_l1_loss, the mean of var_mean: the
  parts treat NaN in another way (for most, eager itself has two answers, by the place)
- logit, and of small floats all in OF_WIDE_FLOATS: eager rounds between the steps, these don't
- detach: a detached alias would be one tensor with what it was detached from, gradients included
Source: torch/_decomp/decompositions.py, torch/_inductor/decomposition.py.
"""
import math

import torch
from torch._decomp import get_decompositions

from mini_compile_dtypes import HALVES
from mini_compile_eager import refusal

__all__ = ["DECOMPOSITIONS"]
aten = torch.ops.aten

FROM_TORCH = """_softmax _softmax_backward_data _log_softmax _log_softmax_backward_data
    native_layer_norm_backward silu silu_backward tanh_backward
    leaky_relu leaky_relu_backward elu hardtanh hardswish
    hardsigmoid softplus softplus_backward log_sigmoid_forward
    log_sigmoid_backward mish celu nan_to_num frac logsumexp isfinite sinc"""
OF_WIDE_FLOATS = """gelu gelu_backward sigmoid_backward mse_loss mse_loss_backward smooth_l1_loss
    huber_loss addcmul addcdiv lerp native_dropout_backward xlogy"""
OF_ANY_DTYPE = "masked_fill new_full new_zeros new_ones full_like zeros_like ones_like fill"


def from_torch(names):
    return get_decompositions([getattr(aten, name) for name in names.split()])


def where_eager_agrees(operator, decomposition, takes):
    """The decomposition, which leaves alone (NotImplemented) what eager may refuse or round
    otherwise."""
    def decomposed(*args, **kwargs):
        if not takes(args) or refusal(operator, args, kwargs):
            return NotImplemented
        return decomposition(*args, **kwargs)
    return decomposed


def anything(args):
    return True


def floats_alike(args):
    """Whether the first tensor holds floats, and no other tensor holds floats of another dtype."""
    dtypes = [one.dtype for one in args if isinstance(one, torch.Tensor)]
    return bool(dtypes) and dtypes[0].is_floating_point and not any(
        one.is_floating_point and one != dtypes[0] for one in dtypes)


def wide_floats_alike(args):
    return floats_alike(args) and not any(
        one.dtype in HALVES for one in args if isinstance(one, torch.Tensor))


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
    return x.float() if x.dtype in HALVES else x


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


def threshold_backward(slope, x, threshold):
    """Beside a small float, `<=` would round the threshold first; eager's kernel doesn't."""
    return torch.where(wide(x) <= threshold, 0, slope)


OURS = {aten.var.correction: var_correction, aten.native_layer_norm.default: layer_norm,
        aten.threshold_backward.default: threshold_backward}
TABLES = ((from_torch(FROM_TORCH) | OURS, floats_alike),
          (from_torch(OF_WIDE_FLOATS), wide_floats_alike), (from_torch(OF_ANY_DTYPE), anything))
DECOMPOSITIONS = {operator: where_eager_agrees(operator, rule, takes)
                  for table, takes in TABLES for operator, rule in table.items()}
