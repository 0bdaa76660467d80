"""Where mini_loader's arguments mean what torch's mean: each is tried with both loaders."""

import itertools
import multiprocessing
import pickle
import time
import warnings

import pytest
import torch
from torch.utils import data

import mini_loader
import mini_loader_pool
import mini_loader_slots
from loader_data import Acting, Draws, Gated, Numbers, Stream
from mini_loader import DataLoader
from oracles import loader_datasets as datasets
from oracles.loader_cases import same

pytestmark = [pytest.mark.usefixtures("start_by_fork", "no_worker_stays"),
              pytest.mark.filterwarnings("ignore:This DataLoader will create")]    # of torch's
BOTH = pytest.mark.parametrize("kind", [DataLoader, data.DataLoader])
WORKERS = pytest.mark.parametrize("workers", [0, 1, 2])


def outcomes(batches, most=40):
    """What each `next` gives: a value, or the type of an error, up to StopIteration."""
    found = []
    for _ in range(most):
        try:
            found.append(next(batches))
        except StopIteration:
            return [one.tolist() if isinstance(one, torch.Tensor) else one for one in found]
        except Exception as error:
            found.append(type(error))
    raise AssertionError(f"no end: {found}")


@BOTH
def test_a_prefetch_factor_that_is_no_whole_number_is_a_type_error(kind):
    with pytest.raises(TypeError):
        iter(kind(range(4), num_workers=1, prefetch_factor=1.5))


# ---- StopIteration where it ends nothing ---------------------------------------------------------

class Ends:
    """Raises StopIteration, as `next(iter([]))` does."""

    def __call__(self, *_):
        return next(iter([]))


class EndsForFour(Ends):
    def __call__(self, samples):
        return super().__call__() if 4 in samples else samples


class EndsAtIter(data.IterableDataset):
    def __iter__(self):
        raise StopIteration


class EndsWhenSaved(datasets.ResumableStream):
    def state_dict(self):
        raise StopIteration


@WORKERS
def test_stop_iteration_of_a_collate_fn_is_an_error_of_its_batch(workers):
    batches = iter(DataLoader(range(12), 2, num_workers=workers, collate_fn=EndsForFour()))
    assert outcomes(batches) == [[0, 1], [2, 3], RuntimeError, [6, 7], [8, 9], [10, 11]]


@pytest.mark.parametrize(("arguments", "workers"), [
    ({"dataset": EndsAtIter()}, 0), ({"dataset": EndsAtIter()}, 2),
    ({"dataset": range(4), "worker_init_fn": Ends()}, 2), ({"dataset": EndsWhenSaved([3])}, 2)])
def test_stop_iteration_from_elsewhere_does_not_end_an_epoch_in_silence(arguments, workers):
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(DataLoader(**arguments, num_workers=workers))


class Unpinnable:
    def pin_memory(self):
        raise StopIteration


@pytest.fixture
def accelerator(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)

    def named(device):
        monkeypatch.setattr(torch.accelerator, "current_accelerator",
                            lambda: torch.device(device))
    return named


def test_stop_iteration_while_pinning_does_not_end_an_epoch_in_silence(accelerator):
    accelerator("cuda")
    loader = DataLoader([0], None, pin_memory=True, collate_fn=lambda sample: Unpinnable())
    with pytest.raises(RuntimeError, match="StopIteration"):
        list(loader)


# ---- timeout, pinning, prefetch_factor, attributes -----------------------------------------------

@BOTH
def test_the_clock_of_a_timeout_begins_again_with_each_answer(kind):
    def wait(seconds):
        return lambda i: time.sleep(seconds) or i
    acts = {0: wait(4)} | dict.fromkeys(range(1, 9), wait(0.9))
    loader = kind(Acting(9, acts), None, num_workers=2, prefetch_factor=8, timeout=3)
    assert list(loader) == list(range(9))


@BOTH
def test_after_a_timeout_the_same_iterator_goes_on(kind):
    gated = Gated(8, behind=[3])
    batches, got = iter(kind(gated, None, num_workers=1, timeout=3)), []
    got += itertools.islice(batches, 3)
    with pytest.raises(RuntimeError, match="3 seconds"):
        next(batches)
    gated.gate.set()
    assert got + list(batches) == list(range(8))


