"""mini_loader against torch's loader: the same batches; and what torch's does not promise."""

import gc
import itertools
import multiprocessing
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import time
from collections import namedtuple

import numpy
import pytest
import torch
from torch.utils import data

import mini_loader
import mini_loader_lending
import mini_loader_slots
import mini_loader_tour
import mini_loader_worker
from benchmarks import loader_chaos
from book.pipeline.ground.paths import CODE
from mini_loader import DataLoader
from oracles import loader_datasets as datasets
from oracles.loader_cases import SAMPLERS, AtOnceSampler, Case, same
from oracles.loader_datasets import At, Draws, Killing, Numbers, Raising, Sleeping, Stream
from tests.helpers.depth import cases, depth

pytestmark = [pytest.mark.usefixtures("start_by_fork", "no_worker_stays"),
              pytest.mark.filterwarnings("ignore:This DataLoader will create"),    # of torch's
              pytest.mark.filterwarnings("ignore:num_workers=3, but")]

METHODS = ["fork", *(pytest.param(method, marks=pytest.mark.slow)
                     for method in ("spawn", "forkserver"))]
CASES = cases(50)
FIRES = loader_chaos.scaled(50 * depth())      # at full depth a thousand kills under fork
ENDLESS = 10**9


def test_the_comparison_of_these_tests_sees_each_difference():
    x = torch.zeros(2, 3)
    assert same({"a": [x, (1, "b")]}, {"a": [x.clone(), (1, "b")]})
    for other in (x + 1, x.double(), x.view(3, 2), x.T.contiguous().T, x.tolist(), None,
                  x.clone().requires_grad_()):
        assert not same([x], [other])
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert not same([1, 2], [1])
    assert not same(namedtuple("P", "x")(1), (1,))


@pytest.fixture(autouse=True, scope="module")
def quick_fork_server():
    """Its children find torch imported; only before it starts can it be told so."""
    multiprocessing.set_forkserver_preload(["mini_loader_worker", "oracles.loader_datasets"])


def numbers_of(batches):
    return [i for batch in batches for i in batch.tolist()]


# ---- the same batches as torch -------------------------------------------------------------------

def test_random_arguments_give_the_batches_of_torch(counted):
    seen = set()
    for seed in range(CASES):
        case = Case(seed)
        assert same(case.run(DataLoader), case.run(data.DataLoader)), vars(case)
        seen |= {case.sampler, case.mode, f"{case.workers} workers", type(case.dataset),
                 case.leave_early, case.workers_given.get("persistent_workers")}
    assert seen == {*SAMPLERS, "batches", "single", "batch_sampler", "0 workers", "1 workers",
                    "2 workers", None, True, False, Numbers, datasets.AtOnce}
    counted("random arguments of mini_loader", CASES)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_sampler_that_draws_at_once_draws_before_the_seed_of_the_workers(workers):
    def run(kind):
        generator = torch.Generator().manual_seed(4)
        loader = kind(range(30), None, sampler=AtOnceSampler(range(30), generator),
                      generator=generator, num_workers=workers)
        return [*loader, *loader]
    assert run(DataLoader) == run(data.DataLoader)


def test_workers_end_with_their_epoch_though_its_iterator_is_kept():
    batches = iter(DataLoader(Numbers(6), num_workers=2))
    assert len(multiprocessing.active_children()) == 2
    assert len(list(batches)) == 6
    assert not multiprocessing.active_children()
    assert list(batches) == []


