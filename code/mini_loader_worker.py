"""What a worker of mini_loader does: take a task, fetch its samples, leave the batch in the slot.

The same fetchers serve `num_workers=0`, in the process that asks.
"""
import enum
import hashlib
import itertools
import os
import pickle
import random
import signal
import struct
import sys
import weakref
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import reduction
from typing import Any, NamedTuple

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data._utils import collate
from torch.utils.data._utils import worker as torch_worker

from mini_loader_slots import SharedFile, Slot, is_plain

numpy = sys.modules.get("numpy")         # torch has imported it if it is installed
BELL = struct.Struct("<qqq")   # all that a pipe carries: slot, offset and length of a message
PARENT_CHECK = 1.0             # seconds between two looks whether the parent lives
TENSORS = collate.default_collate_fn_map   # type -> how default_collate makes a batch of it
parent_ends = weakref.WeakSet()        # this process's ends of the pipes to all its workers


class Kind(enum.Enum):
    BATCH, ERROR, END = "batch", "error", "end"


class Task(NamedTuple):
    """One batch to be made; `indices` is what the sampler gave, or a number of samples.

    `state` is where an iterable dataset has to go on, if a worker died amid it.
    """

    epoch: int
    number: int
    indices: Any
    seed: int
    state: Any = None


class Reply(NamedTuple):
    """A batch, an ExceptionWrapper or END, and the dataset's `state_dict` after it or None."""

    kind: Kind
    value: Any
    state: Any = None


@dataclass
class Job:
    """What every worker of a loader is told once, at its start.

    Under spawn and forkserver it goes over in a file: a pipe holds 64 KB, and to fill it for a
    reader that has been killed could block the parent for ever.
    """

    file: SharedFile
    dataset: Any
    iterable: bool
    batched: bool
    collate_fn: Any
    drop_last: bool
    num_workers: int
    base_seed: int
    worker_init_fn: Any
    sent: SharedFile | None = None         # open until the worker has it

    def __reduce__(self):
        self.sent = SharedFile()
        with open(self.sent.fd, "wb", closefd=False) as file:
            reduction.ForkingPickler(file, 5).dump({**vars(self), "sent": None})
        return job_in, (self.sent,)


def job_in(sent):
    with open(sent.fd, "rb", closefd=False) as file:
        file.seek(0)
        return Job(**pickle.load(file))


# --- 1. Samples to a batch ---------------------------------------------------------------------

class MapFetcher:
    """Batches of a map-style dataset, from the indices that the parent sends."""

    def __init__(self, job, collate_fn):
        self.dataset, self.batched, self.collate_fn = job.dataset, job.batched, collate_fn

    def __call__(self, indices):
        """One batch; with `batched` False, `indices` is one index, and the batch its sample.

        What a dataset raises gets a note of the index, of all if it fetches them at once.
        StopIteration becomes RuntimeError: it would end the epoch without a word, as in torch.
        """
        samples, index = [], indices
        try:
            if self.batched and getattr(self.dataset, "__getitems__", None):
                samples = self.dataset.__getitems__(indices)
            else:
                for index in indices if self.batched else [indices]:
                    samples.append(self.dataset[index])
        except StopIteration as error:
            raise RuntimeError(f"the dataset raised StopIteration at index {index!r}; raise "
                               "IndexError for an index that does not exist") from error
        except Exception as error:
            error.add_note(f"at index {index!r} of the dataset")
            raise
        return self.collate_fn(samples if self.batched else samples[0])


class IterableFetcher:
    """Batches of an iterable dataset: the next samples of one iterator. Kind.END after the last."""

    def __init__(self, job, collate_fn):
        self.samples, self.ended = iter(job.dataset), False
        self.batched, self.collate_fn, self.drop_last = job.batched, collate_fn, job.drop_last

    def __call__(self, size):
        """The next `size` samples, fewer at the end; without batches, `size` is 1."""
        samples = [] if self.ended else list(itertools.islice(self.samples, size))
        self.ended = len(samples) < size
        if not samples or (self.drop_last and self.ended):
            return Kind.END
        return self.collate_fn(samples if self.batched else samples[0])


def fetcher(job, collate_fn):
    return (IterableFetcher if job.iterable else MapFetcher)(job, collate_fn)


# --- 2. Randomness -----------------------------------------------------------------------------

def batch_seed(base_seed, epoch, number):
    """63 bits that belong to one batch, whoever makes it and however often.

    Batches count from 0. A stream, the iterator of an iterable dataset, has a number below.
    """
    digest = hashlib.blake2b(struct.pack("<qqq", base_seed, epoch, number), digest_size=8)
    return int.from_bytes(digest.digest(), "little") >> 1


def seed_everything(seed):
    """Seed `random`, torch's CPU generator and, if it is installed, NumPy's global one."""
    random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if numpy:
        numpy.random.seed(seed % 2**32)


