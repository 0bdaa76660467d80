"""Tensor: torch's strided tensor in pure Python, a list of numbers seen through three fields.

Read it from top to bottom: data structure, views, copies, the rule of `view`. Beside it are
mini_tensor_ops.py, writes and arithmetic, and mini_tensor_layout.py, the layouts of results and
the overlaps that are refused. It needs Python alone. In a clone of the book,
`python3 code/mini_tensor.py` also gives a short tour (--lang zh or --lang en).
"""
import math
import sys
from itertools import product
from operator import mul

from mini_tensor_layout import (
    contiguous_strides,
    fastest_first,
    infer_size,
    is_dense,
    is_packed,
    packed_strides,
    shares_storage,
    unpack,
    wrap,
)
from mini_tensor_ops import Operators, number

__all__ = ["Tensor", "arange", "shares_storage", "tensor", "view_strides", "zeros"]

# --- 1. The data structure ---------------------------------------------------------------------

class Tensor(Operators):
    """Elements of a storage, found by sizes, strides and an offset, all counted in elements.

    `storage` is a list of floats, the one dtype here (torch.float64), which many tensors may
    share. Names and exception types are torch's, and so are the arguments without its options
    (`alpha`, `dtype`, `memory_format`); nothing is accepted with a negative size. Comparisons and
    `bool()` are left out: Python's own compare the objects. Made by `tensor`, `zeros`, `arange`.

    Source: torch/include/c10/core/TensorImpl.h:TensorImpl (storage_, sizes_and_strides_,
    storage_offset_).
    """

    __slots__ = ("_offset", "_storage", "_stride", "shape")

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

    def __repr__(self):
        return (f"tensor({self.tolist()}, size={self.shape}, stride={self._stride}, "
                f"offset={self._offset})")

    # --- 2. Views: the same storage, other numbers ---------------------------------------------

    def as_strided(self, size, stride, storage_offset=None):
        """A view with any layout that stays inside the storage; every view below is made here.

        `storage_offset` None keeps this tensor's; RuntimeError for negative numbers or a cell
        outside. Source: torch/include/ATen/native/Resize.h:checkInBoundsForStorage.
        """
        offset = self._offset if storage_offset is None else storage_offset
        if len(size) != len(stride) or min((offset, *size, *stride)) < 0:
            raise RuntimeError(f"as_strided: size {size}, stride {stride}, offset {offset}: "
                               "give as many strides as sizes, none of them negative")
        last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
        if 0 not in size and last >= len(self._storage):
            raise RuntimeError(f"as_strided: size {size}, stride {stride}, offset {offset} reach "
                               f"cell {last} of a storage with {len(self._storage)}")
        return Tensor(self._storage, size, stride, offset)

    def select(self, dim, index):
        """One index of a dimension, which goes away: the offset moves. Raises IndexError."""
        dim = wrap(dim, self.dim())
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
        for a 0-dim integer tensor.
        Source: torch/include/ATen/TensorIndexing.h:handleDimInMultiDimIndexing.
        """
        index = index if isinstance(index, tuple) else (index,)
        used = sum(item is not None and item is not ... for item in index)
        if used > self.dim():
            raise IndexError(f"{used} indices for a tensor of dimension {self.dim()}")
        view, dim = self.as_strided(self.shape, self._stride), 0    # x[...] is new, not x
        for item in index:
            if isinstance(item, int) and not isinstance(item, bool):
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

    # --- 3. Copies -----------------------------------------------------------------------------

    def new_tensor(self, data):
        return tensor(data)

    def new_empty_strided(self, size, stride):
        """A tensor with a storage of its own, without a gap; its zeros are to be overwritten."""
        return Tensor([0.0] * math.prod(size), size, stride)

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
        copy = self.new_empty_strided(self.shape, stride)
        copy.write(self.elements())
        return copy

    def reshape(self, *shape):
        """A view where the strides allow one, else a view of a row-major copy; RuntimeError."""
        shape = infer_size(unpack(shape), self.numel())
        viewable = view_strides(self.shape, self._stride, shape) is not None
        return (self if viewable else self.contiguous()).view(shape)


# --- 4. When a view is possible ----------------------------------------------------------------

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


# --- 5. Creation -------------------------------------------------------------------------------

def tensor(data):
    """A row-major tensor of nested lists of numbers; ValueError, TypeError if not a grid."""
    shape, first = [], data
    while isinstance(first, (list, tuple)):
        shape.append(len(first))
        first = first[0] if first else None
    return Tensor(list(leaves(data, shape)), shape, contiguous_strides(shape))


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


# --- 6. The tour, in the file mini_tensor_tour.py beside this one ------------------------------

if __name__ == "__main__":
    try:
        from mini_tensor_tour import main
    except ModuleNotFoundError:                          # a download: the tour is not here
        sys.stderr.write("mini_tensor；下一步 · next: python3 check_mini_tensor.py\n")
        sys.exit(2)
    sys.exit(main())