@pytest.mark.parametrize("method", METHODS)
def test_every_start_method_gives_the_batches_of_torch(method):
    def run(kind):
        loader = kind(Numbers(50, datasets.SHAPE), 8, True, num_workers=2,
                      generator=torch.Generator().manual_seed(1), multiprocessing_context=method,
                      persistent_workers=True)
        return [*loader, *loader]
    first = list(data.DataLoader(Numbers(50, datasets.SHAPE), 8, True,
                                 generator=torch.Generator().manual_seed(1)))
    batches = run(DataLoader)
    assert same(batches[:len(first)], first)
    assert numbers_of(batch["i"] for batch in batches[len(first):]) != numbers_of(
        batch["i"] for batch in first)


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")    # torch 2.11, when unpickling one
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_containers_and_layouts_arrive_as_from_torch(workers):
    ours = list(DataLoader(Numbers(12), 4, num_workers=workers, collate_fn=datasets.all_layouts))
    theirs = list(data.DataLoader(Numbers(12), 4, collate_fn=datasets.all_layouts))
    assert len(ours) == len(theirs) == 3
    for mine, expected in zip(ours, theirs, strict=True):
        assert mine.keys() == expected.keys()
        for key in mine:
            assert same(mine[key], expected[key]), key


def test_samples_of_varying_shape_arrive():
    ours = list(DataLoader(datasets.Ragged(), 8, num_workers=2, collate_fn=datasets.as_list))
    assert same(ours, list(data.DataLoader(datasets.Ragged(), 8, collate_fn=datasets.as_list)))
    one_by_one = list(DataLoader(datasets.Ragged(), None, num_workers=2))
    assert [len(x) for x in one_by_one] == [i % 5 * 1500 for i in range(40)]


def test_two_iterators_of_a_loader_do_not_mix():
    loader = DataLoader(Draws(40), 4, num_workers=2)
    for (x, i, _), (y, j, _) in zip(loader, loader, strict=True):
        assert torch.equal(i, j)
        assert torch.equal(x, y)
        assert x.data_ptr() != y.data_ptr()


def test_a_newer_iterator_takes_over_persistent_workers():
    loader = DataLoader(Numbers(40), 4, num_workers=1, persistent_workers=True)
    old = iter(loader)
    assert next(old)["i"].tolist() == [0, 1, 2, 3]
    pids = [worker.process.pid for worker in loader.pool.workers]
    assert numbers_of(batch["i"] for batch in loader) == list(range(40))
    assert [worker.process.pid for worker in loader.pool.workers] == pids
    with pytest.raises(RuntimeError, match="another epoch"):
        next(old)


def test_indices_too_long_for_a_pipe_and_many_tasks_at_once_do_not_block():
    huge = [[7] * 300_000, list(range(20))]
    batches = list(DataLoader(At(Sleeping(None, 0)), batch_sampler=huge * 2, num_workers=1,
                              prefetch_factor=4))
    assert [len(batch) for batch in batches] == [300_000, 20] * 2
    many = DataLoader(At(Sleeping(None, 0), 4000), None, num_workers=1, prefetch_factor=256)
    assert list(many) == list(range(4000))


# ---- randomness ----------------------------------------------------------------------------------

def draws(seed=5, **arguments):
    loader = DataLoader(Draws(), 16, generator=torch.Generator().manual_seed(seed), **arguments)
    return list(loader)


def test_draws_do_not_depend_on_the_number_of_workers():
    alone = draws()
    assert same(draws(num_workers=1), alone)
    assert same(draws(num_workers=2), alone)
    assert same(draws(num_workers=2, in_order=True, prefetch_factor=5), alone)
    assert not same(draws(seed=6), alone)


def test_draws_differ_between_batches_and_epochs():
    loader = DataLoader(Draws(), 16, num_workers=2, persistent_workers=True)
    drawn = [batch[2][kind][0] for batch in [*loader, *loader]
             for kind in ("torch", "random", "numpy")]
    assert len({str(value.tolist()) for value in drawn}) == len(drawn) == 2 * 3 * 19


def test_a_loader_without_workers_leaves_the_generators_as_they_were():
    def next_draws():
        return random.random(), numpy.random.rand(), torch.rand(1).item()
    loader = DataLoader(Draws(), 16, generator=torch.Generator().manual_seed(0))
    states = random.getstate(), numpy.random.get_state(), torch.get_rng_state()
    expected = next_draws()
    random.setstate(states[0])
    numpy.random.set_state(states[1])
    torch.set_rng_state(states[2])
    list(loader)
    assert next_draws() == expected


