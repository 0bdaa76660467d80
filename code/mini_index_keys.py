"""The key of x[key], made a list of plain items: what a tuple is, what a list is, what a mask is.

It stands below mini_index.py, which reads and writes by these items.
"""
import warnings
from collections.abc import Sequence
from contextlib import suppress
from operator import index

import torch

MASKS = (torch.bool, torch.uint8)              # the second is warned of, and taken


def items_of(key):
    """A key as a list of int, slice, None, `...`, bool and tensors that choose.

    A list that holds a list, a tensor, a slice, None or `...` counts as a tuple, as in old NumPy;
    that will change, and is warned of. IndexError, TypeError for what is no index. torch decides
    in C++ by the same rule: `treatSequenceAsTuple` in python_variable_indexing.cpp.
    """
    several = isinstance(key, tuple) or (isinstance(key, Sequence) and len(key) < 32 and any(
        item is None or item is ... or isinstance(item, (slice, Sequence, torch.Tensor))
        for item in key))
    if several and not isinstance(key, tuple):
        warnings.warn("Using a non-tuple sequence for multidimensional indexing is deprecated; "
                      "write x[tuple(seq)]", stacklevel=4)
    items = [plain(item) for item in (key if several else (key,))]
    if sum(item is ... for item in items) > 1:
        raise IndexError("a key has one ... here; torch takes more")
    return items


def plain(item):
    """A list as a tensor; a tensor without dimensions as an int or a bool, `__index__` too."""
    if isinstance(item, Sequence):
        item = tensor_of(item)
    if isinstance(item, torch.Tensor):
        if item.dim() or item.is_floating_point() or item.is_complex():
            return item
        return bool(item) if item.dtype in MASKS else int(item)
    if item is None or item is ... or isinstance(item, (bool, slice)):
        return item
    with suppress(TypeError):
        return index(item)
    raise IndexError(f"{item!r} is no index; use int, slice, None, ..., bool, a list or a tensor")


def tensor_of(sequence):
    """Positions or a mask. TypeError for text and complex numbers; ValueError if it is ragged."""
    try:
        found = torch.tensor(sequence)
    except ValueError as error:
        if "str" in str(error):
            raise TypeError(f"text is no index: {sequence!r}") from None
        raise
    if found.is_complex():
        raise TypeError(f"complex numbers are no index: {sequence!r}")
    return found if found.dtype in MASKS else found.long()        # [] would be float32


def dims_used(item):
    """How many dimensions of x an item takes: a mask as many as it has itself."""
    if item is None or item is ... or isinstance(item, bool):
        return 0
    return item.dim() if isinstance(item, torch.Tensor) and item.dtype in MASKS else 1


def from_0(x, dim):
    """A dimension of x counted from 0 on. IndexError and TypeError are torch's own."""
    x.size(dim)
    return dim % x.dim()
