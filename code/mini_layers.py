"""The layers that an interviewer asks for, written from memory: each in a few lines of tensors.

Read it from top to bottom: linear and embedding, dropout, the norms, convolution, softmax and the
losses. Attention is in mini_layers_attention.py, and what is refused in mini_layers_checks.py. For
finite numbers of a floating dtype, each has the results and gradients of the function of the same
name in torch.nn.functional, up to rounding, and its main arguments. linear and conv2d also take
integers.

Left out: groups and padding in words of a convolution, probabilities as targets, logits of no
classes, a bias or a loss's weight of two dimensions, a loss of mixed dtypes; and what torch takes
only because a tensor has no elements. It needs torch.
"""
from operator import index

import torch

from mini_layers_checks import (
    check_beside,
    check_end,
    check_eps,
    check_image,
    check_kinds,
    check_probability,
    check_rows,
    check_shapes,
    check_statistics,
    check_steps,
    check_targets,
    padding_row,
)

__all__ = ["batch_norm", "binary_cross_entropy_with_logits", "conv2d", "cross_entropy", "dropout",
           "embedding", "layer_norm", "linear", "log_softmax", "rms_norm", "softmax", "wide",
           "windows"]


def wide(x):
    """float16 and bfloat16 as float32, other dtypes as they are.

    Squares, exponentials and sums are taken of this; the result goes back to the dtype of the
    input. In float16 the square of 300 is already inf.
    """
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


# --- 1. Linear and embedding -------------------------------------------------------------------

def linear(x, weight, bias=None):
    """x (..., in), weight (out, in), bias (out,) or one number -> (..., out). RuntimeError.

    `expand` refuses a bias of more dimensions, which would make the result larger.
    """
    check_kinds(x, weight, bias, whole=True)
    out = x @ weight.t()
    if bias is None:
        return out
    check_rows(weight)
    return out + bias.expand(len(weight))


def embedding(ids, weight, padding_idx=None):
    """Row `ids[...]` of weight (V, D) for each integer in ids (...) -> (..., D).

    The row `padding_idx` is looked up like any other, but gets no gradient. Unlike weight[ids],
    a negative id is an error: it would quietly take a row from the end. Raises as index_select;
    ValueError for a row of padding that is not there.
    """
    count, size = weight.shape
    rows = weight.index_select(0, ids.reshape(-1)).reshape(*ids.shape, size)
    if padding_idx is None:
        return rows
    padding = (ids == padding_row(padding_idx, count)).unsqueeze(-1)
    return torch.where(padding, rows.detach(), rows)


# --- 2. Dropout --------------------------------------------------------------------------------

def dropout(x, p=0.5, training=True):
    """Zeros with probability p, the rest divided by 1 - p; x itself if not training.

    Scaled here, the mean of an element stays what it was, so eval has nothing to do. The same
    seed gives the same zeros as torch on the CPU.
    """
    check_probability(p)
    if not training or p == 0 or not x.numel():
        return x
    if p == 1:
        return x * 0                           # below, 1 - p would divide 0 by 0
    keep = torch.empty_like(x).bernoulli_(1 - p)
    return x * (keep / (1 - p))


# --- 3. Norms: what is averaged, and where eps stands ------------------------------------------

def batch_norm(x, running_mean, running_var, weight=None, bias=None, training=False,
               momentum=0.1, eps=1e-5):
    """x (N, C, ...): every channel over the batch and all positions, weight and bias (C,).

    In training, the statistics of this batch normalise and are noted in `running_mean` and
    `running_var` (C,), which may be None; otherwise these two normalise. RuntimeError if one of
    the four isn't (C,): a single number would quietly serve all channels.
    """
    check_eps(eps, training)
    check_statistics(running_mean, running_var)
    check_beside(x, running_mean, running_var, weight, bias)
    check_shapes(x.shape[1:2], running_mean, running_var, weight, bias)
    shape = (1, -1) + (1,) * (x.dim() - 2)     # a (C,) tensor against (N, C, ...)
    values, mean, var = wide(x), running_mean, running_var
    if not x.numel():
        return affine(values.clone(), weight, bias, shape).to(x.dtype)
    if training:
        mean, var = batch_statistics(values, running_mean, running_var, momentum)
    out = (values - mean.view(shape)) * torch.rsqrt(var.view(shape) + eps)
    return affine(out, weight, bias, shape).to(x.dtype)


