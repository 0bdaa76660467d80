"""What follows from views and copies: transposes, writes, arithmetic, sums, matrix products.

Which strides a result gets and which overlaps are refused stands in mini_tensor_layout.py.
"""
import math
from operator import add, mul, neg, sub

from mini_tensor_layout import (
    assert_no_internal_overlap,
    assert_no_partial_overlap,
    broadcast_shapes,
    contiguous_strides,
    result_strides,
    shares_storage,
    wrap,
)


class Operators:
    """The half of Tensor that rests on the other, in mini_tensor.py: on `permute`, `as_strided`,
    `reshape`, `elements` and `write`."""

    __slots__ = ()

    def wrapped(self, value):
        """A number as a 0-dim tensor, a tensor as it is; TypeError for anything else."""
        return value if isinstance(value, Operators) else self.new_tensor(number(value))

    # --- 1. Views made of other views ----------------------------------------------------------

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
        return self.transpose(-2, -1) if self.dim() else self.T

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

    # --- 2. Writes through a view --------------------------------------------------------------

    def fill_(self, value):
        """Every element set to a number, shared cells or not; a 0-dim tensor goes to `copy_`.

        RuntimeError for a tensor with dimensions.
        Source: aten/src/ATen/native/native_functions.yaml:fill_.Scalar, fill_.Tensor.
        """
        if not isinstance(value, Operators):
            self.write([number(value)] * self.numel())
            return self
        if value.dim():
            raise RuntimeError(f"fill_ takes a number or a 0-dim tensor, not size {value.shape}")
        return self.copy_(value.clone() if shares_storage(self, value) else value)

    def copy_(self, src):
        """The elements of `src`, broadcast to this shape; RuntimeError as `add_`."""
        src = self.wrapped(src)
        layouts = [(x.shape, x.stride(), x.storage_offset()) for x in (self, src)]
        if shares_storage(self, src) and layouts[0] == layouts[1]:
            return self                                     # torch, too, looks at this first
        return self.update(lambda _, value: value, src)

    def update(self, function, other):
        """Write function(this element, other element) over each element; the in-place operation.

        RuntimeError for the overlaps that the two checks find, and if the shape would grow.
        """
        other = self.wrapped(other)
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
        """Write into the view `self[index]`; unlike `copy_`, leading 1s of `value` may be extra.

        A number counts as a 0-dim tensor, so even `fill_` ends in `copy_` and its checks; a view
        of one element has no dimension that could repeat it. IndexError, RuntimeError, TypeError.
        Source: torch/include/ATen/TensorIndexing.h:copy_to.
        """
        view, value = self[index], self.wrapped(value)
        if view.shape == value.shape:
            view.copy_(value)
        elif not value.dim():
            view.fill_(value)
        else:
            shape = value.shape
            while shape and shape[0] == 1:
                shape = shape[1:]
            view.copy_(value.view(shape).expand(view.shape))

    # --- 3. Arithmetic -------------------------------------------------------------------------

    def __neg__(self):
        return elementwise(neg, self)

    def __add__(self, other):
        return elementwise(add, self, self.wrapped(other))

    def __sub__(self, other):
        return elementwise(sub, self, self.wrapped(other))

    def __mul__(self, other):
        return elementwise(mul, self, self.wrapped(other))

    def __truediv__(self, other):
        return elementwise(divide, self, self.wrapped(other))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return elementwise(sub, self.wrapped(other), self)

    def __rtruediv__(self, other):
        return elementwise(lambda x: divide(1.0, x), self) * other     # two steps, as in torch

    def sum(self, dim=None, keepdim=False):
        """The sum over one dimension, several or (None, or none named) all; row-major result.

        Raises IndexError, RuntimeError for a dimension named twice.
        """
        every, named = list(range(self.dim())), () if dim is None else dim
        dims = [wrap(d, self.dim()) for d in ([dim] if isinstance(dim, int) else named)] or every
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"sum: a dimension occurs twice in {dim}")
        kept, summed = [d for d in every if d not in dims], [d for d in every if d in dims]
        rows = self.permute(kept + summed).elements()
        count = math.prod(self.shape[d] for d in summed)
        shape = [self.shape[d] if d in kept else 1 for d in every if keepdim or d in kept]
        result = self.new_empty_strided(shape, contiguous_strides(shape))
        result.write(sum(rows[i * count:(i + 1) * count], 0.0) for i in range(result.numel()))
        return result

    def matmul(self, other):
        """Matrix product of the last two dimensions, the others broadcast; 1-D is a vector.

        Shapes (..., n, k) and (..., k, m) give (..., n, m). Raises RuntimeError, TypeError.
        """
        if not isinstance(other, Operators):
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
    result = operands[0].new_empty_strided(sizes, result_strides(*operands))
    result.write(map(function, *(operand.expand(sizes).elements() for operand in operands)))
    return result


def number(value):
    """`value` as a float; TypeError unless it is an int or a float."""
    if isinstance(value, (int, float)):
        return float(value)
    raise TypeError(f"expected a number or a Tensor, not {type(value).__name__}")


def divide(x, y):
    return x / y if y else x * math.copysign(math.inf, y)          # 0 / 0 is nan
