"""mini_cache against a model of an LRU, and its hit rates against simulation and formula."""

import dataclasses
import itertools
import math
import random
import subprocess
import sys
from collections import OrderedDict, deque, namedtuple

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

import mini_cache_tour
from book.pipeline.ground.paths import CODE
from mini_cache import (
    LRU,
    Cached,
    Fixed,
    ReadAhead,
    in_blocks,
    lru_hit_rate,
    nbytes,
    reuse_distances,
)
from oracles.cache_models import ModelLRU, Reads, Where, slow_reuse_distances
from tests.helpers.depth import cases

RUNS, TREES = cases(300), cases(300)


def shuffles(n, epochs, seed=0):
    """The indices of some epochs, each in another order."""
    generator = torch.Generator().manual_seed(seed)
    return [i for _ in range(epochs) for i in torch.randperm(n, generator=generator).tolist()]


# ---- bytes ---------------------------------------------------------------------------------------

@dataclasses.dataclass
class Sample:
    image: torch.Tensor
    label: object


@dataclasses.dataclass(slots=True)
class Slim:
    image: torch.Tensor


class Plain:
    def __init__(self, image):
        self.image = image


class Slotted:
    __slots__ = "image"

    def __init__(self, image):
        self.image = image


class Extended(Slotted):
    __slots__ = ("label",)               # never set


def as_objects(x):
    array = np.empty(1, dtype=object)
    array[0] = x
    return array


Pair = namedtuple("Pair", "image label")


@pytest.mark.parametrize("hold", [
    lambda x: [x], lambda x: (x,), lambda x: {"a": x}, lambda x: {"a": [x, {"b": (x,)}]},
    lambda x: {x}, lambda x: deque([x]), lambda x: OrderedDict(a=x), lambda x: Pair(x, 3),
    lambda x: Sample(x, None), Slim, Plain, Slotted, Extended, as_objects,
    lambda x: [x, x[:3], x.view(-1, 10), x.t()],
    lambda x: Sample(x, [x[0], x[-1]]), torch.nn.Parameter],
    ids=lambda hold: getattr(hold, "__name__", "?"))
def test_a_storage_counts_once_whatever_holds_it(hold):
    small, large = (nbytes(hold(torch.zeros(n))) for n in (100, 100_100))
    assert large - small == pytest.approx(400_000, abs=16)   # a __dict__ may have grown


def test_an_index_that_is_a_tensor_hits_like_its_number():
    for cached in (Cached(range(5), LRU(10_000)), Fixed(range(5), torch.arange(5))):
        loader = DataLoader(cached, sampler=torch.randperm(5))
        for _ in range(3):
            assert sorted(loader) == [0, 1, 2, 3, 4]
        counts = cached.cache if isinstance(cached, Cached) else cached
        assert (counts.hits, counts.misses) in {(10, 5), (15, 0)}


def test_a_tensor_weighs_its_storage():
    for dtype in (torch.float32, torch.int8, torch.complex128, torch.bool):
        assert nbytes(torch.zeros(7, 5, dtype=dtype)) == 35 * dtype.itemsize
    x = torch.zeros(1000)
    assert nbytes(x[::10]) == nbytes(x.expand(50, 1000)) == nbytes(x[:0]) == 4000
    assert nbytes(x[:3].clone()) == 12
    assert nbytes(torch.zeros(0)) == 0


def test_tensors_made_from_one_array_weigh_it_once():
    array = np.zeros(1000)
    two = [torch.from_numpy(array), torch.from_numpy(array)]
    assert nbytes(two) == 8000 + sys.getsizeof(two)


def test_other_objects_weigh_what_python_says():
    text, number = "x" * 1000, 12345678901234567890
    assert nbytes(text) == sys.getsizeof(text)
    assert nbytes([text, text, number]) == sum(
        map(sys.getsizeof, ([text, text, number], text, number)))
    assert nbytes(None) == nbytes(int) == nbytes(math) == 0
    assert nbytes(b"x" * 5000) > 5000


