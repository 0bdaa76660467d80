"""The companions lie flat: imports go one way, and the map of the folder names every file."""

import ast
import re
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from book.pipeline.ground.paths import CODE, ROOT

FILES = sorted(CODE.glob("*.py"))
MAP = (CODE / "README.md").read_text(encoding="utf-8")


def imported(source):
    """Names of the modules that the top of a program imports; under `__main__` it may be a tour."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.split(".")[0]


def order(sources):
    """The modules, each after those that it imports; CycleError where there is none."""
    return list(TopologicalSorter({name: set(imported(source)) & set(sources)
                                   for name, source in sources.items()}).static_order())


def test_no_companion_imports_itself_by_way_of_another():
    sources = {file.stem: file.read_text(encoding="utf-8") for file in FILES}
    found = order(sources)
    assert set(found) == set(sources)
    assert found.index("mini_tensor_layout") < found.index("mini_tensor")


def test_a_circle_is_found():
    with pytest.raises(CycleError):
        order({"a": "import os\nfrom b import f", "b": "import a"})


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_map_names_every_file_in_both_languages(file):
    chinese, english = MAP.split("## English")
    tour = file.stem.endswith("_tour")
    for half in (chinese, english):
        assert ("…_tour.py" if tour else f"`{file.name}`") in half


def test_the_map_names_no_file_or_section_that_is_not_there():
    names = set(re.findall(r"`(\w+\.py)`", MAP)) - {"NAME.py"}
    assert names <= {file.name for file in FILES}
    targets = set(re.findall(r"\]\(\.\./([^)]+)\)", MAP))
    assert targets
    assert all((ROOT / target).is_file() for target in targets)


def test_a_companion_needs_nothing_but_python_torch_and_numpy():
    known = {*sys.stdlib_module_names, "torch", "numpy", "inside", *(file.stem for file in FILES)}
    for file in FILES:
        assert set(imported(file.read_text(encoding="utf-8"))) <= known, file.name
