"""Layouts that mini_tensor.py needs for arithmetic and writes: which strides, which overlaps.

Pure functions of sizes, strides and offsets; no element is read here. `operand` is anything with
`shape`, `stride()`, `storage_offset()`, `untyped_storage()`, `numel()` and `is_contiguous()`.
"""
from math import prod
from numbers import Integral

# --- 1. Strides that pack elements without a gap -----------------------------------------------

def packed_strides(sizes, fastest_first):
    """Strides that fill memory in an order of the dimensions, the fastest given first."""
    strides, step = [0] * len(sizes), 1
    for dim in fastest_first:
        strides[dim] = step
        step *= sizes[dim]
    return tuple(strides)


def contiguous_strides(sizes):
    """Row-major strides; a size of 0 counts as 1, so that no stride is 0.

    Source: torch/include/c10/core/TensorImpl.h:empty_tensor_restride.
    """
    return packed_strides([max(size, 1) for size in sizes], reversed(range(len(sizes))))


def is_packed(sizes, strides, fastest_first):
    """Whether strides are those of `packed_strides`; a dimension of size 1 may have any stride.

    Source: torch/include/c10/core/Contiguity.h:_compute_contiguous.
    """
    step = 1
    for dim in fastest_first:
        if sizes[dim] != 1:
            if strides[dim] != step:
                return False
            step *= sizes[dim]
    return True


def is_dense(operand):
    """Whether the elements fill a block of storage, in any order, each cell once.

    Source: torch/include/c10/core/Contiguity.h:_compute_non_overlapping_and_dense.
    """
    sizes, strides = operand.shape, operand.stride()
    by_stride = sorted(range(len(sizes)), key=strides.__getitem__)
    return 0 in sizes or is_packed(sizes, strides, by_stride)


# --- 2. The layout of a result -----------------------------------------------------------------

def broadcast_shapes(*shapes):
    """The common shape: aligned at the right, equal or 1 in each dimension.

    Raises RuntimeError. Source: torch/include/ATen/ExpandUtils.h:infer_size_dimvector.
    """
    result = [1] * max(map(len, shapes))
    for shape in shapes:
        for place in range(1, len(shape) + 1):
            size = shape[-place]
            if result[-place] == 1:
                result[-place] = size
            elif size not in (1, result[-place]):
                raise RuntimeError(f"shapes {' and '.join(map(str, shapes))} do not broadcast: "
                                   f"dimension {-place} has {result[-place]} and {size}")
    return tuple(result)


def result_strides(*operands):
    """Strides of the result of an elementwise operation: a packed copy of the operands' order.

    Equal shapes take a short cut where all operands are contiguous, or all channels last, or
    all dense with the same strides. Otherwise the dimensions are sorted by stride.
    Source: torch/include/ATen/TensorIterator.h:compute_fast_setup_type, :reorder_dimensions.
    """
    sizes = broadcast_shapes(*(operand.shape for operand in operands))
    if all(operand.shape == sizes for operand in operands):
        strides = shared_strides(sizes, operands)
        if strides is not None:
            return strides
    order = fastest_first(sizes, [broadcast_strides(operand, sizes) for operand in operands])
    if order == list(reversed(range(len(sizes)))):
        return contiguous_strides(sizes)
    return packed_strides(sizes, order)


def shared_strides(sizes, operands):
    """The short cut: strides that operands of one shape share; None if there are none."""
    if all(operand.is_contiguous() for operand in operands):
        return contiguous_strides(sizes)
    if is_channels_last(sizes, operands):
        return packed_strides(sizes, CHANNELS_LAST)
    first = operands[0].stride()
    same = all(is_dense(operand) and operand.stride() == first for operand in operands)
    return first if same else None


def broadcast_strides(operand, sizes):
    """Strides over the common shape: 0 for a dimension that is missing or stretched from 1."""
    missing = len(sizes) - len(operand.shape)
    stretched = (0 if old == 1 != new else stride
                 for old, new, stride in zip(operand.shape, sizes[missing:], operand.stride(),
                                             strict=True))
    return (0,) * missing + tuple(stretched)


def fastest_first(sizes, layouts):
    """The dimensions sorted by stride, smallest first; the innermost first where strides tie.

    An insertion sort that steps over ambiguous pairs: they stay, and the comparison goes on with
    the next dimension. A sort by key cannot do that, because "ambiguous" is not an equivalence.
    """
    order = list(reversed(range(len(sizes))))
    for start in range(1, len(order)):
        place = start
        for before in reversed(range(start)):
            answer = compare(order[before], order[place], sizes, layouts)
            if answer < 0:
                break
            if answer > 0:
                order[before], order[place] = order[place], order[before]
                place = before
    return order