def test_a_numpy_array_weighs_the_memory_that_it_keeps():
    array = np.zeros(10_000)
    assert 80_000 <= nbytes(array) <= 80_200
    assert 80_000 <= nbytes(array[:1]) <= 80_400
    assert 80_000 <= nbytes([array, array[5:], array.reshape(100, 100)]) <= 81_000


def test_a_circle_ends():
    circle = []
    circle.append({"a": circle})
    assert nbytes(circle) < 1000


def tree(dice, depth=0):
    """A random nest of containers around tensors of a few storages, and those storages."""
    pool = [torch.zeros(dice.randrange(1, 200)) for _ in range(4)]
    used = set()

    def grow(depth):
        if depth == 3 or dice.random() < 0.3:
            which = dice.randrange(4)
            used.add(which)
            return pool[which][dice.randrange(pool[which].numel()):]
        children = [grow(depth + 1) for _ in range(dice.randrange(4))]
        kind = dice.choice((list, tuple, deque, Plain, lambda c: Sample(c, 1),
                            lambda c: dict(enumerate(c))))
        return kind(children)
    return grow(0), sum(pool[which].nbytes for which in used)


def shells(thing):
    """The bytes of a tree of the above kinds without its tensors, by recursion."""
    seen = set()

    def walk(thing):
        if isinstance(thing, torch.Tensor) or id(thing) in seen:
            return 0
        seen.add(id(thing))
        inside = thing.items() if isinstance(thing, dict) else (
            [vars(thing)] if hasattr(thing, "__dict__") else
            thing if isinstance(thing, (list, tuple, deque)) else [])
        if isinstance(thing, dict):
            inside = itertools.chain(*inside)
        return sys.getsizeof(thing) + sum(map(walk, inside))
    return walk(thing)


def test_random_trees_weigh_storages_and_shells(counted):
    for seed in range(TREES):
        thing, storages = tree(random.Random(seed))
        assert nbytes(thing) == storages + shells(thing), f"seed {seed}"
    counted("random trees weighed by mini_cache", TREES)


# ---- the cache -----------------------------------------------------------------------------------

def test_random_use_agrees_with_a_model(counted):
    seen = set()
    for seed in range(RUNS):
        dice = random.Random(seed)
        limit = 8 * dice.randrange(12)
        lru, model = LRU(limit), ModelLRU(limit)
        for _ in range(60):
            key, size = dice.randrange(8), dice.randrange(7)
            if dice.random() < 0.4:
                assert lru.get(key) is model.get(key)
            else:
                value = torch.zeros(size, dtype=torch.float64)
                assert lru.put(key, value) == model.put(key, value, 8 * size)
            assert [*lru.kept] == [row[0] for row in model.rows], f"seed {seed}"
            assert lru.bytes == sum(row[2] for row in model.rows) <= lru.limit_bytes
            for counter in ("hits", "misses", "evictions", "refused"):
                assert getattr(lru, counter) == getattr(model, counter), f"seed {seed}"
                seen |= {counter} if getattr(lru, counter) else set()
    assert seen == {"hits", "misses", "evictions", "refused"}
    counted("random runs of mini_cache's LRU", RUNS)


def test_what_is_refused_takes_its_old_value_along():
    lru = LRU(100)
    assert lru.put("a", torch.zeros(10))
    assert not lru.put("a", torch.zeros(100))
    assert (lru.get("a"), lru.bytes, lru.refused, lru.evictions) == (None, 0, 1, 0)


def test_none_can_be_kept():
    lru = LRU(100)
    assert lru.put("a", None)
    assert (lru.get("a", "missing"), lru.get("b", "missing")) == (None, "missing")
    reads = []

    class Nothing(Reads):
        def __getitem__(self, i):
            reads.append(i)
    dataset = Cached(Nothing(3), lru)
    assert [dataset[1], dataset[1]] == [None, None]
    assert reads == [1]


def test_two_views_of_a_storage_count_twice():
    """Evicting one of them would free nothing, but what is kept may not be less than it says."""
    x, lru = torch.zeros(10), LRU(100)
    lru.put("a", x[:1])
    lru.put("b", x[1:])
    assert lru.bytes == 80


