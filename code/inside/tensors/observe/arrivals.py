"""Which of the values written through an index arrive, where the index repeats.

Every value is another power of two, so what is found in a place tells which values went into it.
"""

import torch

__all__ = ["arrivals"]


def arrivals(write, size, index):
    """For each of `size` places, the numbers of the values that `write` brought there.

    `write(target, index, values)` changes `target` in place, an int64 tensor `(size,)` of zeros on
    the CPU; `values` has one value for each index. Raises `ValueError` for more than 62 values,
    which an int64 could not tell apart.
    """
    if len(index) > 62:
        raise ValueError(f"{len(index)} values are too many: the limit is 62")
    values = 2 ** torch.arange(len(index), device="cpu")
    target = torch.zeros(size, dtype=torch.int64, device="cpu")
    write(target, torch.tensor(index, device="cpu"), values)
    return [[k for k in range(len(index)) if found >> k & 1] for found in target.tolist()]
