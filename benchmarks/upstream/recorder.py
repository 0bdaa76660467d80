"""What a test shows while it runs: the calls of compiled functions, its assertions, its end.

An assertion that fails is noted and does not end the test: many count frames or graphs, which plain
Python has none of. So a test goes on to all that it has to show.
"""

from __future__ import annotations

import re
import sys
import unittest
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from benchmarks.upstream import values

# Lines that ask how torch compiled something: what they find is torch's own matter.
ABOUT_COMPILING = re.compile(r"frame_count|op_count|counter|\bcnts?\b|graph|guard|recompil|"
                             r"break_reason|is_compiling|cache|\bgm\b|explain")


class Event(NamedTuple):
    kind: str         # call, assertion, end
    name: str
    line: int         # of the file of tests
    error: str = ""   # of an assertion, or of the end
    seen: Any = None  # of a call


class Recorder:
    """Gathers events; nothing is noted inside of a back end, which plain Python never calls."""

    def __init__(self, file: Path) -> None:
        self.file, self.lines = str(file), file.read_text("utf-8").splitlines()
        self.events: list[Event] = []
        self.calling = self.asserting = False
        self.muted = 0

    def note(self, kind: str, name: str, error: str = "", seen: Any = None, line: int = 0) -> None:
        if not self.muted:
            self.events.append(Event(kind, name, line or self.line(), error, seen))

    def line(self) -> int:
        """Where the file of tests is now, in its innermost frame."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.file:
            frame = frame.f_back
        return frame.f_lineno if frame else 0

    def about_compiling(self, event: Event) -> bool:
        """Whether an assertion's line, or the rest of its statement, asks about the compiler."""
        return bool(ABOUT_COMPILING.search(" ".join(self.lines[event.line - 1:event.line + 1])))

    def call(self, name: str, function: Callable, args: tuple, kwargs: dict) -> Any:
        """A call of a compiled function; one that it makes of another is a part of it."""
        if self.calling:
            return function(*args, **kwargs)
        self.calling, result, raised = True, None, ""
        try:
            result = function(*args, **kwargs)
            return result
        except BaseException as error:
            raised = f"{type(error).__name__}: {first_line(error)}"
            raise
        finally:
            self.calling, met = False, {}
            self.note("call", name, seen={"error": raised, "result": values.summary(result, met),
                                          "arguments": values.summary((args, kwargs), met)})

    def soften(self, test: unittest.TestCase) -> None:
        """Let the test's assertions note that they fail, and go on."""
        for name in dir(test):
            if name.startswith("assert"):
                setattr(test, name, as_library(self.soft(name, getattr(test, name))))

    def soft(self, name: str, method: Callable) -> Callable:
        def asserted(*args, **kwargs):
            if self.asserting:  # an assertion that is made of others
                return method(*args, **kwargs)
            self.asserting, error, result = True, "", None
            try:
                result = method(*args, **kwargs)
            except AssertionError as failed:
                error = first_line(failed) or "it fails"
            finally:
                self.asserting = False
            if hasattr(result, "__exit__"):
                return SoftBlock(self, name, result)
            self.note("assertion", name, error)
            return result
        return asserted


class SoftBlock:
    """`with self.assertRaises(…)`, which notes that nothing was raised, and goes on."""

    def __init__(self, recorder: Recorder, name: str, block: Any) -> None:
        self._recorder, self._name, self._block = recorder, name, block
        self._line = recorder.line()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._block, name)

    def __enter__(self) -> Any:
        return self._block.__enter__()

    def __exit__(self, *error: Any) -> Any:
        try:
            swallowed = self._block.__exit__(*error)
        except AssertionError as failed:
            self._recorder.note("assertion", self._name, first_line(failed), line=self._line)
            return True
        other = error[0] is not None and not swallowed
        self._recorder.note("assertion", self._name, f"{error[0].__name__} instead" if other else
                            "", line=self._line)
        return swallowed


def as_library(function: FunctionType) -> FunctionType:
    """A function that a compiler takes for a part of unittest: it doesn't look inside."""
    function.__code__ = function.__code__.replace(co_filename=unittest.case.__file__)
    return function


def first_line(error: BaseException) -> str:
    try:
        lines = str(error).strip().splitlines()
        return values.without_addresses(lines[0])[:200] if lines else ""
    except Exception:
        return ""
