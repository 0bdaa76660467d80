"""What is wrong with a cache as one writes it first, and that mini_cache does not do it."""

import pickle
import random
from collections import OrderedDict, deque

import pytest
import torch

from mini_cache import LRU, Cached, ReadAhead, nbytes, reuse_distances
from oracles.cache_models import (
    NaiveAhead,
    NaiveCache,
    NaiveCached,
    Noisy,
    Reads,
    slow_reuse_distances,
)


def number():
    return torch.zeros(1, dtype=torch.float64)


def used_long_ago(cache):
    """Room for three. `a` is used five times, then c, b and b again; then d comes."""
    for key in "abc":
        cache.put(key, number())
    for key in "aaaaacbb":
        cache.get(key)
    cache.put("d", number())
    return sorted(cache.kept)


def test_counting_uses_keeps_what_was_hot_long_ago():
    assert used_long_ago(NaiveCache(24)) == ["a", "b", "d"]      # least FREQUENTLY used: LFU
    assert used_long_ago(LRU(24)) == ["b", "c", "d"]


def test_a_key_put_again_counts_once():
    naive, lru = NaiveCache(100), LRU(100)
    for cache in (naive, lru):
        cache.put("a", number())
        cache.put("a", number())
    assert (naive.bytes, lru.bytes) == (16, 8)
    naive.limit_bytes = 16
    naive.put("b", number())
    with pytest.raises(KeyError, match="a"):                     # twice in the order, once in it
        naive.put("c", torch.zeros(2, dtype=torch.float64))


def test_a_value_over_the_limit_empties_no_cache():
    naive, lru = NaiveCache(16), LRU(16)
    for cache in (naive, lru):
        cache.put("a", number())
        cache.put("big", torch.zeros(1000, dtype=torch.float64))
    assert ([*naive.kept], naive.bytes) == (["big"], 8000)
    assert ([*lru.kept], lru.bytes, lru.refused) == (["a"], 8, 1)


def test_a_dict_of_tensors_weighs_more_than_its_shell():
    image = {"img": torch.zeros(3, 224, 224)}
    assert NaiveCache.size(image) < 1_000
    assert nbytes(image) > image["img"].nbytes == 602_112


def test_a_view_weighs_the_storage_that_it_keeps():
    view = torch.zeros(1000, 1000)[0, :1]
    assert (NaiveCache.size(view), nbytes(view)) == (4, 4_000_000)


def test_a_hit_rate_needs_misses():
    naive, lru = NaiveCache(100), LRU(100)
    for cache in (naive, lru):
        cache.put("a", number())
        for key in ("a", *range(8)):
            cache.get(key)
    assert naive.hit_rate == 1.0
    assert (lru.hits, lru.misses, lru.hit_rate) == (1, 8, 1 / 9)


def test_a_lock_does_not_go_to_a_worker_that_is_spawned():
    with pytest.raises(TypeError, match="cannot pickle"):
        pickle.dumps(NaiveCache(100))
    lru = LRU(100)
    lru.put("a", number())
    copy = pickle.loads(pickle.dumps(lru))
    assert (copy.limit_bytes, len(copy), copy.bytes) == (100, 0, 0)


class Equals:
    """A key that counts how often it is compared."""

    compared = 0

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return self.name

    def __eq__(self, other):
        Equals.compared += 1
        return self.name == other.name


def comparisons(use, keys):
    Equals.compared = 0
    for key in keys:
        use(key)
    return Equals.compared / len(keys)


@pytest.mark.parametrize("n", [100, 1_000])
def test_a_hit_costs_the_same_in_a_large_cache(n):
    """deque.remove compares with half of all keys; move_to_end with none."""
    keys = [Equals(name) for name in range(n)]
    wanted = [Equals(name) for name in random.Random(0).choices(range(n), k=200)]
    order, lru = deque(keys), LRU(8 * n)
    for key in keys:
        lru.put(key, number())

    def moved(key):
        order.remove(key)
        order.append(key)
    assert comparisons(moved, wanted) > n / 4
    assert comparisons(lru.get, wanted) <= 4
    assert lru.hits == 200
    assert type(lru.kept) is OrderedDict


@pytest.mark.parametrize("n", [100, 1_000])
def test_a_distance_is_found_without_a_search_through_all_indices(n):
    names = random.Random(0).choices(range(n), k=4 * n)

    def compared(distances):
        Equals.compared = 0
        found = distances(map(Equals, names))
        return Equals.compared / len(names), found
    searched, quick = compared(slow_reuse_distances), compared(reuse_distances)
    assert searched[1] == quick[1]
    assert searched[0] > n / 4
    assert quick[0] <= 4


def test_what_you_change_in_place_is_not_changed_in_the_cache():
    for kind, then in ((NaiveCached, -1.0), (Cached, 3.0)):
        dataset = kind(Reads(5), (NaiveCache if kind is NaiveCached else LRU)(100))
        for _ in range(2):                                       # a miss, then a hit
            assert dataset[3] in (3.0, then)
            dataset[3].fill_(-1.0)
        assert dataset[3] == then


def test_a_cache_around_an_augmentation_freezes_it():
    frozen = Cached(Noisy(4), LRU(1_000_000))
    assert frozen[2][1] == frozen[2][1]

    class Augmented(Cached):
        def __getitem__(self, i):
            return super().__getitem__(i), torch.rand(())
    alive = Augmented(Reads(4), LRU(1_000))
    assert alive[2][1] != alive[2][1]
    assert alive.dataset.reads == 1


def test_reading_ahead_of_shuffled_indices_reads_hundreds_for_each():
    indices = torch.randperm(3_000, generator=torch.Generator().manual_seed(0)).tolist()
    naive, ahead = NaiveAhead(Reads(3_000), 1_000), ReadAhead(Reads(3_000), 1_000)
    for dataset in (naive, ahead):
        for i in indices[:50]:
            dataset[i]
    assert naive.dataset.reads > 25_000
    assert ahead.dataset.reads == ahead.read > 25_000            # both bad, and this one tells
    with pytest.raises(KeyError):
        NaiveAhead(Reads(10), 10)[10]
    with pytest.raises(IndexError, match=r"10 is not in range\(10\)"):
        ReadAhead(Reads(10), 10)[10]
    assert list(ReadAhead(Reads(10), 4)) == list(range(10))      # iteration ends with IndexError
