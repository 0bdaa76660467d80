"""The level below mini_layers: arguments that would give a number, but not the layer's.

Tensors broadcast and Python counts from the end, so what is wrong often computes. Each function
here refuses one kind of that, where torch refuses it, too.
"""
import torch

REDUCTIONS = ("mean", "sum", "none")


def check_kinds(*tensors, whole=False):
    """TypeError unless all are floating point, and of one dtype: torch mixes none here. `whole`:
    integers will do, too."""
    kinds = {tensor.dtype for tensor in tensors if tensor is not None}
    if len(kinds) > 1 or not all(kind.is_floating_point or kind.is_complex or (
            whole and kind != torch.bool) for kind in kinds):
        raise TypeError(f"one floating dtype for all, not {', '.join(sorted(map(str, kinds)))}")


def check_beside(x, *tensors):
    """As check_kinds; beside an x of half precision, the others may also be float32."""
    tensors = [tensor for tensor in tensors if tensor is not None]
    check_kinds(x)
    halves = x.dtype in (torch.float16, torch.bfloat16)
    if not (halves and all(tensor.dtype == torch.float32 for tensor in tensors)):
        check_kinds(x, *tensors)


def check_shapes(wanted, *tensors):
    """RuntimeError for a tensor of another shape: one number would quietly serve all places."""
    for tensor in tensors:
        if tensor is not None and tuple(tensor.shape) != tuple(wanted):
            raise RuntimeError(f"shape {tuple(tensor.shape)}, but {tuple(wanted)} is wanted")


def check_end(x, normalized_shape):
    """RuntimeError unless `normalized_shape` is the end of x's shape, and not empty."""
    end = tuple(normalized_shape)
    if not end or tuple(x.shape[-len(end):]) != end:
        raise RuntimeError(f"normalized_shape {end} is not the end of the shape {tuple(x.shape)}")


def padding_row(padding_idx, rows):
    """`padding_idx` counted from 0 on. ValueError for a row that is not there: taken modulo the
    rows, it would be another."""
    if padding_idx and not -rows <= padding_idx < rows:
        raise ValueError(f"padding_idx {padding_idx} is not among {rows} rows")
    return padding_idx + rows if padding_idx < 0 else padding_idx


def check_probability(p):
    """ValueError; in training or not, since a model that is evaluated first is trained next."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def check_statistics(running_mean, running_var):
    """ValueError for one without the other."""
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither")


def check_eps(eps, training):
    """ValueError where var + eps could be 0, or below: statistics of a batch may have no variance,
    and stored ones have been looked at before."""
    if eps < 0 or (training and eps == 0):
        raise ValueError(f"eps has to be positive in training and never negative, but got {eps}")


def check_steps(kernel, stride, dilation):
    """RuntimeError for a step of 0, which stays where it is, one back, and an empty kernel."""
    if min(*kernel, *stride, *dilation) < 1:
        raise RuntimeError(f"kernel {tuple(kernel)}, stride {stride} and dilation {dilation} have "
                           "to be positive")


def check_image(sizes, padding):
    """RuntimeError for an image without pixels, which padding would hide, and for less than it."""
    if not all(sizes) or min(padding) < 0:
        raise RuntimeError(f"an image of {tuple(sizes)} with a padding of {padding}: it has to "
                           "have pixels, and the padding may not be negative")


def check_targets(logits, target, weight, reduction, label_smoothing):
    """TypeError, ValueError, RuntimeError for what would give a number, but not the loss."""
    if target.dtype not in (torch.int64, torch.uint8):
        raise TypeError(f"targets are class indices in int64, not {target.dtype}")
    if target.shape[:1] != logits.shape[:1]:
        raise ValueError(f"target {tuple(target.shape)}, but logits {tuple(logits.shape)}")
    check_shapes(logits.shape[:1] + logits.shape[2:], target)
    check_shapes(logits.shape[1:2], weight)
    check_kinds(logits, weight)
    if reduction not in REDUCTIONS:
        raise ValueError(f'reduction is "mean", "sum" or "none", not {reduction!r}')
    if label_smoothing > 1:
        raise ValueError(f"label_smoothing is at most 1, but got {label_smoothing}")


def check_rows(*tensors):
    """RuntimeError for less than two dimensions: a product would take them for a single row."""
    for tensor in tensors:
        if tensor.dim() < 2:
            raise RuntimeError(f"shape {tuple(tensor.shape)}, but (..., rows, size) is wanted")


def check_mask(mask, scores, dtype):
    """TypeError for a mask of integers, which would be added; RuntimeError for floats of another
    dtype than float32 or `dtype`, and for a mask that would make the scores more, such as one of 7
    texts for 1."""
    if not (mask.dtype == torch.bool or mask.is_floating_point()):
        raise TypeError(f"a mask is bool or floating point, not {mask.dtype}")
    if mask.dtype not in (torch.bool, torch.float32, dtype):
        raise RuntimeError(f"a mask is bool, float32 or {dtype}, not {mask.dtype}")
    mask.expand(scores.shape)
