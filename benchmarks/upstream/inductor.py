"""The cases of PyTorch's test_torchinductor.py: what its tests hand to `self.common`.

There `common` compares Inductor with eager. Here it compares mini_compile with eager, and takes
the gradients as well; what a test asks beside that is about Inductor's code and is not run.
"""

from __future__ import annotations

import unittest
from types import ModuleType
from typing import Any

import torch

from benchmarks.upstream import cases, isolated

SECONDS = 180.0
Told = list[tuple[str, cases.Verdict]]  # forward or gradient


def tests_of(module: ModuleType, found: list[unittest.TestCase]) -> list[unittest.TestCase]:
    """Those that compare a function with eager on the CPU."""
    common = getattr(module, "check_model", None)
    return [test for test in found if common and getattr(type(test), "common", None) is common]


def run(test: unittest.TestCase, seconds: float = SECONDS) -> Told | str:
    """(forward or gradient, verdict) for each case of a test; or why there is none."""
    ended = isolated.run(lambda: told(test), seconds)
    if ended.how != "returned":
        return [("forward", cases.Verdict(cases.DIFFERENT, f"{ended.how}: {ended.value}"))]
    return ended.value


def told(test: unittest.TestCase) -> Told | str:
    found: Told = []

    def common(model: Any, example_inputs: Any = (), kwargs: Any = None, *, atol: Any = None,
               rtol: Any = None, **options: Any) -> None:
        near = (rtol or 0.0, atol or 0.0) if rtol or atol else None
        given, named = tuple(example_inputs), kwargs or {}
        found.append(("forward", cases.compare(model, given, named, gradient=False, near=near)))
        given = tuple(differentiable(one) for one in given)
        found.append(("gradient", cases.compare(model, given, named, gradient=True, near=near)))

    test.common = common
    result = unittest.TestResult()
    unittest.TestSuite([test]).run(result)
    if found:
        return found
    errors = [text.strip().splitlines()[-1] for _, text in result.errors + result.failures]
    told = [f"skipped: {why}" for _, why in result.skipped] + errors
    return told[0] if told else "it compares nothing through `common`"


def differentiable(value: Any) -> Any:
    """A leaf that requires a gradient, where its dtype has one."""
    if not isinstance(value, torch.Tensor) or not (value.is_floating_point() or value.is_complex()):
        return value
    return cases.again(value.detach()).requires_grad_()
