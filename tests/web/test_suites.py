"""The logic of the drill and of the search holds in Node, in the suites beside this file."""

import pytest

from book.pipeline.ground.paths import ROOT
from oracles.web.javascript import run_node

pytestmark = pytest.mark.programs("book/web/**/*", "tests/web/**/*", "package-lock.json")

SUITES = sorted((ROOT / "tests" / "web").glob("*/*.test.mjs"))


@pytest.mark.parametrize("suite", SUITES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_the_logic_holds_in_node(suite):
    done = run_node("--test", "--test-reporter=tap", str(suite))
    counts = dict(line[2:].split() for line in done.stdout.splitlines()
                  if line.startswith(("# tests ", "# pass ", "# skipped ", "# todo ")))
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr
    assert int(counts["tests"]) > 5
    assert counts["pass"] == counts["tests"]
    assert counts["skipped"] == counts["todo"] == "0"


def test_all_suites_are_run():
    names = {suite.name.partition(".")[0] for suite in SUITES}
    assert names >= {"events", "marks", "record", "days", "grades", "schedule", "queue", "session"}
    assert {suite.parent.name for suite in SUITES} == {"drill", "search"}
