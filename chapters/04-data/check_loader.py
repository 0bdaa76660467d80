"""检查补完的 mini_loader · Check a mini_loader that you have completed.

    python3 check_loader.py                 every practice file beside this file
    python3 check_loader.py FILE …

The exit status is 0 if all checks pass. It needs torch, and Linux or macOS. Each function is
checked in a process of its own, which ends after LIMIT seconds, with all that it started.
"""
import itertools
import os
import signal
import sys
import time
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context
from types import SimpleNamespace

from exercise_harness import Checker, Differs, claim

try:
    import torch
except ImportError:
    torch = None

LIMIT = 20.0  # seconds for one function


def same(what, found, wanted):
    """Stop with one line unless what is found is what is wanted."""
    if found != wanted:
        raise Differs(f"{what}: expected {wanted}; found {found}")


@contextmanager
def refused(what, kind):
    """Stop with one line unless what is inside raises an exception of this kind."""
    try:
        yield
    except kind as error:
        if isinstance(error, NotImplementedError):
            raise
        return
    raise Differs(f"{what}: expected {kind.__name__}; nothing was raised")


# --- mini_loader_fetch.py --------------------------------------------------------------------

class Many(list):
    """A dataset that gives many samples at once."""

    def __getitems__(self, indices):
        return [-self[i] for i in indices]


def check_map_fetcher(module):
    def fetch(dataset, indices, batched=True):
        job = SimpleNamespace(dataset=dataset, batched=batched)
        return module.MapFetcher(job, lambda samples: samples)(indices)
    tens = [0, 10, 20, 30]
    same("the samples at [3, 1]", fetch(tens, [3, 1]), [30, 10])
    same("the sample at 2, without batches", fetch(tens, 2, batched=False), 20)
    same("the samples at [3, 1] of a dataset with __getitems__", fetch(Many(tens), [3, 1]),
         [-30, -10])
    with refused("an index that does not exist", IndexError):
        fetch(tens, [0, 9])
    with refused("a dataset that raises StopIteration", RuntimeError):
        fetch(Stopping(), [0, 1])


class Stopping:
    def __getitem__(self, i):
        raise StopIteration


def check_iterable_fetcher(module):
    end = module.Kind.END
    for samples, batched, drop_last, wanted in [
        (range(7), True, False, [[0, 1, 2], [3, 4, 5], [6], end, end]),
        (range(7), True, True, [[0, 1, 2], [3, 4, 5], end, end]),
        (range(6), True, False, [[0, 1, 2], [3, 4, 5], end, end]),
        (range(0), True, False, [end, end]),
        (range(2), False, False, [0, 1, end, end]),
        (Again(), True, False, [[0, 1], end, end]),
    ]:
        job = SimpleNamespace(dataset=samples, batched=batched, drop_last=drop_last)
        fetch = module.IterableFetcher(job, lambda samples: samples, 0)
        found = [fetch(3 if batched else 1) for _ in wanted]
        same(f"batches of {samples}, batched={batched}, drop_last={drop_last}", found, wanted)
    long = iter(range(1000))
    job = SimpleNamespace(dataset=long, batched=True, drop_last=False)
    module.IterableFetcher(job, lambda samples: samples, 0)(3)
    same("the sample after a batch of three", next(long, None), 3)


class Again:
    """An iterator that ends after two samples and, if it is asked again, begins again."""

    def __init__(self):
        self.values = itertools.cycle([0, 1, None])

    def __iter__(self):
        return self

    def __next__(self):
        value = next(self.values)
        if value is None:
            raise StopIteration
        return value

    def __repr__(self):
        return "an iterator that begins again if asked after its end"


# --- mini_loader.py --------------------------------------------------------------------------

