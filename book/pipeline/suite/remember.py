"""A pytest plugin: what passed before with the same content is not run again.

A notebook is remembered as a whole, with all its cells; another test by the marker
`remember(FILE, …)`, which names what it looks at. `FRESH=1` runs everything.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path

import nbformat
import pytest

from book.pipeline.notebooks import notebook
from book.pipeline.suite.passed import Passed, digest, files_of

SELF = ("conftest.py", "book/pipeline/suite/remember.py", "book/pipeline/notebooks/*.py",
        "pyproject.toml")
WEB = ("book/web/**/*",)  # `inside.widgets` reads it


def pytest_configure(config):
    config.pluginmanager.register(Remember(fresh=bool(os.environ.get("FRESH"))), "remembered")


class Remember:
    """Leaves out what passed before, and stores what passes now."""

    def __init__(self, fresh: bool = False, memory: Passed | None = None):
        self.fresh, self.memory = fresh, memory or Passed("items")
        self.left_out = 0
        self.digests: dict[str, str] = {}  # name of what is remembered -> its digest before it ran
        self.names: dict[str, str] = {}  # test -> that name
        self.outcomes: dict[str, set[str]] = defaultdict(set)
        self.parts: dict[str, int] = {}  # name -> how many tests it has, also those not chosen
        self.done: Counter[str] = Counter()  # name -> how many of them ran

    def pytest_collectstart(self, collector):
        """The digest of a notebook is taken before its cells are read from it."""
        if isinstance(collector, pytest.File) and collector.path.suffix == ".ipynb":
            content = nbformat.read(collector.path, 4)
            name, option = str(collector.path), collector.config.option
            how = f"{option.nbval_lax} {option.nbval_sanitize_with}"
            self.parts[name] = len(notebook.code_cells(content))
            self.digests[name] = digest([*files_of(SELF), *files_of(WEB), collector.path],
                                        name, how, notebook.program_digest(content))

    def pytest_collection_modifyitems(self, config, items):
        keep, drop = [], []
        for item in items:
            name = self._name(item)
            known = name and not self.fresh and self.memory.holds(name, self.digests[name])
            (drop if known else keep).append(item)
        self.left_out = len({self.names[item.nodeid] for item in drop})
        config.hook.pytest_deselected(items=drop)
        items[:] = keep

    def _name(self, item: pytest.Item) -> str | None:
        """What the test is remembered by; None where it says nothing of what it looks at."""
        marker = item.get_closest_marker("remember")
        if marker is None and not hasattr(item, "cell"):
            return None
        name = item.nodeid if marker else str(item.path)
        self.names[item.nodeid] = name
        if name not in self.digests:
            self.parts[name] = 1
            self.digests[name] = digest([*files_of(SELF), *map(Path, marker.args)], name)
        return name

    def pytest_runtest_logreport(self, report):
        if name := self.names.get(report.nodeid):
            self.outcomes[name].add(report.outcome)
            self.done[name] += report.when == "call"
            if report.failed and self.memory.knows(name):  # at once: a crash may follow
                self.memory.add({}, [name])

    def pytest_sessionfinish(self, session, exitstatus):
        if hasattr(session.config, "workerinput"):
            return
        passed = {name for name, outcomes in self.outcomes.items()
                  if outcomes == {"passed"} and self.done[name] == self.parts[name]}
        whole = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        self.memory.add({name: self.digests[name] for name in passed if whole},
                        self.outcomes.keys() - passed)
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and self.left_out:
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter):
        if self.left_out:
            terminalreporter.write_line(f"{self.left_out} unchanged since they passed")
