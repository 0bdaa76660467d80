"""How much memory a process has, counted in three ways, and how much a forked process copies.

Linux, from 4.14 on, tells the counts of a process in `/proc/PID/smaps_rollup`.
"""

import multiprocessing
from pathlib import Path


def memory(pid="self"):
    """Bytes of a process that are in memory: {"rss": …, "pss": …, "private": …}.

    "rss" counts every page in full, "pss" divides a page among the processes that have it, and
    "private" counts only pages that no other process has (what some tools call USS). Raises
    `FileNotFoundError` if there is no such process, and on systems without this file;
    `ProcessLookupError` if it has ended and nobody has waited for it; `PermissionError` if it is
    not yours. Source: `Documentation/filesystems/proc.rst` of the Linux kernel.
    """
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kilobytes = {name: int(rest.split()[0]) for name, rest in (line.split(":") for line in lines)}
    private = kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]
    return {"rss": 1024 * kilobytes["Rss"], "pss": 1024 * kilobytes["Pss"],
            "private": 1024 * private}


def copied_by(work):
    """Bytes that a forked process gets for itself alone while it runs `work()`.

    The process starts as a forked worker of a `DataLoader` does, and ends afterwards. Raises
    `EOFError` if `work` raises, if the process is killed, and where `memory` raises in it, as on
    systems without `/proc`; `ValueError` on systems that cannot fork.
    """
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    process = fork.Process(target=report_growth, args=(work, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv()
    finally:
        process.join()
        ours.close()


def report_growth(work, end):
    """Send through `end` by how much `work()` makes the private memory of this process grow.

    Raises what `memory` and `work` raise.
    """
    before = memory()["private"]
    work()
    end.send(memory()["private"] - before)