class FakePool:
    """What WithWorkers asks of a pool. Replies come when it is told to wait, in a given order."""

    def __init__(self, arrivals=(), able=99):
        self.arrivals, self.able = list(arrivals), able
        self.job, self.replies, self.given = SimpleNamespace(base_seed=7), {}, []
        self.owed, self.closed = [], 0

    def under_way(self):
        return len(self.owed)

    def worker_for_next(self):
        return f"worker {len(self.given) % 2}" if len(self.given) < self.able else None

    def give(self, worker, task):
        self.given.append((worker, task))
        self.owed.append(task.number)

    def collect(self, seconds):
        time.sleep(0.002)
        arrived = self.arrivals[:1]
        for number, kind in arrived:
            self.owed.remove(number)
            self.replies[number] = SimpleNamespace(kind=kind, value=f"reply {number}")
        del self.arrivals[:1]
        return bool(arrived)

    def close(self):
        self.closed += 1


def epoch(module, pool, indices, limit, in_order=True, persistent=False, timeout=0):
    """A WithWorkers in the middle of nothing, for a fake pool."""
    batches = object.__new__(module.WithWorkers)
    batches.loader = SimpleNamespace(in_order=in_order, persistent_workers=persistent,
                                     timeout=timeout, statistics=module.Statistics())
    batches.tasks, batches.number, batches.pool = enumerate(indices), 0, pool
    batches.epoch, batches.limit = 2, limit
    return batches


def check_dispatch(module):
    pool = FakePool()
    batches = epoch(module, pool, [0, [3, 1], "x", [2], [5], [6]], 4)
    batches.dispatch()
    wanted = [(f"worker {number % 2}",
               module.Task(2, number, indices, module.batch_seed(7, 2, number)))
              for number, indices in enumerate([0, [3, 1], "x", [2]])]
    same("what goes to which worker, with a limit of 4", pool.given, wanted)
    batches.dispatch()
    same("tasks given out while 4 are under way", len(pool.given), 4)
    pool.owed.clear()
    pool.replies.update({0: None, 1: None, 2: None})
    batches.dispatch()
    same("tasks given out when 3 replies wait and nothing is under way", len(pool.given), 5)
    pool.replies.clear()
    batches.dispatch()
    same("tasks given out when no indices are left", len(pool.given), 6)
    batches = epoch(module, FakePool(able=0), [[8]], 4)
    batches.dispatch()
    same("the next indices after no worker was free", next(batches.tasks, None), (0, [8]))


def check_next_reply(module):
    batch, error, end = module.Kind.BATCH, module.Kind.ERROR, module.Kind.END
    disorder = [(2, batch), (0, batch), (3, batch), (1, batch)]
    same("replies, in order", taken(module, disorder), [0, 1, 2, 3])
    same("replies, not in order", taken(module, disorder, in_order=False), [2, 0, 3, 1])
    ended = [(0, batch), (1, end), (2, batch), (3, end)]
    same("replies, two of them END", taken(module, ended), [0, 2])
    failing = [(0, batch), (1, error), (2, batch), (3, batch)]
    same("replies, one of them ERROR", taken(module, failing, counted=3), [0, 1, 2, 3])
    same("replies of persistent workers", taken(module, disorder, persistent=True), [0, 1, 2, 3])
    check_time(module)
    batches = module.DataLoader(SlowAtFirst(range(20)), 2, num_workers=2,
                                multiprocessing_context="fork")
    same("an epoch with two workers", [i for one in batches for i in one.tolist()],
         list(range(20)))


class SlowAtFirst(list):
    def __getitem__(self, i):
        time.sleep(0.1 * (i == 0))
        return super().__getitem__(i)