def batch_statistics(x, running_mean, running_var, momentum):
    """Mean and biased variance (divided by n) of each channel of x (N, C, ...), each (C,).

    What goes into `running_var` is unbiased (divided by n - 1). `momentum` is the share of the new
    value. ValueError for one value per channel: its n - 1 is 0, and x - mean is 0 whatever x is.
    """
    n = x.numel() // x.shape[1]
    if n == 1:
        raise ValueError("one value per channel has no variance; use a larger batch, or eval")
    dims = [dim for dim in range(x.dim()) if dim != 1]
    mean, var = x.mean(dims), x.var(dims, correction=0)
    if running_mean is not None:
        with torch.no_grad():
            running_mean.lerp_(mean.to(running_mean.dtype), momentum)
            running_var.lerp_((var * n / (n - 1)).to(running_var.dtype), momentum)
    return mean, var


def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    """x (..., *normalized_shape): each element of the batch by itself, the same in eval.

    `eps` stands inside the root, beside the biased variance. RuntimeError as `check_end`.
    """
    check_end(x, normalized_shape)
    check_shapes(normalized_shape, weight, bias)
    check_beside(x, weight, bias)
    dims = tuple(range(-len(normalized_shape), 0))
    values = wide(x)
    centred = values - values.mean(dims, keepdim=True)
    var = (centred * centred).mean(dims, keepdim=True)
    out = centred * torch.rsqrt(var + eps)
    return affine(out, weight, bias, normalized_shape).to(x.dtype)


def rms_norm(x, normalized_shape, weight=None, eps=None):
    """x (..., *normalized_shape) divided by its root mean square: no mean taken off, no bias.

    `eps` stands inside the root; None is the machine epsilon of the dtype computed in.
    RuntimeError as `check_end`.
    """
    check_end(x, normalized_shape)
    check_shapes(normalized_shape, weight)
    dims = tuple(range(-len(normalized_shape), 0))
    values = wide(x)
    eps = torch.finfo(values.dtype).eps if eps is None else eps
    out = values * torch.rsqrt((values * values).mean(dims, keepdim=True) + eps)
    return affine(out, weight, None, normalized_shape).to(x.dtype)


def affine(x, weight, bias, shape):
    """x * weight + bias, each seen as `shape` or left out."""
    x = x if weight is None else x * weight.view(shape)
    return x if bias is None else x + bias.view(shape)


# --- 4. Convolution: one matrix product over windows -------------------------------------------

def windows(x, kernel, stride=(1, 1), dilation=(1, 1)):
    """Every window of x (N, C, H, W) as a view (N, C, out_h, out_w, kernel_h, kernel_w).

    One step to the next window is `stride` elements, one step inside a window `dilation`; nothing
    is copied, and overlapping windows share their elements. RuntimeError if none fits, and as
    `check_steps`.
    """
    check_steps(kernel, stride, dilation)
    (n, c, *sizes), (sn, sc, *steps) = x.shape, x.stride()
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    out = [(size - r) // s + 1 for size, r, s in zip(sizes, reach, stride, strict=True)]
    if min(out) < 1:
        raise RuntimeError(f"the kernel reaches over {tuple(reach)}, but the padded input has "
                           f"{tuple(sizes)}; pad more, or use a smaller kernel")
    between = [step * s for step, s in zip(steps, stride, strict=True)]
    within = [step * d for step, d in zip(steps, dilation, strict=True)]
    return x.as_strided((n, c, *out, *kernel), (sn, sc, *between, *within))


def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1):
    """x (N, C, H, W), weight (O, C, kernel_h, kernel_w), bias (O,) -> (N, O, out_h, out_w).

    An x of (C, H, W) is one image. `stride`, `padding` and `dilation` are a number or a pair.
    Raises as `windows`, `pair` and the checks.
    """
    if x.dim() == 3:
        return conv2d(x.unsqueeze(0), weight, bias, stride, padding, dilation).squeeze(0)
    stride, padding, dilation = pair(stride), pair(padding), pair(dilation)
    check_kinds(x, weight, bias, whole=True)
    check_image(x.shape[2:], padding)
    check_shapes((len(weight), x.shape[1], *weight.shape[2:]), weight)
    check_shapes(weight.shape[:1], bias)
    view = windows(pad(x, padding), weight.shape[2:], stride, dilation)
    n, _, out_h, out_w = view.shape[:4]
    # here it copies
    columns = view.permute(0, 2, 3, 1, 4, 5).reshape(n, out_h * out_w, weight[0].numel())
    out = linear(columns, weight.reshape(len(weight), -1), bias)             # (N, L, O)
    return out.mT.reshape(n, len(weight), out_h, out_w).contiguous()


