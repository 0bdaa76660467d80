"""One number says how deep all random tests go: DEPTH, 1 in `make test`; `make test DEPTH=20` is
the full run, whose counts `RECORD=1` stores for the sections that state them.

Random cases are drawn from seeds 0, 1, 2, … or from one generator: a small depth compares a
prefix of what a larger one does.
"""

import datetime
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path

from book.pipeline.ground import paths
from book.pipeline.state import records

FULL = 20
COUNTED = "random cases"  # name of the property by which a test tells its count


def depth(environment=os.environ):
    """DEPTH of this run. Raises ValueError unless it is a whole number from 1."""
    text = environment.get("DEPTH") or "1"
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"DEPTH={text} is no whole number from 1; leave it out or take {FULL}")
    return int(text)


def cases(at_depth_1):
    """How many random cases a test draws."""
    return at_depth_1 * depth()


class Record:
    """A pytest plugin: stores what each passed test of a full run counted, by claim."""

    def __init__(self, folder: Path, root: Path = paths.ROOT):
        self.file, self.root = folder / "random-cases.json", root

    def pytest_runtest_logreport(self, report):
        """At once, so that a long run that ends early keeps what it has."""
        counts = [told for name, told in report.user_properties if name == COUNTED]
        if report.when != "call" or not report.passed or not counts:
            return
        told = json.loads(self.file.read_text("utf-8")) if self.file.exists() \
            else {"measured": {}, "claims": {}}
        test = report.fspath
        told["measured"][test] = records.of_test(self.root / test)
        for claim, number in counts:
            told["claims"][claim] = {
                "cases": number, "test": test, "torch": version("torch"),
                "python": platform.python_version(), "date": datetime.date.today().isoformat()}
        told["date"] = datetime.date.today().isoformat()  # of the latest, for the status page
        text = json.dumps(told, indent=1, sort_keys=True)
        paths.write_atomic(self.file, text + "\n")
