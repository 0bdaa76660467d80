"""The memory in which mini_loader's batches lie: who may use it, who shares it, when it goes."""

import gc
import os
import signal
import subprocess
import sys
import threading
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils import data

import mini_loader_lending
from book.pipeline.ground.paths import CODE
from mini_loader import DataLoader
from mini_loader_lending import LentSlots
from oracles.loader_cases import same

pytestmark = pytest.mark.usefixtures("start_by_fork", "no_worker_stays")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks in /proc, or needs MADV_REMOVE")
METHODS = ["fork", *(pytest.param(method, marks=pytest.mark.slow)
                     for method in ("spawn", "forkserver"))]


class Rows(data.Dataset):
    """Sample i is a large row of i."""

    def __init__(self, size=64, length=20_000):
        self.size, self.length = size, length

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return torch.full((self.length,), float(i))


# ---- children that hold a batch ------------------------------------------------------------------

class Child:
    """A forked process that has what its parent has, and answers what it reads in a tensor."""

    def __init__(self, tensor):
        self.pipe, theirs = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            self.pipe.close()
            try:
                while theirs.recv():
                    theirs.send((tensor.min().item(), tensor.max().item()))
            finally:
                os._exit(0)
        theirs.close()

    def reads(self):
        self.pipe.send(True)
        return self.pipe.recv()

    def end(self):
        self.pipe.send(False)
        os.waitpid(self.pid, 0)


def test_a_batch_stays_whole_in_a_forked_child_when_the_parent_has_let_go():
    batches = iter(DataLoader(Rows(), 4, num_workers=1))
    next(batches)
    child = Child(next(batches))                # samples 4 to 7
    try:
        assert child.reads() == (4.0, 7.0)
        assert sum(len(batch) for batch in batches) == 64 - 8
        assert child.reads() == (4.0, 7.0)
    finally:
        child.end()


def test_what_a_child_held_is_used_again_when_it_has_ended():
    loader = DataLoader(Rows(), 4, num_workers=1, persistent_workers=True)
    for _ in range(20):
        batches = iter(loader)
        child = Child(next(batches))
        for _ in batches:
            pass
        child.end()
    assert len(loader.slots.slots) <= 6
    assert len(loader.slots.children) <= 1


def test_a_child_that_lets_go_of_its_copy_harms_nobody():
    loader = DataLoader(Rows(), 4, num_workers=1)
    kept = list(loader)
    child = os.fork()
    if child == 0:
        kept.clear()
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert [(batch.min().item(), batch.max().item()) for batch in kept] == [
        (4.0 * n, 4.0 * n + 3) for n in range(16)]


class Holding(data.Dataset):
    """Sample i is what the batch that it holds looks like."""

    def __init__(self, batch):
        self.batch = batch

    def __len__(self):
        return 3

    def __getitem__(self, i):
        return [self.batch.min().item(), self.batch.max().item()]


@pytest.mark.parametrize("kind", [DataLoader, data.DataLoader])
def test_the_workers_of_another_loader_may_hold_a_batch(kind):
    batches = iter(DataLoader(Rows(), 4, num_workers=1))
    dataset = Holding(next(batches))
    second = iter(kind(dataset, None, num_workers=1, prefetch_factor=1,
                       multiprocessing_context="fork"))
    assert next(second) == [0.0, 3.0]
    dataset.batch = None
    for _ in batches:
        pass
    assert list(second) == [[0.0, 3.0]] * 2


def lent_then(slots):
    """A batch of ones in a slot, and its address."""
    return slots.unpack(*fresh(slots).pack(torch.ones(10_000)))


def test_a_batch_stays_whole_in_a_child_that_no_descriptor_was_left_for(monkeypatch):
    made = mini_loader_lending.connection.Pipe

    def pipe(duplex=True):
        if not duplex:                          # that of the fork, not that of `Child`
            raise OSError(24, "Too many open files")
        return made(duplex)
    slots = LentSlots(1)
    batch = lent_then(slots)
    with monkeypatch.context() as patch:
        patch.setattr(mini_loader_lending.connection, "Pipe", pipe)
        child = Child(batch)
    del batch
    for _ in range(3):
        slots.unpack(*fresh(slots).pack(torch.full((10_000,), 99.0)))
    try:
        assert child.reads() == (1.0, 1.0)
    finally:
        child.end()


def test_short_lived_children_leave_no_descriptor_while_a_batch_is_held():
    slots = LentSlots(1)
    batch = lent_then(slots)
    before = len([*Path("/dev/fd").iterdir()])
    for _ in range(20):
        if (child := os.fork()) == 0:
            os._exit(0)
        os.waitpid(child, 0)
    assert len([*Path("/dev/fd").iterdir()]) <= before + 1
    assert batch.sum() == 10_000