def test_worker_init_fn_finds_the_seed_and_get_worker_info_that_torch_promises():
    def run(kind):
        return list(kind(datasets.Seeds(), None, num_workers=2,
                         worker_init_fn=datasets.note_seed, multiprocessing_context="fork",
                         generator=torch.Generator().manual_seed(3)))
    ours, theirs = ({tuple(sample) for sample in run(kind)} for kind in (DataLoader,
                                                                         data.DataLoader))
    assert ours == theirs
    assert len(ours) == 2


# ---- iterable datasets ---------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(8))
def test_iterable_datasets_give_the_batches_of_torch(seed):
    rng = random.Random(seed)
    workers = rng.randint(0, 3)
    arguments = {"batch_size": rng.choice([None, 1, 3, 4]), "num_workers": workers}
    if arguments["batch_size"]:
        arguments["drop_last"] = rng.random() < 0.5
    if workers:
        arguments["persistent_workers"] = rng.random() < 0.5
        arguments["prefetch_factor"] = rng.choice([1, 2, 5])
    stream = Stream([rng.randint(0, 20) for _ in range(3)])

    def run(kind):
        loader = kind(stream, **arguments)
        epochs = [[len(loader), *loader] for _ in range(2)]
        return [*epochs, list(itertools.islice(loader, 2)), list(loader)]
    assert same(run(DataLoader), run(data.DataLoader)), arguments


def test_a_stream_draws_the_same_in_each_run_and_else_in_each_epoch():
    def run(workers):
        loader = DataLoader(datasets.DrawingStream([9, 9]), 3, num_workers=workers,
                            generator=torch.Generator().manual_seed(2))
        return [*loader, *loader]
    assert same(run(2), run(2))
    assert same(run(1), run(0))
    starts = [batch[0][0].item() for batch in run(1)]
    assert len(set(starts[:3])) == len(set(starts[3:])) == 1
    assert starts[0] != starts[3]


@pytest.mark.parametrize("at", [0, 1, 5, 11, 1000, 1004])
def test_a_stream_that_can_go_on_survives_the_death_of_its_worker(at, tmp_path):
    def run(act):
        stream = datasets.ResumableStream([12, 7], act)
        loader = DataLoader(stream, 3, num_workers=2, persistent_workers=True)
        return [*loader, *loader], loader.statistics.restarts
    expected, none = run(None)
    assert none == 0
    got, restarts = run(Killing(at, tmp_path / "deaths"))
    assert restarts == 1
    assert same(got, expected)


def test_a_stream_that_cannot_go_on_ends_in_a_clear_error(tmp_path):
    stream = datasets.MortalStream([12, 7], Killing(9, tmp_path / "deaths"))
    batches = []
    with pytest.raises(RuntimeError, match=r"killed by SIGKILL.*give the dataset state_dict and"):
        batches.extend(DataLoader(stream, 3, num_workers=2, in_order=False, prefetch_factor=1))


def test_a_stream_of_which_nothing_came_begins_again(tmp_path):
    stream = datasets.MortalStream([12, 7], Killing(1, tmp_path / "deaths"))
    assert same(list(DataLoader(stream, 3, num_workers=2)),
                list(data.DataLoader(Stream([12, 7]), 3, num_workers=2)))


# ---- memory --------------------------------------------------------------------------------------

def test_a_batch_that_is_held_is_never_written_again():
    held = {}
    loader = DataLoader(Numbers(300, datasets.SHAPE), 4, num_workers=2, persistent_workers=True)
    rng = random.Random(0)
    for _ in range(3):
        for batch in loader:
            held[rng.randint(0, 9)] = batch["i"].tolist(), batch["x"][:, 1].numpy()
            for i, x in held.values():
                assert [one.min() for one in x] == [one.max() for one in x] == i


