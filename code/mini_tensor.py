"""Tensor: torch's strided tensor in pure Python, a list of numbers seen through three fields.

Read it from top to bottom: data structure, views, copies, writes, arithmetic, the rule of `view`.
Below it stands mini_tensor_layout.py, which knows no tensor: the strides of results and the
overlaps that are refused. It needs Python alone. In a clone of the book,
`python3 code/mini_tensor.py` also gives a short tour (--lang zh or --lang en).
"""
import math
import sys
from itertools import product
from numbers import Real
from operator import add, mul, neg, sub

from mini_tensor_layout import (
    assert_no_internal_overlap,
    assert_no_partial_overlap,
    broadcast_shapes,
    contiguous_strides,
    fastest_first,
    infer_size,
    is_dense,
    is_index,
    is_packed,
    packed_strides,
    result_strides,
    shares_storage,
    unpack,
    whole,
    wrap,
)

__all__ = ["Tensor", "arange", "shares_storage", "tensor", "view_strides", "zeros"]

# --- 1. The data structure ---------------------------------------------------------------------

class Tensor:
    """Elements of a storage, found by sizes, strides and an offset, all counted in elements.

    `storage` is a list of floats, the one dtype here (torch.float64), which many tensors may
    share. Names and exception types are torch's, and so are the arguments without its options
    (`alpha`, `dtype`, `memory_format`); nothing is accepted with a negative size. Comparisons are
    left out: Python's own compare the objects. Made by `tensor`, `zeros`, `arange`.

    Source: torch/include/c10/core/TensorImpl.h:TensorImpl (storage_, sizes_and_strides_,
    storage_offset_).
    """

    __slots__ = ("_offset", "_storage", "_stride", "shape")
    __array_ufunc__ = None              # so that numpy.int64(2) + x asks __radd__ below

    def __init__(self, storage, shape, stride, offset=0):
        self._storage = storage
        self.shape = tuple(shape)
        self._stride = tuple(stride)
        self._offset = offset

    def addresses(self):
        """The storage cell of each element, in row-major order of the indices."""
        for index in product(*map(range, self.shape)):
            yield self._offset + sum(map(mul, index, self._stride))

    def elements(self):
        """The values as a flat list, in row-major order of the indices."""
        return [self._storage[cell] for cell in self.addresses()]

    def write(self, values):
        """Set the elements, in row-major order; all values are read before the first write."""
        for cell, value in zip(self.addresses(), list(values), strict=True):
            self._storage[cell] = value

    def untyped_storage(self):
        return self._storage

    def storage_offset(self):
        return self._offset

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[wrap(dim, self.dim())]

    def stride(self, dim=None):
        return self._stride if dim is None else self._stride[wrap(dim, self.dim())]

    def dim(self):
        return len(self.shape)

    def numel(self):
        return math.prod(self.shape)

    def is_contiguous(self):
        """Whether the strides are row-major; those of size-1 dimensions do not matter."""
        return not self.numel() or is_packed(self.shape, self._stride, range(self.dim())[::-1])

    def item(self):
        """The value of the only element; RuntimeError if there are more or none."""
        if self.numel() != 1:
            raise RuntimeError(f"item() needs one element, but size {self.shape} has "
                               f"{self.numel()}; index one, or use tolist()")
        return self._storage[self._offset]

    def tolist(self):
        """Nested lists; of a 0-dim tensor, its value."""
        return [row.tolist() for row in self] if self.dim() else self.item()

    def __iter__(self):
        if not self.dim():
            raise TypeError("iteration over a 0-dim tensor; use item()")
        return (self.select(0, index) for index in range(self.shape[0]))

    def __len__(self):
        if not self.dim():
            raise TypeError("len() of a 0-dim tensor; use item()")
        return self.shape[0]

    def __bool__(self):
        """Whether the only element is not 0; RuntimeError as `item`."""
        return self.item() != 0

    def __repr__(self):
        return (f"tensor({self.tolist()}, size={self.shape}, stride={self._stride}, "
                f"offset={self._offset})")

    # --- 2. Views: the same storage, other numbers ---------------------------------------------

    def as_strided(self, size, stride, storage_offset=None):
        """A view with any layout that stays inside the storage; every view below is made here.

        `storage_offset` None keeps this tensor's; RuntimeError for negative numbers or a cell
        outside, TypeError for what is not an int.
        Source: torch/include/ATen/native/Resize.h:checkInBoundsForStorage.
        """
        size, stride = tuple(map(whole, size)), tuple(map(whole, stride))
        offset = self._offset if storage_offset is None else whole(storage_offset)
        if len(size) != len(stride) or min((offset, *size, *stride)) < 0:
            raise RuntimeError(f"as_strided: size {size}, stride {stride}, offset {offset}: "
                               "give as many strides as sizes, none of them negative")
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if 0 not in size and last >= len(self._storage):
            raise RuntimeError(f"as_strided: size {size}, stride {stride}, offset {offset} reach "
                               f"cell {last} of a storage with {len(self._storage)}")
        return Tensor(self._storage, size, stride, offset)

    def select(self, dim, index):
        """One index of a dimension, which goes away: the offset moves. IndexError, TypeError."""
        dim, index = wrap(dim, self.dim()), whole(index)
        size, step = self.shape[dim], self._stride[dim]
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of bounds for dimension {dim}, size {size}")
        return self.as_strided(without(self.shape, dim), without(self._stride, dim),
                               self._offset + index % size * step)

    def slice(self, dim, part):
        """Every step-th index from start to stop: offset, size and stride change.

        Raises IndexError; ValueError unless the step is positive.
        """
        dim = wrap(dim, self.dim())
        start, stop, step = part.indices(self.shape[dim])
        if step < 0:
            raise ValueError(f"slice step {step}: strides are never negative; copy with flip()")
        size, stride = list(self.shape), list(self._stride)
        size[dim] = len(range(start, stop, step))
        stride[dim] *= step
        return self.as_strided(size, stride, self._offset + start * self._stride[dim])

    def __getitem__(self, index):
        """The view that ints, slices, None and `...` select, one after the other.

        Lists and tensors as indices are not in this lesson: IndexError. In torch they copy, but
        for a 0-dim integer tensor. Behind a second `...`, where torch ignores a slice, IndexError.
        Source: torch/include/ATen/TensorIndexing.h:handleDimInMultiDimIndexing.
        """
        index = index if isinstance(index, tuple) else (index,)
        used = sum(item is not None and item is not ... for item in index)
        if used > self.dim():
            raise IndexError(f"{used} indices for a tensor of dimension {self.dim()}")
        view, dim = self.as_strided(self.shape, self._stride), 0    # x[...] is new, not x
        for item in index:
            if is_index(item):
                view = view.select(dim, item)
                continue
            if isinstance(item, slice):
                view = view.slice(dim, item)
            elif item is None:
                view = view.unsqueeze(dim)
            elif item is not ...:
                raise IndexError(f"index {item!r}: use int, slice, None or ...")
            dim += self.dim() - used if item is ... else 1
        return view

    def permute(self, *dims):
        """The dimensions in another order, with their strides.

        Raises IndexError for a dimension out of range, RuntimeError unless each occurs once.
        """
        dims = unpack(dims)
        order = [wrap(dim, self.dim()) for dim in dims] if len(dims) == self.dim() else None
        if order is None or len(set(order)) < len(order):
            raise RuntimeError(f"permute{dims}: name each of the {self.dim()} dimensions once")
        return self.as_strided([self.shape[dim] for dim in order],
                               [self._stride[dim] for dim in order])

    def unsqueeze(self, dim):
        """A new dimension of size 1, with the stride of a row-major neighbour; IndexError."""
        dim = wrap(dim, self.dim() + 1)
        step = self.shape[dim] * self._stride[dim] if dim < self.dim() else 1
        return self.as_strided((*self.shape[:dim], 1, *self.shape[dim:]),
                               (*self._stride[:dim], step, *self._stride[dim:]))

    def expand(self, *sizes):
        """Dimensions of size 1 stretched by a stride of 0, new ones put in front; -1 keeps.

        Raises RuntimeError. Source: torch/include/ATen/ExpandUtils.h:inferExpandGeometry.
        """
        sizes = unpack(sizes)
        new = len(sizes) - self.dim()
        if new < 0:
            raise RuntimeError(f"expand: size {self.shape} has more dimensions than {sizes}")
        shape, stride = (), ()
        for dim in reversed(range(len(sizes))):
            size, step = 1, shape[0] * stride[0] if shape else 0
            if dim >= new:
                size, step = self.shape[dim - new], self._stride[dim - new]
            want = size if sizes[dim] == -1 and dim >= new else sizes[dim]
            if want < 0 or size not in (1, want):
                raise RuntimeError(f"expand: size {self.shape} cannot become {sizes}: from the "
                                   "right, sizes must be equal, 1 or -1")
            shape, stride = (want, *shape), (step if want == size else 0, *stride)
        return self.as_strided(shape, stride)

    def view(self, *shape):
        """The same elements, in row-major order, in another shape; one size may be -1.

        RuntimeError if the numbers of elements differ or no strides give this order.
        """
        shape = infer_size(unpack(shape), self.numel())
        stride = view_strides(self.shape, self._stride, shape)
        if stride is None:
            raise RuntimeError(f"view: size {self.shape}, stride {self._stride} cannot be seen "
                               f"as size {shape}; use reshape, which copies")
        return self.as_strided(shape, stride)

    def transpose(self, dim0, dim1):
        dim0, dim1 = wrap(dim0, self.dim()), wrap(dim1, self.dim())
        order = list(range(self.dim()))
        if dim0 != dim1:
            order[dim0], order[dim1] = dim1, dim0
        return self.permute(order)

    def t(self):
        """The transpose of a matrix; up to one dimension, the tensor as it is. RuntimeError."""
        if self.dim() > 2:
            raise RuntimeError(f"t() takes up to 2 dimensions, not {self.dim()}; use mT")
        return self.T

    @property
    def T(self):
        return self.permute(list(range(self.dim()))[::-1])

    @property
    def mT(self):
        """The last two dimensions exchanged; RuntimeError if there is only one."""
        if self.dim() == 1:
            raise RuntimeError("mT takes matrices or batches of them, not 1 dimension")
        return self.transpose(-2, -1) if self.dim() else self

    def squeeze(self, dim=None):
        """Without the dimensions of size 1, or without `dim` if its size is 1; IndexError."""
        dims = range(self.dim()) if dim is None else [wrap(dim, self.dim())]
        kept = [d for d, size in enumerate(self.shape) if size != 1 or d not in dims]
        return self.as_strided([self.shape[d] for d in kept], [self._stride[d] for d in kept])

    def flatten(self, start_dim=0, end_dim=-1):
        """Neighbouring dimensions made one, by `reshape`; IndexError, RuntimeError."""
        start, end = wrap(start_dim, self.dim()), wrap(end_dim, self.dim())
        if start > end:
            raise RuntimeError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
        middle = math.prod(self.shape[start:end + 1])
        same = start == end and self.dim()
        return self if same else self.reshape((*self.shape[:start], middle, *self.shape[end + 1:]))

    # --- 3. Copies -----------------------------------------------------------------------------

    def clone(self):
        """A copy in the same memory order, without gaps.

        A dense tensor keeps all its strides, those of size-1 dimensions too, which `-x` resets if
        x is contiguous.
        Source: torch/include/ATen/ExpandUtils.h:infer_dense_strides.
        """
        order = fastest_first(self.shape, [self._stride])
        return self.copied(self._stride if is_dense(self) else packed_strides(self.shape, order))

    def contiguous(self):
        """This tensor itself if it is contiguous, else a row-major copy."""
        return self if self.is_contiguous() else self.copied(contiguous_strides(self.shape))

    def copied(self, stride):
        copy = empty_strided(self.shape, stride)
        copy.write(self.elements())
        return copy

    def reshape(self, *shape):
        """A view where the strides allow one, else a view of a row-major copy; RuntimeError."""
        shape = infer_size(unpack(shape), self.numel())
        viewable = view_strides(self.shape, self._stride, shape) is not None
        return (self if viewable else self.contiguous()).view(shape)

    # --- 4. Writes through a view --------------------------------------------------------------

    def fill_(self, value):
        """Every element set to a number, shared cells or not; a 0-dim tensor goes to `copy_`."""
        if isinstance(value, Tensor):
            return self.copy_(filling(self, value))
        self.write([number(value)] * self.numel())
        return self

    def copy_(self, src):
        """The elements of `src`, broadcast to this shape; RuntimeError as `add_`."""
        src = as_tensor(src)
        if same_elements(self, src):
            return self
        return self.update(lambda _, value: value, src)

    def update(self, function, other):
        """Write function(this element, other element) over each element; the in-place operation.

        RuntimeError for the overlaps that the two checks find, and if the shape would grow.
        """
        other = as_tensor(other)
        assert_no_internal_overlap(self)
        assert_no_partial_overlap(self, other)
        if broadcast_shapes(self.shape, other.shape) != self.shape:
            raise RuntimeError(f"cannot write size {other.shape} into size {self.shape}: "
                               "an output is never broadcast")
        self.write(map(function, self.elements(), other.expand(self.shape).elements()))
        return self

    def add_(self, other):
        return self.update(add, other)

    def sub_(self, other):
        return self.update(sub, other)

    def mul_(self, other):
        return self.update(mul, other)

    def div_(self, other):
        return self.update(divide, other)

    __iadd__, __isub__, __imul__, __itruediv__ = add_, sub_, mul_, div_

    def __setitem__(self, index, value):
        """Write into the view `self[index]`; IndexError, RuntimeError, TypeError.

        A number counts as a 0-dim tensor, so even `fill_` ends in `copy_` and its checks; a view
        of one element has no dimension that could repeat it.
        Source: torch/include/ATen/TensorIndexing.h:copy_to.
        """
        view = self[index]
        view.copy_(assigned(view, as_tensor(value)))

    # --- 5. Arithmetic -------------------------------------------------------------------------

    def __neg__(self):
        return elementwise(neg, self)

    def __add__(self, other):
        return elementwise(add, self, as_tensor(other))

    def __sub__(self, other):
        return elementwise(sub, self, as_tensor(other))

    def __mul__(self, other):
        return elementwise(mul, self, as_tensor(other))

    def __truediv__(self, other):
        return elementwise(divide, self, as_tensor(other))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return elementwise(sub, as_tensor(other), self)

    def __rtruediv__(self, other):
        return elementwise(lambda x: divide(1.0, x), self) * other     # two steps, as in torch

    def sum(self, dim=None, keepdim=False):
        """The sum over one dimension, several or (None, or none named) all; row-major result.

        Raises IndexError, TypeError, RuntimeError for a dimension named twice.
        """
        every, named = list(range(self.dim())), () if dim is None else dim
        named = named if isinstance(named, (tuple, list)) else (named,)
        dims = [wrap(d, self.dim()) for d in named] or every
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"sum: a dimension occurs twice in {dim}")
        kept, summed = [d for d in every if d not in dims], [d for d in every if d in dims]
        rows = self.permute(kept + summed).elements()
        count = math.prod(self.shape[d] for d in summed)
        shape = [self.shape[d] if d in kept else 1 for d in every if keepdim or d in kept]
        result = empty_strided(shape, contiguous_strides(shape))
        result.write(sum(rows[i * count:(i + 1) * count], 0.0) for i in range(result.numel()))
        return result

    def matmul(self, other):
        """Matrix product of the last two dimensions, the others broadcast; 1-D is a vector.

        Shapes (..., n, k) and (..., k, m) give (..., n, m). Raises RuntimeError, TypeError.
        """
        if not isinstance(other, Tensor):
            raise TypeError(f"matmul takes a Tensor, not {type(other).__name__}")
        if not (self.dim() and other.dim()) or self.shape[-1] != other.shape[-2:][0]:
            raise RuntimeError(f"matmul: sizes {self.shape} and {other.shape}: the last size of "
                               "the first must be the last but one of the second")
        rows = self if self.dim() > 1 else self.unsqueeze(0)
        columns = other if other.dim() > 1 else other.unsqueeze(-1)
        result = (rows.unsqueeze(-1) * columns.unsqueeze(-3)).sum(-2)
        if self.dim() == 1:
            result = result.squeeze(-2)
        return result.squeeze(-1) if other.dim() == 1 else result

    __matmul__ = matmul


