"""Where each dimension of `x[key]` comes from, read off the sizes of a real result.

All sizes of `x` and of the index tensors differ, so a size in the result tells which one it was.
"""

import ast
from dataclasses import dataclass

import torch

__all__ = ["Landing", "landing"]
INDEX, NEW = "index", "new"  # origins of a result's dimension, besides a dimension of the source


@dataclass(frozen=True)
class Landing:
    """One `x[key]`: `source` has (size, entry of the key) for each dimension of `x`.

    `result` has (size, origin) for each dimension of the result. An origin is a dimension of `x`,
    "index" for a dimension of the index tensors or "new" for a `None` of the key.
    """

    key: str
    source: tuple[tuple[int, str], ...]
    result: tuple[tuple[int, int | str], ...]

    def __str__(self):
        shape = tuple(size for size, _ in self.result)
        return f"x[{self.key}] -> {shape}, from {[origin for _, origin in self.result]}"


def landing(x, key, **tensors):
    """What becomes of the dimensions of `x` in `x[key]`.

    `key` is text such as ":, 0, :, j", with an entry for each dimension of `x`, and `tensors` are
    the integer tensors that it names. Raises `ValueError` if an entry is missing or two sizes are
    equal, since then the result would not tell which is which.
    """
    entries = key.split(", ")
    values = [tensors[each] if each in tensors else value(each) for each in entries]
    dims = [each for each in entries if each != "None"]
    if len(dims) != x.dim():
        raise ValueError(f"x[{key}] has {len(dims)} entries for {x.dim()} dimensions")
    indices = [torch.as_tensor(each) for each in values if isinstance(each, (list, torch.Tensor))]
    joined = torch.broadcast_shapes(*(each.shape for each in indices))
    sizes = [*x.shape, *joined]
    if len(set(sizes)) < len(sizes) or 1 in sizes:
        raise ValueError(f"the sizes {sizes} must differ from each other and from 1")
    result = tuple((size, origin(size, list(x.shape), joined)) for size in x[tuple(values)].shape)
    return Landing(key, tuple(zip(x.shape, dims, strict=True)), result)


def value(entry):
    """What an entry without a name stands for: ":" is a whole slice, the others are Python."""
    return slice(None) if entry == ":" else ast.literal_eval(entry)


def origin(size, sizes, joined):
    """Where a dimension of this size in the result comes from."""
    if size in joined:
        return INDEX
    return sizes.index(size) if size in sizes else NEW
