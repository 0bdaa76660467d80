"""What a worker of mini_loader does: take a task, fetch its samples, leave the batch in the slot.

Its parent knows it by its pipe alone: a place of a message each way, and end of file.
"""
import os
import pickle
import signal
import struct
import weakref
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import reduction
from typing import Any, NamedTuple

import torch
from torch.utils.data._utils import worker as torch_worker

from mini_loader_errors import wrapped
from mini_loader_fetch import Kind, batch_seed, fetcher, seed_everything
from mini_loader_slots import SharedFile

BELL = struct.Struct("<qqq")   # all that a pipe carries: slot, offset and length of a message
PARENT_CHECK = 1.0             # seconds between two looks whether the parent lives
parent_ends = weakref.WeakSet()        # this process's ends of the pipes to all its workers


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
    """A batch, a Failure or END, and the dataset's `state_dict` after it or None."""

    kind: Kind
    value: Any
    state: Any = None


@dataclass
class Job:
    """What every worker of a loader is told once, at its start; `slot` is the kind of its slots.

    Under spawn and forkserver it goes over in a file: a pipe holds 64 KB, and to fill it for a
    reader that has been killed could block the parent for ever.
    """

    file: SharedFile
    slot: type
    dataset: Any
    iterable: bool
    batched: bool
    collate_fn: Any
    drop_last: bool
    num_workers: int
    base_seed: int
    worker_init_fn: Any
    sent: SharedFile | None = None         # while a worker starts

    def __reduce__(self):
        self.sent = SharedFile()
        with open(self.sent.fd, "wb", closefd=False) as file:
            reduction.ForkingPickler(file, 5).dump({**vars(self), "sent": None})
        return job_in, (self.sent,)


def job_in(sent):
    with open(sent.fd, "rb", closefd=False) as file:
        file.seek(0)
        return Job(**pickle.load(file))


# --- 1. The process ----------------------------------------------------------------------------

def work(worker_id, pipe, job):
    """Answer tasks until the parent hangs up or dies: the target of a worker process."""
    prepare_process()
    job.slot.prepare_process()
    worker, slots = Worker(worker_id, job), {}
    with suppress(EOFError, ConnectionError):
        for number, offset, length in bells(pipe):
            slot = slots.setdefault(number, job.slot(job.file, number))
            pipe.send_bytes(BELL.pack(*worker.answer(slot.read(offset, length), slot)))


def prepare_process():
    """Ctrl-C reaches all processes of a terminal: the parent decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for end in parent_ends:             # inherited by fork: the death of the parent, and of older
        end.close()                     # workers, would not show while somebody holds these
    torch.set_num_threads(1)


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


# --- 2. A worker's life ------------------------------------------------------------------------

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
        torch_worker._worker_info = torch_worker.WorkerInfo(    # not public, and there is no other
            id=self.id, num_workers=job.num_workers, seed=seed, dataset=job.dataset)
        seed_everything(seed)
        if job.worker_init_fn is not None:
            job.worker_init_fn(self.id)
        self.introduced = True

    def start(self, task):
        """A new epoch: an iterable dataset begins, or goes on where a dead worker's was."""
        if task.state is not None:
            self.job.dataset.load_state_dict(task.state)
        seed = batch_seed(self.job.base_seed, task.epoch, -1 - self.id)
        self.fetch = fetcher(self.job, self.collate, seed)
        self.epoch = task.epoch

    def collate(self, samples):
        return self.slot.collate(self.job.collate_fn, samples)
