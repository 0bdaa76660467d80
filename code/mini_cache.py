"""Caches for a dataset: what a sample weighs, which samples stay, and what that is good for.

Read it from top to bottom: bytes, the cache, three datasets that keep samples, and at the end two
answers that need no training run: what an order of indices allows, and what shuffling leaves.

    dataset[i] ─► kept? ─┬─ yes: a hit, a copy of what is kept ───────────────────► you
                         └─ no: a miss, read it, keep it, evict what was used longest ago ─► you

A cache belongs to one process. Each worker of a loader has its own, which counts its own hits, and
which goes with the worker at the end of an epoch, unless workers are persistent. There is no lock:
one process asks for one sample after another, and a lock cannot be pickled for a worker.

Left out: `__getitems__`, so a batch is read sample by sample, but for `ReadAhead`, whose blocks are
read at once if the dataset can; negative indices, which would be keys of their own.

In a clone of the book, `python3 code/mini_cache.py` gives a short tour (--lang zh or --lang en).
"""
import math
import sys
from collections import OrderedDict, deque
from copy import deepcopy
from itertools import chain
from types import ModuleType

import torch
from torch.utils.data import Dataset

__all__ = ["LRU", "Cached", "Fixed", "ReadAhead", "in_blocks", "lru_hit_rate", "nbytes",
           "reuse_distances"]

numpy = sys.modules.get("numpy")         # torch has imported it if it is installed
MISSING = object()                       # what no sample can be; None can


# --- 1. Bytes ----------------------------------------------------------------------------------

def nbytes(thing):
    """The bytes that stay in memory because of `thing`, every storage and every object once.

    A tensor weighs its whole storage, however few of the elements are its own: all of that stays.
    Other objects weigh what `sys.getsizeof` says, and so does what they hold, through containers,
    attributes and fields. Not counted: the few hundred bytes of a tensor besides its storage,
    gradients, classes and modules. NotImplementedError for a tensor without storage, a sparse one.
    """
    total, seen, todo = 0, set(), [thing]
    while todo:
        thing = todo.pop()
        name = id(thing)
        if isinstance(thing, torch.UntypedStorage):
            name = thing.device, thing.data_ptr()      # two may share memory, by from_numpy say
        if name not in seen:
            seen.add(name)
            total += weight(thing)
            todo += parts(thing)
    return total


def weight(thing):
    """Bytes of one object alone."""
    if isinstance(thing, torch.UntypedStorage):
        return thing.nbytes()
    if thing is None or isinstance(thing, (torch.Tensor, type, ModuleType)):
        return 0
    return sys.getsizeof(thing)


def parts(thing):
    """What one object holds."""
    if isinstance(thing, torch.Tensor):
        return [thing.untyped_storage()]
    if isinstance(thing, dict):
        return [*thing, *thing.values()]
    if isinstance(thing, (list, tuple, set, frozenset, deque)):
        return thing
    if numpy and isinstance(thing, numpy.ndarray):
        held = thing.ravel().tolist() if thing.dtype == object else []
        return [thing.base, *held]                     # base: whose memory it is, if not its own
    if isinstance(thing, (torch.UntypedStorage, type, ModuleType)):
        return []
    slots = [vars(kind).get("__slots__", ()) for kind in type(thing).__mro__]
    names = chain.from_iterable([each] if isinstance(each, str) else each for each in slots)
    return [getattr(thing, name, None) for name in ("__dict__", *names)]


# --- 2. The cache ------------------------------------------------------------------------------

class LRU:
    """Key -> value, up to `limit_bytes` of values; the least recently used ones are evicted.

    Each step takes the same time however many values there are. `bytes` are those of the values
    by `nbytes`, each on its own, as they were when put: a storage that two values share counts
    twice, since evicting one of them would not free it. Keys are not counted.

    `hits` and `misses` are counted by `get` and nowhere else. `refused` counts values over the
    limit. A pickled cache is empty: its values would be sent to every worker, and kept there.
    """

    def __init__(self, limit_bytes):
        self.limit_bytes, self.bytes = limit_bytes, 0
        self.kept = OrderedDict()        # key -> (value, bytes); the one used last stands last
        self.hits = self.misses = self.evictions = self.refused = 0

    def get(self, key, default=None):
        """The value itself, not a copy, or `default`."""
        if key not in self.kept:
            self.misses += 1
            return default
        self.hits += 1
        self.kept.move_to_end(key)
        return self.kept[key][0]

    def put(self, key, value):
        """Keep a value, instead of any before it; whether it is kept.

        One over the limit is refused and evicts no others. An older value of the same key goes
        all the same: it is no longer true.
        """
        _, freed = self.kept.pop(key, (None, 0))
        self.bytes -= freed
        size = nbytes(value)
        if size > self.limit_bytes:
            self.refused += 1
            return False
        self.evict(self.limit_bytes - size)
        self.kept[key] = value, size
        self.bytes += size
        return True

    def evict(self, limit):
        """Let the least recently used values go until at most `limit` bytes are left."""
        while self.bytes > limit:
            _, (_, freed) = self.kept.popitem(last=False)
            self.bytes -= freed
            self.evictions += 1

    @property
    def hit_rate(self):
        """Hits among all lookups, 0 to 1; 0 before the first."""
        return self.hits / max(1, self.hits + self.misses)

    def __len__(self):
        return len(self.kept)

    def __reduce__(self):
        return type(self), (self.limit_bytes,)


# --- 3. Datasets that keep samples -------------------------------------------------------------

