"""A run that stops inside an epoch loses no sample and repeats none, whoever asked ahead."""

from collections import Counter
from itertools import chain, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from mini_samples import Resumable, ranked
from tests.helpers.depth import cases

many = settings(max_examples=cases(100), deadline=None, derandomize=True)
few = settings(max_examples=cases(8), deadline=None, derandomize=True)
process = st.tuples(st.integers(1, 6), st.integers(1, 7), st.integers(0, 12))  # ranks, batch, steps


def flat(lists):
    return list(chain.from_iterable(lists))


def go_on(n, world, size, steps, state, ahead=0):
    """Samples trained on by `world` ranks in at most `steps` steps of one epoch, and the state."""
    samplers, found = [Resumable(n, size, rank, world, seed=4) for rank in range(world)], []
    for sampler in samplers:
        if state:
            sampler.load_state_dict(state)
        batches = iter(sampler)
        asked = list(islice(batches, ahead))               # a loader asks ahead
        for _ in range(min(steps, len(sampler))):
            asked += islice(batches, 1)
            found += asked.pop(0)
            sampler.trained()
    states = [sampler.state_dict() for sampler in samplers]
    assert all(one == states[0] for one in states)
    return found, states[0]


@many
@given(st.integers(1, 60), st.lists(process, max_size=5), st.integers(1, 6), st.integers(0, 5))
def test_any_stops_any_ranks_any_prefetch_lose_nothing(n, processes, last, ahead):
    seen, state = Counter(), None
    for world, size, steps in [*processes, (last, 3, 60)]:
        gone = state["gone"] if state else 0
        found, state = go_on(n, world, size, steps, state, ahead)
        seen.update(found)
        if state["epoch"] == 1:
            break
    assert set(seen) == set(range(n))
    assert state == {"n": n, "seed": 4, "epoch": 1, "gone": 0}
    twice = seen.total() - n                               # only to make ranks equal, at the end
    assert twice == -(n - gone) % world
    assert max(seen.values()) <= max(2, world)


@many
@given(st.integers(1, 60), process)
def test_the_same_ranks_go_on_with_the_batches_that_would_have_come(n, one):
    world, size, steps = one
    for rank in range(world):
        sampler = Resumable(n, size, rank, world)
        whole = list(sampler)
        assert len(whole) == len(sampler)
        for _ in range(min(steps, len(whole) - 1)):
            sampler.trained()
        if n % world == 0:
            assert list(sampler) == whole[min(steps, len(whole) - 1):]
        again = Resumable(n, size, rank, world, seed=9)
        again.load_state_dict(sampler.state_dict())
        assert list(again) == list(sampler)


@many
@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 3))
def test_an_epoch_from_its_begin_is_that_of_the_distributed_sampler(n, world, epoch):
    for rank in range(world):
        sampler = Resumable(n, 3, rank, world, seed=2)
        sampler.load_state_dict({"n": n, "seed": 2, "epoch": epoch, "gone": 0})
        assert flat(sampler) == ranked(n, rank, world, epoch, seed=2)


@few
@given(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3), st.integers(0, 9))
def test_what_workers_have_prefetched_comes_again(workers, later, prefetch, steps):
    def load(sampler, workers):
        options = {"multiprocessing_context": "fork", "prefetch_factor": prefetch}
        return DataLoader(range(20), batch_sampler=sampler, num_workers=workers,
                          **options if workers else {})
    first, second, seen = Resumable(20, 2), Resumable(20, 2), []
    for batch in islice(load(first, workers), steps):
        seen += batch.tolist()
        first.trained()
    second.load_state_dict(first.state_dict())
    for batch in load(second, later):
        seen += batch.tolist()
        second.trained()
    assert sorted(seen) == list(range(20))
    assert second.state_dict() == {"n": 20, "seed": 0, "epoch": 1, "gone": 0}


def test_epochs_follow_one_another_in_other_orders():
    sampler, orders = Resumable(30, 4), []
    for _ in range(3):
        orders.append(flat(sampler))
        for _ in range(len(sampler)):
            sampler.trained()
    assert [sorted(order) for order in orders] == [list(range(30))] * 3
    assert orders[0] != orders[1] != orders[2]
    assert sampler.epoch == 3


def test_what_cannot_go_on_is_refused():
    for wrong in ((8, 2, 2, 2), (8, 2, -1, 2), (0, 2), (8, 0)):
        with pytest.raises(ValueError, match="rank"):
            Resumable(*wrong)
    with pytest.raises(ValueError, match="8 samples, the dataset has 9"):
        Resumable(9, 2).load_state_dict(Resumable(8, 2).state_dict())


@pytest.mark.parametrize(("state", "words"), [
    ({}, "no state of Resumable: n, seed, epoch, gone missing or no integer"),
    ({"weight": "of a model\n"}, "no state of Resumable: n, seed"),
    (None, "no state of Resumable"),
    ({"n": 8, "seed": 0, "epoch": 0}, "no state of Resumable: gone missing"),
    ({"n": 8, "seed": 0, "epoch": None, "gone": 0}, "no state of Resumable: epoch missing or no"),
    ({"n": 8, "seed": 0, "epoch": 0, "gone": 8}, "damaged: epoch 0, 8 of 8 samples gone"),
    ({"n": 8, "seed": 0, "epoch": 0, "gone": -2}, "damaged"),
    ({"n": 8, "seed": 0, "epoch": -1, "gone": 0}, "damaged"),
])
def test_a_foreign_or_damaged_state_is_refused_in_one_line(state, words):
    sampler = Resumable(8, 2, seed=5)
    with pytest.raises(ValueError, match=words) as found:
        sampler.load_state_dict(state)
    assert "\n" not in str(found.value)
    assert sampler.state_dict() == {"n": 8, "seed": 5, "epoch": 0, "gone": 0}


def test_where_fewer_are_left_than_ranks_miss_they_come_more_than_twice():
    ranks = [Resumable(5, 1, rank, 4) for rank in range(4)]
    ranks[0].trained()
    for sampler in ranks[1:]:
        sampler.load_state_dict(ranks[0].state_dict())
    [last] = {i for sampler in ranks for i in flat(sampler)}
    assert [flat(sampler) for sampler in ranks] == [[last]] * 4
    assert [ranked(1, rank, 4) for rank in range(4)] == [[0]] * 4
