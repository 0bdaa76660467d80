"""A function in a process of its own, which may crash, hang or leave a mess behind.

The process is forked, so that torch and a file of tests are imported once and not for each test.
"""

from __future__ import annotations

import os
import pickle
import resource
import select
import signal
import time
from collections.abc import Callable
from typing import Any, NamedTuple

MEMORY = 8 << 30  # bytes of addresses; a test that fills a list for ever gets a MemoryError


class Ended(NamedTuple):
    """How it ended: returned, raised, crashed or hung; its value, or in words what happened."""

    how: str
    value: Any


def run(function: Callable[[], Any], seconds: float) -> Ended:
    """Call the function in a child; what it returns must be plain data."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _as_child(function, writing)
    os.close(writing)
    try:
        answer, late = _answer(reading, time.monotonic() + seconds)
    finally:
        os.close(reading)
        _end(child)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if late:
        return Ended("hung", f"still running after {seconds:g} s")
    if answer:
        return Ended(*pickle.loads(answer))
    return Ended("crashed", _words(status))


def _as_child(function: Callable[[], Any], writing: int) -> None:
    """Never returns."""
    os.setsid()  # with whatever it starts, it can be ended as one group
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    try:
        ended = Ended("returned", function())
        data = pickle.dumps(tuple(ended))
    except BaseException as error:
        data = pickle.dumps(("raised", f"{type(error).__name__}: {error}"))
    try:
        with os.fdopen(writing, "wb") as out:
            out.write(len(data).to_bytes(8, "big") + data)
    finally:  # whatever happens: behind this function stands the parent's own program
        os._exit(0)


def _answer(reading: int, until: float) -> tuple[bytes, bool]:
    """What the child sent, empty if it was not all of it, and whether it took too long."""
    got, wanted = b"", None
    while wanted is None or len(got) < wanted:
        left = until - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return b"", True
        piece = os.read(reading, 1 << 20)
        if not piece:
            return b"", False
        got += piece
        if wanted is None and len(got) >= 8:
            wanted, got = int.from_bytes(got[:8], "big"), got[8:]
    return got, False


def _end(child: int) -> None:
    """The child, and what it started: threads that it left would keep it alive.

    A child that has ended by itself is still there until it is waited for, with its own status.
    """
    try:
        os.killpg(child, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # it had not come as far as setsid
        os.kill(child, signal.SIGKILL)


def _words(status: int) -> str:
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    return f"left with exit status {status}"