def pad(x, padding):
    """x (N, C, H, W) in the middle of zeros: `padding` = (rows, columns) on either side."""
    if not any(padding):
        return x
    (n, c, h, w), (rows, columns) = x.shape, padding
    out = x.new_zeros(n, c, h + 2 * rows, w + 2 * columns)
    out[:, :, rows:rows + h, columns:columns + w] = x
    return out


def pair(value):
    """Two whole numbers: those given, or twice the one given, alone or in a tuple. TypeError,
    ValueError."""
    values = (value,) if hasattr(value, "__index__") else tuple(value)
    first, second = values * 2 if len(values) == 1 else values
    return index(first), index(second)


# --- 5. Softmax and the losses: take the largest off before exp --------------------------------

def softmax(x, dim):
    """exp(x) over its sum along `dim`, computed without overflow; a row of -inf gives nan."""
    values = wide(x)
    powers = (values - largest(values, dim)).exp()
    return (powers / powers.sum(dim, keepdim=True)).to(x.dtype)


def log_softmax(x, dim):
    """log(softmax(x)) in one step, because the log of a rounded 0 would be -inf.

    log(sum(exp(x))) = m + log(sum(exp(x - m))) for any m; with the largest x as m, no power is
    above 1 and one of them is 1. That m cancels, so no gradient goes through it.
    """
    values = wide(x)
    shifted = values - largest(values, dim)
    return (shifted - shifted.exp().sum(dim, keepdim=True).log()).to(x.dtype)


def largest(x, dim):
    """The largest element along `dim`, for the gradient a constant; 0 where there is none."""
    check_kinds(x)
    return x.amax(dim, keepdim=True).detach() if x.numel() else x.new_zeros(())


def cross_entropy(logits, target, weight=None, ignore_index=-100, reduction="mean",
                  label_smoothing=0.0):
    """logits (N, C, ...), raw; target (N, ...) int64; weight (C,) -> 0-dim, or (N, ...) for none.

    Logits (C,) and a target of no dimensions are one sample. The mean is the sum divided by the
    weights of the targets that count, not by N: nan if all are ignored. `reduction`: "mean", "sum"
    or "none". Raises as `check_targets`; probabilities as targets are left out.
    """
    if logits.dim() == 1:
        loss = cross_entropy(logits.unsqueeze(0), target.unsqueeze(0), weight, ignore_index,
                             reduction, label_smoothing)
        return loss.reshape(())
    check_targets(logits, target, weight, reduction, label_smoothing)
    log_probs, classes = log_softmax(logits, 1), logits.shape[1]
    weight = logits.new_ones(classes) if weight is None else weight
    counts = target != ignore_index
    known = target.where(counts, 0)            # gather needs a class even where nothing counts
    losses = -log_probs.gather(1, known.unsqueeze(1)).squeeze(1) * weight[known]
    if label_smoothing > 0:                    # a part of the target goes to all classes alike
        over_all = -(log_probs * weight.view(-1, *[1] * (logits.dim() - 2))).sum(1) / classes
        losses = (1 - label_smoothing) * losses + label_smoothing * over_all
    losses = losses.where(counts, 0)
    if reduction == "none":
        return losses
    total = losses.sum()
    return total if reduction == "sum" else total / weight[known].where(counts, 0).sum()


def binary_cross_entropy_with_logits(logits, target):
    """The mean of -log(sigmoid) of finite raw logits, target in [0, 1] of the same shape and dtype.

    log(1 + exp(z)) - y z, as the log-sum-exp of 0 and z. ValueError if the shapes differ: (N, 1)
    and (N,) would quietly make N x N losses.
    """
    check_kinds(logits, target)
    if target.shape != logits.shape:
        raise ValueError(f"target {tuple(target.shape)}, but logits {tuple(logits.shape)}")
    return (torch.logaddexp(logits.new_zeros(()), logits) - logits * target).mean()
