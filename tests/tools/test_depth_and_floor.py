"""The suite's own helpers: how deep random tests go, what is recorded of them, and which tests may
open the book."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from book.pipeline.ground.paths import CHAPTERS, FRONT_PAGE, ROOT
from tests.helpers import depth, floor

# ---- depth -------------------------------------------------------------------------------------

@pytest.mark.parametrize(("given", "expected"), [
    ({}, 1), ({"DEPTH": ""}, 1), ({"DEPTH": "20"}, 20)])
def test_the_depth_is_a_whole_number_from_1(given, expected):
    assert depth.depth(given) == expected


@pytest.mark.parametrize("given", ["0", "-1", "1.5", "deep"])
def test_another_depth_is_refused_with_what_to_do(given):
    with pytest.raises(ValueError, match=f"DEPTH={given} is no whole number from 1; leave it out"):
        depth.depth({"DEPTH": given})


def test_cases_grow_with_the_depth(monkeypatch):
    for deep in (1, 20):
        monkeypatch.setenv("DEPTH", str(deep))
        assert depth.cases(50) == 50 * deep


COUNTING = """
import pytest
def test_first(counted):
    counted("chains", 7)
@pytest.mark.parametrize("kind", ["a", "b"])
def test_second(counted, kind):
    counted(f"graphs of {kind}", 5)
def test_failing(counted):
    counted("what fails", 9)
    assert False
"""


def recorded(folder, environment, *options):
    """What a run of a few counting tests writes down."""
    (folder / "test_counting.py").write_text(COUNTING)
    (folder / "conftest.py").write_text(
        "import pathlib\nfrom tests.helpers import depth\nimport tests.conftest as shared\n"
        f"shared.RESULTS = pathlib.Path({str(folder)!r})\n"
        "from tests.conftest import counted, pytest_configure\n")
    subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options,
                    "--rootdir", folder, "-c", os.devnull, folder / "test_counting.py"],
                   cwd=folder, capture_output=True, check=False,
                   env={**os.environ, "PYTHONPATH": str(ROOT), "RECORD": "", **environment})
    file = folder / "random-cases.json"
    return json.loads(file.read_text()) if file.exists() else None


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_a_full_run_records_what_its_passed_tests_counted(tmp_path, options):
    (tmp_path / "random-cases.json").write_text(
        '{"claims": {"an older claim": {"cases": 3}}, "measured": {}}')
    found = recorded(tmp_path, {"DEPTH": "20", "RECORD": "1"}, *options)
    assert {claim: row["cases"] for claim, row in found["claims"].items()} == {
        "an older claim": 3, "chains": 7, "graphs of a": 5, "graphs of b": 5}
    assert set(found["claims"]["chains"]) == {"cases", "test", "torch", "python", "date"}
    assert list(found["measured"]) == [found["claims"]["chains"]["test"]]


@pytest.mark.parametrize("environment", [{"DEPTH": "20"}, {"DEPTH": "19", "RECORD": "1"}])
def test_other_runs_record_nothing(tmp_path, environment):
    assert recorded(tmp_path, environment) is None


# ---- which tests may open the book ---------------------------------------------------------------

@pytest.mark.parametrize(("path", "closed"), [
    (CHAPTERS / "01-a/section.md", True), (CHAPTERS / "01-a/cards/section.yaml", True),
    (str(CHAPTERS / "01-a/section.ipynb"), True), (bytes(CHAPTERS / "01-a/cards.json"), True),
    (CHAPTERS / "02-b/../01-a/section.md", True), (FRONT_PAGE, True),
    (FRONT_PAGE.with_suffix(".ipynb"), True), (FRONT_PAGE.with_name("drill.md"), False),
    (CHAPTERS / "01-a/exercises.yaml", False), (CHAPTERS / "01-a/check_scalar.py", False),
    (CHAPTERS / "01-a", False), (Path("/tmp/chapters/01-a/section.md"), False), (3, False)])
def test_the_book_is_its_pages_and_cards_and_not_the_exercises_of_companions(path, closed):
    assert floor.is_of_the_book(path) == closed


PAGE = next(CHAPTERS.glob("*/index.md"))


@pytest.mark.parametrize("opening", [
    PAGE.read_bytes, lambda: os.open(PAGE, os.O_RDONLY),
    lambda: subprocess.run(["cat", PAGE], capture_output=True)])
def test_a_test_of_tools_that_opens_a_page_fails(opening):
    with pytest.raises(floor.BookWasRead, match=r"index\.md: .*stands in tests/content"):
        opening()


def test_only_tests_of_tools_and_companions_are_kept_from_the_book(tmp_path):
    guard = floor.Guard()

    class Node:
        path = ROOT / "tests/content/test_cards.py"

    with guard.closed_for(Node):
        assert not guard.closed
    Node.path = ROOT / "tests/code/test_some.py"
    with guard.closed_for(Node):
        assert guard.closed
    assert not guard.closed
