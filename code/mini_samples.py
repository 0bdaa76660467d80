"""Samples to batches: datasets, the order of their indices, and what makes a batch of samples.

Read it from top to bottom: the loop of a loader, then the datasets that stand in front of another
one. mini_samples_order.py draws indices and groups them; mini_samples_batch.py makes a batch of
samples: collate, pad, pack. All of it can be imported from here, and serves torch's DataLoader
as well. What stands in torch.utils.data under another name does what it does there.

Left out: iterable datasets; a list as an index; the warning of random_split for an empty part; of
ConcatDataset the ValueError for an index far below 0, which is an IndexError here.

In a clone of the book, `python3 code/mini_samples.py` gives a short tour (--lang zh or --lang en).
"""
import math
import sys
from bisect import bisect_right
from itertools import accumulate

from mini_samples_batch import (
    IGNORE,
    NOBODY,
    Packed,
    Padded,
    block_mask,
    collate,
    pack,
    pad,
)
from mini_samples_order import (
    EachEpoch,
    Resumable,
    batched,
    bucketed,
    mixed,
    ranked,
    shuffled,
    token_batches,
    waste,
    weighted,
)

__all__ = ["IGNORE", "NOBODY", "Concat", "EachEpoch", "Packed", "Padded", "Resumable", "Subset",
           "Transformed", "batched", "batches", "block_mask", "bucketed", "collate", "fetch",
           "mixed", "pack", "pad", "ranked", "shuffled", "split", "token_batches", "waste",
           "weighted"]

# --- 1. The loop: indices, samples, a batch ----------------------------------------------------

def fetch(dataset, indices):
    """The samples at a list of indices, in its order; one call if the dataset has `__getitems__`.

    Source: torch/utils/data/_utils/fetch.py:_MapDatasetFetcher.
    """
    many = getattr(dataset, "__getitems__", None)
    return many(indices) if many else [dataset[i] for i in indices]


def batches(dataset, order, collate=collate):
    """A batch for each list of indices in `order`: a loader without workers.

    Indices come from the order and samples from the dataset; only here do they meet.
    """
    for indices in order:
        yield collate(fetch(dataset, indices))


# --- 2. Datasets in front of a dataset ---------------------------------------------------------

class Subset:
    """Sample i is sample indices[i] of the dataset: a view, which copies nothing.

    It holds the dataset itself. Whoever sets an attribute there, a transform for example, sets it
    for all subsets.
    """

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, i):
        """IndexError from `indices`, which also ends a for loop."""
        return self.dataset[self.indices[i]]

    def __getitems__(self, positions):
        return fetch(self.dataset, [self.indices[i] for i in positions])


class Transformed:
    """Sample i is function(sample i of the dataset), computed anew each time it is asked for.

    One around each part of a split: so the parts share the data and not the transform.
    """

    def __init__(self, dataset, function):
        self.dataset, self.function = dataset, function

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, i):
        return self.function(self.dataset[i])

    def __getitems__(self, indices):
        return [self.function(sample) for sample in fetch(self.dataset, indices)]


class Concat:
    """The datasets one behind another. Their lengths are asked once, here.

    ends[k] is the index behind the last sample of dataset k. ValueError if there is no dataset.
    """

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("nothing to concatenate; give at least one dataset")
        self.ends = list(accumulate(map(len, self.datasets)))

    def __len__(self):
        return self.ends[-1]

    def __getitem__(self, i):
        """Sample i, from the end if i is negative. IndexError on either side."""
        if not -len(self) <= i < len(self):
            raise IndexError(f"index {i}, but there are {len(self)} samples")
        i %= len(self)
        which = bisect_right(self.ends, i)      # the first dataset that ends behind i
        begin = self.ends[which - 1] if which else 0
        return self.datasets[which][i - begin]


# --- 3. Splitting ------------------------------------------------------------------------------

def split(dataset, sizes, generator=None):
    """Subsets of these sizes that share no sample, drawn at random from the generator.

    `sizes` are whole numbers, or fractions whose sum is 1. The same generator gives the indices
    of random_split. ValueError if the sizes do not add up.
    """
    if math.isclose(sum(sizes), 1) and sum(sizes) <= 1:
        sizes = counts(len(dataset), sizes)
    if sum(sizes) != len(dataset) or min(sizes, default=0) < 0:
        raise ValueError(f"sizes {list(sizes)} make {sum(sizes)}, but there are {len(dataset)} "
                         "samples; let them add up to that, or fractions to 1, none negative")
    order = shuffled(len(dataset), generator)
    return [Subset(dataset, order[end - size:end])
            for end, size in zip(accumulate(sizes), sizes, strict=True)]


def counts(n, fractions):
    """Fractions of n as whole numbers: each rounded down, what is left dealt from the first on."""
    sizes = [math.floor(n * fraction) for fraction in fractions]
    for i in range(n - sum(sizes)):
        sizes[i % len(sizes)] += 1
    return sizes


# --- 4. The tour, in the file mini_samples_tour.py beside this one -----------------------------

if __name__ == "__main__":
    try:
        from mini_samples_tour import main
    except ModuleNotFoundError:                          # a download: the tour is not here
        sys.stderr.write("mini_samples；下一步 · next: python3 check_samples.py\n")
        sys.exit(2)
    sys.exit(main())
