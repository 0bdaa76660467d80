"""Runs steps side by side, goes on after a failure, and tells all failures at the end."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from book.pipeline.paths import ROOT
from book.pipeline.suite.passed import Passed, digest, files_of
from book.pipeline.suite.steps import Step

LOGS = ROOT / "_build" / "log"
LANES = 2
COUNT = re.compile(r"^(?=.*\d+ (?:passed|failed|error))[=\s]*(.*?) in [\d.]+s", re.M)
SLOW = re.compile(r"^([\d.]+)s (?:call|setup|teardown) +(\S+.*)$", re.M)
PASSED, FAILED, SKIPPED, KNOWN = "passed", "failed", "not run", "passed before"


@dataclass
class Result:
    """How a step ended, after how many seconds, and what it printed."""

    step: Step
    state: str
    seconds: float = 0.0
    output: str = ""


class Lanes:
    """Runs each step once the steps it comes after have passed, at most LANES at a time."""

    def __init__(self, steps: Sequence[Step], fresh: bool = False,
                 root: Path = ROOT, tell: Callable[[str], None] = print):
        self.steps, self.waiting = steps, list(steps)
        self.root, self.tell = root, tell
        self.fresh = fresh
        self.memory = Passed("steps", root)
        self.results: dict[str, Result] = {}
        self.ended: SimpleQueue[Result] = SimpleQueue()
        self.running: dict[str, threading.Thread] = {}
        self.processes: dict[str, subprocess.Popen] = {}
        self.storing = threading.Lock()

    def run(self) -> list[Result]:
        """All results, in the order of the steps."""
        try:
            while self.waiting or self.running:
                while (step := self._next()) and len(self.running) < LANES:
                    self._start(step)
                self._note(self.ended.get())
        except BaseException:
            for process in list(self.processes.values()):
                _end(process)
            raise
        return [self.results[step.name] for step in self.steps]

    def _next(self) -> Step | None:
        names = {step.name for step in self.waiting} | self.running.keys()
        return next((step for step in self.waiting if not names & set(step.after)), None)

    def _start(self, step: Step) -> None:
        self.waiting.remove(step)
        broken = [name for name in step.after if name in self.results
                  and self.results[name].state in (FAILED, SKIPPED)]
        work = (lambda: Result(step, SKIPPED, output=f"it needs: {', '.join(broken)}")) \
            if broken else (lambda: self._work(step))
        self.running[step.name] = threading.Thread(target=self._into_queue, args=(step, work))
        self.running[step.name].start()

    def _into_queue(self, step: Step, work: Callable[[], Result]) -> None:
        try:
            self.ended.put(work())
        except Exception as error:  # a thread that dies silently would be waited for without end
            self.ended.put(Result(step, FAILED, output=f"{type(error).__name__}: {error}"))

    def _work(self, step: Step) -> Result:
        """Run a step unless it passed before with the same inputs and left the same products."""
        inputs = digest(files_of(step.inputs, self.root), root=self.root)
        key = again(step)  # `make check` and `make test` have steps of one name
        if not self.fresh and step.inputs and \
                self.memory.holds(key, inputs + self._products(step)):
            return Result(step, KNOWN)
        started = time.perf_counter()
        status, output = self._run(step)
        seconds = time.perf_counter() - started
        if step.inputs:
            with self.storing:
                self.memory.add({} if status else {key: inputs + self._products(step)},
                                [key] if status else [])
        return Result(step, FAILED if status else PASSED, seconds, output)

    def _products(self, step: Step) -> str:
        return digest(files_of(step.products, self.root), root=self.root) if step.products else ""

    def _run(self, step: Step) -> tuple[int, str]:
        LOGS.mkdir(parents=True, exist_ok=True)
        file = LOGS / f"{step.name.replace(' ', '-')}.txt"
        with file.open("w+", encoding="utf-8", errors="replace") as log:
            process = subprocess.Popen(
                step.command, cwd=self.root, env=os.environ | {"PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
            self.processes[step.name] = process
            try:
                status = process.wait()
            finally:
                self.processes.pop(step.name)
                _end(process)
            log.seek(0)
            return status, log.read()

    def _note(self, result: Result) -> None:
        self.results[result.step.name] = result
        self.running.pop(result.step.name).join()
        time_taken = f", {result.seconds:.0f} s" if result.state in (PASSED, FAILED) else ""
        counted = f" ({counts[-1]})" if (counts := COUNT.findall(result.output)) else ""
        self.tell(f"[{len(self.results)}/{len(self.steps)}] {result.step.name}: {result.state}"
                  f"{counted}{time_taken}")


def _end(process: subprocess.Popen) -> None:
    """End what a step leaves running: a process group outlives its leader."""
    with suppress(ProcessLookupError, PermissionError):  # macOS refuses where all are dead
        os.killpg(process.pid, signal.SIGKILL)


def slowest(results: Sequence[Result], most: int = 15) -> list[tuple[float, str]]:
    """(seconds, test) of the slowest tests of all steps, as pytest's --durations lists them."""
    found = [(float(seconds), name) for result in results
             for seconds, name in SLOW.findall(result.output)]
    return sorted(found, reverse=True)[:most]


def tests(results: Sequence[Result]) -> tuple[int, int]:
    """How many tests passed and how many failed or could not be set up, over all steps."""
    told = " ".join(count for result in results for count in COUNT.findall(result.output))
    passed, failed = (sum(map(int, re.findall(rf"(\d+) {word}", told)))
                      for word in ("passed", "(?:failed|error)"))
    return passed, failed


def again(step: Step) -> str:
    """The command of a step as a reader pastes it at the root of the book."""
    return shlex.join(step.command).replace(f"{ROOT}/", "")