def elementwise(function, *operands):
    """A new tensor of function(elements), the operands broadcast; RuntimeError."""
    sizes = broadcast_shapes(*(operand.shape for operand in operands))
    result = empty_strided(sizes, result_strides(*operands))
    result.write(map(function, *(operand.expand(sizes).elements() for operand in operands)))
    return result


# --- 6. When a view is possible ----------------------------------------------------------------

def view_strides(sizes, strides, shape):
    """Strides that show the same elements in `shape`, of as many elements; None if none do.

    Each new dimension must lie inside one block: cut the sizes of each block, from the right,
    into sizes of the new shape. Without elements every shape is possible.
    Source: torch/include/ATen/TensorUtils.h:computeStride.
    """
    if 0 in sizes:
        return strides if sizes == shape else contiguous_strides(shape)
    wanted, found = list(shape), ()
    for numel, step in blocks(sizes, strides):
        while wanted and (numel > 1 or wanted[-1] == 1):
            size = wanted.pop()
            if numel % size:
                return None                              # it would cross into the next block
            found = (step, *found)
            numel, step = numel // size, step * size
    return found


def blocks(sizes, strides):
    """The dimensions merged while they step evenly, as (numel, innermost stride), from the right.

    A dimension joins the block to its right if its stride is that block's numel * stride; one
    of size 1 always does. Row-major gives one block, a transposed matrix two.
    """
    found = []
    for size, stride in reversed(list(zip(sizes, strides, strict=True))):
        if found and (size == 1 or stride == found[-1][0] * found[-1][1]):
            found[-1] = (found[-1][0] * size, found[-1][1])
        else:
            found.append((size, stride))
    return found or [(1, 1)]


