"""DataLoader: torch's loader rebuilt, with workers that may die without a batch being lost.

Read it from top to bottom: the arguments, an epoch without workers, an epoch with them. Beside it
are mini_loader_pool.py, the processes, mini_loader_worker.py, what each of them does, and
mini_loader_slots.py, the shared memory in which batches travel. It needs torch, on Linux or macOS.

    sampler ─► task ─► slot ─► worker: samples, then the batch ─► the same slot ─► in order ─► you
                        └────────── through its pipe go three numbers ──────────┘
"""
import math
import multiprocessing
import os
import sys
import time
import warnings
from dataclasses import dataclass
from itertools import repeat

import torch
from torch.utils import data
from torch.utils.data._utils.pin_memory import pin_memory

from mini_loader_pool import Pool
from mini_loader_slots import Slots
from mini_loader_worker import Job, Kind, Task, batch_seed, fetcher, seeded

__all__ = ["DataLoader", "Statistics"]

HELD = 16                     # batches the user may hold before further ones are copied


@dataclass
class Statistics:
    """What a loader has counted over all its epochs.

    `batches` were delivered; for the `late` ones among them `next` had to wait, `waited` seconds
    in all. `restarts` counts workers that died and were replaced, `resent` the tasks that their
    successors got.
    """

    batches: int = 0
    late: int = 0
    waited: float = 0.0
    restarts: int = 0
    resent: int = 0

    def count(self, late, seconds):
        self.batches += 1
        self.late += late
        self.waited += seconds


# --- 1. The arguments --------------------------------------------------------------------------

class DataLoader:
    """Batches of a dataset, in order, each delivered once, whichever worker dies meanwhile.

    Arguments mean what they mean in torch; the same generator gives the same indices in the same
    batches. What differs: randomness inside samples is seeded per batch, so that it depends
    neither on `num_workers` nor on restarts; a worker that dies is replaced, `max_restarts` times
    an epoch; of a map-style dataset the worker with the fewest tasks gets the next one; a large
    tensor lies in memory that workers write again once nothing refers to it. The loader counts
    in `statistics`.

    Raises ValueError for arguments that contradict each other.
    Source: torch.utils.data.DataLoader.
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None,
                 num_workers=0, collate_fn=None, pin_memory=False, drop_last=False, timeout=0,
                 worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False, in_order=True, max_restarts=3):
        self.dataset, self.generator, self.pin_memory = dataset, generator, pin_memory
        self.iterable = isinstance(dataset, data.IterableDataset)
        self.set_workers(num_workers, prefetch_factor, persistent_workers, timeout)
        self.multiprocessing_context = self.context_named(multiprocessing_context)
        self.worker_init_fn, self.in_order = worker_init_fn, in_order
        self.max_restarts = max_restarts
        self.check_sampling(batch_size, shuffle, sampler, batch_sampler, drop_last)
        self.batch_size = None if batch_sampler is not None else batch_size
        self.sampler, self.batch_sampler, self.drop_last = sampler, batch_sampler, drop_last
        if not self.iterable:
            self.set_samplers(shuffle)
        self.batched = self.batch_size is not None or self.batch_sampler is not None
        self.collate_fn = collate_fn or (
            data.default_collate if self.batched else data.default_convert)
        self.statistics, self.slots, self.pool, self.pid = Statistics(), None, None, None

    def set_workers(self, num_workers, prefetch_factor, persistent_workers, timeout):
        if num_workers < 0 or timeout < 0 or (prefetch_factor is not None and prefetch_factor < 1):
            raise ValueError(f"num_workers={num_workers}, timeout={timeout}, prefetch_factor="
                             f"{prefetch_factor}: the first two must be at least 0, the last 1")
        if not num_workers and (prefetch_factor is not None or persistent_workers or timeout):
            raise ValueError("prefetch_factor, persistent_workers and timeout are about worker "
                             "processes; give num_workers, or leave them out")
        self.num_workers, self.persistent_workers = num_workers, persistent_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.timeout = timeout

    def context_named(self, name):
        """The multiprocessing context: the platform's own for None."""
        if name is not None and not self.num_workers:
            raise ValueError("multiprocessing_context is about worker processes; give num_workers")
        if isinstance(name, multiprocessing.context.BaseContext):
            return name
        return multiprocessing.get_context(name)

    def check_sampling(self, batch_size, shuffle, sampler, batch_sampler, drop_last):
        if self.iterable and (shuffle or sampler is not None or batch_sampler is not None):
            raise ValueError("shuffle, sampler and batch_sampler choose indices, which an "
                             "IterableDataset does not have; let the dataset decide the order")
        if sampler is not None and shuffle:
            raise ValueError("sampler and shuffle both choose the order; leave one out")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None
                                          or drop_last):
            raise ValueError("batch_sampler makes whole batches; leave out batch_size, shuffle, "
                             "sampler and drop_last")
        if batch_size is None and drop_last:
            raise ValueError("batch_size=None makes no batches; leave out drop_last")
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"batch_size={batch_size}: give a positive number, or None")

    def set_samplers(self, shuffle):
        """Those of torch, so that the same generator gives the same indices."""
        if self.sampler is None and shuffle:
            self.sampler = data.RandomSampler(self.dataset, generator=self.generator)
        elif self.sampler is None:
            self.sampler = data.SequentialSampler(self.dataset)
        if self.batch_size is not None:
            self.batch_sampler = data.BatchSampler(self.sampler, self.batch_size, self.drop_last)

    def __len__(self):
        """The number of batches; of an iterable dataset, a guess from its length, if it has one."""
        if not self.iterable:
            return len(self.batch_sampler if self.batched else self.sampler)
        length, size = len(self.dataset), self.batch_size or 1
        return length // size if self.drop_last else math.ceil(length / size)

    def numbered(self):
        """(number, indices) of each batch; an iterable dataset is told how many samples to take."""
        if self.iterable:
            return enumerate(repeat(self.batch_size or 1))
        return enumerate(self.batch_sampler if self.batched else self.sampler)

    def draw_seed(self):
        """63 bits of the generator."""
        return int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))

    def job(self, base_seed):
        return Job(self.slots and self.slots.file, self.dataset, self.iterable, self.batched,
                   self.collate_fn, self.drop_last, self.num_workers, base_seed,
                   self.worker_init_fn)

    def __iter__(self):
        """The batches of one epoch. Raises what a dataset raises, and RuntimeError as `Pool`.

        A sampler may draw from the generator, too. So it is asked before the seed is drawn, and
        once more before new workers get tasks: as in torch, or the indices would not be the same.
        """
        if self.pin_memory and not torch.accelerator.is_available():
            warnings.warn("pin_memory=True, but there is no accelerator: batches stay in pageable "
                          "memory", stacklevel=2)
        tasks = self.numbered()
        if not self.num_workers:
            return InProcess(self, tasks)
        if self.pid != os.getpid():            # a forked child must not write in its parent's slots
            self.slots, self.pool = Slots(HELD + self.prefetch_factor * self.num_workers), None
            self.pid = os.getpid()
        pool = self.pool
        if pool is None or not pool.close.alive:
            pool = Pool(self, self.draw_seed())
            tasks = self.numbered()
        self.pool = pool if self.persistent_workers else None
        return WithWorkers(self, tasks, pool)

    def __getstate__(self):
        """A copy of a loader has neither memory nor processes yet."""
        return {**vars(self), "slots": None, "pool": None, "pid": None}

    def pinned(self, batch):
        """The batch in page-locked memory where that is asked for. torch keeps a pool of it."""
        return pin_memory(batch) if self.pin_memory and torch.accelerator.is_available() else batch


