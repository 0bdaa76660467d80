"""torch's own DataLoader on a virtual clock: who makes which batch when, without a process.

`DataLoader` takes its queues, events and processes from `multiprocessing_context`. Here that is a
context whose workers only count: a batch is ready some milliseconds after its worker turned to it,
and whoever waits for a result moves the clock. What is sent when and to whom, what is kept and
what is handed over is decided by torch.
"""

import os
import threading
import warnings
from heapq import heappop, heappush
from math import floor
from multiprocessing.context import BaseContext

from torch.utils.data import DataLoader, Dataset

# How long each batch takes at a spread of 100 %, if 1 is the mean; simulate.js has the same.
SPREAD = (2.81, 0.84, 0.51, 2.29, 1.49, 0.58, 0.21, 0.75, 0.32, 0.16, 3.95, 0.26, 1.05, 0.11, 1.33,
          0.07, 0.38, 0.94, 0.02, 1.18, 1.95, 0.66, 0.44, 1.7)

PLAIN = {"spread": 0, "startup": 0, "pin": 0}    # what settings may leave out


def run(settings, watch=None):
    """Run one epoch and return its batches as dicts, in the order in which they are handed over.

    `settings` has the numbers that `inside.widgets.loader_timeline.LoaderTimeline` takes. A
    batch is {batch, worker, sent, start, end, pinning, pinned, got, asked, given, done}, in ms;
    `worker` is None in the main process. torch pins only where there is a GPU, so the thread that
    pins is one of this clock too. `watch(now, iterator)` is called with torch's iterator whenever
    it waits for a result and whenever it has handed over a batch.
    """
    machine = Machine(settings)
    iterator = machine.iterator()
    if watch:
        machine.waits = lambda: watch(machine.now, iterator)
    order, asked = [], 0
    for batch in iterator:
        task = machine.tasks[int(batch)]
        task |= {"asked": asked, "given": machine.now, "done": machine.now + settings["step"]}
        order.append(task)
        if watch:
            watch(machine.now, iterator)
        asked = machine.now = task["done"]
    return order


class Machine:
    """The clock, and what the workers have made by then."""

    def __init__(self, settings):
        self.settings, self.now, self.tasks, self.ready = PLAIN | settings, 0, {}, []
        self.pinner = 0                              # when the thread that pins is free
        self.waits = lambda: None

    def iterator(self):
        workers = self.settings["num_workers"]
        options = {"num_workers": workers, "in_order": self.settings["in_order"]}
        if workers:
            options["prefetch_factor"] = self.settings["prefetch_factor"]
            options["multiprocessing_context"] = Context(self)
        with warnings.catch_warnings():  # more workers than cores: not these
            warnings.simplefilter("ignore", UserWarning)
            return iter(DataLoader(Numbers(self), batch_size=None, **options))

    def make(self, batch, worker, start):
        """Note when `batch` is made; returns when it is ready."""
        end = start + self.batch_ms(batch, worker)
        self.tasks[batch] = {"batch": batch, "worker": worker, "sent": self.now, "start": start,
                             "end": end}
        return end

    def batch_ms(self, batch, worker):
        """How long `worker`, None for the main process, takes to make `batch`."""
        slow, which = self.settings["slow"], self.settings["which"]
        is_slow = which == {"worker": worker, "batch": batch}.get(slow)
        share = 1 + (self.settings["spread"] / 100) * (SPREAD[batch % len(SPREAD)] - 1)
        whole = max(1, floor(self.settings["fetch"] * share + 0.5))
        return whole * (self.settings["factor"] if is_slow else 1)

    def pin(self, batch):
        """Note when `batch` is pinned, after those that were before; returns when."""
        task = self.tasks[batch]
        task["pinning"] = max(self.pinner, task["end"])
        task["pinned"] = self.pinner = task["pinning"] + self.settings["pin"]
        return self.pinner


class Numbers(Dataset):
    """Sample i is i, and to make it in the main process takes its time."""

    def __init__(self, machine):
        self.machine = machine

    def __len__(self):
        return self.machine.settings["batches"]

    def __getitem__(self, i):
        self.machine.make(i, None, self.machine.now)
        self.machine.now = self.machine.tasks[i]["got"] = self.machine.pin(i)
        return i


class Context(BaseContext):
    """Where torch gets the queues and workers of one iterator: first of all its result queue."""

    def __init__(self, machine):
        self.machine, self.queues = machine, 0

    def Queue(self):
        self.queues += 1
        return Indices(self.machine, self.queues - 2) if self.queues > 1 else Results(self.machine)

    def Event(self):
        return threading.Event()

    def Process(self, target, args):
        return Worker()


class Indices:
    """The index queue of one worker, and the worker that empties it in turn."""

    def __init__(self, machine, worker):
        self.machine, self.worker, self.free = machine, worker, machine.settings["startup"]

    def put(self, task):
        if task is None:  # the epoch is over
            return
        batch, _ = task
        start = max(self.free, self.machine.now)
        self.free = self.machine.make(batch, self.worker, start)
        heappush(self.machine.ready, (self.free, self.worker, batch))

    def cancel_join_thread(self):
        """Nothing is written by a thread."""

    def close(self):
        """Nothing is open."""


class Results:
    """The result queue: the earliest batch, of two the one of the lower worker."""

    def __init__(self, machine):
        self.machine = machine

    def get(self, timeout=None):
        _, _, batch = self.machine.ready[0]
        pinned = self.machine.pin(batch)
        if pinned > self.machine.now:
            self.machine.waits()
        heappop(self.machine.ready)
        self.machine.now = self.machine.tasks[batch]["got"] = max(pinned, self.machine.now)
        return batch, batch


class Worker:
    """What torch calls of a process. Its `pid` is no child's, so no signal is taken for its end."""

    pid, daemon = os.getpid(), False

    def start(self):
        """The index queue does the work."""

    def join(self, timeout=None):
        """Over at once."""

    def is_alive(self):
        return False
