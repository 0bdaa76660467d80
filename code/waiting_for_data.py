"""Is a training run waiting for data, and what holds the data up? Some clocks and one line.

    python waiting_for_data.py my_module:make_loader --step 0.02
    python waiting_for_data.py my_module:make_loader --step my_module:train_step

`make_loader()` returns the DataLoader; `--step` is the seconds of a step, or a function that takes
a batch. In a training loop it takes two lines:

    batches = Waiting(loader)
    for batch in batches: ...
    print(batches)

After each step, the clock waits until CUDA has finished, if the program uses it: a step that is
only launched would look short, and the wait after it long.
"""

import argparse
import importlib
import os
import sys
import time
from collections import deque
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path

import torch
from torch.utils.data import DataLoader, IterableDataset

from waiting_for_data_report import Report, Samples, line_of, mean

SAMPLES = 200  # about so many are made in the main process: enough to meet one in a hundred


class Refused(ValueError):
    """Something that can't be examined, said in one line; no error of the program examined."""


def finish():
    """Wait until CUDA has done what it was given. Never starts CUDA, so that workers can fork."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


# ---------------------------------------------------------------- in a training loop
class Waiting:
    """Iterates over `loader`; `waits` and `steps` are the seconds in `next` and between two.

    The first wait of an epoch, which starts workers, goes to `first`. A loop that breaks off
    leaves its last step out. A further epoch adds to what is there.
    """

    def __init__(self, loader, *, clock=time.perf_counter, finish=finish):
        self.loader, self.clock, self.finish = loader, clock, finish
        self.first, self.waits, self.steps = [], [], []

    def __iter__(self):
        self.finish()
        asked, waits = self.clock(), self.first
        for batch in self.loader:
            given = self.clock()
            waits.append(given - asked)
            waits = self.waits
            yield batch
            self.finish()
            asked = self.clock()
            self.steps.append(asked - given)

    def __str__(self):
        return line_of(mean(self.waits), mean(self.steps), mean(self.first))


# ---------------------------------------------------------------- the whole examination
def examine(loader, step, *, batches=50, clock=time.perf_counter, cpu=time.process_time,
            finish=finish, cores=None):
    """Measure a DataLoader with `step`, a function of a batch; returns a `Report`.

    Reads some 2 * `batches` batches through the loader, over several epochs if they are short, then
    about 200 samples in the main process. It draws from the samplers, so random numbers are others
    afterwards. Raises Refused where an epoch has fewer than two batches, where only the first epoch
    has any, and where the main process gets no sample; errors of the dataset pass through.
    """
    workers = loader.num_workers
    ahead = workers * (loader.prefetch_factor or 0)  # made before anybody asks
    size = 1 + ahead + -(-batches // max(1, workers)) * max(1, workers)  # whole rounds of workers
    found = Waiting(loader, clock=clock, finish=finish)
    stream = epochs(found)
    for _ in islice(stream, size):  # before training: what lies ready would come too soon
        pass
    alone = len(found.waits)
    for batch in islice(stream, size):
        step(batch)
    stream.close()
    finish()
    if not alone:
        raise Refused("an epoch has a single batch, too little to time")
    return Report(
        first=found.first[0], wait=mean(steady(found.waits[alone:][: size - 1], ahead)),
        step=mean(found.steps[size:]), alone=mean(steady(found.waits[:alone], workers)),
        fixed=timed(lambda: deque((step(batch) for _ in range(batches)), maxlen=0), clock,
                    finish) / batches,
        samples=in_main(loader, 2 * size, clock, cpu), workers=workers,
        cores=cores or usable_cores(), lacks=lacking(loader))


def epochs(loader):
    """The batches of one epoch after another, without end; Refused if one of them has none."""
    for epoch in count():
        empty = True
        for batch in loader:
            empty = False
            yield batch
        if empty:
            raise Refused("the loader gives no batch after its first epoch: its dataset or sampler "
                          "can be iterated only once" if epoch else "the loader is empty")


def steady(times, lead):
    """Without the first `lead` of them, if that leaves any."""
    return times[lead:] or times


def timed(act, clock, finish=lambda: None):
    """Seconds of a call."""
    begin = clock()
    act()
    finish()
    return clock() - begin


def usable_cores():
    """How many cores this process may use; a container's limit on CPU time isn't seen."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


