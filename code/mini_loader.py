"""DataLoader: torch's loader rebuilt, with workers that may die without a batch being lost.

Read it from top to bottom: the loader, an epoch without workers, an epoch with them. Beside it
are mini_loader_arguments.py, which checks what it is told; mini_loader_fetch.py, which makes a
batch; mini_loader_pool.py, the processes; mini_loader_worker.py, what each of them does;
mini_loader_slots.py, the shared memory in which messages lie; and mini_loader_lending.py, which
saves copying them. It needs torch, on Linux or macOS.

    sampler ─► task ─► slot ─► worker: samples, then the batch ─► the same slot ─► in order ─► you
                        └────────── through its pipe go three numbers ──────────┘
"""
import math
import os
import sys
import time
import types
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat

import torch
from torch.utils import data
from torch.utils.data._utils.pin_memory import pin_memory  # not public; it pins all of a batch

import mini_loader_arguments as arguments
from mini_loader_fetch import Kind, batch_seed, fetcher, seeded, unstopped
from mini_loader_lending import LentSlots
from mini_loader_pool import Pool, TimedOut
from mini_loader_worker import Job, Task

__all__ = ["DataLoader", "Statistics"]


@dataclass
class Statistics:
    """What a loader has counted over all its epochs.

    `batches` were delivered; for the `late` ones among them `next` had to wait. `waited` are the
    seconds that `iter` and `next` took in all, whatever came of them. `restarts` counts workers
    that died and were replaced, `resent` the tasks that their successors got.
    """

    batches: int = 0
    late: int = 0
    waited: float = 0.0
    restarts: int = 0
    resent: int = 0

    def count(self, late):
        self.batches += 1
        self.late += late

    @contextmanager
    def waiting(self):
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.waited += time.perf_counter() - begin


# --- 1. The loader -----------------------------------------------------------------------------

class DataLoader:
    """Batches of a dataset, in order, each delivered once, whichever worker dies meanwhile.

    The arguments are torch's, and the same generator gives the same indices in the same batches.
    What differs:

    - A worker that dies is replaced, `max_restarts` times an epoch, by one that begins with the
      dataset as it is here; what the dead one had changed in its copy is lost. A stream, the
      iterator of an IterableDataset, goes on if the dataset has `state_dict` and
      `load_state_dict`, which say where it is after the last sample given.
    - Random numbers in samples are seeded for each batch, after any seed that a `worker_init_fn`
      has set. They depend neither on restarts nor, of a map-style dataset, on `num_workers`; with
      `persistent_workers` they are others from the second epoch on.
    - Of a map-style dataset the worker with the fewest tasks gets the next one, not each in turn.
    - A batch lies in memory that is written again once nothing refers to it, here or in a child
      forked meanwhile. `transport = Slots`, of mini_loader_slots, copies batches instead.
    - Batches are pinned in `next`, not ahead of it in a thread.
    - `prefetch_factor` is at most 256; before Python 3.13 each task under way takes a file
      descriptor. `shuffle` of an IterDataPipe, `pin_memory_device` and Windows are not offered.

    The loader counts in `statistics`. Raises ValueError for arguments that contradict each other.
    Source: torch.utils.data.DataLoader.
    """

    __class_getitem__ = classmethod(types.GenericAlias)       # DataLoader[Tensor], as in torch
    transport = LentSlots
    made = slots = pool = pid = promised = None

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None,
                 num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0,
                 worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False, in_order=True, max_restarts=3):
        arguments.check_workers(num_workers, prefetch_factor, persistent_workers, timeout)
        self.iterable = isinstance(dataset, data.IterableDataset)
        arguments.check_sampling(self.iterable, batch_size, shuffle, sampler, batch_sampler,
                                 drop_last)
        self.dataset, self.generator, self.pin_memory = dataset, generator, pin_memory
        self.num_workers, self.persistent_workers = num_workers, persistent_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.timeout, self.in_order, self.max_restarts = timeout, in_order, max_restarts
        self.multiprocessing_context, self.worker_init_fn = multiprocessing_context, worker_init_fn
        self.batch_size = None if batch_sampler is not None else batch_size
        self.batched, self.drop_last = batch_size is not None, drop_last
        if sampler is None and not self.iterable:
            sampler = arguments.default_sampler(dataset, shuffle, generator)
        if self.batch_size is not None and not self.iterable:
            batch_sampler = data.BatchSampler(sampler, batch_size, drop_last)
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.collate_fn = collate_fn or (
            data.default_collate if self.batched else data.default_convert)
        self.statistics = Statistics()
        self.made = True

    def __setattr__(self, name, value):
        """ValueError for what other attributes have been made from, as in torch."""
        if self.made and name in arguments.FIXED:
            raise ValueError(f"{name} cannot be set any more; make another DataLoader")
        if name == "multiprocessing_context":
            value = arguments.context(value, self.num_workers)
        super().__setattr__(name, value)

    def __len__(self):
        """The number of batches; of an iterable dataset, a guess from its length, if it has one."""
        if not self.iterable:
            return len(self.batch_sampler if self.batched else self.sampler)
        length, size = len(self.dataset), self.batch_size or 1
        self.promised = length // size if self.drop_last else math.ceil(length / size)
        return self.promised

    def numbered(self):
        """(number, indices) of each batch; an iterable dataset is told how many samples to take."""
        if self.iterable:
            return enumerate(repeat(self.batch_size or 1))
        return enumerate(self.batch_sampler if self.batched else self.sampler)

    def draw_seed(self):
        """63 bits of the generator."""
        return int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))

    def job(self, base_seed):
        return Job(self.slots.file, self.transport.kind, self.dataset, self.iterable, self.batched,
                   self.collate_fn, self.drop_last, self.num_workers, base_seed,
                   self.worker_init_fn)

    def __iter__(self):
        """The batches of one epoch. Raises what a dataset raises, and RuntimeError as `Pool`.

        A sampler may draw from the generator, too. So it is asked before the seed is drawn, and
        once more before new workers get tasks: as in torch, or the indices would not be the same.
        """
        with self.statistics.waiting():
            tasks = self.numbered()
            if not self.num_workers:
                return InProcess(self, tasks)
            if self.pid != os.getpid():        # a forked child must not write in its parent's slots
                self.slots = self.transport(self.prefetch_factor * self.num_workers)
                self.pool, self.pid = None, os.getpid()
            pool = self.pool
            if pool is None or not pool.close.alive:
                pool = Pool(self, self.draw_seed())
                tasks = self.numbered()
            self.pool = pool if self.persistent_workers else None
            return WithWorkers(self, tasks, pool)

    def __getstate__(self):
        """A copy of a loader has neither memory nor processes yet."""
        return {**vars(self), "slots": None, "pool": None, "pid": None}