# --- 7. Creation -------------------------------------------------------------------------------

def tensor(data):
    """A row-major tensor of nested lists of numbers; ValueError, TypeError if not a grid."""
    shape, first = [], data
    while isinstance(first, (list, tuple)):
        shape.append(len(first))
        first = first[0] if first else None
    return Tensor(list(leaves(data, shape)), shape, contiguous_strides(shape))


def as_tensor(value):
    """A number as a 0-dim tensor, a tensor as it is; TypeError for anything else."""
    return value if isinstance(value, Tensor) else tensor(number(value))


def leaves(data, shape):
    if not shape:
        yield number(data)
        return
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"expected a list of {shape[0]}, not {data!r}")
    if len(data) != shape[0]:
        raise ValueError(f"expected a list of {shape[0]} as before, not of {len(data)}")
    for item in data:
        yield from leaves(item, shape[1:])


def empty_strided(size, stride):
    """A tensor with a storage of its own, without a gap; its zeros are to be overwritten."""
    return Tensor([0.0] * math.prod(size), size, stride)


def zeros(*size):
    size = unpack(size)
    if min(size, default=0) < 0:
        raise RuntimeError(f"zeros: size {size} has a negative dimension")
    return Tensor([0.0] * math.prod(size), size, contiguous_strides(size))