def test_slots_are_used_again_and_any_number_of_batches_can_be_held():
    loader = DataLoader(Numbers(800, datasets.SHAPE), 4, num_workers=2)
    assert sum(len(batch["i"]) for batch in loader) == 800
    assert 3 <= len(loader.slots.slots) <= 6
    batches = list(loader)
    assert [batch["x"][:, 0, 0, 0].tolist() for batch in batches] == [
        list(map(float, range(4 * n, 4 * n + 4))) for n in range(200)]
    in_slots = sum(lies_in_slots(batch["x"], loader) for batch in batches)
    held = mini_loader_lending.HELD
    assert held <= in_slots <= held + 4
    assert len(loader.slots.slots) <= held + 2 * 4
    del batches
    gc.collect()
    assert not loader.slots.lent
    assert len(loader.slots.free) == len(loader.slots.slots)


def lies_in_slots(tensor, loader):
    """Whether a tensor's memory is mapped from the shared file."""
    return any(slot.map and start(slot.map) <= tensor.data_ptr() < start(slot.map) + len(slot.map)
               for slot in loader.slots.slots)


def start(buffer):
    return torch.frombuffer(buffer, dtype=torch.uint8).data_ptr()


def test_labels_that_are_kept_do_not_keep_the_slot_of_the_images():
    loader = DataLoader(Numbers(400, datasets.SHAPE), 4, num_workers=1)
    labels = [batch["i"] for batch in loader]
    assert numbers_of(labels) == list(range(400))
    assert len(loader.slots.slots) <= 4
    assert not loader.slots.lent


def test_samples_are_stacked_where_the_batch_lies():
    copied = []

    class Spy(mini_loader_lending.TensorSlot):
        def place(self, tensor):
            before = self.used
            placed = super().place(tensor)
            copied.append(self.used - before)
            return placed
    loader = DataLoader(Numbers(9, datasets.SHAPE), 3)
    loader.slots = slots = mini_loader_lending.LentSlots(4)
    slot = Spy(slots.file, slots.take().number)
    worker = mini_loader_worker.Worker(0, loader.job(0))
    worker.introduce()
    try:
        address = worker.answer(pickle.dumps(mini_loader_worker.Task(0, 0, [0, 1], 0)), slot)
    finally:
        mini_loader_worker.torch_worker._worker_info = None
    reply = slots.unpack(*address)
    assert reply.value["x"].shape == (2, *datasets.SHAPE)
    assert max(copied) < 1000                   # numbers and words; not the images


def test_what_a_collate_fn_keeps_is_not_overwritten():
    loader = DataLoader(At(Sleeping(None, 0), 60), 5, num_workers=1,
                        collate_fn=datasets.Keeping())
    assert all(first.tolist() == [0, 1, 2, 3, 4] for first, _ in loader)


def test_a_batch_larger_than_a_slot_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(mini_loader_slots, "SLOT_BYTES", 1 << 16)
    loader = DataLoader(Numbers(8, datasets.SHAPE), 4, num_workers=1,
                        multiprocessing_context="fork")
    with pytest.raises(MemoryError, match="a slot has 65536; make batches smaller"):
        next(iter(loader))


# ---- errors --------------------------------------------------------------------------------------

@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("error", [KeyError("corrupt"), OSError("gone"), ValueError("bad")])
def test_an_error_of_the_dataset_names_worker_batch_and_index(workers, error):
    batches = iter(DataLoader(At(Raising(7, error)), 3, num_workers=workers))
    assert next(batches).tolist() == [0, 1, 2]
    assert next(batches).tolist() == [3, 4, 5]
    with pytest.raises(type(error)) as caught:
        next(batches)
    told = str(caught.value) + "".join(getattr(caught.value, "__notes__", []))
    assert "at index 7 of the dataset" in told
    if workers:
        assert re.search(r"in worker \d, batch 2", told)
        assert "loader_datasets.py" in told
        assert "raise self.error" in told
    assert next(batches).tolist() == [9, 10, 11]
    assert len(list(batches)) == 3