class Cached(Dataset):
    """The samples of `dataset`, each read once for as long as `cache`, an LRU, keeps it.

    What is random belongs in a dataset around this one. Inside, the first draw would be kept, and
    come again every epoch. You get a copy, made by `copy`: what you change in place would be
    changed in the cache. A function that returns its argument saves the copy where you don't.
    """

    def __init__(self, dataset, cache, copy=deepcopy):
        self.dataset, self.cache, self.copy = dataset, cache, copy

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, i):
        i = number(i)
        sample = self.cache.get(i, MISSING)
        if sample is MISSING:
            sample = self.dataset[i]
            self.cache.put(i, sample)
        return self.copy(sample)


def number(i):
    """An index as a key: a tensor of one element is equal to no other, so its value stands."""
    return i.item() if isinstance(i, torch.Tensor) else i


class Fixed(Dataset):
    """`dataset`, of which the samples at `indices` are read now and stay; nothing is evicted.

    With C of N samples kept, each epoch hits C times in N, in whatever order. Read before the
    workers start, the tensors kept are there once for all of them: forked workers have the
    parent's memory, and those started otherwise get tensors in shared memory.
    """

    def __init__(self, dataset, indices, copy=deepcopy):
        self.dataset, self.copy = dataset, copy
        self.kept = {number(i): dataset[i] for i in indices}
        self.hits = self.misses = 0

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, i):
        i = number(i)
        if i not in self.kept:
            self.misses += 1
            return self.dataset[i]
        self.hits += 1
        return self.copy(self.kept[i])


class ReadAhead(Dataset):
    """`dataset`, read in blocks of `size` samples, of which the last one read is kept.

    Block k is the samples from k * size on. `asked` counts samples that were asked for, `read`
    those that were read from the dataset. IndexError outside of it, ValueError for a size below 1.
    """

    def __init__(self, dataset, size, copy=deepcopy):
        if size < 1:
            raise ValueError(f"size={size}: a block has at least one sample")
        self.dataset, self.size, self.copy = dataset, size, copy
        self.first, self.block = None, []
        self.asked = self.read = 0

    def __len__(self):
        return len(self.dataset)

    def __getitem__(self, i):
        if not 0 <= i < len(self):
            raise IndexError(f"index {i} is not in range({len(self)})")
        first = i - i % self.size
        if first != self.first:
            self.block = self.fetch(range(first, min(first + self.size, len(self))))
            self.first = first
        self.asked += 1
        return self.copy(self.block[i - first])

    def fetch(self, indices):
        """The samples of a block, at once if the dataset can give many."""
        self.read += len(indices)
        many = getattr(self.dataset, "__getitems__", None)
        return many([*indices]) if many else [self.dataset[i] for i in indices]

    @property
    def amplification(self):
        """Samples read for each that was asked for: 1 at best, `size` at worst."""
        return self.read / max(1, self.asked)


def in_blocks(n, size, generator=None):
    """0 … n - 1 shuffled so that `ReadAhead` reads each block once.

    The blocks come in a random order, and so do the indices within each. Yields ints.
    """
    firsts = range(0, n, size)
    for number in torch.randperm(len(firsts), generator=generator).tolist():
        block = range(firsts[number], min(firsts[number] + size, n))
        for place in torch.randperm(len(block), generator=generator).tolist():
            yield block[place]


# --- 4. Before you cache: ask the sampler ------------------------------------------------------

def reuse_distances(order):
    """For each index, how many others were used since its last use; `inf` at its first.

    An LRU cache with room for C samples of one size hits where the distance is below C, so this
    answers for every size at once. `order` is what a sampler yields, over as many epochs as you
    like; n of them take n log n steps. Sources: Mattson et al., Evaluation techniques for storage
    hierarchies, 1970; Bennett and Kruskal, LRU stack processing, 1975.
    """
    order = [*order]
    sums = [0] * (len(order) + 1)        # a Fenwick tree: 1 where some index was used last, else 0
    last, distances = {}, []
    for now, index in enumerate(order):
        before = last.get(index)
        distances.append(math.inf if before is None
                         else len(last) - sum_before(sums, before + 1))
        if before is not None:
            add_at(sums, before, -1)
        add_at(sums, now, 1)
        last[index] = now
    return distances


def add_at(sums, place, change):
    """In the Fenwick tree `sums`, add to the number at a place, from 0."""
    place += 1
    while place < len(sums):
        sums[place] += change
        place += place & -place


def sum_before(sums, count):
    """The sum of the first `count` numbers of a Fenwick tree."""
    total = 0
    while count:
        total += sums[count]
        count &= count - 1
    return total


def lru_hit_rate(fraction):
    """Hits of an LRU cache that holds this fraction (0 to 1) of a dataset, shuffled every epoch.

    Say a sample comes when a fraction x of one epoch is still to come, and again when a fraction y
    of the next is over. Used in between are the two sets, x + y - xy of all samples, and it is a
    hit if that is below `fraction`: if (1 - x)(1 - y) > 1 - fraction. Over all x and y, that has
    the probability below. It is the limit for many samples; the first epoch hits nothing.
    """
    left = 1 - fraction
    return fraction + left * math.log(left) if left > 0 else 1.0


# --- 5. The tour, in the file mini_cache_tour.py beside this one -------------------------------

if __name__ == "__main__":
    try:
        from mini_cache_tour import main
    except ModuleNotFoundError:                          # a download: the tour is not here
        sys.stderr.write("mini_cache；下一步 · next: python3 check_cache.py\n")
        sys.exit(2)
    sys.exit(main())
