"""x[key], x[key] = value and gather: torch's indexing, as addresses in a storage.

Read it from top to bottom. mini_index_keys.py has made the key a list of plain items. Ints, slices
and None change size, stride and offset, which gives a view. Index tensors choose positions, and
what they choose becomes addresses, which are read or written. Of torch's own indexing this uses
an int into a flat tensor. Shapes, values, view or copy and types of exceptions are torch's.

Left out: NumPy arrays in a key, a second `...`; the strides of a copy, row-major here; devices;
gradients of an empty choice and of what a duplicate overwrites; a destination whose elements share
cells, a value that lies in its storage; ints of over 64 bits; writing by a uint8 mask; in section
4, 0-dim tensors and an empty index. Of several faults at once, torch may name another one.

In a clone of the book, `python3 code/mini_index.py` gives a short tour (--lang zh or --lang en).
"""
import sys
import warnings
from dataclasses import dataclass
from functools import reduce
from numbers import Number

import torch

from mini_index_keys import MASKS, dims_used, from_0, items_of

__all__ = ["gather", "index", "index_put", "scatter_add", "take_along_dim"]

# --- 1. The basic part: the same storage, other numbers ----------------------------------------

@dataclass
class Place:
    """Where in a storage: sizes and strides as lists, an offset, all counted in elements.

    `chosen`: dimension -> the index tensor that chooses there.
    """

    size: list
    stride: list
    offset: int
    chosen: dict

    def select(self, dim, i, number=None):
        """One position of a dimension, which goes away. IndexError, naming item `number`."""
        size, stride = self.size.pop(dim), self.stride.pop(dim)
        if not -size <= i < size:
            raise IndexError(f"index {i} is out of bounds for dimension "
                             f"{dim if number is None else number} with size {size}")
        self.offset += i % size * stride

    def slice(self, dim, part):
        """Every step-th position from start to stop. ValueError, TypeError."""
        start, stop, step = part.indices(self.size[dim])
        if step < 0:
            raise ValueError("a slice step must be positive: strides are never negative")
        self.offset += start * self.stride[dim]
        self.size[dim] = len(range(start, stop, step))
        self.stride[dim] *= step

    def unsqueeze(self, dim):
        """A new dimension of size 1; its stride is never used, this one is what torch shows."""
        stride = self.size[dim] * self.stride[dim] if dim < len(self.size) else 1
        self.size.insert(dim, 1)
        self.stride.insert(dim, stride)


def basic(x, key):
    """The Place that ints, slices, None and `...` lead to; index tensors are only noted.

    Raises IndexError; ValueError and TypeError for a slice.
    Source: torch/include/ATen/TensorIndexing.h:handleDimInMultiDimIndexing.
    """
    items, dim = items_of(key), 0
    used = sum(map(dims_used, items))
    if used > x.dim():
        raise IndexError(f"too many indices for a tensor of dimension {x.dim()}")
    place = Place(list(x.shape), list(x.stride()), x.storage_offset(), {})
    for number, item in enumerate(items):
        if item is ...:
            dim += x.dim() - used
        elif isinstance(item, torch.Tensor):
            place.chosen[dim] = item
            dim += dims_used(item)
        elif isinstance(item, int) and not isinstance(item, bool):
            place.select(dim, item, number)        # the next item meets the next dimension here
        else:
            if isinstance(item, slice):
                place.slice(dim, item)
            else:                                  # None, or a bool: a mask of no dimensions
                place.unsqueeze(dim)
                if item is not None:               # True takes the new dimension once, False never
                    place.chosen[dim] = torch.zeros(int(item), dtype=torch.int64)
            dim += 1
    return place


# --- 2. The advanced part: addresses -----------------------------------------------------------

def choices(place):
    """Masks as the positions of what is True, and all index tensors broadcast. IndexError.

    Source: torch/include/ATen/native/IndexingUtils.h:expandTensors.
    """
    found = {}
    for dim, tensor in place.chosen.items():
        if tensor.dtype == torch.uint8:
            warnings.warn("indexing with dtype torch.uint8 is now deprecated, please use a dtype "
                          "torch.bool instead.", stacklevel=4)
        if tensor.dtype not in (*MASKS, torch.int64, torch.int32):
            raise IndexError(f"an index tensor is int64, int32 or bool, not {tensor.dtype}")
        if tensor.dtype not in MASKS:
            found[dim] = tensor.long()
            continue
        if list(tensor.shape) != place.size[dim:dim + tensor.dim()]:
            raise IndexError(f"a mask of shape {tuple(tensor.shape)} at dimension {dim} does not "
                             f"fit {place.size}")
        found.update(enumerate(tensor.nonzero().unbind(1), dim))
    try:
        return dict(zip(found, torch.broadcast_tensors(*found.values()), strict=True))
    except RuntimeError as error:
        raise IndexError(f"the index tensors do not broadcast: {error}") from None


def addresses(place):
    """The storage cell of each element of the result, as an int64 tensor of the result's shape.

    The dimensions of the index tensors land where those tensors stood if they stood side by side,
    else in front, since between them there would be no one place. IndexError.
    Source: torch/include/ATen/native/IndexingUtils.h:hasContiguousSubspace.
    """
    chosen = choices(place) if place.chosen else {}
    kept = [dim for dim in range(len(place.size)) if dim not in chosen]
    jumps = [torch.arange(place.size[dim]) * place.stride[dim] for dim in kept]
    if chosen:
        whole = all(place.size[dim] for dim in kept)
        jump = sum(positions(chosen[dim], place.size[dim], whole) * place.stride[dim]
                   for dim in chosen)
        side_by_side = max(chosen) - min(chosen) == len(chosen) - 1
        jumps.insert(min(chosen) if side_by_side else 0, jump)
    return reduce(outer_sum, jumps, torch.tensor(place.offset))