@contextmanager
def seeded(seed):
    """Inside, what `seed_everything` does; afterwards the generators are as they were before."""
    before = random.getstate(), torch.get_rng_state(), numpy and numpy.random.get_state()
    seed_everything(seed)
    try:
        yield
    finally:
        random.setstate(before[0])
        torch.set_rng_state(before[1])
        if numpy:
            numpy.random.set_state(before[2])


# --- 3. A worker's life ------------------------------------------------------------------------

def work(worker_id, pipe, job):
    """Answer tasks until the parent closes the pipe or dies: the target of a worker process."""
    prepare_process()
    worker, slots = Worker(worker_id, job), {}
    with suppress(EOFError, ConnectionError):
        for number, offset, length in bells(pipe):
            slot = slots.setdefault(number, Slot(job.file, number))
            pipe.send_bytes(BELL.pack(*worker.answer(slot.read(offset, length), slot)))


def prepare_process():
    """Ctrl-C reaches all processes of a terminal: the parent decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for end in parent_ends:             # inherited by fork: the death of the parent, and of older
        end.close()                     # workers, would not show while somebody holds these
    torch.set_num_threads(1)
    if TENSORS[torch.Tensor] is collate.collate_tensor_fn:   # torch's makes a file for each batch
        TENSORS[torch.Tensor] = stack


def bells(pipe):
    """What comes through the pipe; ends when the parent has died though its end is still open.

    That is so if another process inherited it; else receiving raises EOFError.
    """
    parent = os.getppid()
    while True:
        while not pipe.poll(PARENT_CHECK):
            if os.getppid() != parent:
                return
        yield BELL.unpack(pipe.recv_bytes())


class Worker:
    """What a worker remembers between two tasks."""

    def __init__(self, worker_id, job):
        self.id, self.job, self.slot = worker_id, job, None
        self.introduced, self.epoch, self.fetch = False, None, None
        self.stateful = job.iterable and all(
            hasattr(job.dataset, name) for name in ("state_dict", "load_state_dict"))

    def answer(self, pickled, slot):
        """Write the reply into the slot, over the task: (slot number, offset, length)."""
        self.slot, where = slot, f"in worker {self.id}, unpickling a task"
        slot.clear()
        try:
            task = pickle.loads(pickled)
            where = f"in worker {self.id}, batch {task.number}"
            return slot.pack(self.reply(task))
        except Exception:
            slot.clear()
            return slot.pack(Reply(Kind.ERROR, wrapped(where)))

    def reply(self, task):
        """Make the batch; raises what the dataset or `collate_fn` raises."""
        if not self.introduced:
            self.introduce()
        if task.epoch != self.epoch:
            self.start(task)
        seed_everything(task.seed)
        batch = self.fetch(task.indices)
        if batch is Kind.END:
            return Reply(Kind.END, None)
        return Reply(Kind.BATCH, batch, self.job.dataset.state_dict() if self.stateful else None)

    def introduce(self):
        """What `get_worker_info()` says, and `worker_init_fn`; again if that raises."""
        job, seed = self.job, self.job.base_seed + self.id
        torch_worker._worker_info = torch_worker.WorkerInfo(
            id=self.id, num_workers=job.num_workers, seed=seed, dataset=job.dataset)
        seed_everything(seed)
        if job.worker_init_fn is not None:
            job.worker_init_fn(self.id)
        self.introduced = True

    def start(self, task):
        """A new epoch: an iterable dataset begins, or goes on where a dead worker's was."""
        if task.state is not None:
            self.job.dataset.load_state_dict(task.state)
        seed_everything(batch_seed(self.job.base_seed, task.epoch, -1 - self.id))
        in_place = (self.job.collate_fn is collate.default_collate
                    and TENSORS[torch.Tensor] in (stack, collate.collate_tensor_fn))
        self.fetch = fetcher(self.job, self.collate if in_place else self.job.collate_fn)
        self.epoch = task.epoch

    def collate(self, samples):
        """`default_collate`, but tensors are stacked where the batch is to lie."""
        here = partial(stack, empty=self.slot.empty)
        return collate.collate(samples, collate_fn_map={**TENSORS, torch.Tensor: here})


def stack(batch, *, collate_fn_map=None, empty=None):
    """As torch.utils.data._utils.collate.collate_tensor_fn, in memory from `empty`, if given."""
    first = batch[0]
    if not is_plain(first):
        return collate.collate_tensor_fn(batch, collate_fn_map=collate_fn_map)
    shape, device = (len(batch), *first.shape), "meta" if empty else "cpu"
    out = torch.empty(shape, dtype=first.dtype, device=device)
    return torch.stack(batch, out=empty(out) if empty else out)


def wrapped(where):
    """The exception being handled as its type and its traceback in words.

    An exception itself may not survive pickling; a type that does not becomes RuntimeError.
    """
    wrapper = ExceptionWrapper(where=where)
    try:
        pickle.dumps(wrapper.exc_type)
    except Exception:
        wrapper.exc_type = RuntimeError
    return wrapper
