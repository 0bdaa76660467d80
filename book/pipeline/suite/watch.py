"""A pytest plugin: tests that open a file of the book which their step does not name fail.

A step is not run again while its inputs stay as they are, so an input that is not named would
let a broken test pass. Seen is what the process itself opens; programs it starts are not watched.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from book.pipeline.ground.paths import ROOT
from book.pipeline.suite.passed import files_of
from book.pipeline.suite.steps import ALWAYS, FLOORS

# Made by tools, not by authors: the environment, what is built, caches.
MADE = (".venv", "node_modules", "_build", ".git", ".hypothesis", ".cache", ".pytest_cache")
COMPILED = re.compile(r"__pycache__/([^/.]+)\.[^/]*\.pyc(?:\.\d+)?$")  # its source is what counts


class Watch:
    """Notes every file below the root that is opened for reading."""

    def __init__(self, root: Path = ROOT):
        self.root, self.opened, self.watching = str(root) + "/", set(), True
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple) -> None:
        if event == "open" and self.watching and isinstance(arguments[0], (str, os.PathLike)):
            path = os.path.abspath(os.fspath(arguments[0]))  # noqa: PTH100 - runs at every open
            if path.startswith(self.root):
                self.opened.add(COMPILED.sub(r"\1.py", path[len(self.root):]))

    def unnamed(self, patterns: tuple[str, ...]) -> list[str]:
        """Files that were opened and that no pattern names."""
        named = {file.relative_to(self.root).as_posix()
                 for file in files_of(patterns, Path(self.root))}
        return sorted(name for name in self.opened - named
                      if not name.startswith(tuple(f"{folder}/" for folder in MADE))
                      and Path(self.root, name).is_file())


def pytest_configure(config):
    config.pluginmanager.register(_Session(config), "watched")


class _Session:
    def __init__(self, config):
        self.watch, self.found = Watch(), []
        named = [floor for floor in FLOORS.values()
                 if any(floor.folder in argument for argument in config.args)]
        self.patterns = (*ALWAYS, *(pattern for floor in named
                                    for pattern in (f"{floor.folder}/**/*", *floor.own)))

    def pytest_sessionfinish(self, session, exitstatus):
        self.watch.watching = False
        self.found = self.watch.unnamed(self.patterns)
        if self.found and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for name in self.found:
            terminalreporter.write_line(f"{name}: opened by a test, but not among the inputs of "
                                        "its step; name it in book/pipeline/suite/steps.py")
