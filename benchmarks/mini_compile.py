"""mini_compile beside eager and Inductor: times of a few functions, and 2,000 random graphs.

    python -m benchmarks.mini_compile             measure and print, about six minutes
    python -m benchmarks.mini_compile --record    also store the result that the section shows

It needs a C++ compiler. Each time is the median of the rounds, in which the three take turns, so
that what else the machine does meets all of them. The chains have 4,194,304 elements (float32); the
rows are 4096 of 1024. A ratio is the other's time by mini_compile's: above 1, mini_compile is
faster. The random graphs are those of tests/code/mini_compile/test_mini_compile_agrees.py.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import sys
import time
from importlib.metadata import version
from statistics import median
from typing import Any

import torch
from torch.nn import functional as F

from benchmarks import report
from book.pipeline.ground.paths import CODE

sys.path.insert(0, str(CODE))
import mini_compile

SIZE, ROUNDS, GRAPHS, GRADIENTS = 1 << 22, 15, 2000, 400
COLUMNS = [
    {"key": "eager", "zh": "eager（毫秒）", "en": "eager (ms)"},
    {"key": "inductor", "zh": "Inductor（毫秒）", "en": "Inductor (ms)"},
    {"key": "mini", "zh": "mini_compile（毫秒）", "en": "mini_compile (ms)"},
    {"key": "against_eager", "zh": "eager 是它的几倍", "en": "eager by mini_compile"},
    {"key": "against_inductor", "zh": "Inductor 是它的几倍", "en": "Inductor by mini_compile"},
    {"key": "loops", "zh": "循环数", "en": "loops"},
]
COUNTS = [
    {"key": "graphs", "zh": "图", "en": "graphs"},
    {"key": "wrong", "zh": "结果不同", "en": "with another result"},
    {"key": "inside", "zh": "循环里的运算", "en": "operators in loops"},
    {"key": "alone", "zh": "单独的运算", "en": "operators alone"},
]


def arithmetic(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((x * 2 + y) * (x - y) * 0.5 + x * y - 1) / (y * y + 1)


def functions(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.tanh(F.gelu(x) + torch.exp(-y * y)) * torch.sigmoid(y)


def choices(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.where(x > y, x.clamp(-1, 1), y.abs() + 0.5) * 2


def squares(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((x - y) ** 2).sum()


def softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x * 0.5 + 1, -1)


def norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return F.gelu(F.layer_norm(x, (1024,), w, b))


def training_step() -> tuple[Any, tuple[torch.Tensor, ...]]:
    """Forward and backward of an MLP, and its gradients; 512 rows of 256."""
    w1 = torch.randn(256, 1024).mul(0.05).requires_grad_()
    w2 = torch.randn(1024, 10).mul(0.05).requires_grad_()

    def loss(x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(F.gelu(x @ w1) @ w2, target)
    return loss, (torch.randn(512, 256), torch.arange(512) % 10)


def cases() -> dict[str, tuple[str, str, Any, tuple[torch.Tensor, ...]]]:
    torch.manual_seed(0)
    x, y, rows = torch.randn(SIZE), torch.randn(SIZE), torch.randn(4096, 1024)
    return {
        "arithmetic": ("四则运算，11 步", "arithmetic, 11 operators", arithmetic, (x, y)),
        "functions": ("exp、tanh、gelu、sigmoid", "exp, tanh, gelu, sigmoid", functions, (x, y)),
        "choices": ("where、clamp、比较", "where, clamp, a comparison", choices, (x, y)),
        "small": ("exp、tanh、gelu，bfloat16", "exp, tanh, gelu in bfloat16", functions,
                  (x.bfloat16(), y.bfloat16())),
        "squares": ("平方差之和", "the sum of squared differences", squares, (x, y)),
        "softmax": ("按行 softmax", "softmax of rows", softmax, (rows,)),
        "norm": ("LayerNorm + GELU", "LayerNorm and GELU", norm,
                 (rows, torch.randn(1024), torch.randn(1024))),
        "training": ("MLP 训练一步（前向和反向）", "training step of an MLP", *training_step()),
    }


def once(run: Any, given: tuple[torch.Tensor, ...]) -> float:
    begin = time.perf_counter()
    result = run(*given)
    if result.requires_grad:
        result.backward()
    return (time.perf_counter() - begin) * 1e3


def row(key: str, threads: int, rounds: int) -> dict[str, Any]:
    zh, en, fn, given = cases()[key]
    torch.set_num_threads(threads)
    torch._dynamo.reset()
    mini_compile.stats.clear()
    runs = {"eager": fn, "inductor": torch.compile(fn),
            "mini": torch.compile(fn, backend=mini_compile.backend)}
    for _ in range(3):
        for run in runs.values():
            once(run, given)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(once(run, given))
    found = {name: median(values) for name, values in times.items()}
    return {"key": key, "zh": zh, "en": en, **{k: round(v, 2) for k, v in found.items()},
            "against_eager": round(found["eager"] / found["mini"], 2),
            "against_inductor": round(found["inductor"] / found["mini"], 2),
            "loops": mini_compile.stats.loops}


def agreement(graphs: int, gradients: int) -> list[dict[str, Any]]:
    """Random graphs beside eager: how many, how many differ, and where their operators are."""
    from oracles.compile_agree import Survey

    torch.set_num_threads(1)
    rows = []
    for zh, en, survey in (("前向", "forward", Survey(range(graphs))),
                           ("前向和反向", "forward and backward",
                            Survey(range(gradients), gradient=True))):
        inside = survey.operators.pop("in a loop")
        print(*survey.wrong, sep="\n")
        rows.append({"zh": zh, "en": en, "graphs": survey.count, "wrong": len(survey.wrong),
                     "inside": inside, "alone": survey.operators.total()})
    return rows


def result(rounds: int, graphs: int, gradients: int) -> dict[str, Any]:
    """What is stored: a table of times for one and for two threads, and the random graphs."""
    tables = {f"threads{n}": {"zh": f"{n} 个线程", "en": f"{n} thread{'s' * (n > 1)}",
                              "rows": [row(key, n, rounds) for key in cases()]} for n in (1, 2)}
    if graphs:
        tables["agreement"] = {"zh": "随机的图与 eager 比", "en": "Random graphs beside eager",
                               "columns": COUNTS, "rows": agreement(graphs, gradients)}
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": "1 and 2",
            "date": datetime.date.today().isoformat(), "columns": COLUMNS, "tables": tables}


def show(measured: dict[str, Any]) -> None:
    for table in measured["tables"].values():
        columns = table.get("columns", COLUMNS)
        print(table["en"] + ": " + "; ".join(column["en"] for column in columns))
        for one in table["rows"]:
            print(f"  {one['en']:32}" + "".join(f"{one[c['key']]:10}" for c in columns))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="mini_compile beside eager and Inductor")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--times-only", action="store_true", help="leave out the random graphs")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of each time")
    parser.add_argument("--graphs", type=int, default=GRAPHS, help="random ones, forward only")
    parser.add_argument("--gradients", type=int, default=GRADIENTS, help="those with backward")
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    measured = result(chosen.rounds, 0 if chosen.times_only else chosen.graphs, chosen.gradients)
    show(measured)
    if chosen.record:
        report.write("mini-compile", measured)
    counts = measured["tables"].get("agreement", {"rows": []})["rows"]
    return 1 if any(one["wrong"] for one in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