def test_after_any_other_error_an_iterator_does_not_look_like_one_that_has_ended(monkeypatch):
    batches = iter(DataLoader(Numbers(8), None, num_workers=1))
    next(batches)

    def interrupted(*_):
        raise KeyboardInterrupt
    monkeypatch.setattr(batches.pool, "collect", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(batches)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="an error has ended this epoch"):
            next(batches)


def test_as_many_tasks_are_asked_for_as_prefetch_factor_says():
    def asked(kind, prefetch_factor):
        indices = iter(range(400))
        batches = iter(kind(Numbers(400), None, sampler=indices, num_workers=1,
                            prefetch_factor=prefetch_factor))
        first = next(indices)
        del batches
        return first
    assert [asked(kind, 100) for kind in (DataLoader, data.DataLoader)] == [100, 100]
    assert asked(DataLoader, 256) == 256
    with pytest.raises(ValueError, match="prefetch_factor=257: one worker holds at most 256"):
        DataLoader(Numbers(4), num_workers=1, prefetch_factor=257)


@BOTH
def test_nothing_is_pinned_for_apples_gpus(kind, accelerator):
    accelerator("mps")
    with pytest.warns(UserWarning, match="pin"):
        assert outcomes(iter(kind(range(2), pin_memory=True))) == [[0], [1]]


@BOTH
@pytest.mark.parametrize("name", ["dataset", "batch_size", "sampler", "batch_sampler",
                                  "drop_last", "persistent_workers"])
def test_what_others_were_made_from_cannot_be_set_any_more(kind, name):
    loader = kind(Numbers(6), 2)
    with pytest.raises(ValueError, match=name):
        setattr(loader, name, getattr(loader, name))
    assert len(list(loader)) == 3


@BOTH
def test_a_start_method_that_is_set_later_is_checked_and_used(kind):
    loader = kind(Numbers(2), num_workers=1)
    with pytest.raises(ValueError, match="'bad'"):
        loader.multiprocessing_context = "bad"
    with pytest.raises(TypeError, match="object object"):
        loader.multiprocessing_context = object()
    loader.multiprocessing_context = "spawn"
    assert loader.multiprocessing_context.get_start_method() == "spawn"


def test_without_a_context_the_start_method_is_that_of_the_time_of_the_epoch():
    loader = DataLoader(Numbers(2), num_workers=1)
    multiprocessing.set_start_method("spawn", force=True)     # the fixture sets it back
    assert len(list(loader)) == 2
    batches = iter(loader)
    assert type(batches.pool.workers[0].process).__name__ == "SpawnProcess"


@BOTH
def test_the_type_of_a_loader_can_be_written_with_that_of_its_samples(kind):
    assert kind[int].__origin__ is kind


# ---- what is told --------------------------------------------------------------------------------

