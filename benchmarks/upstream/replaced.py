"""One of PyTorch's tests as it is, and with a companion where it would meet torch: its own
assertions say whether the companion does what is asked."""

from __future__ import annotations

import sys
import unittest
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from torch.testing._internal import common_nn

from benchmarks.upstream import adapters, dynamo, isolated, loading
from benchmarks.upstream.dynamo import DIFFERENT, SAME, SECONDS, SKIPPED, TORCH_FAILS, Row

COMPANIONS = {"module": adapters.Modules, "layers": adapters.Layers, "index": adapters.Indexing}
NOT_MET, LEFT_OUT = "not met", "left out"
MADE_OF = {"module_tests": common_nn.module_tests, "criterion_tests": common_nn.criterion_tests,
           "new_module_tests": common_nn.get_new_module_tests()}  # in 2.6 it was a list, too


class Ran(NamedTuple):
    """What became of a test with the companion."""

    error: str
    skipped: str
    calls: int
    missing: str


def runs(part: str, file: Path,
         seconds: float = SECONDS) -> Iterator[tuple[str, Callable[[], Row]]]:
    """The name of each test of a file, and what runs it."""
    plain = load(file)
    mine = with_companion(plain, file) if part == "module" else plain
    own = {loading.short(test): test for test in loading.tests(mine)}
    for test in loading.tests(plain):
        if part == "module" and hasattr(test, "device_type"):
            continue  # those for each device are of functions: they meet no module, and take long
        if (name := loading.short(test)) in own:
            yield name, partial(row, name, test, plain, own[name], mine, part, seconds)


def with_companion(plain: ModuleType, file: Path) -> ModuleType:
    """The same file imported again: its own classes are subclasses of mini_module's Module."""
    del sys.modules[plain.__name__]
    with adapters.Modules(file, running=False):
        return load(file)


def load(file: Path) -> ModuleType:
    """A file of tests. Lists of which it makes some, and which it changes, are new ones for it."""
    for name, tests in MADE_OF.items():
        setattr(common_nn, name, [dict(one) for one in tests])
    module = loading.load(file)
    vars(module).pop("load_tests", None)  # it refuses a file that another program imports
    return module


def row(name: str, test: unittest.TestCase, plain: ModuleType, own: unittest.TestCase,
        mine: ModuleType, part: str, seconds: float) -> Row:
    """What became of a test. One that fails under torch, or asks for more than the companion has,
    says nothing about it."""
    ended = isolated.run(lambda: run(own, mine, part), seconds)
    ran = ended.value if ended.how == "returned" else Ran(f"{ended.how}: {ended.value}", "", 0, "")
    if ran.skipped:
        return Row(name, SKIPPED, ran.skipped)
    if ended.how == "returned" and not ran.calls:
        return Row(name, NOT_MET)
    if ran.missing:
        return Row(name, LEFT_OUT, ran.missing, calls=ran.calls)
    if why := dynamo.fails(isolated.run(lambda: dynamo.by_torch(test, plain), seconds)):
        return Row(name, TORCH_FAILS, why, calls=ran.calls)
    return Row(name, DIFFERENT if ran.error else SAME, ran.error, calls=ran.calls)


def run(test: unittest.TestCase, module: ModuleType, part: str) -> Ran:
    """A test in this process, with a companion in the place of what it tests."""
    if part != "module":  # whose messages are torch's; of the others the types are
        raises = test.assertRaises
        test.assertRaisesRegex = lambda kind, words, *args, **named: raises(kind, *args, **named)
    with COMPANIONS[part](Path(module.__file__)) as place:
        result = dynamo.run(test, module)
    error, line = result.caught or ("", 0)
    if error:
        place.explain(error)
    return Ran(f"line {line}: {error}" if error else "",
               result.skipped[0][1] if result.skipped else "", place.calls, place.missing)
