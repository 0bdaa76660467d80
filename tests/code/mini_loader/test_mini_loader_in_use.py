"""mini_loader in programs that fork, copy, interrupt or break it: it goes on, or says why not."""

import copy
import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import torch
from torch.utils import data

import mini_loader_worker
from book.pipeline.ground.paths import CODE, ROOT
from loader_data import Gated
from mini_loader import DataLoader
from mini_loader_pool import Pool, WorkerProcess
from oracles import loader_datasets as datasets
from oracles.loader_datasets import At, Numbers, Sleeping

pytestmark = pytest.mark.usefixtures("start_by_fork")
PERSISTENT = {"num_workers": 2, "persistent_workers": True}


@pytest.fixture(autouse=True)
def nothing_left_behind_and_no_hang():
    """No worker outlives a test, and no test runs for long."""
    def ring(*_):
        raise TimeoutError("this test hangs")
    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(1200)                  # seconds are usual
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    gc.collect()
    assert not multiprocessing.active_children()


def peaceful():
    return At(Sleeping(None, 0))


def numbers_of(batches):
    return [i for batch in batches for i in batch.tolist()]


# ---- copies of a loader, in this process and in others -------------------------------------------

@pytest.mark.parametrize("persistent", [False, True])
def test_a_loader_that_has_run_can_be_copied_and_pickled(persistent):
    loader = DataLoader(Numbers(8), 2, num_workers=1, persistent_workers=persistent)
    before = set(threading.enumerate())     # some may be those of earlier tests, about to end
    for _ in range(2):
        for again in (copy.copy(loader), copy.deepcopy(loader),
                      pickle.loads(pickle.dumps(loader))):
            assert numbers_of(batch["i"] for batch in again) == list(range(8))
            assert again.slots is not loader.slots
        assert numbers_of(batch["i"] for batch in loader) == list(range(8))
    assert set(threading.enumerate()) <= before


def wrong_batches(loader):
    """How many batches of an epoch are not what they should be."""
    wrong = 0
    for number, batch in enumerate(loader):
        time.sleep(0.001)
        expected = torch.arange(4.0) + 4 * number
        wrong += not torch.equal(batch["x"].amax((1, 2, 3)), expected)
        wrong += not torch.equal(batch["x"].amin((1, 2, 3)), expected)
    return wrong


@pytest.mark.parametrize("persistent", [False, True])
def test_processes_forked_from_one_that_has_used_a_loader_use_it_at_once(persistent):
    loader = DataLoader(Numbers(200, datasets.SHAPE), 4, num_workers=1,
                        persistent_workers=persistent, multiprocessing_context="fork")
    assert wrong_batches(loader) == 0
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            status = 255
            try:
                status = wrong_batches(loader)
                del loader
                gc.collect()
            finally:
                os._exit(min(status, 255))
        children.append(child)
    assert wrong_batches(loader) == 0
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert wrong_batches(loader) == 0


# ---- what breaks between two epochs --------------------------------------------------------------

class Unpicklable:
    def __reduce__(self):
        raise TypeError("no pickle of this")


class BrokenSampler(data.Sampler):
    """Breaks once, after a number of indices."""

    def __init__(self, after):
        self.after, self.broken = after, False

    def __iter__(self):
        for i in range(20):
            if i == self.after and not self.broken:
                self.broken = True
                raise OSError("no more indices")
            yield i


@pytest.mark.parametrize("at", [0, 2, 6])
def test_a_task_that_cannot_be_pickled_ends_its_epoch_and_not_the_next(at):
    indices = [[i] for i in range(9)]
    loader = DataLoader(peaceful(), batch_sampler=list(indices), **PERSISTENT)
    loader.batch_sampler[at] = [Unpicklable()]
    with pytest.raises(TypeError, match="no pickle of this"):
        list(loader)
    loader.batch_sampler[at] = [at]
    assert numbers_of(loader) == list(range(9))


@pytest.mark.parametrize("after", [0, 2, 9])
def test_an_error_of_a_sampler_ends_its_epoch_and_not_the_next(after):
    loader = DataLoader(peaceful(), sampler=BrokenSampler(after), **PERSISTENT)
    with pytest.raises(OSError, match="no more indices"):
        list(loader)
    assert numbers_of(loader) == list(range(20))


