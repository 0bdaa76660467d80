"""The orders of mini_samples: torch's samplers index by index, or their law; buckets that lose
nothing and keep to their budget."""

import itertools
import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils import data

from mini_samples import (
    batched,
    bucketed,
    mixed,
    pad,
    ranked,
    shuffled,
    token_batches,
    waste,
    weighted,
)
from tests.helpers.depth import cases

many = settings(max_examples=cases(100), deadline=None, derandomize=True)
DRAWS = cases(4_000)


def seed(number=0):
    return torch.Generator().manual_seed(number)


def follows(counts, law):
    """Whether counts of outcomes are near what the law says: each within 5 standard deviations."""
    total = sum(counts.values())
    assert math.isclose(sum(law.values()), 1)
    return set(counts) <= {one for one, p in law.items() if p} and all(
        abs(counts[one] - total * p) <= 5 * math.sqrt(total * p * (1 - p)) + 1e-9
        for one, p in law.items())


def flat(groups):
    return [i for group in groups for i in group]


# ---- shuffled ------------------------------------------------------------------------------------

def test_shuffled_draws_what_the_random_sampler_draws():
    for n in (0, 1, 2, 10, 1000):
        if n:                                                # torch refuses an empty dataset
            assert shuffled(n, seed(n)) == list(data.RandomSampler(range(n), generator=seed(n)))
        assert sorted(shuffled(n)) == list(range(n))


def test_every_order_is_as_likely_as_any_other():
    generator = seed()
    found = Counter(tuple(shuffled(4, generator)) for _ in range(DRAWS))
    assert follows(found, dict.fromkeys(itertools.permutations(range(4)), 1 / 24))


@pytest.mark.parametrize("draw", [
    lambda g: shuffled(9, g), lambda g: weighted([1, 2, 3], 9, True, g),
    lambda g: weighted([1, 2, 3], 3, False, g), lambda g: bucketed(list(range(9)), 2, 4, g),
    lambda g: token_batches(list(range(9)), 9, 4, g),
    lambda g: list(mixed(["abcde", "vwxyz"], [1, 1], g))])
def test_the_generator_decides_what_is_drawn_and_torchs_own_stays_as_it_is(draw):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert draw(seed(3)) == draw(seed(3))
    assert len({str(draw(seed(number))) for number in range(20)}) > 1
    assert torch.equal(torch.get_rng_state(), before)
    first = draw(None)
    assert not torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(0)
    assert draw(None) == first


# ---- weighted ------------------------------------------------------------------------------------

def torchs(weights, count, replacement, generator):
    return list(data.WeightedRandomSampler(weights, count, replacement, generator))


BOTH = pytest.mark.parametrize("draw", [weighted, torchs])


@BOTH
@pytest.mark.parametrize("weights", [[1, 2, 3, 4], [0, 1, 0, 5], [1e-6, 1e6], [7], [0.1] * 10])
def test_with_replacement_an_index_comes_in_proportion_to_its_weight(draw, weights):
    found = Counter(draw(weights, DRAWS, True, seed()))
    assert follows(found, {i: w / sum(weights) for i, w in enumerate(weights)})


@BOTH
@pytest.mark.parametrize("weights", [[1, 2, 3], [1, 1, 8], [5, 5, 5, 5]])
def test_without_replacement_the_next_comes_in_proportion_to_the_weights_left(draw, weights):
    generator, total = seed(), sum(weights)
    found = Counter(tuple(draw(weights, 2, False, generator)) for _ in range(DRAWS))
    assert follows(found, {
        (i, j): weights[i] / total * weights[j] / (total - weights[i])
        for i, j in itertools.permutations(range(len(weights)), 2)})


@BOTH
def test_all_samples_without_replacement_are_each_of_them_once(draw):
    assert sorted(draw([3, 1, 2, 9], 4, False, seed())) == [0, 1, 2, 3]


