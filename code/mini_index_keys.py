"""The key of x[key], made a list of plain items: what a tuple is, what a list is, what a mask is.

It stands below mini_index.py, which reads and writes by these items.
"""
from collections.abc import Sequence
from numbers import Integral

import torch

MASKS = (torch.bool, torch.uint8)              # torch warns for uint8, and takes it as a mask


def items_of(key):
    """A key as a list of int, slice, None, `...`, bool and tensors that choose.

    A list that holds a list, a tensor, a slice, None or `...` counts as a tuple, as in old NumPy;
    torch warns that this will change. IndexError, TypeError for what is no index. torch decides
    in C++ by the same rule: `treatSequenceAsTuple` in python_variable_indexing.cpp.
    """
    several = isinstance(key, tuple) or (isinstance(key, Sequence) and len(key) < 32 and any(
        item is None or item is ... or isinstance(item, (slice, Sequence, torch.Tensor))
        for item in key))
    items = [plain(item) for item in (key if several else (key,))]
    if sum(item is ... for item in items) > 1:
        raise IndexError("a key has one ... here; torch takes more")
    return items


def plain(item):
    """A list as a tensor, and a tensor without dimensions as an int or a bool."""
    if isinstance(item, Sequence):
        item = torch.tensor(item)
        item = item if item.dtype in MASKS else item.long()       # [] would be float32
    if isinstance(item, torch.Tensor):
        if item.dim() or item.is_floating_point() or item.is_complex():
            return item
        return bool(item) if item.dtype in MASKS else int(item)
    if item is None or item is ... or isinstance(item, (bool, slice)):
        return item
    if isinstance(item, Integral):
        return int(item)
    raise IndexError(f"{item!r} is no index; use int, slice, None, ..., bool, a list or a tensor")


def dims_used(item):
    """How many dimensions of x an item takes: a mask as many as it has itself."""
    if item is None or item is ... or isinstance(item, bool):
        return 0
    return item.dim() if isinstance(item, torch.Tensor) and item.dtype in MASKS else 1


def from_0(x, dim):
    """A dimension of x counted from 0 on. IndexError and TypeError are torch's own."""
    x.size(dim)
    return dim % x.dim()
