"""What saving or recomputing costs under Inductor: the table of chapter 5, "Save or recompute".

    python -m benchmarks.recompute              measure and print, half a minute
    python -m benchmarks.recompute --record     also store what the section shows

It needs a C++ compiler. A chain of pointwise operations on 4 million float32 runs forward and
backward on one thread: in eager mode, and compiled by Inductor with each of the two partition
functions. The three ways take turns; a time is the median of 15.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch._functorch.partitioners import default_partition
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomPartitionerFn

from benchmarks.compile_differences import described, run
from book.pipeline.ground.paths import CODE

sys.path.insert(0, str(CODE))

from inside.observe.saved import saved_bytes

N, RUNS, WARM_UP = 4_000_000, 15, 3
COLUMNS = [
    {"key": "saved", "zh": "为反向保存（MB）", "en": "saved for backward (MB)"},
    {"key": "forward", "zh": "前向（毫秒）", "en": "forward (ms)"},
    {"key": "backward", "zh": "反向（毫秒）", "en": "backward (ms)"},
]


LABELS = [("eager", "eager"), ("Inductor，default_partition", "Inductor, default_partition"),
          ("Inductor，最小割", "Inductor, min cut")]


class Default(CustomPartitionerFn):
    """Makes Inductor cut its joint graphs with `default_partition`."""

    def __call__(self, module: Any, inputs: Any, **options: Any) -> tuple:
        options.pop("compiler", None)
        return default_partition(module, inputs, **options)

    def uuid(self) -> str:
        return "default_partition"


def products(h: torch.Tensor) -> torch.Tensor:
    for _ in range(4):
        h = h * (h + 1) * 0.5
    return h


def gelu(h: torch.Tensor) -> torch.Tensor:
    return 0.5 * h * (1 + torch.tanh(0.8 * (h + 0.045 * h**3)))


def timed(fn: Callable, x: torch.Tensor, gradient: torch.Tensor) -> tuple[float, float]:
    """Milliseconds of one forward and one backward pass."""
    start = time.perf_counter()
    out = fn(x)
    middle = time.perf_counter()
    torch.autograd.grad(out, x, gradient)
    return (middle - start) * 1e3, (time.perf_counter() - middle) * 1e3


def compiled(fn: Callable, partition: CustomPartitionerFn | None, x: torch.Tensor) -> Callable:
    """`fn` compiled by Inductor, already called once with `x`."""
    with config.patch(custom_partitioner_fn=partition):
        made = torch.compile(fn)
        made(x)
    return made


def rows(fn: Callable) -> list[dict[str, Any]]:
    """The ways take turns, so that what else runs on the machine disturbs all of them."""
    draw = torch.Generator().manual_seed(0)
    x = torch.rand(N, generator=draw).requires_grad_()
    gradient = torch.rand(N, generator=draw)
    torch._dynamo.reset()
    # a function of its own for each, since a compiled code object is kept in one cache
    ways = [fn, compiled(fn, Default(), x), compiled(lambda h: fn(h), None, x)]
    held, times = [], [[] for _ in ways]
    for way in ways:
        with saved_bytes(apart_from=[x]) as saved:
            out = way(x)
            held.append(saved.held)
        del out
    for turn in range(WARM_UP + RUNS):
        for way, found in zip(ways, times, strict=True):
            found += [timed(way, x, gradient)] if turn >= WARM_UP else []
    return [{"zh": zh, "en": en, "saved": round(nbytes / 1e6),
             **{key: float(f"{median(each):.2g}")
                for key, each in zip(("forward", "backward"), zip(*found, strict=True),
                                     strict=True)}}
            for (zh, en), nbytes, found in zip(LABELS, held, times, strict=True)]


def result() -> dict[str, Any]:
    """What is recorded; `inside.recorded` shows it."""
    return described(COLUMNS, {
        "products": ("四遍 h * (h + 1) * 0.5", "h * (h + 1) * 0.5, four times",
                     lambda: rows(products)),
        "gelu": ("手写的 GELU，里面有 tanh", "GELU by hand, with tanh", lambda: rows(gelu)),
    })


def main(arguments: list[str] | None = None) -> int:
    return run("recompute", result, arguments)


if __name__ == "__main__":
    sys.exit(main())
