"""Ways in which a program stops using a loader, each run by a test in a process of its own.

    python -m tests.helpers.loader_scenarios NAME METHOD FILE

writes the id of each process that it starts to FILE. It prints "ready" when workers are busy,
then, where the program goes on, a JSON object of what it still has: {"children": 0,
"descriptors": 0}, the latter against before.
"""

import gc
import json
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

from mini_loader import DataLoader
from oracles import loader_datasets as datasets
from oracles.leftovers import mark_semaphores


def loader(method, act=None, **arguments):
    dataset = datasets.At(act, 200) if act else datasets.Draws(200, slow=0.01)
    return DataLoader(dataset, 4, num_workers=2, multiprocessing_context=method, **arguments)


def to_the_end(method):
    for _ in range(2):
        assert len(list(loader(method))) == 50


def early_exit(method):
    for number, _ in enumerate(loader(method)):
        if number == 3:
            break


def deleted(method):
    batches = iter(loader(method))
    next(batches)
    del batches


def persistent(method):
    keep = loader(method, persistent_workers=True)
    assert len(list(keep)) == 50
    next(iter(keep))
    del keep


def error_in_a_sample(method):
    try:
        list(loader(method, datasets.Raising(30, OSError("gone"))))
    except OSError:
        return
    raise AssertionError("no error")


def error_in_the_loop(method):
    try:
        for _ in loader(method):
            raise KeyError
    except KeyError:
        return


def timed_out(method):
    try:
        list(loader(method, datasets.Sleeping(30, 60), timeout=0.5))
    except RuntimeError:
        return
    raise AssertionError("no error")


def interrupted(method):
    """Ctrl-C: the test sends SIGINT to the whole process group."""
    try:
        for _ in forever(loader(method)):
            pass
    except KeyboardInterrupt:
        return


def parent_killed(method):
    for _ in forever(loader(method)):
        pass


def parent_killed_beside_another_child(method):
    """The other child has inherited the parent's ends of the pipes."""
    batches = forever(loader(method))
    next(batches)
    other = os.fork()
    if other == 0:
        time.sleep(600)
        os._exit(0)
    print("other", other, flush=True)
    for _ in batches:
        pass


def exit_amid(method):
    batches = iter(loader(method))
    next(batches)
    keep_alive.append(batches)
    sys.exit(0)


keep_alive = []


def forever(one):
    while True:
        for batch in one:
            yield batch
            print("ready", flush=True)


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def note_processes(file):
    start = multiprocessing.process.BaseProcess.start

    def noted(process):
        start(process)
        with file.open("a") as lines:
            print(process.pid, file=lines)
    multiprocessing.process.BaseProcess.start = noted


def main():
    signal.alarm(1200)                      # a guard against a hang: seconds are usual
    signal.signal(signal.SIGINT, signal.default_int_handler)    # `make test &` has it ignored
    name, method, file = sys.argv[1:]
    note_processes(Path(file))
    mark_semaphores()
    multiprocessing.set_forkserver_preload(["mini_loader_worker", "oracles.loader_datasets"])
    if method != "fork":
        early_exit(method)                  # starts what these methods keep for good
    before = descriptors()
    globals()[name](method)
    gc.collect()
    print(json.dumps({"children": len(multiprocessing.active_children()),
                      "descriptors": descriptors() - before}))


if __name__ == "__main__":
    main()