def taken(module, arrivals, counted=None, **arguments):
    """The numbers of the replies that come out, from a pool in which they arrive like this."""
    pool = FakePool(arrivals)
    batches = epoch(module, pool, [[n] for n in range(len(arrivals))], 3, **arguments)
    batches.dispatch()
    found = []
    while (reply := batches.next_reply()) is not None:
        found.append(int(reply.value.removeprefix("reply ")))
        owed = min(len(arrivals), 3 + batches.number)
        same(f"tasks given out when {batches.number} replies are taken", len(pool.given), owed)
        claim("no more replies come out than arrived", len(found) <= len(arrivals))
    same("a reply after the last", batches.next_reply(), None)
    same("replies left behind", pool.replies, {})
    claim("persistent workers stay, others are closed at the end",
          bool(pool.closed) != arguments.get("persistent", False))
    same("batches counted", batches.loader.statistics.batches, counted or len(found))
    claim("the first batch was late", batches.loader.statistics.late)
    return found


def check_time(module):
    pool = FakePool([(0, module.Kind.BATCH)])
    batches = epoch(module, pool, [[0], [1]], 2, timeout=0.05)
    batches.dispatch()
    pool.collect(0)
    batches.next_reply()
    same("late batches, when the only one was there already", batches.loader.statistics.late, 0)
    with refused("a reply that does not come within the timeout", RuntimeError):
        batches.next_reply()


# --- mini_loader_pool.py ---------------------------------------------------------------------

class FakeWorker:
    """What a pool asks of a worker, written down."""

    def __init__(self, tasks=2, ended=False):
        self.id, self.ended, self.answered, self.state = 0, ended, True, {"at": 3}
        self.given = tasks + 3
        self.log, self.process = [], None
        self.task = SimpleNamespace(number=0, indices=[0])
        self.tasks = {n: (f"slot {n}", FakeTask(n)) for n in range(tasks)}

    def end(self, seconds=0.0):
        self.log.append("end")
        return -signal.SIGKILL

    def start(self, context, job):
        self.log.append(f"start, {context}, {job.name}")

    def send(self, slot, task):
        self.log.append(f"send {slot}, task {task.number}, state {task.state}")


class FakeTask(SimpleNamespace):
    def __init__(self, number, state=None):
        super().__init__(number=number, indices=[number], state=state)

    def _replace(self, state):
        return FakeTask(self.number, state)


def fake_pool(module, worker, max_restarts=3):
    pool = object.__new__(module.Pool)
    pool.context, pool.job = "context", SimpleNamespace(iterable=True, name="job")
    pool.slots, pool.free = SimpleNamespace(give_back=lambda slot: pool.free.append(slot)), []
    pool.statistics = SimpleNamespace(restarts=0, resent=0)
    pool.max_restarts, pool.deaths, pool.workers, pool.replies = max_restarts, 0, [worker], {}
    pool.persistent = False
    pool.close = lambda: worker.log.append("close")
    return pool


def check_replace(module):
    worker = FakeWorker()
    pool = fake_pool(module, worker)
    pool.replace(worker)
    same("what happens to a dead worker with two tasks", worker.log, [
        "end", "start, context, job", "send slot 0, task 0, state {'at': 3}",
        "send slot 1, task 1, state {'at': 3}"])
    same("restarts and resent tasks", (pool.statistics.restarts, pool.statistics.resent), (1, 2))
    worker = FakeWorker(ended=True)
    pool = fake_pool(module, worker)
    pool.replace(worker)
    same("what happens to one whose stream was over", worker.log, ["end", "start, context, job"])
    same("replies to its tasks", [reply.kind for reply in pool.replies.values()],
         [module.Kind.END] * 2)
    same("slots given back", pool.free, ["slot 0", "slot 1"])
    worker = FakeWorker()
    with refused("a death with max_restarts=0", RuntimeError):
        fake_pool(module, worker, 0).replace(worker)
    same("what happens if there must be no successor", worker.log, ["end", "close"])
    check_real_death(module)