def test_a_batch_stays_whole_in_children_that_two_threads_fork_at_once(monkeypatch):
    """Each thread is between its pipe and its fork when the other is."""
    meet = threading.Barrier(2, timeout=600)
    before, forked = mini_loader_lending.connection.Pipe, []

    def pipe_and_wait(**arguments):
        ends = before(**arguments)
        meet.wait()
        return ends

    def fork():
        child = os.fork()
        if child == 0:
            os._exit(0)
        forked.append(child)
    batches = iter(DataLoader(Rows(), 4, num_workers=1))
    held = next(batches)
    with monkeypatch.context() as patch:
        patch.setattr(mini_loader_lending.connection, "Pipe", pipe_and_wait)
        threads = [threading.Thread(target=fork) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for pid in forked:
        os.waitpid(pid, 0)
    child = Child(held)
    try:
        del held
        assert sum(len(batch) for batch in batches) == 64 - 4
        assert child.reads() == (0.0, 3.0)
    finally:
        child.end()
    assert not mini_loader_lending.forking


# ---- tensors that share memory -------------------------------------------------------------------

def sharing(samples):
    y = data.default_collate(samples)
    return y, y[:, :10_000], y, {"last": y[-1]}, y.T, y.view(torch.int32)


def from_a_view(samples):
    y = data.default_collate(samples)
    return y[:, :15_000], y


@pytest.mark.parametrize("length", [3, 20_000])
@pytest.mark.parametrize("kind", [DataLoader, data.DataLoader])
def test_tensors_of_a_batch_that_share_memory_share_it_afterwards(kind, length):
    loader = kind(Rows(2, length), 2, num_workers=1, collate_fn=sharing)
    y, part, again, row, turned, ints = next(iter(loader))
    y.zero_()
    assert all(not one.any() for one in (part, again, row["last"], turned, ints))
    assert part.shape == (2, min(length, 10_000))
    part, y = next(iter(kind(Rows(2, length), 2, num_workers=1, collate_fn=from_a_view)))
    part.fill_(7)
    assert y[0, 0].item() == 7


class OneBuffer(data.Dataset):
    """Arrays of one buffer, from its begin: torch makes a storage of each."""

    def __init__(self, lengths):
        self.lengths = lengths

    def __len__(self):
        return 1

    def __getitem__(self, i):
        buffer = np.arange(50_000.0)
        return [*(buffer[:length] for length in self.lengths), np.full(60_000, 7.0)]


@pytest.mark.parametrize("unit", [1, 1000])
@pytest.mark.parametrize("lengths", [(10, 50), (50, 10), (10, 50, 10), (20, 10, 50, 40)])
def test_arrays_that_begin_at_one_address_cross_whole_whichever_is_first(lengths, unit):
    dataset = OneBuffer([unit * length for length in lengths])
    (batch,) = DataLoader(dataset, None, num_workers=1)
    assert same(batch, data.default_convert(dataset[0]))


def begin_and_batch(samples):
    y = data.default_collate(samples)
    return torch.from_numpy(y[:1].numpy()), y


@pytest.mark.parametrize("length", [3, 20_000])
def test_a_batch_crosses_whole_after_an_array_that_is_its_begin(length):
    begin, y = next(iter(DataLoader(Rows(2, length), 2, num_workers=1,
                                    collate_fn=begin_and_batch)))
    assert begin.tolist() == [[0.0] * length]
    assert y.tolist() == [[0.0] * length, [1.0] * length]


class Table(data.Dataset):
    """Sample i is a view of row i of one tensor."""

    def __init__(self):
        self.table = torch.arange(40.0).repeat(5000, 1).T.contiguous()

    def __len__(self):
        return 40

    def __getitem__(self, i):
        return self.table[i]


def test_of_a_view_of_something_far_larger_only_the_view_crosses():
    loader = DataLoader(Table(), None, num_workers=1)
    rows = list(loader)
    assert same(rows, list(Table().table))
    assert {row.untyped_storage().nbytes() for row in rows} == {5000 * 4}


# ---- kinds of tensors ----------------------------------------------------------------------------

def first(samples):
    return samples[0]


nested = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")


def pair():
    return torch.nested.nested_tensor([torch.ones(2), torch.zeros(3)])


@nested
@pytest.mark.parametrize("kind", [DataLoader, data.DataLoader])
@pytest.mark.parametrize("method", METHODS)
def test_a_nested_tensor_crosses(kind, method):
    loader = kind([pair(), pair()], num_workers=1, collate_fn=first,
                  multiprocessing_context=method)
    for batch in loader:
        assert batch.is_nested
        assert [one.tolist() for one in batch.unbind()] == [[1, 1], [0, 0, 0]]


@nested
@pytest.mark.parametrize("kind", [DataLoader, data.DataLoader])
def test_a_batch_of_nested_tensors_is_torchs_error(kind):
    with pytest.raises(RuntimeError, match="Batches of nested tensors are not currently supp"):
        list(kind([pair(), pair()], 2, num_workers=1))


@pytest.mark.parametrize("length", [4, 20_000])
def test_each_dtype_crosses(length):
    names = [torch.bool, torch.uint16, torch.uint64, torch.bfloat16,
             torch.complex64, torch.float8_e4m3fn, torch.int8]
    tensors = [torch.ones(length).to(dtype) for dtype in names]
    for mine, theirs in zip(DataLoader(tensors, None, num_workers=1), tensors, strict=True):
        assert mine.dtype == theirs.dtype
        assert torch.equal(mine.view(torch.uint8), theirs.view(torch.uint8))


@pytest.mark.parametrize("length", [4, 20_000])
def test_lazy_signs_cross_as_values(length):
    z = torch.full((length,), 1 + 2j)
    conj, negative = DataLoader([z.conj(), z.conj().imag], None, num_workers=1)
    assert torch.equal(conj, z.conj())
    assert torch.equal(negative, torch.full((length,), -2.0))


# ---- when memory goes ----------------------------------------------------------------------------

class Uneven(data.Dataset):
    """Every tenth sample has 20 MB, the others 40 KB."""

    def __len__(self):
        return 60

    def __getitem__(self, i):
        return torch.zeros(5_000_000 if i % 10 == 0 else 10_000)


def megabytes(slots):
    return os.fstat(slots.file.fd).st_blocks * 512 / 1e6


@linux
def test_the_memory_of_large_batches_goes_when_small_ones_follow():
    loader = DataLoader(Uneven(), None, num_workers=2, persistent_workers=True)
    for _ in range(3):
        for _ in loader:
            pass
        del _
        assert megabytes(loader.slots) < 25


@linux
def test_the_memory_of_batches_that_were_held_goes_with_the_next_batch():
    loader = DataLoader(Rows(200), 4, num_workers=1)        # 320 KB each
    batches = list(loader)
    assert megabytes(loader.slots) > 17 * 0.32
    del batches
    gc.collect()
    next(iter(loader))
    assert len(loader.slots.free) >= len(loader.slots.slots) - 3    # this one, two with the worker
    assert megabytes(loader.slots) < 4 * 0.32


@linux
def test_no_page_is_given_back_where_batches_have_one_size(monkeypatch):
    shrunk = []

    class Spy(mini_loader_lending.TensorSlot):
        def shrink(self, end):
            before = self.high
            super().shrink(end)
            shrunk.append(before - self.high)
    monkeypatch.setattr(LentSlots, "kind", Spy)
    for _ in DataLoader(Rows(200), 4, num_workers=1):
        pass
    assert set(shrunk[:45]) == {0}


class Bulky(Rows):
    def __init__(self):
        super().__init__(8)
        self.text = bytes(20_000_000)


@linux
@pytest.mark.parametrize("method", METHODS)
def test_no_copy_of_the_dataset_stays_when_workers_have_it(method):
    def shared():
        ours = {fd.stat().st_ino: fd.stat().st_blocks * 512
                for fd in Path("/proc/self/fd").iterdir()
                if "memfd:mini_loader" in os.path.realpath(fd)}
        return sum(ours.values())
    loader = DataLoader(Bulky(), 2, num_workers=2, persistent_workers=True,
                        multiprocessing_context=method)
    assert len(list(loader)) == 4
    assert shared() < 5_000_000
    assert loader.pool.job.sent is None


def test_a_lent_slot_is_not_written_while_it_is_shrunk():
    """Slot by slot, without a worker: what is lent stays, whatever others give back."""
    slots = LentSlots(1)
    held = slots.take()
    address = held.pack(torch.arange(50_000.0))
    kept = slots.unpack(*address)
    for size in (10**6, 10, 10**5, 10):
        slot = slots.take()
        assert slot is not held
        slot.clear()
        slots.unpack(*slot.pack(torch.zeros(size)))
    assert torch.equal(kept, torch.arange(50_000.0))


def fresh(slots):
    slot = slots.take()
    slot.clear()
    return slot


def test_no_interrupt_is_lost_where_a_batch_is_let_go(monkeypatch):
    """What a callback of Python's own raises is printed and forgotten, and a program goes on."""
    forgotten = []
    monkeypatch.setattr(sys, "unraisablehook", forgotten.append)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    slots, batch = LentSlots(1), torch.zeros(10_000)

    def fetch_until_interrupted(seconds):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        while not forgotten:
            slots.unpack(*fresh(slots).pack(batch))
    try:
        for k in range(300):
            with pytest.raises(KeyboardInterrupt):
                fetch_until_interrupted(1e-3 + k * 1e-6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert not forgotten


# ---- the step that can be left out ---------------------------------------------------------------

def test_the_loader_needs_nothing_of_the_lending_but_its_name():
    """As a reader finds who leaves the file out and names the other transport instead."""
    code = """
import sys, types, mini_loader_slots
sys.modules["mini_loader_lending"] = types.SimpleNamespace(LentSlots=mini_loader_slots.Slots)
from mini_loader import DataLoader
loader = DataLoader(list(range(8)), 2, num_workers=2, multiprocessing_context="fork")
print([batch.tolist() for batch in loader])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(CODE)})
    assert done.stdout == "[[0, 1], [2, 3], [4, 5], [6, 7]]\n"
