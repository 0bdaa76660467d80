"""Tests of tools and companions know no text of the book: one that opens it fails.

They take synthetic input, so that their number and their time do not grow with the sections and a
change of text runs none of them again. What checks the real book stands in tests/content.
The exercises of a companion lie beside their section and belong to the companion.
"""

import os
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from book.pipeline.ground.paths import CHAPTERS, FRONT_PAGE, ROOT

FOLDERS = [ROOT / "tests" / name for name in ("tools", "code", "inside", "web")]
OF_COMPANIONS = ("exercises*.yaml", "check_*.py", "__pycache__/*")


class BookWasRead(AssertionError):
    """A test of tools or companions has opened a file of the book."""


class Guard:
    """A pytest plugin: while a test of FOLDERS is collected or runs, the book is closed to it.

    A program that the test starts is looked at by its arguments only.
    """

    def __init__(self):
        self.closed = False
        sys.addaudithook(self.look)  # for good: none can be taken off

    def look(self, event, arguments):
        if not self.closed or event not in ("open", "subprocess.Popen"):
            return
        for path in arguments[:1] if event == "open" else arguments[1]:
            if is_of_the_book(path):
                raise BookWasRead(f"{path}: a test of tools or companions takes synthetic input; "
                                  "what checks the book stands in tests/content")

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector):
        with self.closed_for(collector):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        with self.closed_for(item):
            return (yield)

    @contextmanager
    def closed_for(self, node):
        before = self.closed
        self.closed = any(node.path.is_relative_to(folder) for folder in FOLDERS)
        yield
        self.closed = before


def is_of_the_book(path):
    """Whether it is a file below chapters/, of no exercise, or the front page."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return False                                    # a descriptor
    path = Path(os.path.normpath(Path(os.fsdecode(path)).absolute()))
    if path.is_relative_to(CHAPTERS):
        return bool(path.suffix) and not any(map(path.match, OF_COMPANIONS))
    return path.with_suffix("") == FRONT_PAGE.with_suffix("")
