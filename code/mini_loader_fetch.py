"""Samples to a batch, and what random numbers they draw: the same with workers and without."""
import hashlib
import itertools
import random
import struct
import sys
from contextlib import contextmanager
from enum import Enum

import torch

numpy = sys.modules.get("numpy")         # torch has imported it if it is installed


class Kind(Enum):
    """What became of a batch."""

    BATCH, ERROR, END = "batch", "error", "end"


# --- 1. Samples to a batch ---------------------------------------------------------------------

class MapFetcher:
    """Batches of a map-style dataset, from indices."""

    def __init__(self, told, collate_fn):
        self.dataset, self.batched, self.collate_fn = told.dataset, told.batched, collate_fn

    def __call__(self, indices):
        """One batch; with `batched` False, `indices` is one index, and the batch its sample.

        What a dataset raises gets a note of the index, of all if it fetches them at once.
        StopIteration becomes RuntimeError: it would end the epoch without a word, as in torch.
        """
        samples, index = [], indices
        try:
            if self.batched and getattr(self.dataset, "__getitems__", None):
                samples = self.dataset.__getitems__(indices)
            else:
                for index in indices if self.batched else [indices]:
                    samples.append(self.dataset[index])
        except StopIteration as error:
            raise RuntimeError(f"the dataset raised StopIteration at index {index!r}; raise "
                               "IndexError for an index that does not exist") from error
        except Exception as error:
            error.add_note(f"at index {index!r} of the dataset")
            raise
        return self.collate_fn(samples if self.batched else samples[0])


class IterableFetcher:
    """Batches of an iterable dataset: the next samples of one iterator. Kind.END after the last."""

    def __init__(self, told, collate_fn, seed):
        self.samples, self.ended = Stream(told.dataset, seed), False
        self.batched, self.collate_fn, self.drop_last = told.batched, collate_fn, told.drop_last

    def __call__(self, size):
        """The next `size` samples, fewer at the end; without batches, `size` is 1."""
        samples = [] if self.ended else list(itertools.islice(self.samples, size))
        self.ended = len(samples) < size
        if not samples or (self.drop_last and self.ended):
            return Kind.END
        return self.collate_fn(samples if self.batched else samples[0])


class Stream:
    """The iterator of an iterable dataset, begun under a seed of its own, not under a batch's.

    The body of a generator begins with its first `next`: what it draws there, a permutation say,
    a successor of a dead worker has to draw again, whichever batch it makes first. Not a
    generator: that would end with the first error. Nor a chain of two: that calls `iter` again.
    """

    def __init__(self, dataset, seed):
        with seeded(seed):
            self.samples = iter(dataset)
        self.first_seed = seed ^ 1                  # else both would draw the same

    def __iter__(self):
        return self

    def __next__(self):
        if self.first_seed is None:
            return next(self.samples)
        seed, self.first_seed = self.first_seed, None
        with seeded(seed):
            return next(self.samples)


def fetcher(told, collate_fn, seed):
    """What makes the batches of one epoch; `seed` is that of a stream.

    `told` is a loader, or the Job of a worker: it has the dataset and what the loader was told.
    """
    if told.iterable:
        return IterableFetcher(told, collate_fn, seed)
    return MapFetcher(told, collate_fn)


def unstopped(function, *arguments):
    """What a function returns. StopIteration becomes RuntimeError.

    Raised by a collate_fn, say, and then out of `next`, it would end the epoch without a word.
    """
    try:
        return function(*arguments)
    except StopIteration as error:
        raise RuntimeError("StopIteration where no iterator ended; if `next` raised it, give "
                           "`next` a default") from error


# --- 2. Randomness -----------------------------------------------------------------------------

def batch_seed(base_seed, epoch, number):
    """63 bits that belong to one batch, whoever makes it and however often.

    Batches count from 0. A stream, the iterator of an iterable dataset, has a number below.
    """
    digest = hashlib.blake2b(struct.pack("<qqq", base_seed, epoch, number), digest_size=8)
    return int.from_bytes(digest.digest(), "little") >> 1


def seed_everything(seed):
    """Seed `random`, torch's CPU generator and, if it is installed, NumPy's global one."""
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if numpy:
        numpy.random.seed(seed % 2**32)


@contextmanager
def seeded(seed):
    """Inside, what `seed_everything` does; afterwards the generators are as they were before."""
    before = random.getstate(), torch.get_rng_state(), numpy and numpy.random.get_state()
    seed_everything(seed)
    try:
        yield
    finally:
        random.setstate(before[0])
        torch.set_rng_state(before[1])
        if numpy:
            numpy.random.set_state(before[2])
