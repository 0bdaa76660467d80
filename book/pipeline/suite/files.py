"""Runs the test files of a folder, each in a process of its own, unless it passed as all is now.

    python -m book.pipeline.suite.files tests/tools [-m MARKS]

A file is remembered with what it was seen to look at (`seen.py`): its tests begin in a fork that
has loaded packages but nothing of the book, so that nothing an earlier file has read is still
there, and every module and every text is looked at again. A file that starts a program which takes
no notes is remembered with the whole book, unless it says what such programs read:
`pytestmark = pytest.mark.programs("book/web/**/*")`.
"""

from __future__ import annotations

import atexit
import faulthandler
import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import NoReturn

import pytest

from book.pipeline.ground.paths import ROOT
from book.pipeline.suite import seen
from book.pipeline.suite.observer.sitecustomize import MADE, Notes
from book.pipeline.suite.seen import Memory, States, Unsure

GOOD = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
# What pytest tells beside the programs that were started.
FINISHED, SKIPPED, NAMED = "pytest: finished", "pytest: skipped", "pytest: programs named"
ENDING = 300.0  # seconds that a process may take to end when its tests have; see pyproject.toml
LOADED = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")
# Packages that most files need, loaded once.
PACKAGES = ("nbformat", "yaml", "numpy", "torch", "torch._dynamo")


def main(arguments: Sequence[str], root: Path = ROOT, options: Sequence[str] = (),
         packages: Sequence[str] = PACKAGES) -> int:
    """Exit status: that of the last file that failed."""
    folder, marks = arguments[0], list(arguments[1:])
    memory, fresh = Memory(root), bool(os.environ.get("FRESH"))
    todo = {name: why for name in found(folder, root)
            if (why := "all run afresh" if fresh else reason(memory, name, marks))}
    total = len(found(folder, root))
    if not total:
        sys.exit(f"files: {folder} has no test file")
    print(f"{len(todo)} of {total} files run, {total - len(todo)} unchanged since they passed")
    if os.environ.get("DRY"):
        print(*(f"  {name}: {why}" for name, why in todo.items()), sep="\n")
        return 0
    if len(todo) > 1:
        load(packages)
    status = 0
    for name in todo:
        status = run(name, [*options, *marks], memory, unit(name, marks)) or status
    return status


def load(packages: Sequence[str]) -> None:
    """What every fork would have to load; nothing of it is the book's."""
    for plugin in entry_points(group="pytest11"):
        plugin.load()
    for package in packages:
        importlib.import_module(package)


def found(folder: str, root: Path = ROOT) -> list[str]:
    """Names of the test files below a folder, from the root; a file stands for itself."""
    if (root / folder).is_file():
        return [folder]
    return [file.relative_to(root).as_posix()
            for file in sorted((root / folder).rglob("test_*.py"))]


def unit(name: str, marks: Sequence[str]) -> str:
    """What the tests of a file that these marks choose are remembered by."""
    return " ".join([name, *marks])


def reason(memory: Memory, name: str, marks: Sequence[str]) -> str:
    """Why a file has to run; all its tests count for a part of them."""
    return memory.why(unit(name, marks)) and memory.why(unit(name, []))


def run(name: str, options: Sequence[str], memory: Memory, called: str) -> int:
    """Run one file in a fork and remember it if all its tests passed; pytest's exit status."""
    whole = whole_book(memory.root)
    began = seen.now()
    number, log = tempfile.mkstemp()  # a TemporaryDirectory would end with the fork
    os.close(number)
    status = in_fork(lambda: child(name, options, Path(log), memory.root))
    if status in range(6) and FINISHED not in Path(log).read_text("utf-8", "surrogateescape"):
        print(f"1 error in 0.0s: the process of {name} ended before its tests did")
        status = status or 1
    try:
        if status not in GOOD:
            raise Unsure("it did not pass")
        memory.add(called, looked_at(name, Path(log), began, whole, memory.root))
    except (Unsure, OSError) as why:
        memory.forget(called)
        print(f"{name}: not remembered: {why}")
    Path(log).unlink()
    if status not in range(6):
        print(f"1 error in 0.0s: the process of {name} ended with {status}")
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else status


def whole_book(root: Path) -> States:
    """Every file that authors have written, also in a folder that is new."""
    folders = sorted(folder.name for folder in root.iterdir()
                     if folder.is_dir() and folder.name not in MADE)
    return seen.patterns(["*", *(f"{name}/**/*" for name in folders)], root) \
        | {"l .": seen.state("l .", root)}


def looked_at(name: str, log: Path, began: int, whole: States, root: Path) -> States:
    """What a file is remembered with. Raises Unsure where that is not known."""
    states, programs = seen.read(log, began, root)
    if f"r {name}" not in states:
        raise Unsure("it was not seen to be read")
    if SKIPPED in programs:
        raise Unsure("a test was skipped")
    if programs - {FINISHED, NAMED} and NAMED not in programs:
        states |= whole
        if whole != whole_book(root):
            raise Unsure("the book was changed meanwhile")
    return states


def in_fork(work: Callable[[], int]) -> int:
    """How a fork of this process ends that does the work."""
    sys.stdout.flush()
    if not (number := os.fork()):
        _end(work)
    try:
        _, status = os.waitpid(number, 0)
    except KeyboardInterrupt:
        os.waitpid(number, 0)  # it was interrupted too, and ends what it has started
        raise
    return os.waitstatus_to_exitcode(status)


def _end(work: Callable[[], int]) -> NoReturn:
    """Do the work of a fork and end it here: what its parent holds open is the parent's to end."""
    status = 1
    try:
        status = work()
    except BaseException:
        traceback.print_exc()
    finally:
        faulthandler.dump_traceback_later(ENDING, exit=True)  # a worker that is never told to end
        atexit._run_exitfuncs()  # as at any other end: of workers, of folders
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def child(name: str, options: Sequence[str], log: Path, root: Path) -> int:
    """Run the tests of a file, and note what they look at."""
    os.environ.update(seen.environment(log, root))
    notes = Notes(str(log), str(root))
    for module in list(sys.modules.values()):
        if file := getattr(module, "__file__", None):
            notes.path("r", file)
    notes.begin()
    return int(pytest.main([str(root / name), *LOADED, *options], plugins=[Told(notes, root)]))


class Told:
    """Notes what only pytest knows: what a file says of its programs; a test that was skipped."""

    def __init__(self, notes: Notes, root: Path):
        self.notes, self.root = notes, root

    def pytest_collection_modifyitems(self, items):
        marked = [item.get_closest_marker("programs") for item in items]
        for pattern in {pattern for marker in marked if marker for pattern in marker.args}:
            key = f"g {pattern}"
            self.notes.line(f"{key}\t{seen.state(key, self.root)}")
        if items and all(marked):
            self.notes.line(f"p {NAMED}")

    def pytest_runtest_logreport(self, report):
        if report.skipped and not hasattr(report, "wasxfail"):
            self.notes.line(f"p {SKIPPED}")

    def pytest_sessionfinish(self):
        self.notes.line(f"p {FINISHED}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], options=("--durations=12", "--durations-min=1.0")))
