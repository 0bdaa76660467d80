"""A pytest plugin: what passed before with the same content is not run again.

A notebook is remembered as a whole, with all its cells, by its program and by what that imports;
another test by the marker `remember(FILE, …)`, which names what it looks at. `FRESH=1` runs
everything, `DRY=1` nothing: it lists what would run.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from runpy import run_path

import nbformat
import pytest

from book.pipeline.ground.paths import CODE, ROOT, WEB, widgets
from book.pipeline.notebooks import depends, notebook
from book.pipeline.suite.passed import Passed, digest, files_of

SELF = ("conftest.py", "book/pipeline/suite/remember.py", "book/pipeline/notebooks/*.py",
        "pyproject.toml")
# As the wrappers find a widget's parts; not imported, since `inside` loads torch.
collect = run_path(str(CODE / "inside" / "widgets" / "web_module.py"))["collect"]


def pytest_configure(config):
    config.pluginmanager.register(Remember(fresh=bool(os.environ.get("FRESH"))), "remembered")


def scripts(programs: Iterable[str], web: Path = WEB) -> set[Path]:
    """The scripts that programs read through wrappers of widgets: a widget and what it imports.

    A wrapper is a file of `inside/widgets` named as the widget's folder.
    """
    mains = widgets(web)
    wrappers = {file.stem.replace("_", "-") for file in depends.files(programs)
                if file.parent.name == "widgets"}
    texts: dict[Path, str] = {}
    for name in sorted(wrappers & mains.keys()):
        collect(mains[name], texts)
    return set(texts)


class Remember:
    """Leaves out what passed before, and stores what passes now."""

    def __init__(self, fresh: bool = False, memory: Passed | None = None,
                 root: Path = ROOT, web: Path = WEB):
        self.fresh, self.memory = fresh, memory or Passed("items", root)
        self.root, self.web = root, web
        self.dry, self.would = bool(os.environ.get("DRY")), []
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
            read = scripts((cell.source for cell in notebook.code_cells(content)), self.web)
            self.digests[name] = digest([*files_of(SELF, self.root), *sorted(read), collector.path],
                                        name, how, notebook.program_digest(content))

    def pytest_collection_modifyitems(self, config, items):
        keep, drop = [], []
        for item in items:
            name = self._name(item)
            known = name and not self.fresh and self.memory.holds(name, self.digests[name])
            (drop if known else keep).append(item)
        self.left_out = len({self.names[item.nodeid] for item in drop})
        if self.dry:
            self.would = sorted({self.names.get(item.nodeid, item.nodeid) for item in keep})
            keep, drop = [], items[:]
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
            self.digests[name] = digest([*files_of(SELF, self.root), *map(Path, marker.args)],
                                        name)
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
        if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and (self.left_out or self.dry):
            session.exitstatus = pytest.ExitCode.OK

    def pytest_terminal_summary(self, terminalreporter):
        for name in self.would:
            terminalreporter.write_line(f"  would run: {name}")
        if self.left_out:
            terminalreporter.write_line(f"{self.left_out} unchanged since they passed")
