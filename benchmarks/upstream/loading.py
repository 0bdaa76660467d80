"""Import a file of PyTorch's tests, which may be older or newer than the installed torch."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any


class Absent:
    """In the place of a name that this torch lacks: false, and as a decorator it skips."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __bool__(self) -> bool:
        return False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and callable(args[0]):
            return unittest.skip(f"this torch has no {self.name}")(args[0])
        return self


def load(file: Path) -> ModuleType:
    """The module; its folder and `test/` are on the path, as they are when PyTorch runs it."""
    for folder in (file.parent, file.parent.parent):
        sys.path.insert(0, str(folder))
    supply_absent_names(file)
    name = f"{file.parent.name}.{file.stem}" if (file.parent / "__init__.py").is_file() \
        else file.stem
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def supply_absent_names(file: Path) -> None:
    """What the file imports from torch and this torch has no more becomes an Absent, there."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torch")):
            continue
        try:
            module = importlib.import_module(node.module)
        except ImportError:
            continue
        for alias in node.names:
            if alias.name != "*" and not hasattr(module, alias.name) and not is_module(
                    f"{node.module}.{alias.name}"):
                setattr(module, alias.name, Absent(alias.name))


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


def tests(module: ModuleType) -> list[unittest.TestCase]:
    """Each test of a module in order of its name; those of other files are not run twice."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    made = "torch.testing._internal.common_device_type"  # of those that are made for each device
    found = {test.id(): test for test in flat(suite)
             if type(test).__module__ in (module.__name__, made)}
    return [found[name] for name in sorted(found)]


def flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from flat(one)
        else:
            yield one


def short(test: unittest.TestCase) -> str:
    """Class and method, as in `MiscTests.test_x`."""
    return ".".join(test.id().split(".")[-2:])
