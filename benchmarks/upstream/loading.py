"""Import a file of PyTorch's tests, which may be older or newer than the installed torch."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

HOOK = "install_guard_manager_testing_hook"


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
    in_package = (file.parent / "__init__.py").is_file()
    name = f"{file.parent.name}.{file.stem}" if in_package else file.stem
    without_hooks(name.rpartition(".")[0])
    while True:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            if not supplied(error):
                raise


def without_hooks(package: str) -> None:
    """Some tests have each set of torch's guards checked by a hook, which is another version's."""
    try:
        utils = importlib.import_module(f"{package}.utils" if package else "utils")
    except ImportError:
        return
    if hasattr(utils, HOOK):
        setattr(utils, HOOK, lambda hook: contextlib.nullcontext())


def supplied(error: ImportError) -> bool:
    """Whether the name that could not be imported is one of torch: now it's an Absent."""
    found = re.match(r"cannot import name '(\w+)' from '(torch[\w.]*)'", str(error))
    if found:
        setattr(sys.modules[found[2]], found[1], Absent(found[1]))
    return bool(found)


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
