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

PATIENCE = 30  # seconds that anything here waits
LAST_BREATH = 0.3  # seconds before `die` dies: by then what came before has mostly been delivered


class Numbers(Dataset):
    """Sample i is the number `i * scale`."""

    def __init__(self, size, scale=1):
        self.size, self.scale = size, scale

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return i * self.scale


class Gate:
    """An event that goes to workers of every start method; waiting looks a thousand times a second.

    An Event of multiprocessing goes only to those of the start method that it was made for.
    """

    def __init__(self):
        self.opened = mp.RawValue("b", 0)

    def set(self):
        self.opened.value = 1

    def is_set(self):
        return bool(self.opened.value)

    def wait(self, seconds):
        """Whether it is set, at once or within some seconds."""
        end = time.monotonic() + seconds
        while not self.is_set() and time.monotonic() < end:
            time.sleep(0.001)
        return self.is_set()


class Gated(Numbers):
    """Numbers of which the samples in `behind` wait in the worker until `gate` is set.

    Raises `TimeoutError` after 30 seconds, so that no worker waits for ever.
    """

    def __init__(self, size, behind):
        super().__init__(size)
        self.behind, self.gate = frozenset(behind), Gate()

    def __getitem__(self, i):
        if i in self.behind and not self.gate.wait(PATIENCE):
            raise TimeoutError(f"sample {i}: nobody opened the gate")
        return i


class Doomed(Numbers):
    """Numbers, except that sample `fatal` kills its worker with SIGKILL once `now` is set.

    That is how the kernel ends a process when memory runs out: no exception, no cleaning up.
    Raises `TimeoutError` if `now` is not set within 30 seconds.
    """

    def __init__(self, size, fatal):
        super().__init__(size)
        self.fatal, self.now = fatal, Gate()

    def __getitem__(self, i):
        if i == self.fatal:
            if not self.now.wait(PATIENCE):
                raise TimeoutError(f"sample {i}: nobody said when to die")
            os.kill(os.getpid(), signal.SIGKILL)
        return i

    def dies_when_only(self, tasks, iterator):
        """Set `now` when the main process waits for a result and only `tasks` have not come.

        The death then always finds the main process in the same place, no result on its way and
        no lock of the result queue held.
        """
        queue = iterator._data_queue
        get = queue.get

        def watched(*args, **kwargs):
            if [k for k, task in iterator._task_info.items() if len(task) == 1] == tasks:
                del queue.get  # this function; the method of the class is back
                self.now.set()
            return get(*args, **kwargs)

        queue.get = watched


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


def no_shared_memory(worker_id):
    """A `worker_init_fn` that refuses its worker shared memory, as a full `/dev/shm` does.

    The limit on the size of files stands for the full disk; the worker is quiet besides.
    """
    import resource  # not on Windows

    quiet(worker_id)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


# ---------------------------------------------------------------- waiting
def wait_until(condition):
    """Return once `condition()` holds; raises `TimeoutError` if it does not within 30 seconds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("waited 30 seconds for something that did not come")
        time.sleep(0.01)


# ---------------------------------------------------------------- for a loader that survives
class Mortal(Numbers):
    """Sample i is i and a random number; making sample `at` kills the process, `times` times.

    `runs[i]` counts in shared memory, without a lock, how often sample i was begun.
    """

    def __init__(self, size, at=None, times=1):
        super().__init__(size)
        self.at, self.left, self.runs = at, mp.RawValue("i", times), mp.RawArray("i", size)

    def __getitem__(self, i):
        self.runs[i] += 1
        if i == self.at and self.left.value:
            self.left.value -= 1
            os.kill(os.getpid(), signal.SIGKILL)
        return i, torch.rand(())


class MortalStream(IterableDataset):
    """The numbers below `size`; the process that reaches `at` dies there, once."""

    def __init__(self, size, at):
        self.size, self.at, self.left, self.next = size, at, mp.RawValue("i", 1), 0

    def __iter__(self):
        while self.next < self.size:
            if self.next == self.at and self.left.value:
                self.left.value = 0
                os.kill(os.getpid(), signal.SIGKILL)
            self.next += 1
            yield self.next - 1


class Bookmarked(MortalStream):
    """A `MortalStream` that can say where it is, and go on there."""

    def state_dict(self):
        return {"next": self.next}

    def load_state_dict(self, state):
        self.next = state["next"]
