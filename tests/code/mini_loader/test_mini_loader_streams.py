"""Streams of mini_loader, the iterators of iterable datasets, when a worker dies or stalls."""

import itertools
import os
import random
import signal

import pytest
import torch
from torch.utils import data
from torch.utils.data import get_worker_info

from loader_data import Gate
from mini_loader import DataLoader
from oracles import loader_datasets as datasets
from oracles.loader_cases import same
from oracles.loader_datasets import Killing

pytestmark = pytest.mark.usefixtures("start_by_fork", "no_worker_stays")


class Shuffled(data.IterableDataset):
    """Draws an order when it begins and a number for each sample; saves only how far it is."""

    def __init__(self, act, size=10):
        self.act, self.size, self.at = act, size, 0

    def state_dict(self):
        return self.at

    def load_state_dict(self, state):
        self.at = state

    def __iter__(self):
        order = torch.randperm(self.size).tolist()
        while self.at < self.size:
            self.act(self.at)
            self.at += 1
            yield order[self.at - 1], random.random()


class ShuffledAtOnce(Shuffled):
    """The order is drawn by `iter`, not by the first `next`."""

    def __iter__(self):
        order = torch.randperm(self.size).tolist()
        return ((order[n], self.step(n)) for n in range(self.at, self.size))

    def step(self, n):
        self.act(n)
        self.at = n + 1
        return random.random()


@pytest.mark.parametrize("kind", [Shuffled, ShuffledAtOnce])
@pytest.mark.parametrize("at", [0, 1, 2, 5, 9])
def test_a_successor_draws_the_order_of_a_stream_again(kind, at, tmp_path):
    def run(index):
        loader = DataLoader(kind(Killing(index, tmp_path / "deaths")), 2, num_workers=1,
                            generator=torch.Generator().manual_seed(0))
        return [numbers.tolist() for numbers, _ in loader], loader.statistics.restarts
    calm, rough = run(None), run(at)
    assert sorted(itertools.chain(*calm[0])) == list(range(10))
    assert (rough[0], calm[1], rough[1]) == (calm[0], 0, 1)


@pytest.mark.parametrize("kind", [Shuffled, ShuffledAtOnce])
def test_a_stream_draws_alike_with_one_worker_and_without(kind):
    def run(workers):
        loader = DataLoader(kind(lambda n: None), 2, num_workers=workers,
                            generator=torch.Generator().manual_seed(0))
        return list(loader)
    batches = run(0)
    assert same(batches, run(1))
    assert len(set(torch.cat([drawn for _, drawn in batches]).tolist())) == 10


class CountsAfter(datasets.ResumableStream):
    """Says where it is only when the next sample is asked for: too late, against the contract."""

    def __iter__(self):
        while self.at < 6:
            self.act(self.at)
            yield self.at
            self.at += 1


def test_a_state_is_that_after_the_last_sample_given(tmp_path):
    loader = DataLoader(CountsAfter([6], Killing(4, tmp_path / "deaths")), 2, num_workers=1)
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [3, 4], [5]]


# ---- more than one epoch -------------------------------------------------------------------------

class CountsEpochs(data.IterableDataset):
    """Sample i of epoch e is 10 e + i. Of what it knows of epochs, `state_dict` tells all."""

    def __init__(self, act, size=6):
        self.act, self.size, self.epoch, self.at = act, size, -1, 0

    def __iter__(self):
        if self.at in (0, self.size):
            self.epoch, self.at = self.epoch + 1, 0
        while self.at < self.size:
            self.act(10 * self.epoch + self.at)
            self.at += 1
            yield 10 * self.epoch + self.at - 1


class SavesEpochs(CountsEpochs):
    def state_dict(self):
        return self.epoch, self.at

    def load_state_dict(self, state):
        self.epoch, self.at = state


KEPT = {"num_workers": 1, "persistent_workers": True}
LOST = "between two epochs of an IterableDataset.*leave out persistent_workers"


@pytest.mark.parametrize("kind", [CountsEpochs, SavesEpochs])
def test_a_death_before_the_first_answer_of_a_later_epoch_is_no_guess(kind, tmp_path):
    loader = DataLoader(kind(Killing(10, tmp_path / "deaths")), None, **KEPT)
    assert list(loader) == list(range(6))
    with pytest.raises(RuntimeError, match=LOST):
        list(loader)


@pytest.mark.parametrize("kind", [CountsEpochs, SavesEpochs])
def test_an_idle_worker_that_died_takes_its_stream_with_it(kind):
    loader = DataLoader(kind(lambda i: None), None, **KEPT)
    assert list(loader) == list(range(6))
    os.kill(loader.pool.workers[0].process.pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=LOST):
        list(loader)


def test_a_death_amid_a_later_epoch_loses_and_repeats_nothing(tmp_path):
    loader = DataLoader(SavesEpochs(Killing(13, tmp_path / "deaths")), None, **KEPT)
    assert [list(loader), list(loader), list(loader)] == [
        list(range(6)), list(range(10, 16)), list(range(20, 26))]
    assert loader.statistics.restarts == 1


@pytest.mark.parametrize("kind", [CountsEpochs, SavesEpochs])
def test_a_death_before_the_first_answer_of_all_begins_again(kind, tmp_path):
    loader = DataLoader(kind(Killing(0, tmp_path / "deaths")), None, **KEPT)
    assert [list(loader), list(loader)] == [list(range(6)), list(range(10, 16))]


# ---- without order -------------------------------------------------------------------------------

class Stalled(data.IterableDataset):
    """The stream of worker 1 waits for a gate before its first sample."""

    def __init__(self):
        self.gate = Gate()

    def __iter__(self):
        if get_worker_info().id == 1 and not self.gate.wait(60):
            raise TimeoutError("nobody opened the gate")
        yield from [get_worker_info().id] * 20


@pytest.mark.parametrize("kind", [DataLoader, data.DataLoader])
def test_without_order_a_stalled_stream_holds_up_no_other(kind):
    dataset = Stalled()
    batches = iter(kind(dataset, None, num_workers=2, in_order=False, timeout=50))
    assert list(itertools.islice(batches, 20)) == [0] * 20
    dataset.gate.set()
    assert list(batches) == [1] * 20


class ItsOwnIterator(data.IterableDataset):
    """`iter` of it, or of its iterator, which is the same, begins again; `None` is an end."""

    def __init__(self, *answers):
        self.answers = answers

    def __iter__(self):
        self.left = iter(self.answers)
        return self

    def __next__(self):
        if (answer := next(self.left, None)) is None:
            raise StopIteration
        return answer


@pytest.mark.parametrize("kind", [DataLoader, data.DataLoader])
@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(("answers", "samples"), [
    ((1, 2, 3), [1, 2, 3]), ((1, None, 2), [1]), ((None, 1), [])])
def test_a_stream_is_begun_once_and_not_asked_again_after_its_end(kind, workers, answers, samples):
    loader = kind(ItsOwnIterator(*answers), None, num_workers=workers)
    assert list(loader) == samples
