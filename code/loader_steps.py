"""The loader that "Build your own loader" and the two sections after it write, piece by piece.

Read it from top to bottom: one reply, the helper that makes it, a worker process, an epoch. It is
small because it trusts everybody. A worker that dies, or makes a batch that can't be pickled, is
not replaced, and the epoch raises `EOFError`; a task has to fit into a pipe. `mini_loader` does
better. The functions that workers answer with are closures, which only fork can give to a process;
Windows has no fork.
"""
import multiprocessing
import signal
import threading
import weakref
from contextlib import suppress
from multiprocessing import connection

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import default_collate

PATIENCE = 5  # seconds that an epoch waits for a reply, and its end for a worker
FORK = multiprocessing.get_context("fork")
OURS = weakref.WeakSet()  # this process's ends of the pipes to all its workers


# --- 1. One reply ------------------------------------------------------------------------------

def sample(dataset, i):
    """dataset[i]; what it raises says which index that was.

    RuntimeError for StopIteration, which out of `next` would end an epoch.
    """
    try:
        return dataset[i]
    except StopIteration as error:
        raise RuntimeError(f"StopIteration at index {i}") from error
    except Exception as error:
        error.add_note(f"at index {i}")
        raise


def fetch(dataset, indices):
    return default_collate([sample(dataset, i) for i in indices])


def answerer(dataset):
    """What a worker does with a task (number, indices): (number, (kind, batch or error))."""
    def answer(task):
        k, indices = task
        try:
            reply = "batch", fetch(dataset, indices)
        except Exception:
            reply = "error", ExceptionWrapper(where=f"in batch {k}")
        return k, reply
    return answer


def opened(reply):
    """The batch in a reply; raises the error that came in its place."""
    kind, value = reply
    return value.reraise() if kind == "error" else value


# --- 2. Who makes it ---------------------------------------------------------------------------

def serve(pipe, answer):
    """Answer tasks until the other end of the pipe is closed."""
    with suppress(EOFError, ConnectionError):
        while True:
            pipe.send(answer(pipe.recv()))


def start(answer):
    """A helper in a thread; returns our end of its pipe."""
    ours, theirs = multiprocessing.Pipe()
    threading.Thread(target=serve, args=(theirs, answer), daemon=True).start()
    return ours


def work(pipe, answer):
    """`serve`, in a process. It closes what fork has copied, or no worker would get end of file.

    Ctrl-C reaches all processes of a terminal; the main process decides what it means.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in OURS:
        end.close()
    torch.set_num_threads(1)
    serve(pipe, answer)


class Worker:
    """A worker process with a pipe of its own."""

    def __init__(self, answer):
        self.pipe, theirs = FORK.Pipe()
        OURS.add(self.pipe)
        self.process = FORK.Process(target=work, args=(theirs, answer), daemon=True)
        self.process.start()
        theirs.close()


def end_all(workers, patience=PATIENCE):
    """Close the pipes, wait, kill who is left; which those were."""
    for worker in workers:
        worker.pipe.close()
    for worker in workers:
        worker.process.join(patience)
    alive = [worker.process.is_alive() for worker in workers]
    for worker in workers:
        worker.process.kill()
        worker.process.join()
    return alive


# --- 3. An epoch -------------------------------------------------------------------------------

class Epoch:
    """Replies in the order of their numbers; at most `limit` tasks sent and not yet delivered."""

    limit = 4

    def __init__(self, pipes, batches):
        self.pipes, self.tasks, self.out = pipes, enumerate(batches), 0
        self.early, self.turn = {}, 0
        self.fill()

    def fill(self):
        while self.out < self.limit and (task := next(self.tasks, None)):
            self.pick(task[0]).send(task)
            self.out += 1

    def pick(self, k):
        """The pipe for task k: each in turn."""
        return self.pipes[k % len(self.pipes)]

    def receive(self):
        """Keep one reply until its turn; returns the pipe it came from."""
        ready = connection.wait(self.pipes, PATIENCE)
        if not ready:
            raise RuntimeError(f"batch {self.turn}: no reply in {PATIENCE} seconds")
        k, reply = ready[0].recv()
        self.early[k] = reply
        return ready[0]

    def __iter__(self):
        return self

    def __next__(self):
        while self.turn not in self.early:
            if not self.out:
                raise StopIteration
            self.receive()
        self.out -= 1
        self.fill()
        self.turn += 1
        return self.early.pop(self.turn - 1)


class Machine(Epoch):
    """An epoch with worker processes, which end when nothing refers to it. Yields batches."""

    def __init__(self, answer, batches, workers=2):
        if workers < 1:                     # else an epoch of nothing
            raise ValueError(f"{workers} workers: there must be at least one")
        self.workers = [Worker(answer) for _ in range(workers)]
        self.close = weakref.finalize(self, end_all, self.workers)
        self.limit = 2 * workers
        super().__init__([worker.pipe for worker in self.workers], batches)

    def __next__(self):
        return opened(super().__next__())