# ---------------------------------------------------------------- samples in the main process
@contextmanager
def threads_of_workers(loader):
    """torch computes with one thread in a worker: if there are workers, here too meanwhile."""
    before = torch.get_num_threads()
    torch.set_num_threads(1 if loader.num_workers else before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def in_main(loader, skip, clock, cpu):
    """Make some batches here, after the first `skip` ones if there are more; returns `Samples`.

    With workers, torch has one thread meanwhile, as in `torch.utils.data._utils.worker`. Refused
    if no sample comes. An error of the dataset says what a worker would have had and it has not.
    """
    try:
        with threads_of_workers(loader):
            found = made_here(loader, skip, clock, cpu)
    except Exception as error:
        if lacks := lacking(loader):
            error.add_note(f"waiting_for_data: {lacks}")
        raise
    if not found.seconds:
        raise Refused("the loader gives batches, but in the main process the dataset gives no "
                      "sample")
    return found


def lacking(loader):
    """What samples in the main process go without, as a sentence; empty if nothing."""
    if loader.num_workers and loader.worker_init_fn:
        return "samples and collate are timed in the main process, where worker_init_fn doesn't run"
    return ""


def made_here(loader, skip, clock, cpu):
    seconds, collate, sizes, used = [], [], [], 0.0
    source, drawn = source_of(loader.dataset, batched(loader)), groups(loader, skip)
    for _, fetch in source(drawn[-1][:1]) if drawn else ():
        fetch()  # to warm up: what opens a file in its first sample isn't slow in each
    for indices in drawn:
        began, fetched = cpu(), []
        for asked, fetch in source(indices):
            begin = clock()
            found = fetch()
            taken = clock() - begin
            fetched += found
            seconds += [(i, taken / len(asked)) for i in asked[: len(found)]]
        used += cpu() - began
        if not fetched or (sizes and len(fetched) < len(indices)):  # the end of a stream
            break
        sizes.append(len(fetched))
        made = fetched if batched(loader) else fetched[0]
        collate.append(timed(lambda made=made: loader.collate_fn(made), clock))
        if len(seconds) >= SAMPLES:
            break
    whole = sum(taken for _, taken in seconds)
    return Samples(tuple(seconds), mean(steady(collate, 1)), used / whole if whole else 1.0,
                   mean(sizes))


def batched(loader):
    return loader.batch_sampler is not None


def groups(loader, skip):
    """The indices of the batches after the first `skip`; of the first ones if there are no more."""
    order = loader.batch_sampler if batched(loader) else loader.sampler
    drawn = [list(each) if batched(loader) else [each] for each in islice(order, skip + SAMPLES)]
    return drawn[skip:] or drawn


def source_of(dataset, in_batches):
    """A function: indices of a batch -> [(indices, function that fetches these)], as torch fetches.

    A stream has no indices, so its samples are counted instead, and each is given once.
    """
    if isinstance(dataset, IterableDataset):
        stream, places = iter(dataset), count()
        return lambda indices: [([next(places)], lambda: list(islice(stream, 1))) for _ in indices]
    if in_batches and getattr(dataset, "__getitems__", None):
        return lambda indices: [(indices, lambda: dataset.__getitems__(indices))]
    return lambda indices: [([i], lambda i=i: [dataset[i]]) for i in indices]


# ---------------------------------------------------------------- the command
def named(text, what):
    """The function that `module:name` names; Refused with one line if there is no such thing.

    What the module raises while it is imported passes through. `what` says what is asked for.
    """
    module, _, name = text.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise Refused(f"{text}: give {what}, as module:name, such as my_module:my_function")
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module and not module.startswith(f"{error.name}."):
            raise  # the module is there, and what it imports isn't
        raise Refused(f"{text}: can't import {module}: {error}") from error
    if not hasattr(found, name):
        raise Refused(f"{text}: {found} has no {name}")
    if not callable(getattr(found, name)):
        raise Refused(f"{text}: not a function; give {what}")
    return getattr(found, name)


def step_of(text):
    """The step that `--step` asks for: so many seconds of sleep, or a function."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = None  # the function is imported outside of this, so that its errors stand alone
    if seconds is None:
        return named(text, "seconds or a function of a batch")
    if not 0 <= seconds < float("inf"):
        raise Refused(f"--step {text}: give seconds, 0 or more")
    return lambda batch: time.sleep(seconds)


def loader_of(text):
    """What `module:name` returns, which has to be a DataLoader."""
    loader = named(text, "a function that returns your DataLoader")()
    if not isinstance(loader, DataLoader):
        raise Refused(f"{text}: returns {type(loader).__name__}, not a DataLoader")
    return loader


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("loader", help="module:name of a function that returns your DataLoader")
    parser.add_argument("--step", default="0", help="seconds of a step, or module:name of a "
                        "function that takes a batch (default: 0)")
    parser.add_argument("--batches", type=int, default=50, help="about how many (default: 50)")
    chosen = parser.parse_args(arguments)
    sys.path.insert(0, str(Path.cwd()))
    try:
        if chosen.batches < 1:
            raise Refused(f"--batches {chosen.batches}: give 1 or more")
        report = examine(loader_of(chosen.loader), step_of(chosen.step), batches=chosen.batches)
    except Refused as error:
        sys.exit(f"waiting_for_data: {error}")
    print(report)


if __name__ == "__main__":
    main()
