"""The datasets of mini_samples against torch's, the loop of batches, and the tour."""

import subprocess
import sys
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils import data

import mini_samples
import mini_samples_tour
from book.pipeline.ground.paths import CODE
from mini_samples import Concat, EachEpoch, Subset, Transformed, batched, batches, fetch, split
from tests.helpers.depth import cases

many = settings(max_examples=cases(100), deadline=None, derandomize=True)


def seed(number=0):
    return torch.Generator().manual_seed(number)


def result(function, *arguments):
    """What it returns, or the type of what it raises."""
    try:
        return function(*arguments)
    except Exception as error:
        return type(error)


class Asked(list):
    """A dataset that gives many samples at once, and notes how it is asked."""

    def __init__(self, samples):
        super().__init__(samples)
        self.calls = []

    def __getitem__(self, i):
        self.calls.append(i)
        return super().__getitem__(i)

    def __getitems__(self, indices):
        self.calls.append(list(indices))
        return [super(Asked, self).__getitem__(i) for i in indices]


# ---- the samples at a list of indices ------------------------------------------------------------

def test_a_dataset_with_getitems_is_asked_once():
    dataset = Asked("abcd")
    assert fetch(dataset, [3, 0]) == ["d", "a"]
    assert dataset.calls == [[3, 0]]
    assert fetch("abcd", [3, 0]) == ["d", "a"]


def test_a_stack_of_datasets_asks_the_one_below_once():
    below = Asked(range(10))
    dataset = Transformed(Subset(Subset(below, [1, 3, 5, 7]), [3, 2, 0]), lambda x: -x)
    assert fetch(dataset, [0, 1, 2]) == [-7, -5, -1]
    assert below.calls == [[7, 5, 1]]
    below.calls.clear()
    loader = data.DataLoader(dataset, 2)
    assert [batch.tolist() for batch in loader] == [[-7, -5], [-1]]
    assert below.calls == [[7, 5], [1]]


@pytest.mark.parametrize("drop_last", [True, False])
def test_the_loop_makes_the_batches_of_torchs_loader(drop_last):
    dataset = [(torch.full((2,), i), i, f"{i}.png") for i in range(7)]
    found = list(batches(dataset, batched(range(7), 3, drop_last)))
    wanted = list(data.DataLoader(dataset, 3, drop_last=drop_last))
    assert len(found) == len(wanted) == (2 if drop_last else 3)
    for ours, theirs in zip(found, wanted, strict=True):
        assert torch.equal(ours[0], theirs[0])
        assert torch.equal(ours[1], theirs[1])
        assert ours[2] == theirs[2]


def test_the_loop_takes_another_collate():
    assert list(batches("abc", [[2, 0], [1]], "".join)) == ["ca", "b"]


# ---- Subset --------------------------------------------------------------------------------------

@many
@given(st.lists(st.integers(-5, 4), max_size=6), st.lists(st.integers(-7, 6), max_size=4))
def test_subset_gives_what_torchs_gives(indices, asked):
    ours, theirs = (kind(list("abcde"), indices) for kind in (Subset, data.Subset))
    assert len(ours) == len(theirs)
    for i in asked:
        assert result(ours.__getitem__, i) == result(theirs.__getitem__, i)
    assert result(ours.__getitems__, asked) == result(theirs.__getitems__, asked)
    assert list(ours) == list(theirs) == ["abcde"[i] for i in indices]


def test_an_index_that_the_parent_does_not_have_is_refused_when_it_is_asked_for():
    ours, theirs = (kind(range(3), [0, 9]) for kind in (Subset, data.Subset))
    for part in (ours, theirs):
        assert part[0] == 0
        with pytest.raises(IndexError):
            part[1]


# ---- a transform of one part ---------------------------------------------------------------------

class Photos:
    """Numbers for photos, and the transform of a dataset as one finds it in many repositories."""

    def __init__(self, size, transform=None):
        self.size, self.transform = size, transform

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        if not 0 <= i < self.size:
            raise IndexError(i)
        return self.transform(i) if self.transform else i


def augment(photo):
    return photo + 1000


@pytest.mark.parametrize("cut", [split, data.random_split])
def test_naively_split_parts_share_the_transform(cut):
    train, val = cut(Photos(10), [8, 2], seed())
    train.dataset.transform = augment                        # meant for train alone
    assert train.dataset is val.dataset
    assert all(photo >= 1000 for photo in val)


@pytest.mark.parametrize("cut", [split, data.random_split])
def test_a_transform_around_one_part_leaves_the_other_alone(cut):
    train, val = cut(Photos(10), [8, 2], seed())
    train = Transformed(train, augment)
    assert all(photo >= 1000 for photo in train)
    assert all(photo < 1000 for photo in val)
    assert sorted([*(photo - 1000 for photo in train), *val]) == list(range(10))
    assert len(train) == 8


def test_a_transform_is_computed_each_time_it_is_asked_for():
    draws = iter(range(99))
    noisy = Transformed(Photos(3), lambda photo: (photo, next(draws)))
    assert [noisy[1], noisy[1], *fetch(noisy, [1, 0])] == [(1, 0), (1, 1), (1, 2), (0, 3)]


# ---- Concat --------------------------------------------------------------------------------------