def arange(end):
    """0.0, 1.0, ... below `end`; RuntimeError if it is negative."""
    if end < 0:
        raise RuntimeError(f"arange: end {end} is below 0")
    return tensor([float(i) for i in range(end)])


def without(sequence, place):
    return (*sequence[:place], *sequence[place + 1:])


def number(value):
    """`value` as a float; TypeError unless it is a real number: int, float, numpy.float32."""
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"expected a number or a Tensor, not {type(value).__name__}")


def divide(x, y):
    return x / y if y else x * math.copysign(math.inf, y)          # 0 / 0 is nan


# --- 8. What torch also does -------------------------------------------------------------------

def same_elements(output, src):
    """Whether a copy would write each cell to itself: `copy_` returns before any check."""
    layouts = [(x.shape, x.stride(), x.storage_offset()) for x in (output, src)]
    return shares_storage(output, src) and layouts[0] == layouts[1]


def filling(output, value):
    """What `fill_` copies: a 0-dim tensor, cloned where it is one of the cells it goes to.

    RuntimeError for a tensor with dimensions.
    Source: aten/src/ATen/native/native_functions.yaml:fill_.Tensor.
    """
    if value.dim():
        raise RuntimeError(f"fill_ takes a number or a 0-dim tensor, not size {value.shape}")
    return value.clone() if shares_storage(output, value) else value


def assigned(view, value):
    """What `x[...] = value` copies into the view; unlike `copy_`, leading 1s may be extra."""
    if view.shape == value.shape:
        return value
    if not value.dim():
        return filling(view, value)
    shape = value.shape
    while shape and shape[0] == 1:
        shape = shape[1:]
    return value.view(shape).expand(view.shape)


# --- 9. The tour, in the file mini_tensor_tour.py beside this one ------------------------------

if __name__ == "__main__":
    try:
        from mini_tensor_tour import main
    except ModuleNotFoundError:                          # a download: the tour is not here
        sys.stderr.write("mini_tensor；下一步 · next: python3 check_mini_tensor.py\n")
        sys.exit(2)
    sys.exit(main())