def test_an_error_while_many_are_fetched_at_once_names_their_indices():
    class Broken(At):
        def __getitems__(self, indices):
            raise OSError("gone")
    with pytest.raises(OSError, match="gone") as caught:
        next(iter(DataLoader(Broken(None), 3)))
    assert caught.value.__notes__ == ["at index [0, 1, 2] of the dataset"]


def test_an_error_that_cannot_be_pickled_arrives_in_words():
    class Local(Exception):
        pass
    with pytest.raises(RuntimeError, match="corrupt") as caught:
        list(DataLoader(At(Raising(2, Local("corrupt"))), num_workers=1,
                        multiprocessing_context="fork"))
    assert "Local" in str(caught.value)
    with pytest.raises(RuntimeError, match="TwoArguments"):
        list(DataLoader(At(Raising(2, datasets.TwoArguments("a", 1))), num_workers=1,
                        multiprocessing_context="fork"))  # the dataset could not be pickled


def test_a_batch_that_cannot_be_pickled_or_unpickled_is_an_error_of_its_own():
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="pickle"):
        list(DataLoader(Numbers(8), 2, num_workers=1, collate_fn=datasets.unpicklable))
    batches = iter(DataLoader(At(Sleeping(None, 0), 8), 2, num_workers=1,
                              collate_fn=datasets.explosive))
    assert [next(batches), next(batches)] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="not in this process") as caught:
        next(batches)
    assert "unpickling batch 2" in str(caught.value)
    assert list(batches) == [[6, 7]]


@pytest.mark.parametrize("workers", [0, 1])
def test_stop_iteration_in_a_sample_does_not_end_the_epoch_in_silence(workers):
    with pytest.raises(RuntimeError, match="StopIteration at index 4"):
        list(DataLoader(At(Raising(4, StopIteration())), num_workers=workers))


def test_a_worker_init_fn_that_fails_is_reported():
    with pytest.raises(OSError, match="no scratch disk for worker 0"):
        list(DataLoader(Numbers(8), num_workers=1, worker_init_fn=datasets.refuse))


@pytest.mark.parametrize(("arguments", "message"), [
    ({"num_workers": -1}, "num_workers=-1"),
    ({"num_workers": 1, "timeout": -1}, "timeout=-1"),
    ({"num_workers": 1, "prefetch_factor": 0}, "prefetch_factor=0"),
    ({"prefetch_factor": 2}, "give num_workers"),
    ({"persistent_workers": True}, "give num_workers"),
    ({"timeout": 1}, "give num_workers"),
    ({"multiprocessing_context": "fork"}, "give num_workers"),
    ({"num_workers": 1, "multiprocessing_context": "bad"}, "'bad'"),
    ({"sampler": [0], "shuffle": True}, "leave one out"),
    ({"batch_sampler": [[0]], "shuffle": True}, "whole batches"),
    ({"batch_sampler": [[0]], "batch_size": 2}, "whole batches"),
    ({"batch_sampler": [[0]], "sampler": [0]}, "whole batches"),
    ({"batch_sampler": [[0]], "drop_last": True}, "whole batches"),
    ({"batch_size": None, "drop_last": True}, "leave out drop_last"),
    ({"batch_size": 0}, "batch_size=0"),
    ({"dataset": Stream([1]), "batch_size": -2}, "batch_size=-2"),
    ({"dataset": Stream([1]), "shuffle": True}, "IterableDataset"),
    ({"dataset": Stream([1]), "sampler": [0]}, "IterableDataset"),
    ({"dataset": Stream([1]), "batch_sampler": [[0]]}, "IterableDataset"),
])
def test_arguments_that_contradict_each_other_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(**{"dataset": Numbers(3), **arguments})