@BOTH
def test_one_weight_for_each_class_draws_the_first_samples_alone(draw):
    labels = torch.tensor([0] * 90 + [1] * 10)
    naive = draw(torch.tensor([1.0, 10.0]), 100, True, seed())
    assert set(naive) == {0, 1}                              # of a hundred samples
    share = 1 / torch.bincount(labels)
    drawn = draw(share[labels], 1000, True, seed())
    assert 420 < int(labels[drawn].sum()) < 580


@BOTH
def test_an_epoch_with_replacement_leaves_a_third_of_the_samples_out(draw):
    found = draw(torch.ones(10_000), 10_000, True, seed())
    assert abs(len(set(found)) / 10_000 - (1 - 1 / math.e)) < 0.02


@BOTH
@pytest.mark.parametrize(("weights", "count", "replacement"), [
    ([1, -1], 1, True), ([1, float("nan")], 1, True), ([1, float("inf")], 1, True),
    ([0, 0], 1, True), ([], 1, True), ([[1, 2]], 1, True), ([1, 2], 0, True), ([1, 2], -1, False),
    ([1, 2], 3, False), ([0, 0], 1, False)])
def test_weights_without_a_law_are_refused(draw, weights, count, replacement):
    with pytest.raises((ValueError, RuntimeError)):
        draw(weights, count, replacement, seed())
    with pytest.raises(ValueError):                          # noqa: PT011
        weighted(weights, count, replacement, seed())


def test_without_replacement_torch_fills_up_with_samples_of_weight_0():
    assert set(torchs([0, 1, 0, 1], 3, False, seed())) > {1, 3}


def test_a_sample_of_weight_0_is_never_drawn():
    assert set(weighted([0, 1, 0, 1], 1000, True, seed())) == {1, 3}
    assert set(weighted([0, 1, 0, 1], 2, False, seed())) == {1, 3}
    with pytest.raises(ValueError, match="2 have a weight above 0"):
        weighted([0, 1, 0, 1], 3, False, seed())


def test_a_point_on_a_border_belongs_to_the_sample_that_begins_there(monkeypatch):
    monkeypatch.setattr(torch, "rand", lambda *_, **__: torch.tensor([0, 0.25, 0.5]).double())
    assert weighted([0, 1, 1, 2, 0], 3) == [1, 2, 3]


# ---- ranked --------------------------------------------------------------------------------------

@many
@given(st.integers(0, 40), st.integers(1, 9), st.integers(0, 3), st.integers(0, 3), st.booleans(),
       st.booleans())
def test_every_rank_sees_what_the_distributed_sampler_gives_it(n, world, epoch, key, drop_last,
                                                               shuffle):
    for rank in range(world):
        theirs = data.DistributedSampler(range(n), world, rank, shuffle, key, drop_last)
        theirs.set_epoch(epoch)
        assert ranked(n, rank, world, epoch, key, drop_last, shuffle) == list(theirs)


@many
@given(st.integers(0, 40), st.integers(1, 9), st.booleans())
def test_ranks_see_equally_many_and_together_everything(n, world, drop_last):
    found = [ranked(n, rank, world, drop_last=drop_last) for rank in range(world)]
    assert len({len(one) for one in found}) == 1
    seen = Counter(flat(found))
    if drop_last:
        assert max(seen.values(), default=1) == 1
        assert len(seen) == n // world * world
    elif n:
        assert set(seen) == set(range(n))
        assert sum(seen.values()) == math.ceil(n / world) * world


def test_a_rank_that_is_not_there_is_refused():
    for rank in (-1, 2, 5):
        with pytest.raises(ValueError, match=f"rank {rank} of 2"):
            ranked(8, rank, 2)
        with pytest.raises(ValueError, match=f"rank {rank}"):
            data.DistributedSampler(range(8), 2, rank)


def test_the_epoch_decides_the_order():
    assert ranked(20, 0, 2, epoch=0) != ranked(20, 0, 2, epoch=1)
    assert ranked(20, 0, 2, epoch=1, seed=4) == ranked(20, 0, 2, epoch=4, seed=1)  # they are added


# ---- mixed ---------------------------------------------------------------------------------------

