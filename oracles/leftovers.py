"""What this process leaves behind: processes, descriptors, files, memory.

Linux only: it reads /proc.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import tempfile
import time
from collections.abc import Collection, Iterator
from multiprocessing import process, util
from pathlib import Path
from unittest import mock

NUMBER = re.compile(r"(?<![A-Za-z\d])\d+(?![A-Za-z\d])")
SETTLING = 10.0  # seconds in which what seems to stay may go: other programs use /dev/shm, too
HOLDINGS = {
    "processes": ("子孙进程", "descendant processes"),
    "descriptors": ("打开的文件描述符", "open file descriptors"),
    "shared": ("/dev/shm 里的文件", "files in /dev/shm"),
    "mappings": ("memfd 文件的映射", "mappings of memfd files"),
    "temporary": ("临时文件", "temporary files"),
}


def parents() -> dict[int, int]:
    """Each living process, or one that nobody has waited for yet -> its parent."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):      # it ended
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            found[int(folder.name)] = int(fields[1])
    return found


def descendants() -> set[str]:
    found, tree = {os.getpid()}, parents()
    while more := {child for child, parent in tree.items() if parent in found} - found:
        found |= more
    return {str(pid) for pid in found - {os.getpid()}}


def descriptors() -> set[str]:
    """Number and target of each."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):      # the one that lists this folder
            found.add(f"{entry.name} {entry.readlink()}")
    return found


def holdings() -> dict[str, set[str]]:
    """What this process has that could stay behind, by kind; the kinds are those of HOLDINGS."""
    gc.collect()
    mapped = Path("/proc/self/maps").read_text().splitlines()
    return {"processes": descendants(), "descriptors": descriptors(),
            "shared": {path.name for path in Path("/dev/shm").iterdir()},
            "mappings": {line for line in mapped if "/memfd:" in line},
            "temporary": {str(path) for path in Path(tempfile.gettempdir()).rglob("*")}}


def left_behind(before: dict[str, set[str]], own: Collection[int],
                seconds: float = SETTLING) -> dict[str, set[str]]:
    """What was not there `before` and does not go within some seconds, by kind.

    `own` are the ids of the processes started meanwhile: files of others are left out.
    """
    deadline = time.monotonic() + seconds
    while True:
        now = holdings()
        left = {kind: now[kind] - before[kind] for kind in HOLDINGS}
        left["shared"] = {name for name in left["shared"] if made_by(own, name)}
        if not any(left.values()) or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def made_by(own: Collection[int], name: str) -> bool:
    """Whether a file in /dev/shm is that of one of some processes: its name says so, as that of
    torch's files and of marked semaphores does. Python's shared memory has nameless makers.
    """
    return name.startswith("psm_") or not set(own).isdisjoint(map(int, NUMBER.findall(name)))


def mark_semaphores() -> None:
    """The semaphores of multiprocessing, here and in what is started here, name this process."""
    process.current_process()._config["semprefix"] = f"/mp-{os.getpid()}"


@contextlib.contextmanager
def noting_processes() -> Iterator[set[int]]:
    """The ids of this process and of all that multiprocessing starts here."""
    own, start = {os.getpid()}, process.BaseProcess.start

    def noted(one: process.BaseProcess) -> None:
        start(one)
        own.add(one.pid)
    with (mock.patch.object(process.BaseProcess, "start", noted),
          mock.patch.dict(process.current_process()._config)):
        mark_semaphores()
        yield own


@contextlib.contextmanager
def own_temporary_folder() -> Iterator[None]:
    """All temporary files of this process and of those it starts lie in one that nobody else has.

    Python's own, for the socket of a fork server, exists before.
    """
    util.get_temp_dir()
    with (tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder),
          mock.patch.dict(os.environ, TMPDIR=folder)):
        yield
