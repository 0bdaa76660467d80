"""Small datasets that show what the workers of a DataLoader do.

They stand in a module, not in a notebook, because a worker that spawn or forkserver starts has
to import the class of its dataset.
"""

import multiprocessing as mp
import os
import signal
import sys
import time

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

PATIENCE = 30  # seconds that a closed gate holds a sample
LAST_BREATH = 0.3  # seconds before `die` dies: by then the main process waits for the batch


class Numbers(Dataset):
    """Sample i is the number `i * scale`."""

    def __init__(self, size, scale=1):
        self.size, self.scale = size, scale

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return i * self.scale


class Gated(Numbers):
    """Numbers of which the samples in `behind` wait in the worker until `gate` is set.

    Raises `TimeoutError` after 30 seconds, so that no worker waits for ever.
    """

    def __init__(self, size, behind):
        super().__init__(size)
        self.behind, self.gate = frozenset(behind), mp.Event()

    def __getitem__(self, i):
        if i in self.behind and not self.gate.wait(PATIENCE):
            raise TimeoutError(f"sample {i}: nobody opened the gate")
        return i


class Acting(Numbers):
    """Numbers, except that sample i is what `acts[i](i)` returns or raises, where it is given."""

    def __init__(self, size, acts):
        super().__init__(size)
        self.acts = acts

    def __getitem__(self, i):
        return self.acts[i](i) if i in self.acts else i


class Draws(Numbers):
    """Sample i is a dict: `index`, and a number from each of three random generators.

    `torch` and `numpy` are the global ones, `stored` is a `numpy.random.Generator` that the
    dataset made for itself.
    """

    def __init__(self, size):
        super().__init__(size)
        self.stored = np.random.default_rng(0)

    def __getitem__(self, i):
        drawn = torch.rand(()), np.random.rand(), self.stored.random()
        return {"index": i} | dict(zip(("torch", "numpy", "stored"), drawn, strict=True))


class Tape(Dataset):
    """Sample i is the next byte of a file opened without a buffer; `count` counts the reads."""

    def __init__(self, file, size):
        self.file, self.size, self.count = file, size, 0

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        self.count += 1
        return self.file.read(1)


class Stream(IterableDataset):
    """The numbers below `size`, in order; with `shard`, each worker gives its own part."""

    def __init__(self, size, shard=False):
        self.size, self.shard = size, shard

    def __len__(self):
        return self.size

    def __iter__(self):
        info = get_worker_info() if self.shard else None
        return iter(range(self.size)[info.id :: info.num_workers] if info else range(self.size))


class BadFile(Exception):
    """An exception that cannot be built from a message alone."""

    def __init__(self, path, line):
        super().__init__(f"{path}:{line}")


# ---------------------------------------------------------------- acts for Acting
def missing(i):
    raise KeyError(f"sample {i}")


def damaged(i):
    raise BadFile("images.bin", i)


def stop(i):
    raise StopIteration


def unpicklable(i):
    return lambda: i


def die(i):
    """End the process as the kernel does when memory runs out: no exception, no cleaning up."""
    time.sleep(LAST_BREATH)
    os.kill(os.getpid(), signal.SIGKILL)


# ---------------------------------------------------------------- for the arguments of DataLoader
def keep_list(samples):
    """A `collate_fn` that leaves the samples as they are, in a list."""
    return samples


def quiet(worker_id):
    """A `worker_init_fn` that sends what the worker writes to stderr nowhere."""
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 open as long as the worker lives
    os.dup2(sys.stderr.fileno(), 2)
