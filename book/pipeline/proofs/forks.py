"""Trials in processes forked from one that has imported torch and run nothing else.

To fork a process of 310 MB and to end it takes about 20 ms of processor time, where an interpreter
with torch takes 3 s, and nothing that a proof does (library registrations, compiler caches, a
crash) reaches the next one. (Without Dynamo it would be 15 ms: a second server for proofs that do
not compile costs more to start than it saves in 700 trials.) The process forked from is never the
caller's: a caller may have run a backward, after which a fork hangs. Where there is no fork, every
trial gets a fresh interpreter.
"""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from book.pipeline.ground.paths import CODE, ROOT
from book.pipeline.proofs import trial

# One thread each: OpenBLAS and Inductor would otherwise start threads before the fork.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "PYTHONUTF8": "1",
}
STARTUP = 600.0  # seconds more for an interpreter that has to import torch first
GRACE = 30.0  # seconds that a stuck process has to say which line it is at


class TrialsError(Exception):
    """Trials cannot be run at all; the message is for the user."""


@dataclass(frozen=True)
class Outcome:
    """How a trial went.

    `shown`: what the code printed, with its error if it raised; `raised`, `failure`: errors of
    code and proof as {type, message, stage, line, text}; `reached`: numbers of the marked
    assertions that were evaluated; `cpu`: seconds of processor time; `stderr`: kept whole. A
    process that ended early has a `failure` of type "".
    """

    shown: str = ""
    raised: dict[str, Any] | None = None
    failure: dict[str, Any] | None = None
    reached: list[int] = field(default_factory=list)
    cpu: float = 0.0
    stderr: str = ""


class Trials:
    """Runs trials, `lanes` at a time; use as a context manager. Starts at the first trial.

    May be called from several threads. What Inductor compiles is kept for all trials, and no longer
    than them: a program that runs again to see whether it shows the same compiles once.
    """

    def __init__(self, fork: bool = True, lanes: int = 1) -> None:
        self.fork = fork and hasattr(os, "fork")
        self.lanes = lanes
        self._compiled = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.environment = os.environ | ENVIRONMENT | {
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), str(CODE),
                                                        os.environ.get("PYTHONPATH")])),
            "TORCHINDUCTOR_CACHE_DIR": self._compiled.name,
        }
        self._servers: dict[bool, Server] = {}
        self._starting = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.close()
        self._servers.clear()
        self._compiled.cleanup()

    def run(self, proof: str = "", code: str = "", variant: dict[str, Any] | None = None,
            limit: float = 60.0, elsewhere: bool = False) -> Outcome:
        """Run `code`, then `proof` in the same namespace, for at most `limit` seconds.

        `elsewhere`: with other addresses and another hash seed than all trials without it.
        """
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name)
            trial.prepare(folder, {"variant": variant or {}, "code": code, "proof": proof})
            start = self._forked if self.fork else self._fresh
            return _outcome(folder, start(name, limit, elsewhere), limit)

    def _forked(self, folder: str, limit: float, elsewhere: bool) -> int | None:
        with self._starting:
            if elsewhere not in self._servers:
                self._servers[elsewhere] = Server(self._start, self.lanes, elsewhere)
        return self._servers[elsewhere].ask([folder, limit])

    def _fresh(self, folder: str, limit: float, elsewhere: bool) -> int | None:
        process = self._start([trial.__name__, folder], elsewhere, stdout=subprocess.DEVNULL)
        return await_end(process.poll, process.pid, limit + STARTUP)

    def _start(self, arguments: list[str], elsewhere: bool, **options: Any) -> subprocess.Popen:
        environment = self.environment | {"PYTHONHASHSEED": str(int(elsewhere))}
        return subprocess.Popen([sys.executable, "-m", *arguments], cwd=ROOT, env=environment,
                                stdin=subprocess.DEVNULL, start_new_session=True, **options)


class Server:
    """The process that trials are forked from, and its lanes, each of which runs one at a time."""

    def __init__(self, start: Callable[..., subprocess.Popen], lanes: int, elsewhere: bool) -> None:
        ours, theirs = zip(*(socket.socketpair() for _ in range(lanes)), strict=True)
        numbers = [end.fileno() for end in theirs]
        self.process = start(["book.pipeline.proofs.forks", *map(str, numbers)], elsewhere,
                             stdout=sys.__stderr__.fileno(), pass_fds=numbers)
        self.lanes = [end.makefile("rw", encoding="utf-8") for end in ours]
        for end in (*ours, *theirs):
            end.close()  # a lane's file keeps our end open
        self.free: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for lane in self.lanes:
            self.free.put(lane)

    def ask(self, request: list[Any]) -> int | None:
        """The answer of the first lane that is free."""
        lane = self.free.get()
        try:
            lane.write(json.dumps(request) + "\n")
            lane.flush()
            return json.loads(lane.readline())
        except (ConnectionError, json.JSONDecodeError):
            raise TrialsError("the process that proofs are forked from has ended (its message "
                              "stands above): run make prove, which sets up torch") from None
        finally:
            self.free.put(lane)

    def close(self) -> None:
        for lane in self.lanes:
            with suppress(ConnectionError):  # it has ended, and a request was never read
                lane.close()
        self.process.wait()