@many
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_concat_finds_the_sample_of_each_index_as_torch_does(sizes):
    parts = [[(k, i) for i in range(size)] for k, size in enumerate(sizes)]
    ours, theirs = Concat(parts), data.ConcatDataset(parts)
    whole = [sample for part in parts for sample in part]
    assert len(ours) == len(theirs) == len(whole)
    for i in range(-len(whole), len(whole)):
        assert ours[i] == theirs[i] == whole[i]
    for i in (len(whole), len(whole) + 3):
        assert result(ours.__getitem__, i) is result(theirs.__getitem__, i) is IndexError
    assert list(ours) == whole                               # IndexError ends the loop


def test_below_the_first_sample_an_index_error_where_torch_has_a_value_error():
    assert result(Concat([range(2), range(3)]).__getitem__, -6) is IndexError
    assert result(data.ConcatDataset([range(2), range(3)]).__getitem__, -6) is ValueError


def test_concat_of_nothing_and_of_a_stream_is_refused():
    assert result(Concat, []) is ValueError
    assert result(data.ConcatDataset, []) is AssertionError
    assert result(Concat, [iter("ab")]) is TypeError


def test_concat_asks_for_the_lengths_once():
    growing = [1, 2]
    ours, theirs = Concat([growing, "ab"]), data.ConcatDataset([growing, "ab"])
    growing.append(3)
    assert [ours[2], len(ours)] == [theirs[2], len(theirs)] == ["a", 4]


# ---- split ---------------------------------------------------------------------------------------

def indices(cut, n, sizes):
    """The indices of the parts, or the type of what is raised; torch warns of empty parts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = result(cut, range(n), sizes, seed(n))
    return parts if isinstance(parts, type) else [part.indices for part in parts]


@many
@given(st.lists(st.integers(0, 9), min_size=1, max_size=5), st.integers(-1, 1))
def test_whole_sizes_split_as_random_split_does(sizes, more):
    n = max(sum(sizes) + more * (sum(sizes) > 3), 0)
    assert indices(split, n, sizes) == indices(data.random_split, n, sizes)


@many
@given(st.integers(0, 60), st.lists(st.integers(0, 12), min_size=1, max_size=5))
def test_fractions_split_as_random_split_does(n, shares):
    fractions = [share / max(sum(shares), 1) for share in shares]
    assert indices(split, n, fractions) == indices(data.random_split, n, fractions)


def test_what_is_left_of_fractions_goes_to_the_first_parts():
    assert [len(part) for part in split(range(10), [0.25, 0.25, 0.5])] == [3, 2, 5]
    assert [len(part) for part in split(range(11), [1 / 3, 1 / 3, 1 / 3])] == [4, 4, 3]


@many
@given(st.integers(1, 40), st.integers(0, 40))
def test_the_parts_share_no_sample_and_miss_none(n, first):
    first = min(first, n)
    found = indices(split, n, [first, n - first])
    assert [len(part) for part in found] == [first, n - first]
    assert sorted(i for part in found for i in part) == list(range(n))


@pytest.mark.parametrize("sizes", [[0.5, 0.6], [0.7, 0.2], [3, 3], [2, -1], [1.5, -0.5], []])
def test_sizes_that_do_not_add_up_are_refused(sizes):
    assert indices(split, 10, sizes) is indices(data.random_split, 10, sizes) is ValueError


def test_a_negative_size_is_refused_where_torch_gives_other_sizes():
    assert indices(split, 10, [12, -2]) is ValueError
    assert not isinstance(indices(data.random_split, 10, [12, -2]), type)


# ---- in torch's loader ---------------------------------------------------------------------------

def test_a_function_of_an_order_is_a_sampler_that_begins_again_each_epoch():
    loader = data.DataLoader(range(5), sampler=EachEpoch(mini_samples.shuffled, 5, seed()),
                             batch_size=None)
    generator = seed()
    wanted = [mini_samples.shuffled(5, generator) for _ in range(2)]
    assert [list(loader), list(loader)] == wanted
    assert wanted[0] != wanted[1]
    assert result(len, loader) is TypeError


def test_batches_of_several_sizes_go_into_torchs_loader():
    lengths = [1, 9, 2, 8, 1, 7, 2, 9]
    samples = [torch.full((length,), i) for i, length in enumerate(lengths)]
    order = EachEpoch(mini_samples.token_batches, lengths, 18, 8, seed())
    loader = data.DataLoader(samples, batch_sampler=order, collate_fn=mini_samples.pad)
    found = list(loader)
    assert all(batch.mask.numel() <= 18 for batch in found)
    assert len({len(batch.lengths) for batch in found}) > 1
    assert sorted(i for batch in found for i in batch.values[batch.mask].unique().tolist()) == [
        *range(8)]


# ---- the tour ------------------------------------------------------------------------------------

@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_tour_runs_in_either_language(lang):
    done = subprocess.run([sys.executable, CODE / "mini_samples.py", "--lang", lang],
                          capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Error: ") == 1
    assert all(code in done.stdout for code, *_ in mini_samples_tour.STEPS)
    assert ("视图" in done.stdout) == (lang == "zh")


def test_the_lesson_gives_all_that_its_parts_have():
    assert all(hasattr(mini_samples, name) for name in mini_samples.__all__)