def test_a_task_that_cannot_be_unpickled_is_an_error_of_its_batch(capfd):
    loader = DataLoader(peaceful(), batch_sampler=[[0], [datasets.Explosive()], [2]],
                        num_workers=1)
    batches = iter(loader)
    assert next(batches).tolist() == [0]
    with pytest.raises(ValueError, match="in worker 0, unpickling a task") as caught:
        next(batches)
    assert "not in this process" in str(caught.value)
    assert numbers_of(batches) == [2]
    assert loader.statistics.restarts == 0
    assert capfd.readouterr().err == ""


def test_the_timeout_holds_while_an_epoch_left_early_comes_to_its_end():
    gated = Gated(20, behind=[2])
    loader = DataLoader(gated, **PERSISTENT)
    next(iter(loader))
    loader.timeout = 0.5
    with pytest.raises(RuntimeError, match=r"no worker answered for 0\.5 seconds"):
        iter(loader)
    gated.gate.set()
    assert numbers_of(loader) == list(range(20))


@pytest.mark.parametrize("name", ["under_way", "begin", "give", "receive"])
def test_ctrl_c_at_any_place_leaves_no_worker_and_a_loader_that_works(name, monkeypatch):
    loader = DataLoader(peaceful(), **PERSISTENT)
    assert numbers_of(loader) == list(range(20))
    with monkeypatch.context() as patch:
        def interrupted(*_):
            raise KeyboardInterrupt
        patch.setattr(Pool, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(loader)
        assert not multiprocessing.active_children()
    assert numbers_of(loader) == list(range(20))


def test_workers_that_are_not_closed_because_of_a_second_ctrl_c_are_not_used_again(monkeypatch):
    loader = DataLoader(peaceful(), **PERSISTENT)
    batches = iter(loader)
    with monkeypatch.context() as patch:
        def interrupted(*_):
            raise KeyboardInterrupt
        patch.setattr(Pool, "collect", interrupted)
        patch.setattr(WorkerProcess, "end", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(batches)
    del batches
    assert numbers_of(loader) == list(range(20))


# ---- other children of the program ---------------------------------------------------------------

def other_child():
    """A process that has a copy of all that is open here, and does nothing."""
    child = os.fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    return child


@pytest.mark.parametrize("persistent", [False, True])
def test_another_child_of_the_program_does_not_hold_up_the_end_of_workers(persistent):
    loader = DataLoader(peaceful(), 2, num_workers=2, persistent_workers=persistent)
    batches = iter(loader)
    workers = [worker.process for worker in batches.pool.workers]
    other = other_child()
    try:
        assert numbers_of(batches) == list(range(20))
        batches.pool.close()
        assert [worker.exitcode for worker in workers] == [0, 0]          # none was killed
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)


def test_another_child_does_not_have_workers_finish_what_they_were_asked_for():
    act = Slowly(0.5)
    batches = iter(DataLoader(At(act, 40), None, num_workers=1, prefetch_factor=8))
    next(batches)
    other = other_child()
    try:
        del batches                                        # which waits until the worker has ended
        assert 1 <= act.done.value < 1 + 8                 # 4 s more, had it finished them all
    finally:
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)


class Slowly(Sleeping):
    def __init__(self, seconds):
        super().__init__(None, seconds)
        self.done = multiprocessing.RawValue("i", 0)

    def __call__(self, i):
        time.sleep(self.seconds)
        self.done.value += 1


def test_a_validation_loader_that_lives_on_does_not_hold_up_the_end_of_workers():
    batches = iter(DataLoader(peaceful(), 2, num_workers=2))
    workers = [worker.process for worker in batches.pool.workers]
    validation = data.DataLoader(peaceful(), num_workers=1, persistent_workers=True)
    assert len(list(validation)) == 20
    assert numbers_of(batches) == list(range(20))
    assert [worker.exitcode for worker in workers] == [0, 0]              # none was killed
    del validation


