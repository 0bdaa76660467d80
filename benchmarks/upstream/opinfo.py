"""The samples of PyTorch's OpInfo, its list of operators with arguments to try, on mini_compile.

They are in the installed torch: torch.testing._internal.common_methods_invocations. Of each
operator the first samples in float32 are tried, forward and backward, or forward alone where it has
no gradient, and one each in bfloat16 and int64, forward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import torch

from benchmarks.upstream import cases, isolated

SECONDS = 180.0
SAMPLES = 2
Told = list[tuple[str, cases.Verdict]]


def operators() -> list[Any]:
    from torch.testing._internal.common_methods_invocations import op_db
    return sorted(op_db, key=name_of)


def name_of(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name


def run(op: Any, seconds: float = SECONDS) -> Told | str:
    """(forward or gradient, verdict) for each sample of an operator; or why there is none."""
    ended = isolated.run(lambda: told(op), seconds)
    if ended.how == "returned":
        return ended.value or "it has no samples in these dtypes"
    if ended.how == "raised":
        return f"its samples cannot be made: {ended.value}"
    return [("forward", cases.Verdict(cases.DIFFERENT, f"{ended.how}: {ended.value}"))]


def told(op: Any) -> Told:
    found: Told = []
    for dtype, count in ((torch.float32, SAMPLES), (torch.bfloat16, 1), (torch.int64, 1)):
        if dtype not in op.supported_dtypes("cpu"):
            continue
        slopes = op.supports_autograd and dtype is torch.float32
        for sample in samples(op, dtype, count, slopes):
            verdict = case(op, sample, slopes)
            if slopes and verdict.outcome == cases.REFUSED:  # this sample has no gradient
                verdict, kind = case(op, sample, False), "forward"
            else:
                kind = "gradient" if slopes else "forward"
            found.append((kind, verdict))
    return found


def samples(op: Any, dtype: torch.dtype, count: int, requires_grad: bool) -> Iterator[Any]:
    torch.manual_seed(0)
    return islice(op.sample_inputs("cpu", dtype, requires_grad=requires_grad), count)


def case(op: Any, sample: Any, gradient: bool) -> cases.Verdict:
    return cases.compare(called(op.get_op()), (sample.input, *sample.args), sample.kwargs,
                         gradient=gradient)


def called(operator: Callable) -> Callable:
    """A Python function around an operator of C++, which can be compiled."""
    def function(*args: Any, **kwargs: Any) -> Any:
        return operator(*args, **kwargs)
    return function