# --- 2. An epoch without workers ---------------------------------------------------------------

class InProcess:
    """Each batch is made when it is asked for. Nothing is prepared, so nothing can be lost."""

    def __init__(self, loader, tasks):
        self.loader, self.tasks = loader, tasks
        self.base_seed = loader.draw_seed()
        with seeded(batch_seed(self.base_seed, 0, -1)):
            self.fetch = fetcher(loader.job(self.base_seed), loader.collate_fn)

    def __iter__(self):
        return self

    def __next__(self):
        begin = time.perf_counter()
        number, indices = next(self.tasks)
        with seeded(batch_seed(self.base_seed, 0, number)):
            batch = self.fetch(indices)
        if batch is Kind.END:
            raise StopIteration
        self.loader.statistics.count(True, time.perf_counter() - begin)
        return self.loader.pinned(batch)


# --- 3. An epoch with workers ------------------------------------------------------------------

class WithWorkers:
    """Keeps `limit` tasks under way and hands out their batches in order."""

    def __init__(self, loader, tasks, pool):
        self.loader, self.tasks, self.number, self.pool = loader, tasks, 0, pool
        self.limit = loader.prefetch_factor * loader.num_workers
        with pool.killed_by_errors():
            begin = time.perf_counter()
            while pool.under_way():            # what an epoch that was left early has asked for
                self.wait(begin)
            self.epoch = pool.begin()
            self.dispatch()

    def __iter__(self):
        return self

    def __next__(self):
        if self.pool.epoch != self.epoch:
            raise RuntimeError("these workers have begun another epoch; use the newest iterator, "
                               "or persistent_workers=False")
        with self.pool.killed_by_errors():
            reply = self.next_reply()
        if reply is None:
            raise StopIteration
        if reply.kind is Kind.ERROR:
            reply.value.reraise()
        return self.loader.pinned(reply.value)

    def next_reply(self):
        """The batch or error whose turn it is; None, and the end of the epoch, after the last."""
        begin, late = time.perf_counter(), False
        while True:
            number = self.number if self.loader.in_order else next(iter(self.pool.replies), None)
            if number in self.pool.replies:
                reply = self.pool.replies.pop(number)
                self.number += 1
                self.dispatch()                # before the caller goes away to train
                if reply.kind is Kind.BATCH:
                    self.loader.statistics.count(late, time.perf_counter() - begin)
                if reply.kind is not Kind.END:
                    return reply
            elif self.pool.under_way():
                late = True
                self.wait(begin)
            else:
                if not self.loader.persistent_workers:
                    self.pool.close()
                return None

    def dispatch(self):
        """Give out tasks while fewer than `limit` batches are under way or wait here."""
        while self.pool.under_way() + len(self.pool.replies) < self.limit:
            worker = self.pool.worker_for_next()
            numbered = worker and next(self.tasks, None)
            if numbered is None:
                return
            seed = batch_seed(self.pool.job.base_seed, self.epoch, numbered[0])
            self.pool.give(worker, Task(self.epoch, *numbered, seed))

    def wait(self, begin):
        """Let replies come in. RuntimeError after `timeout` seconds since `begin`, if not 0."""
        left = begin + (self.loader.timeout or math.inf) - time.perf_counter()
        if left <= 0:
            raise RuntimeError(f"batch {self.number} timed out after {self.loader.timeout} "
                               "seconds; give a longer timeout, or find what the worker does")
        self.pool.collect(left)


# --- 4. The tour, in the file mini_loader_tour.py beside this one ------------------------------

if __name__ == "__main__":
    try:
        from mini_loader_tour import main
    except ModuleNotFoundError:                                # a download: the tour is not here
        sys.stderr.write("mini_loader；下一步 · next: python3 check_loader.py\n")
        sys.exit(2)
    sys.exit(main())