class Epoch:
    """The batches of one epoch; the two kinds below say how they come about."""

    def __init__(self, loader, tasks):
        self.loader, self.tasks, self.delivered = loader, tasks, 0
        self.pins, self.promised = loader.pin_memory and arguments.can_pin(), loader.promised

    def __iter__(self):
        return self

    def __next__(self):
        with self.loader.statistics.waiting():
            batch = self.next_batch()
            self.delivered += 1
            arguments.check_promised(self.delivered, self.promised, self.loader.num_workers)
            return unstopped(pin_memory, batch) if self.pins else batch


# --- 2. An epoch without workers ---------------------------------------------------------------

class InProcess(Epoch):
    """Each batch is made when it is asked for. Nothing is prepared, so nothing can be lost."""

    def __init__(self, loader, tasks):
        super().__init__(loader, tasks)
        self.base_seed = loader.draw_seed()
        self.fetch = unstopped(fetcher, loader, loader.collate_fn,
                               batch_seed(self.base_seed, 0, -1))

    def next_batch(self):
        number, indices = next(self.tasks)
        with seeded(batch_seed(self.base_seed, 0, number)):
            batch = unstopped(self.fetch, indices)
        if batch is Kind.END:
            raise StopIteration
        self.loader.statistics.count(True)
        return batch


# --- 3. An epoch with workers ------------------------------------------------------------------

class WithWorkers(Epoch):
    """Keeps `limit` tasks under way and hands out their batches in order."""

    def __init__(self, loader, tasks, pool):
        super().__init__(loader, tasks)
        self.number, self.pool, self.over = 0, pool, False
        self.limit = loader.prefetch_factor * loader.num_workers
        with pool.killed_by_errors():
            while pool.under_way():            # what an epoch that was left early has asked for
                self.wait()
            self.epoch = pool.begin()
            self.dispatch()

    def next_batch(self):
        if self.pool.slots.pid != os.getpid():
            raise RuntimeError("another process began this epoch, and a forked child cannot go on "
                               "with it; begin one here")
        if self.over:
            raise StopIteration
        if self.pool.epoch != self.epoch:
            raise RuntimeError("these workers have begun another epoch; use the newest iterator, "
                               "or persistent_workers=False")
        if not self.pool.close.alive:
            raise RuntimeError("an error has ended this epoch; begin another")
        with self.pool.killed_by_errors():
            reply = self.next_reply()
        if reply is None:
            self.over = True
            raise StopIteration
        if reply.kind is Kind.ERROR:
            reply.value.reraise()
        return reply.value

    def next_reply(self):
        """The batch or error whose turn it is; None, and the end of the epoch, after the last."""
        replies, late = self.pool.replies, False
        while True:
            number = self.number if self.loader.in_order else next(iter(replies), None)
            if number in replies:
                reply = replies.pop(number)
                self.number += 1
                self.dispatch()                # before the caller goes away to train
                if reply.kind is Kind.BATCH:
                    self.loader.statistics.count(late)
                if reply.kind is not Kind.END:
                    return reply
            elif self.pool.under_way():
                late = True
                self.wait()
            else:
                if not self.loader.persistent_workers:
                    self.pool.close()
                return None

    def dispatch(self):
        """Give out tasks while fewer than `limit` batches are under way or wait here."""
        while self.pool.under_way() + len(self.pool.replies) < self.limit:
            worker = self.pool.worker_for_next()
            numbered = next(self.tasks, None) if worker else None
            if numbered is None:
                return
            seed = batch_seed(self.pool.job.base_seed, self.epoch, numbered[0])
            self.pool.give(worker, Task(self.epoch, *numbered, seed))

    def wait(self):
        """Let replies come in. TimedOut if none has for `timeout` seconds, if that is not 0."""
        deadline = time.perf_counter() + (self.loader.timeout or math.inf)
        while not self.pool.collect(deadline - time.perf_counter()):
            if time.perf_counter() >= deadline:
                raise TimedOut(f"no worker answered for {self.loader.timeout} seconds, and batch "
                               f"{self.number} is not there; give a longer timeout, or find what "
                               "they do")


# --- 4. The tour, in the file mini_loader_tour.py beside this one ------------------------------

if __name__ == "__main__":
    try:
        from mini_loader_tour import main
    except ModuleNotFoundError:                                # a download: the tour is not here
        sys.stderr.write("mini_loader；下一步 · next: python3 check_loader.py\n")
        sys.exit(2)
    sys.exit(main())