@BOTH
def test_more_workers_than_cores_are_a_warning(kind):
    with pytest.warns(UserWarning, match="1000"):
        kind(Numbers(4), num_workers=1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kind(Numbers(4), num_workers=1)


@BOTH
def test_a_stream_that_every_worker_gives_whole_is_a_warning_once_len_was_asked(kind):
    loader = kind(Stream(6), None, num_workers=2)
    assert len(list(loader)) == 12              # nobody asked
    assert len(loader) == 6
    with pytest.warns(UserWarning, match="6"):
        assert len(list(loader)) == 12


@pytest.mark.parametrize("workers", [0, 1])
def test_a_warning_names_the_line_that_it_is_about(workers, monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        DataLoader(Numbers(4), num_workers=1000)
        loader = DataLoader(Stream(6), None, num_workers=workers, pin_memory=True)
        loader.dataset.size = 7 + len(loader)   # more than `len` has said
        for _ in loader:
            pass
    assert [one.filename for one in told] == [__file__] * 3
    assert [str(one.message).split(",")[0] for one in told] == [
        "num_workers=1000", "pin_memory=True", "batch 7"]


def test_a_stream_in_parts_is_none_though_each_ends_with_a_batch_that_is_not_full():
    loader = DataLoader(Stream(7, shard=True), 4, num_workers=2)
    assert (len(loader), len(list(loader))) == (2, 2)
    loader = DataLoader(Stream(10, shard=True), 4, num_workers=2)
    assert (len(loader), len(list(loader))) == (3, 4)


class Passing:
    """A clock that only moves when told; in a worker, a copy of it moves."""

    def __init__(self):
        self.now, self.collects = 0, 0

    def perf_counter(self):
        return self.now

    def takes(self, seconds, call):
        def moving(*arguments):
            self.now += seconds
            return call(*arguments)
        return moving

    def collecting(self, collect):
        def moving(*arguments):
            self.collects += 1
            return self.takes(10, collect)(*arguments)
        return moving


@pytest.mark.parametrize("workers", [0, 1])
def test_waited_is_all_the_time_that_iter_and_next_take(accelerator, monkeypatch, workers):
    accelerator("cuda")
    clock, pool = Passing(), mini_loader_pool.Pool
    monkeypatch.setattr(mini_loader, "time", clock)
    monkeypatch.setattr(mini_loader, "pin_memory", clock.takes(1, lambda batch: batch))
    monkeypatch.setattr(pool, "collect", clock.collecting(pool.collect))
    monkeypatch.setattr(pool, "begin", clock.takes(100, pool.begin))

    def bad(i):
        clock.now += 2
        raise KeyError(i)
    loader = DataLoader(Acting(8, {6: bad, 7: bad}), None, num_workers=workers, pin_memory=True)
    batches = iter(loader)
    caller = clock.takes(1000, batches.__next__)        # what the caller does meanwhile
    found = outcomes(iter(caller, object()))
    assert found[6:] == [KeyError, KeyError]
    assert loader.statistics.batches == 6
    taken = 100 + 10 * clock.collects if workers else 2 * 2
    assert loader.statistics.waited == 6 * 1 + taken
    assert (clock.collects > 0) == bool(workers)


# ---- randomness, as the docstring has it ---------------------------------------------------------

def drawn(workers, **arguments):
    loader = DataLoader(Draws(6), 2, num_workers=workers,
                        generator=torch.Generator().manual_seed(7), **arguments)
    return [[batch["torch"].tolist() for batch in loader] for _ in range(2)]


def test_draws_depend_on_persistent_workers_and_not_on_their_number():
    keeping = {"persistent_workers": True}
    assert drawn(0) == drawn(1) == drawn(2)
    assert drawn(1, **keeping) == drawn(2, **keeping)
    assert drawn(1)[0] == drawn(1, **keeping)[0]
    assert drawn(1)[1] != drawn(1, **keeping)[1]


def test_a_seed_of_a_worker_init_fn_has_no_effect_on_samples():
    assert drawn(1, worker_init_fn=torch.manual_seed) == drawn(1)


# ---- the other transport -------------------------------------------------------------------------

class Copying(DataLoader):
    transport = mini_loader_slots.Slots


@pytest.mark.parametrize("workers", [1, 2])
def test_a_loader_that_copies_gives_the_same_batches(workers):
    def run(kind):
        loader = kind(datasets.Draws(60), 8, True, num_workers=workers, persistent_workers=True,
                      generator=torch.Generator().manual_seed(1))
        return [*loader, *loader]
    assert same(run(Copying), run(DataLoader))
    ours = list(Copying(datasets.Numbers(12), 4, num_workers=workers,
                        collate_fn=datasets.all_layouts))
    theirs = list(data.DataLoader(datasets.Numbers(12), 4, collate_fn=datasets.all_layouts))
    assert all(same(mine[key], expected[key]) for mine, expected in zip(ours, theirs, strict=True)
               for key in mine)


def test_a_loader_that_copies_survives_its_workers_and_keeps_few_slots(tmp_path):
    act = datasets.Killing(30, tmp_path / "deaths")
    loader = Copying(datasets.At(act, 100), 4, num_workers=2)
    batches = list(loader)
    assert torch.cat(batches).tolist() == list(range(100))
    assert loader.statistics.restarts == 1
    assert len(loader.slots.slots) <= 2 * 2 + 1


def test_a_loader_that_copies_can_be_pickled():
    assert len(list(pickle.loads(pickle.dumps(Copying(Numbers(4), num_workers=1))))) == 4