def compare(dim0, dim1, sizes, layouts):
    """1 if dim0 is the slower of two, -1 if the faster, 0 if no layout tells.

    The first layout that tells decides. A stride of 0 tells nothing. Equal strides, as next to
    a dimension of size 1, tell only where dim0 is the larger: then the smaller goes inside.
    """
    for strides in layouts:
        step0, step1 = strides[dim0], strides[dim1]
        if step0 == 0 or step1 == 0:
            continue
        if step0 != step1:
            return -1 if step0 < step1 else 1
        if sizes[dim0] > sizes[dim1]:
            return 1
    return 0


# --- 3. Overlaps -------------------------------------------------------------------------------

def shares_storage(a, b):
    """Whether both look into one storage; their cells may still differ."""
    return a.untyped_storage() is b.untyped_storage()


def assert_no_internal_overlap(output):
    """Refuse an output in which a dimension of size > 1 has stride 0.

    Other ways to reach a cell twice, such as overlapping windows, are not looked for.
    Raises RuntimeError. Source: torch/include/ATen/MemoryOverlap.h:has_internal_overlap.
    """
    repeats = any(size > 1 and stride == 0
                  for size, stride in zip(output.shape, output.stride(), strict=True))
    if repeats and not is_dense(output):
        raise RuntimeError(f"cannot write to size {output.shape}, stride {output.stride()}: "
                           "several elements share one storage cell; write to its clone()")


def assert_no_partial_overlap(output, operand):
    """Refuse an operand whose cells are some of the output's, or all of them in other places.

    Looked for only where both are dense, so that each is one interval of cells; others pass.
    Raises RuntimeError. Source: torch/include/ATen/MemoryOverlap.h:get_overlap_status.
    """
    if (operand is output or not (is_dense(output) and is_dense(operand))
            or not shares_storage(output, operand)):
        return
    begin, other = output.storage_offset(), operand.storage_offset()
    end, other_end = begin + prod(output.shape), other + prod(operand.shape)
    same_cells = (begin, end, output.stride()) == (other, other_end, operand.stride())
    if max(begin, other) < min(end, other_end) and not same_cells:
        raise RuntimeError(f"cells {begin}-{end - 1} are written while cells {other}-"
                           f"{other_end - 1} of the same storage are read; read from a clone()")


# --- 4. Arguments ------------------------------------------------------------------------------

def is_index(value):
    """Whether `value` is an integer, of any type but bool; a float never is, even if it is 2.0."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def whole(value):
    """An integer as an int; TypeError for anything that is not an index."""
    if is_index(value):
        return int(value)
    raise TypeError(f"expected an int, not {value!r}")


def unpack(sizes):
    """The sizes of `view(2, 3)` or of `view((2, 3))`; TypeError if none or no ints are given."""
    if not sizes:
        raise TypeError("give sizes: several ints, or one tuple")
    one = len(sizes) == 1 and isinstance(sizes[0], (tuple, list))
    return tuple(map(whole, sizes[0] if one else sizes))


def wrap(dim, ndim):
    """`dim` counted from the left; TypeError, IndexError. A 0-dim tensor has dims 0 and -1."""
    dim, ndim = whole(dim), max(ndim, 1)
    if not -ndim <= dim < ndim:
        raise IndexError(f"dimension {dim} is out of range: -{ndim} to {ndim - 1}")
    return dim % ndim


def infer_size(shape, numel):
    """`shape` with its -1, if any, worked out; RuntimeError unless it holds `numel` elements.

    Source: torch/include/ATen/InferSize.h:infer_size_impl.
    """
    known = prod(size for size in shape if size != -1)
    if -1 in shape and known > 0 and numel % known == 0:
        place = shape.index(-1)
        shape = (*shape[:place], numel // known, *shape[place + 1:])
    if min(shape, default=0) < 0 or prod(shape) != numel:
        raise RuntimeError(f"{numel} elements do not make shape {shape}; one size may be -1, "
                           "if the others are positive and divide the number")
    return shape


# --- 5. What torch also does -------------------------------------------------------------------

CHANNELS_LAST = 1, 3, 2, 0                   # of a batch of images, (N, C, H, W): fastest first


def is_channels_last(sizes, operands):
    """Whether all are batches of images in which the channels of a pixel are neighbours."""
    return len(sizes) == 4 and all(is_packed(sizes, operand.stride(), CHANNELS_LAST)
                                   for operand in operands)
