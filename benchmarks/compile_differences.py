"""Where Inductor differs from eager mode: the table of chapter 5, "From symptom to tool".

    python -m benchmarks.compile_differences              measure and print, about a minute
    python -m benchmarks.compile_differences --record     also store what the section shows

It needs a C++ compiler. `rounding` compares eager mode and Inductor with the same function in
float64. `stages` plants the wrong `relu` that torch keeps for its own tests in Inductor's C++ code
and counts wrong elements by back end; `random` counts where dropout's result differs from eager
mode's; `bisector` counts how often `CompilerBisector` ran the check until it named the operation;
`minifier` counts the operations of a failing graph before and after.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import torch
from torch._dynamo.utils import rmse, same
from torch._inductor import config
from torch._inductor.compiler_bisector import CompilerBisector

from benchmarks import report
from book.pipeline.paths import CODE

sys.path.insert(0, str(CODE))
import compile_apart

FAULT = {"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"}
STAGES = ("eager", "aot_eager", "aot_eager_decomp_partition", "inductor")
COLUMNS = [
    {"key": "eager", "zh": "eager 的误差", "en": "error of eager"},
    {"key": "compiled", "zh": "编译后的误差", "en": "error when compiled"},
    {"key": "ratio", "zh": "后者与前者之比", "en": "ratio"},
    {"key": "same", "zh": "same 判为相同", "en": "same accepts"},
]
COUNTED = [{"key": "count", "zh": "个数", "en": "count"}]


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


def relu_chain(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x - 1) * 2


def drop(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.dropout(x, 0.5)


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
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    tables = {
        "rounding": ("与 float64 相比", "Against float64", rounding()),
        "stages": ("Inductor 里的 relu 有错：错了几个元素（共 64）",
                   "A wrong relu in Inductor: wrong elements of 64", faults()),
        "random": ("dropout 与 eager 不同的元素（共 1024）",
                   "Dropout: elements of 1024 that differ from eager", random()),
        "bisector": ("编译器二分：跑了几次", "Compiler bisector: runs", bisected()),
        "minifier": ("缩小器：图里有几步运算", "Minifier: operations in the graph", minified()),
    }
    return {"machine": report.machine(), "torch": version("torch"), "threads": 1,
            "load": round(load, 1), "date": datetime.date.today().isoformat(),
            "columns": [*COLUMNS, *COUNTED],
            "tables": {key: {"zh": zh, "en": en, "rows": rows}
                       for key, (zh, en, rows) in tables.items()}}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="where Inductor differs from eager mode")
    parser.add_argument("--record", action="store_true", help="store the result")
    chosen = parser.parse_args(arguments)
    measured = result()
    for table in measured["tables"].values():
        print(table["en"])
        for row in table["rows"]:
            print("  ", row["en"], {k: v for k, v in row.items() if k not in ("zh", "en")})
    if chosen.record:
        report.write("compile-differences", measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
