"""Where Inductor differs from eager mode: the table of chapter 5, "From symptom to tool".

    python -m benchmarks.compile_differences              measure and print, some seconds
    python -m benchmarks.compile_differences --record     also store what the section shows

It needs a C++ compiler. Eager mode and Inductor are compared with the same function in float64.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch._dynamo.utils import rmse, same
from torch._inductor import config

from benchmarks.report import described, run

COLUMNS = [
    {"key": "eager", "zh": "eager 的误差", "en": "error of eager"},
    {"key": "compiled", "zh": "编译后的误差", "en": "error when compiled"},
    {"key": "ratio", "zh": "后者与前者之比", "en": "ratio"},
    {"key": "same", "zh": "same 判为相同", "en": "same accepts"},
]


def compiled(fn: Callable, options: dict[str, Any], *args: torch.Tensor,
             backend: str = "inductor") -> torch.Tensor:
    """What `fn` gives when it is compiled anew, with these options of Inductor."""
    torch._dynamo.reset()
    with config.patch(options):
        return torch.compile(fn, backend=backend)(*args)


def chain(x: torch.Tensor) -> torch.Tensor:
    y = x * 1.01 + 0.3
    return (y * 0.97 - 0.2) * 1.03


def spread(x: torch.Tensor) -> torch.Tensor:
    return x.var(-1)


def errors(label: tuple[str, str], fn: Callable, x: torch.Tensor,
           options: dict[str, Any]) -> dict[str, Any]:
    """A row: the root mean square errors against float64, and the verdict of `same`."""
    true, eager, got = fn(x.double()), fn(x), compiled(fn, options, x)
    accepted = same(eager, got, true, log_error=lambda *args: None)
    mine, theirs = rmse(true, got).item(), rmse(true, eager).item()
    return {"zh": label[0], "en": label[1], "eager": float(f"{theirs:.2g}"),
            "compiled": float(f"{mine:.2g}"), "ratio": float(f"{mine / theirs:.2g}"),
            "same": int(accepted)}


def rounding() -> list[dict[str, Any]]:
    draw = torch.Generator().manual_seed(0)
    x = torch.rand(4096, generator=draw).bfloat16()
    far = torch.rand(512, 4096, generator=draw) + 1000
    return [
        errors(("bf16，五步算术", "bf16, five steps"), chain, x, {}),
        errors(("同上，emulate_precision_casts", "the same, emulate_precision_casts"), chain, x,
               {"emulate_precision_casts": True}),
        errors(("float32，1000 附近的方差", "float32, variance around 1000"), spread, far, {}),
    ]


def result() -> dict[str, Any]:
    """What is recorded; `inside.recorded` shows it."""
    return described(COLUMNS, {"rounding": ("与 float64 相比", "Against float64", rounding)})


def main(arguments: list[str] | None = None) -> int:
    return run("compile-differences", result, arguments)


if __name__ == "__main__":
    sys.exit(main())