# ---- the datasets --------------------------------------------------------------------------------

def lookups(dataset, order):
    for i in order:
        assert dataset[i] == i


def test_a_cache_for_all_reads_each_sample_once():
    dataset = Cached(Reads(50), LRU(8 * 50))
    lookups(dataset, shuffles(50, 4))
    assert (dataset.dataset.reads, dataset.cache.hit_rate) == (50, 0.75)


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5, 0.75, 0.9])
def test_shuffled_epochs_hit_an_lru_as_the_formula_says(fraction):
    n, epochs = 1000, 11
    dataset = Cached(Reads(n), LRU(8 * int(fraction * n)), copy=lambda sample: sample)
    order = shuffles(n, epochs)
    lookups(dataset, order[:n])                          # the first epoch can hit nothing
    dataset.cache.hits = dataset.cache.misses = 0
    lookups(dataset, order[n:])
    assert dataset.cache.hit_rate == pytest.approx(lru_hit_rate(fraction), abs=0.02)


def test_the_formula_at_its_ends_and_against_numbers():
    assert (lru_hit_rate(0), lru_hit_rate(1)) == (0, 1)
    assert lru_hit_rate(0.5) == pytest.approx(0.5 - 0.5 * math.log(2))
    generator = torch.Generator().manual_seed(0)
    u, v = torch.rand(2, 1_000_000, generator=generator)
    for fraction in (0.2, 0.5, 0.8):
        share = (u * v > 1 - fraction).double().mean().item()
        assert lru_hit_rate(fraction) == pytest.approx(share, abs=0.002)


def test_an_lru_never_hits_in_a_scan_that_is_longer_than_it():
    dataset = Cached(Reads(100), LRU(8 * 99))
    lookups(dataset, [*range(100)] * 3)
    assert dataset.cache.hits == 0


@pytest.mark.parametrize("kept", [0, 1, 30, 100])
def test_a_fixed_subset_hits_c_of_n_in_every_epoch(kept):
    dataset = Fixed(Reads(100), range(kept))
    for epoch, seed in enumerate(range(4), 1):
        lookups(dataset, shuffles(100, 1, seed))
        assert (dataset.hits, dataset.misses) == (epoch * kept, epoch * (100 - kept))
    assert dataset.dataset.reads == kept + 4 * (100 - kept)


def test_what_you_change_in_place_stays_as_it_was_in_each_dataset():
    for dataset in (Cached(Reads(5), LRU(100)), Fixed(Reads(5), [3]), ReadAhead(Reads(5), 5)):
        for _ in range(2):
            sample = dataset[3]
            assert sample == 3
            sample.fill_(-1)


def test_all_samples_and_no_others_are_there():
    for dataset in (Cached(Reads(5), LRU(100)), Fixed(Reads(5), [3]), ReadAhead(Reads(5), 2)):
        assert len(dataset) == 5
        assert list(dataset) == [0, 1, 2, 3, 4]
        with pytest.raises(IndexError):
            dataset[5]
    with pytest.raises(IndexError):
        ReadAhead(Reads(5), 2)[-1]


# ---- reading ahead -------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [1, 7, 100, 1000])
def test_in_order_reading_ahead_reads_each_sample_once(size):
    dataset = ReadAhead(Reads(500), size)
    lookups(dataset, range(500))
    assert (dataset.amplification, dataset.dataset.reads) == (1, 500)


def test_shuffled_it_reads_a_block_for_almost_every_sample():
    dataset = ReadAhead(Reads(1000), 100)
    lookups(dataset, shuffles(1000, 1))
    assert 80 < dataset.amplification < 100              # one in ten finds its block there


def test_in_blocks_is_a_shuffle_that_reads_each_block_once(counted):
    for seed in range(RUNS):
        dice = random.Random(seed)
        n, size = dice.randrange(60), dice.randrange(1, 12)
        order = [*in_blocks(n, size, torch.Generator().manual_seed(seed))]
        assert sorted(order) == [*range(n)]
        dataset = ReadAhead(Reads(n), size)
        lookups(dataset, order)
        assert dataset.read == n
    assert [*in_blocks(50, 5)] != [*range(50)]
    assert [*in_blocks(50, 5, torch.Generator().manual_seed(1))] == [
        *in_blocks(50, 5, torch.Generator().manual_seed(1))]
    counted("random orders in blocks of mini_cache", RUNS)