def check_real_death(module):
    """Six tasks, two processes, and SIGKILL for one of them, before it can answer any."""
    import mini_loader_slots
    import mini_loader_worker as of_worker
    slots = mini_loader_slots.Slots(4)
    job = of_worker.Job(slots.file, slots.kind, SlowAtFirst(range(12)), False, True, list, False,
                        2, 7, None)
    loader = SimpleNamespace(multiprocessing_context=get_context("fork"), slots=slots,
                             statistics=SimpleNamespace(restarts=0, resent=0), num_workers=2,
                             max_restarts=3, in_order=True, persistent_workers=False,
                             job=lambda seed: job)
    pool = module.Pool(loader, 7)
    number = pool.begin()
    os.kill(pool.workers[0].process.pid, signal.SIGKILL)
    for n in range(6):
        pool.give(pool.worker_for_next(), of_worker.Task(number, n, [2 * n, 2 * n + 1], n))
    deadline = time.monotonic() + LIMIT / 2
    while pool.under_way():
        claim("all tasks are answered, though a process was killed",
              time.monotonic() < deadline)
        pool.collect(0.5)
    found = [pool.replies[n].value for n in sorted(pool.replies)]
    same("the batches, though a process was killed", found, [[2 * n, 2 * n + 1] for n in range(6)])
    same("restarts", loader.statistics.restarts, 1)
    pool.close()


# --- mini_loader_slots.py --------------------------------------------------------------------

def check_reserve(module):
    slot = module.Slot(module.SharedFile(), 0)
    os.ftruncate(slot.file.fd, 1 << 20)
    line = module.ALIGNMENT
    for nbytes, offset in [(10, 0), (line, line), (1, 2 * line), (line + 1, 3 * line),
                           (0, 5 * line), (100_000, 5 * line)]:
        used = slot.used
        same(f"where {nbytes} bytes go behind {used}", slot.reserve(nbytes), offset)
        same(f"`used` after {nbytes} bytes at {offset}", slot.used, offset + nbytes)
        claim(f"all {slot.used} bytes in use are mapped", len(slot.map) >= slot.used)
    used = slot.used
    with refused("more bytes than a slot has", MemoryError):
        slot.reserve(module.SLOT_BYTES)
    same("`used` after that was refused", slot.used, used)


# --- a process for each check ----------------------------------------------------------------

def apart(function, *arguments):
    """What a function returns, run in a process of its own; a line, if it takes too long.

    The process leads a group: whatever it leaves running ends with the group.
    """
    ours, theirs = Pipe(duplex=False)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        run_in_child(theirs, function, arguments)
    theirs.close()
    try:
        if ours.poll(LIMIT):
            return ours.recv()
        return f"no end after {LIMIT:g} seconds: it loops, or waits for what never comes"
    except EOFError:
        return "the process ended amid the check"
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        ours.close()


def run_in_child(pipe, function, arguments):
    """Send what the function returns, and end. Workers that fail would print their traceback."""
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        pipe.send(function(*arguments))
        sys.stdout.flush()
    finally:
        os._exit(0)


CHECKER = Checker(
    {"mini_loader": {"WithWorkers.dispatch": check_dispatch,
                     "WithWorkers.next_reply": check_next_reply},
     "mini_loader_fetch": {"MapFetcher.__call__": check_map_fetcher,
                           "IterableFetcher.__call__": check_iterable_fetcher},
     "mini_loader_pool": {"Pool.replace": check_replace},
     "mini_loader_slots": {"Slot.reserve": check_reserve}},
    needs={"WithWorkers.next_reply": ["WithWorkers.dispatch"]},
    imports={"mini_loader": ["mini_loader_arguments.py", "mini_loader_fetch.py",
                             "mini_loader_errors.py", "mini_loader_worker.py",
                             "mini_loader_pool.py", "mini_loader_slots.py",
                             "mini_loader_lending.py"],
             "mini_loader_pool": ["mini_loader_fetch.py", "mini_loader_errors.py",
                                  "mini_loader_worker.py", "mini_loader_slots.py"]},
    run=apart)

if __name__ == "__main__":
    if torch is None or not hasattr(os, "fork"):
        print("要装 torch，要用 Linux 或 macOS · this needs torch, and Linux or macOS")
        sys.exit(1)
    sys.exit(CHECKER.main())
