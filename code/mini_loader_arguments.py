"""The arguments of mini_loader's DataLoader: which contradict each other, and what follows."""
import math
import multiprocessing
import os
import types
import warnings
from itertools import repeat

import torch
from torch.utils import data

from mini_loader_pool import QUEUE

FIXED = {"dataset", "batch_size", "sampler", "batch_sampler", "drop_last", "persistent_workers"}


class Arguments:
    """What a DataLoader is told, before it loads anything."""

    __class_getitem__ = classmethod(types.GenericAlias)       # DataLoader[Tensor], as in torch

    def __setattr__(self, name, value):
        """ValueError for what other attributes have been made from, as in torch."""
        if name in FIXED and "statistics" in vars(self):
            raise ValueError(f"{name} cannot be set any more; make another DataLoader")
        super().__setattr__(name, self.context(value) if name == "multiprocessing_context"
                            else value)

    def set_workers(self, num_workers, prefetch_factor, persistent_workers, timeout):
        if prefetch_factor is not None and not hasattr(prefetch_factor, "__index__"):
            raise TypeError(f"prefetch_factor={prefetch_factor!r}: give a whole number")
        if num_workers < 0 or timeout < 0 or (prefetch_factor is not None and prefetch_factor < 1):
            raise ValueError(f"num_workers={num_workers}, timeout={timeout}, prefetch_factor="
                             f"{prefetch_factor}: the first two must be at least 0, the last 1")
        if not num_workers and (prefetch_factor is not None or persistent_workers or timeout):
            raise ValueError("prefetch_factor, persistent_workers and timeout are about worker "
                             "processes; give num_workers, or leave them out")
        if prefetch_factor is not None and prefetch_factor > QUEUE:
            raise ValueError(f"prefetch_factor={prefetch_factor}: one worker holds at most {QUEUE} "
                             "tasks")
        self.num_workers, self.persistent_workers = num_workers, persistent_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.timeout = timeout
        affinity = getattr(os, "sched_getaffinity", None)
        cores = len(affinity(0)) if affinity else os.cpu_count()
        if num_workers > cores:
            warnings.warn(f"num_workers={num_workers}, but this process may use {cores} cores: "
                          "fewer workers may be faster", stacklevel=4)

    def context(self, name):
        """The multiprocessing context of this name; None stands for the interpreter's own."""
        if name is None:
            return None
        if not self.num_workers:
            raise ValueError("multiprocessing_context is about worker processes; give num_workers")
        if isinstance(name, str):
            return multiprocessing.get_context(name)
        if not isinstance(name, multiprocessing.context.BaseContext):
            raise TypeError(f"multiprocessing_context={name!r}: give the name of a start method, "
                            "or what multiprocessing.get_context returns")
        return name

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
        self.promised = length // size if self.drop_last else math.ceil(length / size)
        return self.promised

    def check_promised(self, batches, promised):
        """Warn of a batch more than `len` had said of an iterable dataset, if it was asked.

        Each worker may end with a batch that is not full, so that there is one more for each but
        the first.
        """
        if promised is not None and batches == promised + max(1, self.num_workers):
            warnings.warn(f"batch {batches}, but len() of the loader was {promised}: does each "
                          "worker give the whole IterableDataset? See get_worker_info",
                          stacklevel=4)

    def numbered(self):
        """(number, indices) of each batch; an iterable dataset is told how many samples to take."""
        if self.iterable:
            return enumerate(repeat(self.batch_size or 1))
        return enumerate(self.batch_sampler if self.batched else self.sampler)

    def pins(self):
        """Whether batches are to be put in page-locked memory; a warning if it cannot be.

        Not for Apple's GPUs, as in torch 2.13: https://github.com/pytorch/pytorch/issues/86060
        """
        if not self.pin_memory:
            return False
        device = torch.accelerator.current_accelerator()
        if torch.accelerator.is_available() and not (device and device.type == "mps"):
            return True
        warnings.warn("pin_memory=True, but there is no accelerator that could use it: batches "
                      "stay in pageable memory", stacklevel=3)
        return False
