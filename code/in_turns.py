"""Workers that read one file in a drawn order, so that a race goes the same way each time.

Where two processes meet is up to the operating system and differs from run to run. `epoch` lets
them take their steps, a `seek` or a `read`, in an order drawn from a seed. The processes, the files
and the positions in them are real.
"""

import multiprocessing
import random

import torch
from torch.utils.data import DataLoader, get_worker_info

STAY = 50  # steps that a worker makes on average before another one goes on
BATCH = 10  # samples
fork = multiprocessing.get_context("fork")


class Turns:
    """An order of steps for `workers` processes, `steps` each: the one whose turn it is goes on."""

    def __init__(self, workers, steps, seed=0):
        rng, left, self.order = random.Random(seed), [steps] * workers, []
        while any(left):
            worker = rng.choice([w for w in range(workers) if left[w]])
            count = min(left[worker], 1 + int(rng.expovariate(1 / STAY)))
            self.order += [worker] * count
            left[worker] -= count
        self.gates = [fork.Semaphore(0) for _ in range(workers)]
        self.done = fork.RawValue("l", 0)
        self.gates[self.order[0]].release()

    def step(self, act, *args):
        """`act(*args)` when it is this worker's turn; raises `TimeoutError` after 60 seconds."""
        if not self.gates[get_worker_info().id].acquire(timeout=60):
            raise TimeoutError("no turn for 60 seconds")
        try:
            return act(*args)
        finally:
            self.done.value += 1
            if self.done.value < len(self.order):
                self.gates[self.order[self.done.value]].release()


class InTurns:
    """A binary file whose `seek` and `read` wait for their turn, in workers of `epoch`."""

    def __init__(self, file):
        self.file = file

    def __getattr__(self, name):
        return getattr(self.file, name)

    def seek(self, position):
        return self._step(self.file.seek, position)

    def read(self, count):
        return self._step(self.file.read, count)

    def _step(self, act, *args):
        if get_worker_info() and epoch.turns:
            return epoch.turns.step(act, *args)
        return act(*args)


def epoch(data, workers):
    """The samples of `data`, a tensor (len(data),), in order, read by forked workers.

    With two workers or more, each step of an `InTurns` file waits for its turn. ValueError unless
    len(data) is a multiple of 10 * workers then: they have to make equally many steps.
    """
    if workers > 1 and len(data) % (BATCH * workers):
        raise ValueError(f"{len(data)} samples for {workers} workers: give a multiple of "
                         f"{BATCH * workers}, equally many batches for each")
    batches, epoch.turns, options = -(-len(data) // BATCH), None, {}
    if workers > 1:
        epoch.turns = Turns(workers, 2 * len(data) // workers)
    if workers:  # all batches are sent at once, so a worker never waits for more
        options = {"multiprocessing_context": "fork", "prefetch_factor": batches}
    return torch.cat(list(DataLoader(data, BATCH, num_workers=workers, **options)))


epoch.turns = None
