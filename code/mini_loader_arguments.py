"""The arguments of mini_loader's DataLoader: which contradict each other, and what follows."""
import multiprocessing
import os
import warnings

import torch
from torch.utils import data

from mini_loader_pool import QUEUE

# What other attributes of a loader are made from: nobody may set it afterwards.
FIXED = {"dataset", "batch_size", "sampler", "batch_sampler", "drop_last", "persistent_workers"}


def check_workers(num_workers, prefetch_factor, persistent_workers, timeout):
    """ValueError for what worker processes cannot be told; a warning if they are very many.

    TypeError for a prefetch_factor that is no whole number.
    """
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
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    if num_workers > cores:
        warnings.warn(f"num_workers={num_workers}, but this process may use {cores} cores: "
                      "fewer workers may be faster", stacklevel=3)       # who makes the loader


def context(name, num_workers):
    """The multiprocessing context of this name; None stands for the interpreter's own."""
    if name is None:
        return None
    if not num_workers:
        raise ValueError("multiprocessing_context is about worker processes; give num_workers")
    if isinstance(name, str):
        return multiprocessing.get_context(name)
    if not isinstance(name, multiprocessing.context.BaseContext):
        raise TypeError(f"multiprocessing_context={name!r}: give the name of a start method, "
                        "or what multiprocessing.get_context returns")
    return name


def check_sampling(iterable, batch_size, shuffle, sampler, batch_sampler, drop_last):
    """ValueError if two arguments say different things about which samples make a batch."""
    if iterable and (shuffle or sampler is not None or batch_sampler is not None):
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


def default_sampler(dataset, shuffle, generator):
    """That of torch, so that the same generator gives the same indices."""
    if shuffle:
        return data.RandomSampler(dataset, generator=generator)
    return data.SequentialSampler(dataset)


def can_pin():
    """Whether batches can be put in page-locked memory; a warning if not.

    Not for Apple's GPUs, as in torch 2.13: https://github.com/pytorch/pytorch/issues/86060
    """
    device = torch.accelerator.current_accelerator()
    if torch.accelerator.is_available() and not (device and device.type == "mps"):
        return True
    warnings.warn("pin_memory=True, but there is no accelerator that could use it: batches "
                  "stay in pageable memory", stacklevel=5)               # who calls `iter`
    return False


def check_promised(batches, promised, num_workers):
    """Warn of a batch more than `len` had said of an iterable dataset, if it was asked.

    Each worker may end with a batch that is not full, so that there is one more for each but
    the first.
    """
    if promised is not None and batches == promised + max(1, num_workers):
        warnings.warn(f"batch {batches}, but len() of the loader was {promised}: does each "
                      "worker give the whole IterableDataset? See get_worker_info",
                      stacklevel=3)                                      # who calls `next`
