"""Datasets of the loader's tests: importable, so that every start method can have them."""

import itertools
import os
import random
import signal
import time
from collections import namedtuple
from pathlib import Path

import numpy
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

Pair = namedtuple("Pair", "left right")
SHAPE = (3, 40, 40)                 # 19 KB a sample: batches lie in slots


class Numbers(Dataset):
    """Sample i is a function of i: a large tensor, a number, an array, a word, a pair."""

    def __init__(self, size, shape=(3,)):
        self.size, self.shape = size, shape

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return {"x": torch.full(self.shape, float(i)), "i": i, "half": i / 2,
                "array": numpy.arange(i, i + 2), "word": str(i),
                "pair": Pair(torch.tensor(i), [i % 2 == 0])}


class AtOnce(Numbers):
    def __getitems__(self, indices):
        return [self[i] for i in indices]


class Ragged(Dataset):
    """Sample i has i % 5 numbers, none for some."""

    def __len__(self):
        return 40

    def __getitem__(self, i):
        return torch.full((i % 5 * 1500,), float(i))


class Draws(Dataset):
    """Samples that draw from every global generator, some of them slowly."""

    def __init__(self, size=300, shape=SHAPE, slow=0):
        self.size, self.shape, self.slow = size, shape, slow

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        if i % 7 == 0:
            time.sleep(self.slow)
        return (torch.full(self.shape, float(i)), i,
                {"torch": torch.rand(2), "random": random.random(), "numpy": numpy.random.rand()})


class At(Dataset):
    """`act(i)` before each sample. Sample i is i."""

    def __init__(self, act, size=20):
        self.act, self.size = act, size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        self.act(i)
        return i


class Who(At):
    """Sample i is i and the worker that made it."""

    def __getitem__(self, i):
        return super().__getitem__(i), get_worker_info().id


class Killing:
    """As an `act`: the process kills itself at one index, `times` times, counted in a file."""

    def __init__(self, index, counter, times=1):
        self.index, self.counter, self.times = index, Path(counter), times

    def __call__(self, i):
        if i != self.index:                     # others must not read while it is written
            return
        done = int(self.counter.read_text()) if self.counter.exists() else 0
        if done < self.times:
            self.counter.write_text(str(done + 1))
            os.kill(os.getpid(), signal.SIGKILL)


class KillingBesideAChild(Killing):
    """A child that has inherited the worker's end of the pipe outlives it by far."""

    def __call__(self, i):
        if i == self.index and not self.counter.exists():
            child = os.fork()
            if child == 0:
                os.closerange(1, 3)  # who waits for the end of our output need not wait for it
                time.sleep(3600)
                os._exit(0)
            self.counter.with_suffix(".child").write_text(str(child))
        super().__call__(i)


class Sleeping:
    def __init__(self, index, seconds):
        self.index, self.seconds = index, seconds

    def __call__(self, i):
        if i == self.index:
            time.sleep(self.seconds)


class Waiting:
    """As an `act`: sample `index` waits until sample `other` is asked for, in another process."""

    def __init__(self, index, other, sign):
        self.index, self.other, self.sign = index, other, Path(sign)

    def __call__(self, i):
        if i == self.other:
            self.sign.touch()
        patience = time.monotonic() + 1200
        while i == self.index and not self.sign.exists():
            assert time.monotonic() < patience, f"sample {self.other} is never asked for"
            time.sleep(0.001)


class Exiting:
    def __init__(self, index, code):
        self.index, self.code = index, code

    def __call__(self, i):
        if i == self.index:
            os._exit(self.code)


class Raising:
    def __init__(self, index, error):
        self.index, self.error = index, error

    def __call__(self, i):
        if i == self.index:
            raise self.error


class TwoArguments(Exception):
    """Pickle cannot make it again."""

    def __init__(self, path, line):
        super().__init__(f"{path}: {line}")


class Stream(IterableDataset):
    """Worker k of the stream yields `counts[k]` large tensors with numbers of its own."""

    def __init__(self, counts):
        self.counts = counts

    def part(self):
        info = get_worker_info()
        return info.id if info else 0

    def __len__(self):
        return sum(self.counts)

    def __iter__(self):
        for n in range(self.counts[self.part()]):
            yield torch.full(SHAPE, float(1000 * self.part() + n)), n


class WithoutLength(IterableDataset):
    def __iter__(self):
        return iter(range(3))


class DrawingStream(Stream):
    """Draws when its iterator is made, and for each sample."""

    def __iter__(self):
        start = random.random()
        return ((start, torch.rand(2)) for _ in range(self.counts[self.part()]))


class ResumableStream(Stream):
    """Says where it is and can go on there; dies at a sample, if told so."""

    def __init__(self, counts, act=None):
        super().__init__(counts)
        self.at, self.goes_on, self.act = 0, False, act

    def state_dict(self):
        return {"at": self.at}

    def load_state_dict(self, state):
        self.at, self.goes_on = state["at"], True

    def __iter__(self):
        self.at, self.goes_on = self.at if self.goes_on else 0, False
        while self.at < self.counts[self.part()]:
            if self.act:
                self.act(1000 * self.part() + self.at)
            self.at += 1
            yield torch.full(SHAPE, float(1000 * self.part() + self.at)), self.at


class MortalStream(Stream):
    def __init__(self, counts, act):
        super().__init__(counts)
        self.act = act

    def __iter__(self):
        for number, sample in zip(itertools.count(1000 * self.part()), super().__iter__(),
                                  strict=False):
            self.act(number)
            yield sample


class Explosive:
    """Goes over a pipe, and raises when it is unpickled."""

    def __reduce__(self):
        return explode, ()


def explode():
    raise ValueError("not in this process")


# ---- functions for collate_fn and worker_init_fn -------------------------------------------------

def as_list(samples):
    return samples


def unpicklable(samples):
    return lambda: samples


def explosive(samples):
    return Explosive() if samples[0] == 4 else samples


class Keeping:
    """A collate_fn that returns its first result again beside each later one."""

    def __init__(self):
        self.first = None

    def __call__(self, samples):
        batch = torch.utils.data.default_collate(samples)
        if self.first is None:
            self.first = batch
        return self.first, batch


def all_layouts(samples):
    """A batch of every kind of tensor and container that a collate_fn may return."""
    x = torch.arange(24.0 * len(samples)).view(2, 3, 4, len(samples))
    return {
        "channels last": x.to(memory_format=torch.channels_last), "transposed": x.mT,
        "strided": x[:, ::2], "expanded": x[:1].expand(5, -1, -1, -1), "scalar": torch.tensor(3),
        "empty": torch.empty(0, 4), "empty late": torch.empty(4, 0), "bool": x > 3,
        "bfloat16": x.bfloat16(), "complex": x.to(torch.complex64),
        "conjugate": x.to(torch.complex64).conj(), "double": x.double(), "byte": x.byte(),
        "sparse": torch.eye(3).to_sparse(), "subclass": torch.nn.Parameter(torch.ones(3)),
        "leaf": torch.ones(3, requires_grad=True), "pair": Pair(x, (x, [x])), "none": None,
        "large": torch.arange(5000.0 * len(samples)), "array": numpy.ones(3), "samples": samples,
    }


def note_seed(worker_id):
    get_worker_info().dataset.seeds = (worker_id, torch.initial_seed(), random.random())


class Seeds(Dataset):
    """Sample i is what `note_seed` has left, beside what get_worker_info() says."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        info = get_worker_info()
        return (*self.seeds, info.id, info.num_workers, info.seed, info.dataset is self)


def refuse(worker_id):
    raise OSError(f"no scratch disk for worker {worker_id}")