def test_an_iterator_that_a_forked_child_has_inherited_says_whose_it_is():
    batches = iter(DataLoader(peaceful(), 2, num_workers=2))
    first = next(batches).tolist()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            next(batches)
        except Exception as error:
            os.write(writer, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000).decode().startswith(
        "RuntimeError: another process began this epoch")
    os.close(reader)
    os.close(writer)
    assert first + numbers_of(batches) == list(range(20))


# ---- exit codes that somebody else takes ---------------------------------------------------------

def in_a_program(code, *arguments):
    """What a program prints that begins with the usual imports; it may set what it likes."""
    begin = """
import gc, os, signal, sys, threading, time
import mini_loader_pool
from mini_loader import DataLoader
from oracles.loader_datasets import *
def numbers(**arguments):
    arguments = {"num_workers": 2, "multiprocessing_context": "fork", **arguments}
    return [i for batch in DataLoader(batch_size=2, **arguments) for i in batch.tolist()]
"""
    done = subprocess.run([sys.executable, "-c", begin + code, *map(str, arguments)], text=True,
                          capture_output=True, cwd=ROOT, check=False, timeout=1200,
                          env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{CODE}"})
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


IGNORED = "signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
TAKEN = """
def take():
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            time.sleep(0.001)
threading.Thread(target=take, daemon=True).start()
"""


@pytest.mark.parametrize("elsewhere", [IGNORED, TAKEN])
def test_workers_end_though_somebody_else_takes_their_exit_codes(elsewhere):
    assert in_a_program(f"""
{elsewhere}
mini_loader_pool.GRACE = 3600       # to wait for what never comes would take this long
print(numbers(dataset=range(12)) == [*range(12)])
""") == "True\n"


@pytest.mark.parametrize(("elsewhere", "causes"), [
    (IGNORED, {"its exit code was taken by somebody else"}),
    # Whoever waits first gets the code: the program's thread or the loader.
    (TAKEN, {"its exit code was taken by somebody else", "killed by SIGKILL"})],
    ids=["ignored", "taken"])
def test_a_worker_whose_exit_code_somebody_else_takes_is_replaced(elsewhere, causes, tmp_path):
    assert in_a_program(f"""
{elsewhere}
print(numbers(dataset=At(Killing(5, sys.argv[1]))) == [*range(20)])
try:
    numbers(dataset=At(Killing(5, sys.argv[1], 99)))
except RuntimeError as error:
    print(error)
""", tmp_path / "deaths") in {
        f"True\nworker 0 died ({cause}) over batch 2, indices: [4, 5]; deaths in this epoch: 4, "
        "max_restarts: 3; find the cause, or allow more\n" for cause in causes}


def test_such_a_death_shows_though_a_child_of_the_worker_holds_its_pipe(tmp_path):
    try:
        assert in_a_program(f"""
{IGNORED}
print(numbers(dataset=At(KillingBesideAChild(5, sys.argv[1]))) == [*range(20)])
os._exit(0)
""", tmp_path / "deaths") == "True\n"
    finally:
        os.kill(int((tmp_path / "deaths.child").read_text()), signal.SIGKILL)


# ---- limits of a process -------------------------------------------------------------------------

@pytest.mark.skipif(sys.version_info >= (3, 13), reason="a map takes no file descriptor there")
@pytest.mark.parametrize("persistent", [False, True])
def test_more_tasks_than_files_may_be_open_are_an_error_and_no_hang(persistent):
    assert in_a_program(f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
try:
    numbers(dataset=range(3000), num_workers=1, prefetch_factor=256,
            persistent_workers={persistent})
except OSError as error:
    print("Too many open files" in str(error), "prefetch_factor" in str(error))
print(numbers(dataset=range(12)) == [*range(12)])
""") == "True True\nTrue\n"


@pytest.mark.skipif(sys.platform != "linux", reason="a limit of Linux on the file of memfd_create")
def test_a_limit_of_the_file_size_is_an_error_that_names_it():
    assert in_a_program("""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
try:
    numbers(dataset=range(12))
except OSError as error:
    print("File too large" in str(error), "ulimit -f" in str(error))
""") == "True True\n"


# ---- starting ------------------------------------------------------------------------------------

class Bulky(At):
    """More bytes than a pipe holds."""

    def __init__(self):
        super().__init__(Sleeping(None, 0))
        self.bytes = bytes(10**6)


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_what_a_worker_is_told_fits_into_a_pipe_that_nobody_reads(method, monkeypatch):
    sent = []
    dump = mini_loader_worker.reduction.dump

    def measured(thing, file, protocol=None):
        before = file.tell()
        dump(thing, file, protocol)
        sent.append(file.tell() - before)
    monkeypatch.setattr(mini_loader_worker.reduction, "dump", measured)
    loader = DataLoader(Bulky(), 4, num_workers=1, multiprocessing_context=method)
    assert numbers_of(loader) == list(range(20))
    assert 0 < max(sent) < 4096


def kill_at_start(stop):
    """SIGKILL for the first child of this process, as soon as it is there."""
    while not stop.is_set():
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        for pid in children:
            if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(int(pid), signal.SIGKILL)
                return


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for the worker in /proc")
def test_a_spawned_worker_killed_before_it_reads_its_job_is_replaced():
    stop = threading.Event()
    killer = threading.Thread(target=kill_at_start, args=(stop,))
    killer.start()
    try:
        loader = DataLoader(Bulky(), 4, num_workers=1, multiprocessing_context="spawn")
        assert numbers_of(loader) == list(range(20))
    finally:
        stop.set()
        killer.join()
    assert loader.statistics.restarts == 1


# ---- collating -----------------------------------------------------------------------------------

class Collating(data.Dataset):
    """Sample i is what `default_collate` makes of i and 7; it is kept and given again."""

    def __init__(self):
        self.kept = {}

    def __len__(self):
        return 12

    def __getitem__(self, i):
        if i % 4 not in self.kept:
            samples = [torch.full((5000,), float(value)) for value in (i % 4, 7)]
            self.kept[i % 4] = data.default_collate(samples)
        return self.kept[i % 4]


def collating(samples):
    return data.default_collate(samples)


@pytest.mark.parametrize("collate_fn", [None, collating])
def test_what_a_dataset_collates_itself_and_keeps_is_not_written_again(collate_fn):
    for batch in DataLoader(Collating(), 4, num_workers=1, collate_fn=collate_fn):
        assert batch.shape == (4, 2, 5000)
        assert batch[:, 0].amax(1).tolist() == batch[:, 0].amin(1).tolist() == [0, 1, 2, 3]


class Storages(Numbers):
    """Sample i tells whether what `default_collate` makes here lies in shared memory."""

    def __getitem__(self, i):
        return data.default_collate([torch.zeros(3), torch.zeros(3)]).is_shared()


def test_a_worker_that_collates_makes_no_file_for_it():
    assert list(DataLoader(Storages(2), None, num_workers=1)) == [False, False]
    assert list(data.DataLoader(Storages(2), None, num_workers=1)) == [True, True]


class Mixed(Numbers):
    def __getitem__(self, i):
        return torch.full((5000,), 1 / 3, dtype=(torch.float32, torch.float64)[i % 2])


@pytest.mark.parametrize("collate_fn", [None, collating])
def test_samples_of_two_dtypes_are_stacked_as_in_a_worker_of_torch(collate_fn):
    ours, theirs = (next(iter(kind(Mixed(4), 2, num_workers=1, collate_fn=collate_fn)))
                    for kind in (DataLoader, data.DataLoader))
    assert ours.dtype == theirs.dtype == torch.float32
    assert torch.equal(ours, theirs)


class NotAtOnce(Numbers):
    __getitems__ = None


def test_a_dataset_may_say_that_it_does_not_fetch_many_at_once():
    assert [batch["i"].tolist() for batch in DataLoader(NotAtOnce(4), 2)] == [[0, 1], [2, 3]]


def test_a_context_without_workers_is_refused_as_in_torch():
    for kind in (DataLoader, data.DataLoader):
        with pytest.raises(ValueError, match="multiprocessing_context"):
            kind(Numbers(3), multiprocessing_context=multiprocessing.get_context("fork"))