def test_length_without_length_is_torchs_error():
    with pytest.raises(TypeError, match="has no len"):
        len(DataLoader(datasets.WithoutLength()))


def test_pinning_is_torchs_and_without_an_accelerator_a_warning(monkeypatch):
    loader = DataLoader(Numbers(4), 2, pin_memory=True)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    with pytest.warns(UserWarning, match="no accelerator"):
        assert len(list(loader)) == 2
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
    monkeypatch.setattr(mini_loader, "pin_memory", lambda batch: ("pinned", batch["i"].tolist()))
    for workers in (0, 1):
        loader = DataLoader(Numbers(4), 2, num_workers=workers, pin_memory=True)
        assert list(loader) == [("pinned", [0, 1]), ("pinned", [2, 3])]


# ---- order and statistics ------------------------------------------------------------------------

def test_without_order_a_fast_batch_overtakes_a_slow_one(tmp_path):
    slow = At(datasets.Waiting(0, 16, tmp_path / "late"))       # asked for when others are out
    got = numbers_of(DataLoader(slow, 2, num_workers=2, in_order=False))
    assert sorted(got) == list(range(20))
    assert got[:2] == [2, 3]
    slow = At(datasets.Waiting(0, 6, tmp_path / "soon"))        # asked for at once
    assert numbers_of(DataLoader(slow, 2, num_workers=2)) == list(range(20))


def test_the_worker_with_fewer_tasks_gets_the_next_one(tmp_path):
    slow = datasets.Who(datasets.Waiting(0, 37, tmp_path / "sign"), 40)
    loader = DataLoader(slow, None, num_workers=2, in_order=False)
    workers = [worker for _, worker in loader]
    assert workers.count(0) + workers.count(1) == 40
    assert workers.count(0) < 5


def test_statistics_count_batches_waits_and_restarts(tmp_path):
    loader, begin = DataLoader(At(Sleeping(5, 1.0)), num_workers=1), time.monotonic()
    assert len(list(loader)) == loader.statistics.batches == 20
    assert 1 <= loader.statistics.late <= 20
    assert 0.1 < loader.statistics.waited <= time.monotonic() - begin
    list(loader)
    assert loader.statistics.batches == 40
    assert loader.statistics.restarts == loader.statistics.resent == 0
    dying = DataLoader(At(Killing(5, tmp_path / "deaths", 2)), num_workers=2)
    assert numbers_of(dying) == list(range(20))
    assert dying.statistics.restarts == 2
    assert 2 <= dying.statistics.resent <= 2 * 4
    alone = DataLoader(Numbers(6), 2)
    list(alone)
    assert alone.statistics.late == alone.statistics.batches == 3


# ---- death ---------------------------------------------------------------------------------------

def test_a_worker_that_dies_too_often_is_named_with_what_it_did(tmp_path):
    loader = DataLoader(At(Killing(13, tmp_path / "deaths", ENDLESS)), 4, num_workers=2,
                        max_restarts=2)
    got = []
    with pytest.raises(RuntimeError) as caught:
        got.extend(numbers_of([batch]) for batch in loader)
    assert "killed by SIGKILL" in str(caught.value)
    assert "batch 3, indices: [12, 13, 14, 15]" in str(caught.value)
    assert "deaths in this epoch: 3, max_restarts: 2" in str(caught.value)
    assert not multiprocessing.active_children()
    assert loader.statistics.restarts == 2


def test_max_restarts_0_is_as_strict_as_torch(tmp_path):
    with pytest.raises(RuntimeError, match="max_restarts: 0"):
        list(DataLoader(At(Killing(3, tmp_path / "deaths")), num_workers=1, max_restarts=0))
    code = """
import sys; from torch.utils import data; from oracles.loader_datasets import At, Killing
print(list(data.DataLoader(At(Killing(3, sys.argv[1])), num_workers=1)))
"""
    # In a program of its own: torch's handler of SIGCHLD may raise in any line, also while Python
    # prints an error. Then it says "lost sys.stderr" and no more than the type of the error.
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "more"], capture_output=True,
                          text=True, cwd=CODE.parent, check=False)
    assert (tmp_path / "more").read_text() == "1"
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert re.search("RuntimeError|ConnectionResetError|EOFError", done.stderr), done.stderr