def await_end(poll: Callable[[], int | None], pid: int, limit: float) -> int | None:
    """Exit status of a process (minus the signal's number), None if it ran past the limit."""
    status, end = _poll_until(poll, limit), None
    if status is None and hasattr(signal, "SIGABRT"):
        os.kill(pid, signal.SIGABRT)  # faulthandler writes where it is
        end = _poll_until(poll, GRACE)
    _kill_group(pid)
    if status is None and end is None:
        _poll_until(poll, GRACE)
    return status


def _poll_until(poll: Callable[[], int | None], seconds: float) -> int | None:
    deadline, pause = time.monotonic() + seconds, 0.0005
    while (status := poll()) is None and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    return status


def _kill_group(pid: int) -> None:
    """End what the trial left running: loader workers, a stuck process itself."""
    with suppress(ProcessLookupError, PermissionError):  # nothing left; macOS raises the second
        os.killpg(pid, signal.SIGKILL)


def _outcome(folder: Path, status: int | None, limit: float) -> Outcome:
    if not (folder / "err").exists():
        raise TrialsError("a trial could not start (its message stands above): run make prove, "
                          "which sets up torch")
    stderr = (folder / "err").read_text(encoding="utf-8", errors="replace")
    if (folder / "result.json").exists():
        result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        return Outcome(**result, stderr=stderr)
    if status is None:
        message = f"still running after {limit:g} s"
    elif status < 0:
        message = f"the process was killed by {signal.Signals(-status).name}"
    else:
        message = f"the process left with exit status {status} before the proof was done"
    place = re.search(r'File "<(code|proof)>", line (\d+)', stderr)
    stage, line = (place[1], int(place[2])) if place else ("", 0)
    failure = {"type": "", "message": message, "stage": stage, "line": line, "text": ""}
    return Outcome(failure=failure, stderr=stderr)


def serve(lanes: list[int]) -> None:
    """Fork a process for each lane (the number of a socket), which forks the trials asked for."""
    import resource

    # Not used: that is the point. An optimizer or a meta tensor imports Dynamo, for a second; the
    # first compilation imports functorch.compile and, with any backend but `eager`, Inductor, which
    # takes 1.3 s.
    import functorch.compile  # noqa: F401
    import torch
    import torch._dynamo
    import torch._inductor.compile_fx  # noqa: F401

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is reported, not dumped
    while lanes:
        lane = lanes.pop()
        if os.fork() == 0:
            for other in lanes:
                os.close(other)
            _serve_lane(socket.socket(fileno=lane))
            os._exit(0)
        os.close(lane)
    with suppress(ChildProcessError):  # until all lanes have ended
        while True:
            os.wait()
    os._exit(0)  # nothing of torch has to be taken down


def _serve_lane(end: socket.socket) -> None:
    """Fork a trial for each line `[folder, limit]`, answer with its exit status."""
    with end, end.makefile("rw", encoding="utf-8") as lane:
        for request in lane:
            folder, limit = json.loads(request)
            pid = os.fork()
            if pid == 0:
                _child(Path(folder), end.fileno())
            lane.write(json.dumps(await_end(_waiter(pid), pid, limit)) + "\n")
            lane.flush()


def _child(folder: Path, lane: int) -> None:
    os.setsid()  # a group of its own, so that its workers can be ended with it
    os.close(lane)
    try:
        trial.run_in(folder)
    finally:  # only if the trial itself is broken: never return into the server's loop
        os._exit(70)


def _waiter(pid: int) -> Callable[[], int | None]:
    """A `poll` for a forked child; remembers the status, which the system gives only once."""
    status: list[int] = []

    def poll() -> int | None:
        if not status:
            ended, raw = os.waitpid(pid, os.WNOHANG)
            if ended:
                status.append(os.waitstatus_to_exitcode(raw))
        return status[0] if status else None

    return poll


if __name__ == "__main__":
    serve([int(number) for number in sys.argv[1:]])
