"""The processes of mini_loader: each with a pipe of its own, each replaced when it dies.

A pipe carries three numbers at a time, where in shared memory a task or the reply to it stands.
No two workers share anything that could be locked, so a dead one holds up nobody.
"""
import multiprocessing
import os
import pickle
import signal
import socket
import time
import weakref
from contextlib import contextmanager, suppress
from multiprocessing import connection

from mini_loader_errors import wrapped
from mini_loader_fetch import Kind
from mini_loader_worker import BELL, Reply, parent_ends, work

QUEUE = 256                   # tasks one worker holds at most: more could fill its pipe
LIVENESS_CHECK = 1.0          # seconds of silence after which to ask whether workers live
GRACE = 5.0                   # seconds that workers have to finish their batches at the end


class TimedOut(RuntimeError):
    """A slow worker. It is no reason to end the others: what it makes may still come."""


# --- 1. One worker -----------------------------------------------------------------------------

class WorkerProcess:
    """The parent's side of one worker: its process, its own pipe, and what it owes.

    `tasks` are those it has not answered, slot number -> (Slot, Task), `given` how many it got
    in this epoch. `state` is what an iterable dataset was at after its last reply in this epoch;
    `answered` says whether there was a reply at all, in any epoch.
    """

    def __init__(self, worker_id):
        self.id, self.tasks, self.process, self.answered = worker_id, {}, None, False
        self.begin()

    def begin(self):
        self.given, self.ended, self.state = 0, False, None

    def note(self, reply):
        self.answered, self.ended = True, reply.kind is Kind.END
        self.state = self.state if reply.state is None else reply.state

    def start(self, context, job):
        """A process with a pipe that no other worker shares: no lock that a dead one could hold."""
        self.pipe, theirs = context.Pipe()
        parent_ends.add(self.pipe)
        process = context.Process(target=work, args=(self.id, theirs, job), daemon=True)
        try:
            process.start()
        finally:
            theirs.close()
            job.sent = None                    # a pickled dataset may be large
        self.process = process

    def send(self, slot, task):
        """Leave a task in its slot and ring. If the worker is dead, `collect` will see that."""
        slot.clear()
        where = slot.write(pickle.dumps(task))
        with suppress(OSError):
            self.pipe.send_bytes(BELL.pack(*where))

    def hang_up(self):
        """End of file for the worker, at once. To close this end is not enough: a child of this
        process, forked meanwhile, may hold it as well.
        """
        with suppress(OSError), socket.socket(fileno=os.dup(self.pipe.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)
        self.pipe.close()

    def end(self, seconds=0.0):
        """Close the pipe, wait, kill what is left. How the process ended, in words."""
        self.pipe.close()
        if self.process is None:
            return None
        deadline = time.monotonic() + seconds
        while alive(self.process) and (left := deadline - time.monotonic()) > 0:
            if connection.wait([self.process.sentinel], min(left, 0.05)):
                time.sleep(0.001)                          # closed, but `join` could block on it
        if late := alive(self.process):
            self.process.kill()
        self.process.join()
        exit_code, self.process = self.process.exitcode, None
        if late and exit_code == -signal.SIGKILL:          # not somebody else, short of memory
            return f"closed its pipe, did not exit within {seconds:g} s and was killed here"
        return in_words(exit_code)


def in_words(exit_code):
    """How a process ended that ended by itself; None: its exit code has gone to somebody else."""
    if exit_code is None:
        return "its exit code was taken by somebody else"
    if exit_code < 0:
        return f"killed by {signal.Signals(-exit_code).name}"
    return f"exit code {exit_code}"


def alive(process):
    """Whether a child lives. `is_alive` says so for ever of one whose exit code somebody else
    has taken, or the kernel, where SIGCHLD is ignored.
    """
    try:
        os.kill(process.pid, 0)
    except OSError:
        return False
    return process.is_alive()


# --- 2. All workers ----------------------------------------------------------------------------

class Pool:
    """The worker processes; each that dies is replaced, and its successor gets its tasks.

    `replies` holds what came and was not taken: number -> Reply. When nothing refers to a pool,
    its processes end. RuntimeError if a worker dies once too often, or takes with it where an
    iterable dataset was.
    """

    def __init__(self, loader, base_seed):
        self.context = loader.multiprocessing_context or multiprocessing.get_context()
        self.job = loader.job(base_seed)
        self.slots, self.statistics = loader.slots, loader.statistics
        self.max_restarts, self.deaths, self.epoch = loader.max_restarts, 0, -1
        self.persistent = loader.persistent_workers
        self.in_turn = self.job.iterable and loader.in_order
        self.workers, self.replies = [], {}
        self.close = weakref.finalize(self, stop, self.workers, self.slots, os.getpid())
        for worker_id in range(loader.num_workers):
            worker = WorkerProcess(worker_id)
            worker.start(self.context, self.job)
            self.workers.append(worker)

    def kill(self):
        """Close without waiting for anybody."""
        for worker in self.workers:
            if worker.process:
                worker.process.kill()
        self.close()

    @contextmanager
    def killed_by_errors(self):
        """Whatever is raised inside, Ctrl-C too: who knows how far a message has got."""
        try:
            yield
        except TimedOut:
            raise
        except BaseException:
            self.kill()
            raise

    def begin(self):
        """The number of a new epoch; nothing is under way, and what waited is thrown away."""
        self.deaths = 0
        self.replies.clear()
        for worker in self.workers:
            worker.begin()
        self.epoch += 1
        return self.epoch

    def under_way(self):
        return sum(len(worker.tasks) for worker in self.workers)

    def worker_for_next(self):
        """The worker with the fewest tasks, or None if all have enough.

        With iterable datasets they take turns, if batches are to be in order: which samples come
        depends on who is asked.
        """
        def load(worker):
            return worker.given if self.in_turn else len(worker.tasks)

        able = [worker for worker in self.workers if not worker.ended]
        least = min(able, key=load, default=None)
        return least if least and len(least.tasks) < QUEUE else None

    def give(self, worker, task):
        slot = self.slots.take()
        worker.tasks[slot.number] = slot, task
        worker.given += 1
        worker.send(slot, task)

    def collect(self, seconds):
        """Wait until workers answer or die, not longer than `seconds`; whether any did.

        A death closes the pipe, unless a process that the worker started still has it open:
        silence is a reason to ask.
        """
        asked = {worker.pipe: worker for worker in self.workers if worker.tasks}
        ready = connection.wait(asked, max(0.0, min(seconds, LIVENESS_CHECK)))
        for pipe in ready:
            self.receive(asked[pipe])
        dead = [] if ready else [one for one in asked.values() if not alive(one.process)]
        for worker in dead:
            self.replace(worker)
        return bool(ready or dead)

    def receive(self, worker):
        """One reply, or the end of the pipe."""
        try:
            number, offset, length = BELL.unpack(worker.pipe.recv_bytes())
        except (EOFError, OSError):
            self.replace(worker)
            return
        _, task = worker.tasks.pop(number)
        try:
            reply = self.slots.unpack(number, offset, length)
        except Exception:
            reply = Reply(Kind.ERROR, wrapped(f"unpickling batch {task.number}"))
        worker.note(reply)
        self.replies[task.number] = reply

    def replace(self, worker):
        """A new process for a dead one. What the dead one had not answered, the new one gets."""
        how = worker.end(LIVENESS_CHECK)         # it may be on its way out
        self.check_restart(worker, how)
        self.statistics.restarts += 1
        worker.start(self.context, self.job)
        if worker.ended:                       # its stream is over, and so are its other tasks
            self.replies.update((task.number, Reply(Kind.END, None))
                                for _, task in worker.tasks.values())
            release(worker, self.slots)
        for slot, task in worker.tasks.values():
            worker.send(slot, task._replace(state=worker.state))
            self.statistics.resent += 1

    def check_restart(self, worker, how):
        """Count a death. If there must be no successor, close the pool and raise RuntimeError."""
        self.deaths += 1
        reason = self.against_restart(worker)
        if reason is None:
            return
        _, task = next(iter(worker.tasks.values()))
        self.kill()
        what = "samples" if self.job.iterable else "indices"
        raise RuntimeError(f"worker {worker.id} died ({how}) over batch "
                           f"{task.number}, {what}: {task.indices}{reason}")

    def against_restart(self, worker):
        """Why a dead worker gets no successor, as the end of a sentence; None if it gets one.

        What it knew of a stream is lost with it. Before its first answer that was nothing; nor
        is it needed once the stream has ended, unless a next epoch was to begin it again.
        """
        knew = self.job.iterable and worker.answered
        between = worker.given == len(worker.tasks) or worker.ended
        if knew and between and self.persistent:
            return (", between two epochs of an IterableDataset, and what it kept from the last "
                    "is lost; leave out persistent_workers")
        if knew and not between and worker.state is None:
            return (", amid an IterableDataset, and where it was is lost; give the dataset "
                    "state_dict and load_state_dict")
        if self.deaths > self.max_restarts:
            return (f"; deaths in this epoch: {self.deaths}, max_restarts: {self.max_restarts}; "
                    "find the cause, or allow more")
        return None


def release(worker, slots):
    for slot, _ in worker.tasks.values():
        slots.give_back(slot)
    worker.tasks.clear()


def stop(workers, slots, pid):
    """End the processes. Each may finish its batch, within GRACE seconds for all."""
    if os.getpid() != pid:                     # a forked child has collected its copy of the pool
        return
    for worker in workers:
        worker.hang_up()
    deadline = time.monotonic() + GRACE
    for worker in workers:
        worker.end(max(0.0, deadline - time.monotonic()))
        release(worker, slots)
    workers.clear()