def test_a_worker_that_ends_by_itself_is_told_by_its_exit_code():
    with pytest.raises(RuntimeError, match=r"worker 0 died \(exit code 3\) over batch 1, ind"):
        list(DataLoader(At(datasets.Exiting(5, 3)), None, sampler=[0, 5], num_workers=1))


def test_a_dataset_that_cannot_be_sent_to_a_worker_is_an_error():
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError), match="pickle"):
        iter(DataLoader(At(lambda i: None), num_workers=2, multiprocessing_context="spawn"))


def test_deaths_are_counted_for_each_epoch(tmp_path):
    loader = DataLoader(At(Killing(3, tmp_path / "deaths", 2)), num_workers=1, max_restarts=1,
                        persistent_workers=True)
    for died_before, restarts in (("1", 1), ("1", 2), ("2", 2)):
        (tmp_path / "deaths").write_text(died_before)
        assert numbers_of(loader) == list(range(20))
        assert loader.statistics.restarts == restarts


def test_an_idle_worker_that_died_is_replaced_in_the_next_epoch():
    loader = DataLoader(Numbers(20), num_workers=2, persistent_workers=True)
    list(loader)
    for worker in loader.pool.workers:
        os.kill(worker.process.pid, signal.SIGKILL)
    assert numbers_of(batch["i"] for batch in loader) == list(range(20))
    assert loader.statistics.restarts == 2


def test_a_death_shows_though_a_child_of_the_worker_holds_its_pipe(tmp_path):
    act = datasets.KillingBesideAChild(5, tmp_path / "deaths")
    try:
        assert numbers_of(DataLoader(At(act), 2, num_workers=2)) == list(range(20))
    finally:
        os.kill(int((tmp_path / "deaths.child").read_text()), signal.SIGKILL)


def test_a_forked_child_that_drops_its_copy_of_the_loader_harms_nobody():
    batches = iter(DataLoader(Numbers(60), num_workers=2))
    next(batches)
    child = os.fork()
    if child == 0:
        sys.unraisablehook = lambda error: os._exit(1)
        del batches
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert numbers_of(batch["i"] for batch in batches) == list(range(1, 60))


# ---- chaos ---------------------------------------------------------------------------------------

@pytest.mark.skipif(sys.platform != "linux", reason="looks in /proc for what stays")
@pytest.mark.parametrize("method", METHODS)
def test_killed_workers_lose_repeat_disorder_and_leave_nothing(method, counted):
    fire = FIRES[method]
    counts, left = loader_chaos.chaos_and_after(method, fire.kills, fire)
    print(f"\n{method}: {dict(counts)}")
    assert counts["kills"] >= counts["restarts"] >= fire.kills
    assert counts["batches"] == counts["epochs"] * loader_chaos.BATCHES
    none = dict.fromkeys(loader_chaos.FAULTS, 0)
    assert {name: counts[name] for name in none} == none
    assert not any(left.values()), left
    counted(f"killed workers of mini_loader under {method}", fire.kills)


# ---- the tour ------------------------------------------------------------------------------------

@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_tour_says_what_happens(language):
    done = subprocess.run([sys.executable, str(CODE / "mini_loader.py"), "--lang", language],
                          capture_output=True, text=True, check=True)
    values = [line for line in done.stdout.splitlines() if not line.startswith(">>>")]
    assert values == ["[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]", "False", "True", "True", "1",
                      "OSError: truncated file; at index 7 of the dataset"]
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == len(values) + len(mini_loader_tour.STEPS)
    assert ("换了" in done.stdout) == (language == "zh")
