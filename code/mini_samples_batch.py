"""Samples to one batch: collate what has one size, pad what has not, pack what is short."""
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch

__all__ = ["IGNORE", "NOBODY", "Packed", "Padded", "block_mask", "collate", "first_fit", "pack",
           "pad", "stack"]

numpy = sys.modules.get("numpy")         # torch has imported it if it is installed
ARRAYS = (numpy.ndarray,) if numpy else ()
NUMBERS = (numpy.bool_, numpy.number) if numpy else ()
IGNORE = -100                            # the label that torch's cross_entropy passes over
NOBODY = -1                              # the document of a place that is only filled up

# --- 1. Samples of one size --------------------------------------------------------------------

def collate(samples):
    """A batch that is built like the first sample, with a batch in place of each tensor or number.

    Tensors and arrays get a dimension in front; floats become float64, ints int64, bools bool.
    Strings and bytes stay what they are, one behind another. A dict becomes a dict with the keys
    of the first sample, a named tuple one of its kind, any other sequence a list.

    TypeError if the first sample is None or another object; RuntimeError for sequences or tensors
    of unequal sizes; KeyError for a key that a sample has not; IndexError without samples; what
    torch.tensor raises for numbers among which is something else.
    Source: torch/utils/data/_utils/collate.py. Left out: other kinds of mappings and sequences,
    which torch keeps; its table `default_collate_fn_map`.
    """
    first = samples[0]
    if isinstance(first, torch.Tensor):
        return stack(samples)
    if isinstance(first, ARRAYS):
        return stack([torch.as_tensor(array) for array in samples])
    if isinstance(first, NUMBERS):                         # before float: a float64 of NumPy is one
        return torch.as_tensor(samples)
    if isinstance(first, float):
        return torch.tensor(samples, dtype=torch.float64)
    if isinstance(first, int):                             # a bool, too
        return torch.tensor(samples)
    if isinstance(first, (str, bytes)):
        return samples
    if isinstance(first, Mapping):
        return {key: collate([sample[key] for sample in samples]) for key in first}
    if not isinstance(first, Sequence):
        raise TypeError(f"a batch of {type(first).__name__}: give tensors, arrays, numbers, "
                        "strings, dicts or sequences, or a collate_fn of your own")
    for sample in samples:
        if len(sample) != len(first):
            raise RuntimeError(f"sequences of lengths {len(first)} and {len(sample)} in one batch; "
                               "pad them as tensors, or give a collate_fn of your own")
    columns = [collate(column) for column in zip(*samples, strict=True)]
    return type(first)(*columns) if hasattr(first, "_fields") else columns


def stack(tensors):
    """Tensors of one shape, along a new dimension in front. RuntimeError for other tensors.

    In a worker, the batch is written where the other process can read it, so that it need not be
    copied there afterwards.
    """
    first, out = tensors[0], None
    if first.is_nested or first.layout != torch.strided:
        raise RuntimeError(f"a batch of nested or {first.layout} tensors; give a collate_fn of "
                           "your own")
    if torch.utils.data.get_worker_info() is not None and first.device.type == "cpu":
        storage = torch.UntypedStorage._new_shared(len(tensors) * first.nbytes)
        out = torch.empty(0, dtype=first.dtype).set_(storage).view(len(tensors), *first.shape)
    return torch.stack(tuple(tensors), out=out)


# --- 2. Samples of several lengths -------------------------------------------------------------

class Padded(NamedTuple):
    """`values` (B, T, …), `lengths` int64 (B,), `mask` bool (B, T): True where there is data."""

    values: torch.Tensor
    lengths: torch.Tensor
    mask: torch.Tensor


def pad(samples, value=0, side="right"):
    """Tensors (L, …) of any lengths L -> Padded, with `value` behind each, or in front (`left`).

    T is the longest L. RuntimeError if dtypes or other dimensions differ, and without samples;
    ValueError for another side. The values are those of pad_sequence(batch_first=True), which
    converts to the dtype of the first sample without a word.
    """
    if len({sample.dtype for sample in samples}) > 1:
        raise RuntimeError(f"dtypes {[str(sample.dtype) for sample in samples]} in one batch; "
                           "convert them first")
    if side not in ("right", "left"):
        raise ValueError(f'side={side!r}: give "right" or "left"')
    lengths = torch.tensor([len(sample) for sample in samples])
    longest = int(lengths.max())
    mask = torch.arange(longest) < lengths.unsqueeze(1)
    if side == "left":
        mask = mask.flip(1)
    values = samples[0].new_full((*mask.shape, *samples[0].shape[1:]), value)
    values[mask] = torch.cat(tuple(samples))               # row after row, as the mask is read
    return Padded(values, lengths, mask)


# --- 3. Several documents in a row -------------------------------------------------------------

class Packed(NamedTuple):
    """All int64 (rows, length); a document lies in one row, its tokens side by side.

    `documents`: the number of the document that a token is from, NOBODY where the row is filled
    up. `positions`: from 0 in each document. `labels`: the token that comes next in the same
    document, IGNORE where there is none. So they are shifted already.
    """

    tokens: torch.Tensor
    documents: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor


def pack(documents, length, value=0):
    """Documents (L,) of tokens, tensors or lists, in rows of `length` -> Packed.

    No document is cut, so none may be longer than a row; rows are filled up with `value`.
    ValueError as `first_fit`.
    """
    rows = first_fit([len(document) for document in documents], length)
    packed = Packed(*(torch.full((len(rows), length), fill) for fill in (value, NOBODY, 0, IGNORE)))
    for row, numbers in enumerate(rows):
        start = 0
        for number in numbers:
            document = torch.as_tensor(documents[number])
            stop = start + len(document)
            packed.tokens[row, start:stop] = document
            packed.documents[row, start:stop] = number
            packed.positions[row, start:stop] = torch.arange(stop - start)
            packed.labels[row, start:stop][:-1] = document[1:]     # the last has no next one
            start = stop
    return packed


def first_fit(lengths, size):
    """Lists of numbers: each length goes into the first row of `size` that has room for it.

    ValueError for a length that fits into no row.
    """
    rows, room = [], []
    for number, length in enumerate(lengths):
        if length > size:
            raise ValueError(f"document {number} has {length} tokens, a row {size}; cut it, or "
                             "leave it out")
        row = next((row for row, left in enumerate(room) if length <= left), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(size)
        rows[row].append(number)
        room[row] -= length
    return rows


def block_mask(documents, causal=True):
    """(…, length) numbers of documents -> bool (…, length, length): who may look at whom.

    True at [i, j] if token i may see token j: both are of the same document and, with `causal`, j
    is not behind i. What fills up a row sees itself, as otherwise softmax would have nothing to
    divide by.
    """
    mask = documents.unsqueeze(-1) == documents.unsqueeze(-2)
    return mask.tril() if causal else mask