def test_a_dataset_that_gives_many_is_asked_once_a_block():
    asked = []

    class Many(Reads):
        def __getitems__(self, indices):
            asked.append(indices)
            return [torch.tensor(float(i)) for i in indices]
    dataset = ReadAhead(Many(10), 4)
    lookups(dataset, range(10))
    assert asked == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert (dataset.read, dataset.dataset.reads) == (10, 0)


@pytest.mark.parametrize("size", [0, -1])
def test_a_block_of_no_sample_is_refused(size):
    with pytest.raises(ValueError, match=f"size={size}: a block has at least one sample"):
        ReadAhead(Reads(5), size)


# ---- asking the sampler --------------------------------------------------------------------------

def test_distances_say_what_an_lru_of_any_size_hits(counted):
    for seed in range(RUNS):
        dice = random.Random(seed)
        order = dice.choices(range(dice.randrange(1, 12)), k=60)
        distances = reuse_distances(order)
        assert distances.count(math.inf) == len(set(order))
        for room in (0, 1, 2, 5, 12):
            lru = LRU(8 * room)
            hits = []
            for i in order:
                hits.append(lru.get(i) is not None)
                if not hits[-1]:
                    lru.put(i, torch.zeros(1, dtype=torch.float64))
            assert hits == [distance < room for distance in distances], f"seed {seed}"
    counted("random orders whose distances mini_cache tells", RUNS)


def test_distances_are_those_of_a_list_that_is_searched():
    for seed in range(RUNS):
        dice = random.Random(seed)
        order = dice.choices(range(dice.randrange(1, 40)), k=dice.randrange(120))
        assert reuse_distances(iter(order)) == slow_reuse_distances(order), f"seed {seed}"


def test_within_an_epoch_nothing_comes_again():
    assert {*reuse_distances(shuffles(50, 1))} == {math.inf}
    assert reuse_distances([*range(4)] * 2)[4:] == [3, 3, 3, 3]
    assert reuse_distances("aab") == [math.inf, 0, math.inf]


# ---- workers -------------------------------------------------------------------------------------

def reads_of(dataset, base, epochs=3, **arguments):
    """What three epochs read, with two workers."""
    base.counts.zero_()
    loader = DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context="fork",
                        **arguments)
    for _ in range(epochs):
        assert sorted(map(float, loader)) == [*range(len(dataset))]
    return base.reads


def test_a_cache_in_workers_goes_with_them():
    base = Reads(8)
    cached = Cached(base, LRU(1000))
    assert reads_of(cached, base) == 24
    assert reads_of(cached, base, persistent_workers=True) == 8
    assert (len(cached.cache), cached.cache.misses) == (0, 0)    # in this process: never asked


def test_a_fixed_subset_is_there_once_for_all_workers():
    base = Reads(8)
    fixed = Fixed(base, range(6))
    assert reads_of(fixed, base) == 3 * 2


@pytest.mark.slow
def test_a_spawned_worker_gets_the_fixed_subset_in_shared_memory():
    fixed = Fixed(Reads(4), range(4), copy=float)
    assert not fixed.kept[0].is_shared()
    loader = DataLoader(Where(fixed), batch_size=None, num_workers=1,
                        multiprocessing_context="spawn")
    assert next(iter(loader)).all()


# ---- the tour ------------------------------------------------------------------------------------

@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_tour_runs_in_either_language(lang):
    done = subprocess.run([sys.executable, CODE / "mini_cache.py", "--lang", lang],
                          capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(code in done.stdout for code, *_ in mini_cache_tour.STEPS)
    assert ("视图" in done.stdout) == (lang == "zh")
    assert "Error" not in done.stdout
    for shown in ("4000000\n", "['c', 'a', 'd']\n", "(1, 1, 1, 24)\n", "0.5\n"):
        assert shown in done.stdout
