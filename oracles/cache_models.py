"""Caches as one writes them first, each with the fault that mini_cache does without; and a model.

The tests show each fault before they show the cure.
"""

import math
import sys
import threading
from collections import deque

import torch
from torch.utils.data import Dataset, get_worker_info


class Reads(Dataset):
    """Sample i is the float64 i; `reads` counts, in all processes together."""

    def __init__(self, size):
        self.size, self.counts = size, torch.zeros(9, dtype=torch.int64).share_memory_()

    @property
    def reads(self):
        return int(self.counts.sum())

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        if not 0 <= i < self.size:
            raise IndexError(i)
        info = get_worker_info()
        self.counts[info.id + 1 if info else 0] += 1         # each process adds to its own
        return torch.tensor(float(i), dtype=torch.float64)


class Noisy(Reads):
    """Sample i is i and a random number: a dataset that augments."""

    def __getitem__(self, i):
        return super().__getitem__(i), torch.rand(())


class Where(Dataset):
    """Whether each tensor that a Fixed keeps lies in memory that processes share."""

    def __init__(self, fixed):
        self.fixed = fixed

    def __len__(self):
        return 1

    def __getitem__(self, i):
        return torch.tensor([kept.is_shared() for kept in self.fixed.kept.values()])


class NaiveCache:
    """Called LRU: evicts the lowest count, keeps the order in a deque, weighs shells."""

    def __init__(self, limit_bytes):
        self.limit_bytes, self.bytes = limit_bytes, 0
        self.kept, self.counts, self.order = {}, {}, deque()
        self.lock = threading.Lock()

    def get(self, key, default=None):
        if key in self.kept:
            self.counts[key] += 1
            self.order.remove(key)           # a walk through all keys
            self.order.append(key)
        return self.kept.get(key, default)

    def put(self, key, value):
        size = self.size(value)
        while self.bytes + size > self.limit_bytes and self.order:
            victim = min(self.order, key=self.counts.__getitem__)
            self.order.remove(victim)
            self.bytes -= self.size(self.kept.pop(victim))
        self.kept[key] = value
        self.counts[key] = self.counts.get(key, 0) + 1
        self.order.append(key)
        self.bytes += size

    @staticmethod
    def size(value):
        return value.nbytes if isinstance(value, torch.Tensor) else sys.getsizeof(value)

    @property
    def hit_rate(self):
        asked = sum(self.counts.values())    # insertions among them, and no lookup that missed
        return asked / max(1, asked)


class NaiveCached(Dataset):
    """Gives what is in the cache, not a copy."""

    def __init__(self, dataset, cache):
        self.dataset, self.cache = dataset, cache

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, i):
        sample = self.cache.get(i)
        if sample is None:
            sample = self.dataset[i]
            self.cache.put(i, sample)
        return sample


class NaiveAhead(Dataset):
    """Reads the next `size` samples from where it was asked, and forgets the others."""

    def __init__(self, dataset, size):
        self.dataset, self.size, self.block = dataset, size, {}

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, i):
        if i not in self.block:
            stop = min(i + self.size, len(self.dataset))
            self.block = {k: self.dataset[k] for k in range(i, stop)}
        return self.block[i]


class ModelLRU:
    """What an LRU is, without a thought of time: a list of (key, value, bytes), newest last."""

    def __init__(self, limit):
        self.limit, self.rows = limit, []
        self.hits = self.misses = self.evictions = self.refused = 0

    def get(self, key):
        for row in self.rows:
            if row[0] == key:
                self.rows.remove(row)
                self.rows.append(row)
                self.hits += 1
                return row[1]
        self.misses += 1
        return None

    def put(self, key, value, size):
        self.rows = [row for row in self.rows if row[0] != key]
        if size > self.limit:
            self.refused += 1
            return False
        self.rows.append((key, value, size))
        self.shrink()
        return True

    def shrink(self):
        while sum(size for _, _, size in self.rows) > self.limit:
            self.rows.pop(0)
            self.evictions += 1


def slow_reuse_distances(order):
    """`mini_cache.reuse_distances`, by a list that is searched each time."""
    recent, distances = [], []               # the one used last in front
    for index in order:
        distances.append(recent.index(index) if index in recent else math.inf)
        recent = [index, *(other for other in recent if other != index)]
    return distances
