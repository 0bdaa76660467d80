"""Runs steps side by side, goes on after a failure, and tells all failures at the end."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from book.pipeline.ground.paths import ROOT
from book.pipeline.suite import seen
from book.pipeline.suite.seen import Memory, Seen, States, Unsure
from book.pipeline.suite.steps import Step

LOGS = ROOT / "_build" / "log"
LANES = 3  # one more than cores: a step waits for browsers, workers and pipes half of its time
GRACE = 10.0  # seconds that a step has to end what it started
COUNT = re.compile(r"^(?=.*\b\d+ (?:passed|failed|error))[=\s]*(.*?) in [\d.]+s", re.M)
COUNTED = re.compile(r"(\d+) (\w+)")
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
        names = [step.name for step in steps]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"steps of one name: {', '.join(sorted(twice))}")
        self.steps, self.waiting = steps, list(steps)
        self.root, self.tell = root, tell
        self.fresh = fresh
        self.memory = Memory(root)
        self.results: dict[str, Result] = {}
        self.ended: SimpleQueue[Result] = SimpleQueue()
        self.running: dict[str, threading.Thread] = {}
        self.processes: dict[str, subprocess.Popen] = {}
        self.starting = threading.Lock()
        self.stopped = False

    def run(self) -> list[Result]:
        """All results, in the order of the steps."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):  # steps have sessions of their own
                signal.signal(number, lambda number, _: sys.exit(128 + number))
            # A script that starts us with `&` has Ctrl-C ignored, and a step that inherits that
            # could not be asked to end.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            while self.waiting or self.running:
                while (step := self._next()) and len(self.running) < LANES:
                    self._start(step)
                if not self.running:
                    raise ValueError("steps that wait for one another: "
                                     f"{', '.join(step.name for step in self.waiting)}")
                self._note(self.ended.get())
        except BaseException:
            with self.starting:  # none begins from now on
                self.stopped = True
                left = list(self.processes.values())
            for process in left:
                _ask(process)
            deadline = time.monotonic() + GRACE
            for process in left:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0, deadline - time.monotonic()))
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

    def why(self, step: Step) -> str:
        """Why a step runs; empty if it passed before, and all it looked at is as it was."""
        if self.fresh:
            return "all run afresh"
        if not (step.inputs or step.seen):
            return "always runs"
        return self.memory.why(called(step))

    def _work(self, step: Step) -> Result:
        if not self.why(step):
            return Result(step, KNOWN)
        began, inputs = seen.now(), seen.patterns(step.inputs, self.root)
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "seen"
            started = time.perf_counter()
            status, output = self._run(step, seen.environment(log, self.root) if step.seen else {})
            seconds = time.perf_counter() - started
            if step.inputs or step.seen:
                output += self._remember(step, status, log, began, inputs)
        return Result(step, FAILED if status else PASSED, seconds, output)

    def _remember(self, step: Step, status: int, log: Path, began: int, inputs: States) -> str:
        """Remember a step that has passed; what there is to say where that cannot be."""
        try:
            if status:
                self.memory.forget(called(step))
                return ""
            looked = seen.read(log, began, self.root) if step.seen else Seen({}, frozenset())
            if unknown := looked.programs - set(step.programs):
                raise Unsure(f"nobody knows what it reads: {', '.join(sorted(unknown))}")
            if step.seen and not looked.states:
                raise Unsure("nothing was noted")
            if seen.patterns(step.inputs, self.root) != inputs:
                raise Unsure("an input was changed meanwhile")
            made = seen.patterns(step.products, self.root)
            self.memory.add(called(step), inputs | looked.states | made)
        except Unsure as why:
            self.memory.forget(called(step))
            return f"\nnot remembered: {why}"
        except OSError as error:
            return f"\nnot remembered: {error}"
        return ""

    def _run(self, step: Step, environment: Mapping[str, str]) -> tuple[int, str]:
        LOGS.mkdir(parents=True, exist_ok=True)
        file = LOGS / f"{step.name.replace(' ', '-')}.txt"
        with file.open("w+", encoding="utf-8", errors="replace") as log:
            with self.starting:
                if self.stopped:
                    return 1, "ended before it began"
                process = subprocess.Popen(
                    step.command, cwd=self.root,
                    env=os.environ | {"PYTHONUNBUFFERED": "1"} | environment,
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
        counted = f" ({told})" if (told := counts(result.output)) else ""
        last = result.output.rpartition("\n")[2]
        unsure = f"; {last}" if last.startswith("not remembered") else ""
        self.tell(f"[{len(self.results)}/{len(self.steps)}] {result.step.name}: {result.state}"
                  f"{counted}{time_taken}{unsure}")


def _ask(process: subprocess.Popen) -> None:
    """As Ctrl-C does, so that a step ends what it has started in sessions of their own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGINT)


def _end(process: subprocess.Popen) -> None:
    """End what a step leaves running: a process group outlives its leader."""
    with suppress(ProcessLookupError, PermissionError):  # macOS refuses where all are dead
        os.killpg(process.pid, signal.SIGKILL)


def slowest(results: Sequence[Result], most: int = 15) -> list[tuple[float, str]]:
    """(seconds, test) of the slowest tests of all steps, as pytest's --durations lists them."""
    found = [(float(seconds), name) for result in results
             for seconds, name in SLOW.findall(result.output)]
    return sorted(found, reverse=True)[:most]


def counts(output: str) -> str:
    """The sum of what pytest has counted, such as `2 failed, 41 passed`."""
    total: Counter[str] = Counter()
    for number, word in COUNTED.findall(" ".join(COUNT.findall(output))):
        total[word.removesuffix("s") if word.startswith("error") else word] += int(number)
    return ", ".join(f"{number} {word}" for word, number in sorted(total.items()))


def tests(results: Sequence[Result]) -> tuple[int, int]:
    """How many tests passed and how many failed or could not be set up, over all steps."""
    told = " ".join(counts(result.output) for result in results)
    passed, failed = (sum(map(int, re.findall(rf"(\d+) {word}", told)))
                      for word in ("passed", "(?:failed|error)"))
    return passed, failed


def again(step: Step) -> str:
    """The command of a step as a reader pastes it at the root of the book."""
    return shlex.join(step.command).replace(f"{ROOT}/", "")


def called(step: Step) -> str:
    """What a step is remembered by: `make check` and `make test` have steps of one name, and one
    that names other files than before has not passed yet."""
    return f"{again(step)} {step.inputs} {step.products} {step.seen} {step.programs}"