def test_a_mixture_draws_its_sources_in_proportion():
    found = itertools.islice(mixed([itertools.repeat("a"), itertools.repeat("b")], [3, 1], seed()),
                             DRAWS)
    assert follows(Counter(found), {"a": 0.75, "b": 0.25})


@many
@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.integers(0, 99))
def test_until_the_last_each_sample_comes_once_and_in_its_own_order(sizes, key):
    sources = [[(k, i) for i in range(size)] for k, size in enumerate(sizes)]
    found = list(mixed(sources, [1] * len(sizes), seed(key), until="last"))
    for k, source in enumerate(sources):
        assert [sample for sample in found if sample[0] == k] == source
    assert len(found) == sum(sizes)


@many
@given(st.lists(st.integers(0, 6), min_size=1, max_size=4), st.integers(0, 99))
def test_until_the_first_it_ends_when_a_source_is_drawn_that_is_empty(sizes, key):
    sources = [[(k, i) for i in range(size)] for k, size in enumerate(sizes)]
    found = list(mixed(sources, [1] * len(sizes), seed(key)))
    assert any(Counter(k for k, _ in found)[k] == size for k, size in enumerate(sizes))
    assert found == list(mixed(sources, [1] * len(sizes), seed(key), until="last"))[:len(found)]


def test_a_short_source_ends_a_mixture_early():
    short, long = "abc", range(10_000)
    assert len(list(mixed([short, long], [1, 1], seed()))) < 100
    found = list(mixed([short, long], [1, 1], seed(), until="last"))
    assert len(found) == 10_003
    assert not set(short) & set(found[100:])                  # the tail is of one source alone


def test_a_source_of_weight_0_is_never_asked():
    assert list(mixed(["ab", "xyz"], [0, 1], seed(), until="last")) == ["x", "y", "z"]


@pytest.mark.parametrize(("sources", "weights", "until"), [
    (["ab"], [1, 1], "first"), (["ab", "cd"], [1], "first"), (["ab"], [1], "never"),
    (["ab", "cd"], [0, 0], "first"), (["ab", "cd"], [1, -1], "first"), ([], [], "first")])
def test_a_mixture_without_a_law_is_refused(sources, weights, until):
    with pytest.raises(ValueError):                          # noqa: PT011
        list(mixed(sources, weights, seed(), until))


# ---- batched -------------------------------------------------------------------------------------

@many
@given(st.lists(st.integers(), max_size=20), st.integers(1, 7), st.booleans())
def test_batched_groups_as_the_batch_sampler_does(indices, size, drop_last):
    assert list(batched(indices, size, drop_last)) == list(
        data.BatchSampler(indices, size, drop_last))


def test_batched_takes_no_more_than_it_gives():
    endless = itertools.count()
    assert list(itertools.islice(batched(endless, 3), 2)) == [[0, 1, 2], [3, 4, 5]]
    assert next(endless) == 6


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_without_samples_is_refused(size):
    with pytest.raises(ValueError, match=f"size={size}"):
        list(batched(range(4), size))
    with pytest.raises(ValueError, match="batch_size"):
        data.BatchSampler(range(4), size, False)


# ---- buckets -------------------------------------------------------------------------------------

LENGTHS = st.lists(st.integers(0, 30), max_size=40)


@many
@given(LENGTHS, st.integers(1, 5), st.integers(1, 6), st.integers(0, 99))
def test_bucketed_gives_every_index_once(lengths, size, times, key):
    found = bucketed(lengths, size, size * times, seed(key))
    assert sorted(flat(found)) == list(range(len(lengths)))
    assert sorted(map(len, found), reverse=True) == [
        len(batch) for batch in batched(lengths, size)]


@many
@given(LENGTHS, st.integers(1, 4), st.integers(0, 99))
def test_in_one_window_no_length_lies_between_those_of_another_batch(lengths, size, key):
    found = bucketed(lengths, size, size * 40, seed(key))
    ranges = sorted([min(of), max(of)] for of in ([lengths[i] for i in batch] for batch in found))
    assert flat(ranges) == sorted(flat(ranges))