def outer_sum(a, b):
    """Each element of a plus each of b: the dimensions of a, then those of b."""
    return a.reshape(*a.shape, *[1] * b.dim()) + b


def positions(tensor, size, whole):
    """Positions from 0 on for an index tensor into a dimension of that size. IndexError.

    As in torch, nothing is checked where the result is empty because of another dimension.
    """
    outside = (tensor < -size) | (tensor >= size)
    if (whole or not size) and outside.any():
        raise IndexError(f"index {int(tensor[outside].min())} is out of bounds for a dimension "
                         f"with size {size}")
    return torch.where(tensor < 0, tensor + size, tensor)


# --- 3. Reading and writing --------------------------------------------------------------------

def cells(x):
    """The whole storage of x, as a flat view, through which gradients pass."""
    return x.as_strided((x.untyped_storage().nbytes() // x.element_size(),), (1,), 0)


def index(x, key):
    """x[key]: a view if no index tensor, list or bool takes part, else a copy."""
    place = basic(x, key)
    if not place.chosen:
        return x.as_strided(place.size, place.stride, place.offset)
    where, storage = addresses(place), cells(x)
    copy = torch.empty(where.shape, dtype=x.dtype)
    for cell, address in enumerate(where.flatten().tolist()):
        copy.view(-1)[cell] = storage[address]
    return copy


def index_put(x, key, value, accumulate=False):
    """x[key] = value, or with accumulate x[key] += value that counts every duplicate; returns x.

    A number is converted to the dtype of x, which must hold it. So is a tensor, but not where index
    tensors take part (under a single mask torch converts one element); 1s in front go, and it
    broadcasts. Of duplicates the last stays; torch promises none. Index-, Runtime-, TypeError.
    """
    if isinstance(value, Number):
        value = torch.full((), value, dtype=x.dtype)
    elif not isinstance(value, torch.Tensor):
        raise TypeError(f"a number or a tensor can be written, not a {type(value).__name__}")
    if key is False:                                          # torch does not look at its shape
        return x
    place = basic(x, None if key is True else key)            # torch: a plain view there
    where, storage = addresses(place), cells(x)
    if place.chosen and value.dtype != x.dtype:
        raise RuntimeError(f"index tensors write {x.dtype} and nothing else, not {value.dtype}")
    while value.shape[:1] == (1,):
        value = value.squeeze(0)
    values = value.expand(where.shape).clone()                # read before the first write
    for address, new in zip(where.flatten().tolist(), values.flatten(), strict=True):
        storage[address] = storage[address] + new if accumulate else new
    return x


# --- 4. Along one dimension --------------------------------------------------------------------

def along(x, dim, idx):
    """The key whose element at [i, j, …] has idx[i, j, …] in place of position dim. RuntimeError.

    idx has the dimensions of x and, apart from `dim`, is no larger; it is never broadcast.
    """
    others = [d for d in range(x.dim()) if d != dim]
    if idx.dtype not in (torch.int64, torch.int32) or idx.dim() != x.dim() or any(
            idx.shape[d] > x.shape[d] for d in others):
        raise RuntimeError(f"index {idx.dtype} {tuple(idx.shape)} does not fit {tuple(x.shape)}")
    outside = idx[(idx < 0) | (idx >= x.shape[dim])].tolist()
    if outside:
        raise RuntimeError(f"index {outside[0]} is not in range({x.shape[dim]}), dimension {dim}")
    key = list(torch.meshgrid(*map(torch.arange, idx.shape), indexing="ij"))
    key[dim] = idx
    return tuple(key)


def gather(x, dim, idx):
    """out[i][j] = x[idx[i][j]][j] for dim=0; the result has the shape of idx. RuntimeError."""
    return index(x, along(x, from_0(x, dim), idx))


def scatter_add(x, dim, idx, src):
    """The reverse of gather, on a copy: out[idx[i][j]][j] += src[i][j] for dim=0."""
    if src.dim() != idx.dim() or any(
            n > size for n, size in zip(idx.shape, src.shape, strict=True)):
        raise RuntimeError(f"src {tuple(src.shape)} does not fit {tuple(idx.shape)}")
    part = index(src, tuple(map(slice, idx.shape)))
    return index_put(x.clone(), along(x, from_0(x, dim), idx), part, accumulate=True)


def take_along_dim(x, idx, dim=None):
    """gather, with both broadcast and idx modulo the size; without a dim, of x.flatten()."""
    if dim is None:
        return gather(x.flatten(), 0, idx.flatten())
    if idx.dim() != x.dim() or idx.dtype != torch.int64:
        raise RuntimeError("the index is int64 and has as many dimensions as the tensor")
    dim = from_0(x, dim)
    shape = torch.broadcast_shapes(*((*t.shape[:dim], *t.shape[dim + 1:]) for t in (x, idx)))
    x, idx = (t.expand(*shape[:dim], t.shape[dim], *shape[dim:]) for t in (x, idx))
    return gather(x, dim, idx % x.shape[dim])      # size 3: -1 is 2, but 5 is 2 too, as in torch


# --- 5. The tour, in the file mini_index_tour.py beside this one -------------------------------

if __name__ == "__main__":
    try:
        from mini_index_tour import main
    except ModuleNotFoundError:                          # a download: the tour is not here
        sys.stderr.write("mini_index；下一步 · next: python3 check_mini_index.py\n")
        sys.exit(2)
    sys.exit(main())
