"""At which stage a wrong result shows: the counts of chapter 5, "From symptom to tool".

    python -m benchmarks.compile_stages              count and print, about a minute
    python -m benchmarks.compile_stages --record     also store what the section shows

It needs a C++ compiler. `stages` plants the wrong `relu` that torch keeps for its own tests in
Inductor's C++ code and counts wrong elements by back end; `random` counts where dropout's result
differs from eager mode's; `bisector` counts how often `CompilerBisector` ran the check until it
named the operation; `minifier` counts the operations of a failing graph before and after.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import warnings
from typing import Any

import torch
from torch._inductor.compiler_bisector import CompilerBisector

from benchmarks.compile_differences import compiled, described, run
from book.pipeline.ground.paths import CODE

sys.path.insert(0, str(CODE))
import compile_apart

FAULT = {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}
STAGES = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")
COLUMNS = [{"key": "count", "zh": "个数", "en": "count"}]


def relu_chain(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x - 1) * 2


def drop(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.dropout(x, 0.5)


def counted(label: str, count: int) -> dict[str, Any]:
    return {"zh": label, "en": label, "count": count}


def faults() -> list[dict[str, Any]]:
    x = torch.linspace(-3, 3, 64)
    return [counted(name, int((compiled(relu_chain, FAULT, x, backend=name)
                               != relu_chain(x)).sum())) for name in STAGES]


def random() -> list[dict[str, Any]]:
    rows = []
    for name, options in (("aot_eager", {}), ("inductor", {}),
                          ("inductor", {"fallback_random": True})):
        torch.manual_seed(0)
        wanted = drop(torch.ones(1024))
        torch.manual_seed(0)
        got = compiled(drop, options, torch.ones(1024), backend=name)
        rows.append(counted(", ".join([name, *options]), int((got != wanted).sum())))
    return rows


def bisected() -> list[dict[str, Any]]:
    x, runs = torch.linspace(-3, 3, 64), []

    def holds() -> bool:
        runs.append(1)
        got = compiled(relu_chain, FAULT | {"force_disable_caches": True}, x)
        return torch.allclose(got, relu_chain(x))

    warnings.filterwarnings("ignore", "dynamo_pgo force disabled")  # as asked
    with contextlib.redirect_stdout(io.StringIO()):
        found = CompilerBisector.do_bisect(holds)
    return [counted(f"{found.backend}, {found.subsystem}, {found.debug_info}", len(runs))]


def minified() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        before, after = compile_apart.minify(compile_apart.INACCURATE, folder)
    return [{"zh": zh, "en": en, "count": sum("=" in line for line in lines[skip:])}
            for zh, en, lines, skip in (("原来的图", "the captured graph", before, 1),
                                        ("缩小之后", "made smaller", after, 0))]


def result() -> dict[str, Any]:
    """All tables as they are recorded; `inside.recorded` shows them."""
    return described(COLUMNS, {
        "stages": ("Inductor 里的 relu 有错：错了几个元素（共 64）",
                   "A wrong relu in Inductor: wrong elements of 64", faults),
        "random": ("dropout 与 eager 不同的元素（共 1024）",
                   "Dropout: elements of 1024 that differ from eager", random),
        "bisector": ("编译器二分：跑了几次", "Compiler bisector: runs", bisected),
        "minifier": ("缩小器：图里有几步运算", "Minifier: operations in the graph", minified),
    })


def main(arguments: list[str] | None = None) -> int:
    return run("compile-stages", result, arguments)


if __name__ == "__main__":
    sys.exit(main())