@many
@given(LENGTHS, st.integers(30, 90), st.integers(1, 40), st.integers(0, 99))
def test_token_batches_give_every_index_once_within_the_budget(lengths, budget, window, key):
    found = token_batches(lengths, budget, window, seed(key))
    assert sorted(flat(found)) == list(range(len(lengths)))
    assert all(batch and len(batch) * max(lengths[i] for i in batch) <= budget for batch in found)


def test_a_naive_budget_counts_tokens_before_padding():
    def naive(lengths, budget):
        batch = []
        for i, length in enumerate(lengths):
            if sum(lengths[j] for j in batch) + length > budget:
                yield batch
                batch = []
            batch.append(i)
        yield batch

    lengths = [1] * 10 + [20]
    samples = [torch.zeros(length) for length in lengths]
    assert [batch for batch in naive(lengths, 30) if pad([samples[i] for i in batch])
            .values.numel() > 30] == [list(range(11))]       # 220 places
    assert all(pad([samples[i] for i in batch]).values.numel() <= 30
               for batch in token_batches(lengths, 30, 11, seed()))


@many
@given(st.integers(1, 60), st.integers(61, 99), st.integers(0, 5))
def test_a_sample_longer_than_the_budget_is_refused_by_its_index(budget, length, place):
    lengths = [1] * 5
    lengths.insert(place, length)
    with pytest.raises(ValueError, match=rf"sample {place} has {length} tokens, .* {budget};"):
        token_batches(lengths, budget, 4)
    assert list(map(len, token_batches([budget] * 6, budget, 4))) == [1] * 6     # as long as it


def test_a_batch_of_any_length_may_come_first():
    lengths, generator = [1, 1, 5, 5, 9, 9], seed()
    for draw in (lambda: bucketed(lengths, 2, 6, generator),
                 lambda: token_batches(lengths, 18, 6, generator)):
        longest = [max(lengths[i] for i in draw()[0]) for _ in range(DRAWS // 4)]
        assert len(set(longest)) > 1
    found = Counter(max(lengths[i] for i in bucketed(lengths, 2, 6, generator)[0])
                    for _ in range(DRAWS))
    assert follows(found, dict.fromkeys([1, 5, 9], 1 / 3))


def test_equal_lengths_are_grouped_by_chance():
    generator = seed()
    found = Counter(frozenset(map(frozenset, bucketed([7] * 4, 2, 4, generator)))
                    for _ in range(DRAWS))
    pairings = [frozenset(map(frozenset, pair)) for pair in (
        [[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]])]
    assert follows(found, dict.fromkeys(pairings, 1 / 3))


def test_a_larger_window_leaves_less_padding():
    lengths = (torch.rand(4096, generator=seed()) * 500 + 1).int().tolist()
    plain = waste(lengths, batched(shuffled(4096, seed()), 32))
    found = [waste(lengths, bucketed(lengths, 32, 32 * times, seed())) for times in (1, 4, 16, 128)]
    assert abs(found[0] - plain) < 0.02                      # a window of one batch saves nothing
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.4
    assert found[-1] < 0.02


@pytest.mark.parametrize(("size", "window"), [(3, 4), (0, 4), (-2, 4), (4, 0), (4, 2)])
def test_a_window_that_is_no_multiple_of_the_size_is_refused(size, window):
    with pytest.raises(ValueError):                          # noqa: PT011
        bucketed([1, 2, 3, 4], size, window)


# ---- waste ---------------------------------------------------------------------------------------

@many
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 5))
def test_waste_is_the_share_of_places_that_the_mask_leaves_out(lengths, size):
    masks = [pad([torch.ones(lengths[i]) for i in batch]).mask
             for batch in batched(range(len(lengths)), size)]
    wanted = sum(int((~mask).sum()) for mask in masks) / sum(mask.numel() for mask in masks)
    assert waste(lengths, batched(range(len(lengths)), size)) == pytest.approx(wanted)
