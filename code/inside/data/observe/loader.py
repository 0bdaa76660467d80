"""The machine behind a multiprocess DataLoader, read from a running iterator."""

import threading
import time
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_leaves
from torch.utils.data import BatchSampler

PATIENCE = 20  # seconds in which a loader has to come to rest


@dataclass(frozen=True)
class State:
    """Where the batches are: those out at each worker, those that came early; the two counts."""

    out: tuple[tuple[int, ...], ...]
    early: tuple[int, ...]
    sent: int
    turn: int
    pins: bool


def read(iterator):
    """The state of a multiprocess iterator, from the books that it keeps."""
    tasks = sorted(dict(iterator._task_info).items())
    out = [tuple(k for k, task in tasks if task == (worker,))
           for worker in range(iterator._num_workers)]
    early = tuple(k for k, task in tasks if len(task) == 2)
    return State(tuple(out), early, iterator._send_idx, iterator._rcvd_idx, iterator._pin_memory)


@dataclass(frozen=True)
class Machine:
    """All that is drawn: the parts by their names in torch, and what each holds.

    `queued` are the batches in each index queue, `done` those in the result queue, by count;
    `nbytes` is what the early ones take of shared memory.
    """

    state: State
    samplers: tuple[str, str]
    makes: tuple[str, str]  # dataset and collate_fn, as each worker has them
    limit: tuple[int, int]  # prefetch_factor, num_workers
    queued: tuple[tuple[int, ...], ...]
    done: int
    nbytes: int

    def books(self):
        """[(batch, its worker; None for one that is here)], in order."""
        out = [(k, worker) for worker, tasks in enumerate(self.state.out) for k in tasks]
        return sorted(out + [(k, None) for k in self.state.early], key=lambda row: row[0])

    def making(self, worker):
        """The batches that a worker has taken from its queue."""
        return tuple(k for k in self.state.out[worker] if k not in self.queued[worker])

    def at_rest(self):
        """Whether one worker alone has tasks, and it has taken the first and no other."""
        busy = [worker for worker, tasks in enumerate(self.state.out) if tasks]
        return len(busy) == 1 and self.making(busy[0]) == self.state.out[busy[0]][:1]


def read_machine(iterator):
    """The machine of a multiprocess iterator, from its attributes, queues and books.

    Raises `ValueError` unless there are 1 or 2 workers and a batch sampler.
    """
    workers, batches = iterator._num_workers, iterator._index_sampler
    if workers not in (1, 2):
        raise ValueError(f"num_workers is {workers}: 1 or 2 are drawn")
    if not isinstance(batches, BatchSampler):
        raise ValueError("batch_size is None: the picture has a batch sampler; give a number")
    state, waiting = read(iterator), [length(q) for q in iterator._index_queues]
    here = [task[1] for task in dict(iterator._task_info).values() if task[1:]]
    return Machine(
        state, (type(batches.sampler).__name__, type(batches).__name__),
        (type(iterator._dataset).__name__, iterator._collate_fn.__name__),
        (iterator._prefetch_factor, workers),
        tuple(tasks[len(tasks) - n:] for tasks, n in zip(state.out, waiting, strict=True)),
        length(iterator._worker_result_queue), sum(map(shared_bytes, here)))


def length(queue):
    """How many messages a queue holds; on macOS, which cannot count, 1 for some."""
    try:
        return queue.qsize()
    except NotImplementedError:
        return int(not queue.empty())


def shared_bytes(batch):
    """The bytes that a batch takes of shared memory."""
    tensors = [leaf for leaf in tree_leaves(batch) if isinstance(leaf, torch.Tensor)]
    return sum(t.untyped_storage().nbytes() for t in tensors if t.is_shared())


# ---------------------------------------------------------------- when nothing moves any more
def read_waiting(iterator, gate):
    """The machine while `next` waits for a batch behind `gate`, which is opened then.

    The loop runs in this thread, to the end of the epoch; another reads when nothing moves any
    more: one worker alone has tasks, and it has taken the first. Raises `TimeoutError` if that
    has not come about after 20 seconds, and `ValueError` as `read_machine`.
    """
    found = []
    watching = threading.Thread(target=watch, args=(iterator, gate, found))
    watching.start()
    for _ in iterator:
        pass
    watching.join()
    if isinstance(found[0], Exception):
        raise found[0]
    return found[0]


def watch(iterator, gate, found):
    """Put into `found` the machine, or what went wrong; open the gate in any case."""
    try:
        deadline = time.monotonic() + PATIENCE
        while not (machine := read_machine(iterator)).at_rest():
            if time.monotonic() > deadline:
                raise TimeoutError(f"the loader still moves after {PATIENCE} s; hold up a sample "
                                   "of the first batch, and no other worker's")
            time.sleep(0.01)
        found.append(machine)
    except Exception as error:
        found.append(error)
    finally:
        gate.set()
