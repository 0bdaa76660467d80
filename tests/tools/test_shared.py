"""Tests and benchmarks share oracles/, which knows neither; no benchmark knows a test."""

import ast

import pytest

from book.pipeline.ground.paths import ROOT

CLOSED = {"oracles": {"tests", "benchmarks"}, "benchmarks": {"tests"},
          "book": {"tests", "benchmarks"}, "code": {"tests", "benchmarks", "oracles", "book"}}


def imported(source):
    """The first part of every name that a program imports, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def trespasses(file, source):
    return {*imported(source)} & CLOSED[file.partition("/")[0]]


@pytest.mark.parametrize("folder", CLOSED)
def test_a_folder_imports_only_what_lies_below_it(folder):
    files = sorted((ROOT / folder).rglob("*.py"))
    wrong = {file.name: found for file in files
             if (found := trespasses(f"{folder}/", file.read_text(encoding="utf-8")))}
    assert files
    assert wrong == {}


@pytest.mark.parametrize(("file", "source", "found"), [
    ("benchmarks/new.py", "def f():\n    from tests.helpers import depth", {"tests"}),
    ("oracles/new.py", "import benchmarks.report", {"benchmarks"}),
    ("oracles/web/new.py", "from tests.helpers.site import pages", {"tests"}),
    ("book/pipeline/new.py", "from benchmarks import report", {"benchmarks"}),
    ("benchmarks/new.py", "from oracles import leftovers", set())])
def test_a_planted_import_is_found(file, source, found):
    assert trespasses(file, source) == found
