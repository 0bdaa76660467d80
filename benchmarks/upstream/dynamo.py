"""One test under plain Python, under torch as it is and under mini_dynamo: what became of it."""

from __future__ import annotations

import unittest
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.upstream import isolated, values
from benchmarks.upstream.isolated import Ended
from benchmarks.upstream.recorder import Event, Recorder, first_line
from benchmarks.upstream.stand_ins import MINI, PYTHON, TORCH, StandIns

SECONDS = 120.0
# What can become of a test. Only the first two tell something about mini_dynamo.
SAME, DIFFERENT = "same", "different"
TORCH_TOO, TORCH_FAILS, SKIPPED, NO_CALL, UNSTEADY = (
    "torch too", "torch fails", "skipped", "no call", "unsteady")


class Row(NamedTuple):
    test: str
    outcome: str
    why: str = ""
    graphs: int = 0
    calls: int = 0


class Ran(NamedTuple):
    """What a test showed, in plain data."""

    events: list[Event]
    skipped: str
    graphs: int


def row(test: unittest.TestCase, name: str, module: ModuleType, seconds: float = SECONDS) -> Row:
    """What became of a test; each way of running it is a process of its own."""
    def shown(world: str) -> Ended:
        return isolated.run(lambda: recorded(test, module, world), seconds)

    python = shown(PYTHON)
    if python.how != "returned":
        return Row(name, UNSTEADY, f"in plain Python: {python.value}")
    if python.value.skipped:
        return Row(name, SKIPPED, python.value.skipped)
    calls = sum(event.kind == "call" for event in python.value.events)
    if not calls:
        return Row(name, NO_CALL)
    if why := fails(isolated.run(lambda: by_torch(test, module), seconds)):
        return Row(name, TORCH_FAILS, why, calls=calls)
    mini = shown(MINI)
    why = unlike(python.value, mini, module)
    found = Row(name, DIFFERENT if why else SAME, why,
                mini.value.graphs if mini.how == "returned" else 0, calls)
    if why and unlike(python.value, shown(PYTHON), module):
        return found._replace(outcome=UNSTEADY, why="two runs in plain Python differ")
    if why and unlike(python.value, shown(TORCH), module) == why:
        return found._replace(outcome=TORCH_TOO)
    return found


def recorded(test: unittest.TestCase, module: ModuleType, world: str) -> Ran:
    """Run a test in this process, with another torch.compile."""
    recorder = Recorder(Path(module.__file__))
    stand_ins = StandIns(recorder, world)
    stand_ins.install(module)
    recorder.soften(test)
    result = run(test, module)
    ended, line = result.caught or ("", 0)
    recorder.note("end", "", ended, line=line)
    skipped = result.skipped[0][1] if result.skipped else ""
    return Ran(recorder.events, skipped, stand_ins.graphs)


class Result(unittest.TestResult):
    """Keeps the first error in words: its type and text, and its line in the file of tests."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file
        self.caught: tuple[str, int] | None = None

    def addError(self, test: Any, err: Any) -> None:
        self.keep(err)
        super().addError(test, err)

    def addFailure(self, test: Any, err: Any) -> None:
        self.keep(err)
        super().addFailure(test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self.keep(err)
        super().addSubTest(test, subtest, err)

    def keep(self, err: Any) -> None:
        if self.caught:
            return
        kind, error, trace = err
        line = 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file:
                line = trace.tb_lineno
            trace = trace.tb_next
        self.caught = f"{kind.__name__}: {first_line(error)}", line


def run(test: unittest.TestCase, module: ModuleType) -> Result:
    """A test with what its class sets up."""
    result = Result(module.__file__)
    unittest.TestSuite([test]).run(result)
    return result


def by_torch(test: unittest.TestCase, module: ModuleType) -> str:
    """Why a test fails under torch as it is, or nothing; one that is to fail is no evidence."""
    result = run(test, module)
    if result.skipped:
        return f"skipped: {result.skipped[0][1]}"
    if result.expectedFailures or result.unexpectedSuccesses:
        return "it is expected to fail"
    return result.caught[0] if result.caught else ""


def fails(torch: Ended) -> str:
    return torch.value if torch.how == "returned" else f"{torch.how}: {torch.value}"


def unlike(python: Ran, ended: Ended, module: ModuleType) -> str:
    """Where a run differs from the one in plain Python first, in words, or nothing.

    Assertions that fail in plain Python too, or ask about the compiler, are left out. Where plain
    Python ends by an error, the other may go on.
    """
    if ended.how != "returned":
        return f"{ended.how}: {ended.value}"
    recorder = Recorder(Path(module.__file__))
    for wanted, found in zip(python.events, ended.value.events, strict=False):
        if wanted.kind == "end" and wanted.error:
            return ""
        if found.kind == "end" and found.error:
            return f"line {found.line or wanted.line}: {found.error}"
        if (wanted.kind, wanted.name) != (found.kind, found.name):
            return f"line {wanted.line}: {found.kind} {found.name} at {found.line}, in Python " \
                   f"{wanted.kind} {wanted.name}"
        if wanted.kind == "call" and (words := values.difference(wanted.seen, found.seen)):
            return f"line {wanted.line}: call of {wanted.name}: {words}"
        if found.error and not wanted.error and not recorder.about_compiling(wanted):
            return f"line {wanted.line}: {found.name}: {found.error}"
    return ""
