"""What a graph break costs: the tables of chapter 5, "Graph breaks".

    python -m benchmarks.graph_breaks              measure and print, about a minute
    python -m benchmarks.graph_breaks --record     also store the result that the section shows

One thread. `calls` has tensors of four elements and the back end "eager", which runs the captured
operations as they are, so that what differs from the first row is Dynamo's own work in a call.
`chain` compiles a chain of operations on a million elements with Inductor, which needs a C++
compiler. Every case runs once per round; the figure is the median of the rounds.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import Any

import torch

from benchmarks import report

ROUNDS = 40
OPERATIONS = 16
MILLION = 2**20
BREAKS = (0, 1, 3, 7, 15)
COLUMNS = [
    {"key": "graphs", "zh": "图的张数", "en": "graphs"},
    {"key": "us", "zh": "微秒/次", "en": "µs a call"},
    {"key": "ratio", "zh": "与首行之比", "en": "ratio to first row"},
]
TABLES = {"calls": ("4 个元素，16 个算子，后端 eager", "4 elements, 16 operations, back end eager"),
          "chain": ("一百万个元素，16 个算子，Inductor",
                    "a million elements, 16 operations, Inductor")}


def chain(breaks: int, loop: bool = False) -> Callable[[Any], Any]:
    """A function of 16 operations with evenly spread breaks, or with one inside a loop."""
    every = OPERATIONS // (breaks + 1)
    lines = ["def fn(x):"]
    if loop:
        lines += [f"    for i in range({OPERATIONS}):", "        x = x * 0.5 + i",
                  "        if i == 7: stop()"]
    else:
        for n in range(OPERATIONS):
            if n and n % every == 0:
                lines.append("    stop()")
            lines.append(f"    x = x * 0.5 + {n}")
    found: dict[str, Any] = {}
    exec("\n".join([*lines, "    return x"]), {"stop": torch._dynamo.graph_break}, found)
    return found["fn"]


def cases() -> dict[tuple[str, str], dict[str, Any]]:
    """(table, case) -> labels, function, tensor, back end (None for eager)."""
    small, large = torch.ones(4), torch.ones(MILLION)
    found = {("calls", "plain"): case("不编译", "not compiled", chain(0), small, None)}
    for n in BREAKS:
        found["calls", str(n)] = case(f"断 {n} 次", f"{n} break{'s' * (n != 1)}", chain(n), small,
                                      "eager")
    found |= {
        ("chain", "plain"): case("不编译", "not compiled", chain(0), large, None),
        ("chain", "0"): case("不断", "no break", chain(0), large, "inductor"),
        ("chain", "1"): case("中间断一次", "one break in the middle", chain(1), large, "inductor"),
        ("chain", "loop"): case("断在 for 里", "a break in a for loop", chain(0, loop=True), large,
                                "inductor")}
    return found


def case(zh: str, en: str, fn: Callable, x: torch.Tensor, backend: str | None) -> dict[str, Any]:
    return {"zh": zh, "en": en, "fn": fn, "x": x, "backend": backend}


def prepared(one: dict[str, Any]) -> tuple[Callable[[], Any], int]:
    """The call to time, compiled and warm, and the number of its graphs."""
    graphs: list[Any] = []
    if one["backend"] is None:
        return lambda: one["fn"](one["x"]), 0
    compiler = torch._dynamo.lookup_backend(one["backend"])

    def record(module: torch.fx.GraphModule, inputs: list) -> Callable:
        graphs.append(module)
        return compiler(module, inputs)

    compiled = torch.compile(one["fn"], backend=record)
    expected = one["fn"](one["x"])
    for _ in range(3):
        torch.testing.assert_close(compiled(one["x"]), expected)
    return lambda: compiled(one["x"]), len(graphs)


def measure(rounds: int) -> dict[str, list[dict[str, Any]]]:
    """{table: rows}, times in microseconds."""
    found = cases()
    ready = {key: prepared(one) for key, one in found.items()}
    seconds: dict[tuple[str, str], list[float]] = {key: [] for key in found}
    for _ in range(rounds):
        for key, (run, _graphs) in ready.items():
            times = 200 if key[0] == "calls" else 3
            begin = time.perf_counter()
            for _ in range(times):
                run()
            seconds[key].append((time.perf_counter() - begin) / times)
    tables: dict[str, list[dict[str, Any]]] = {}
    for (table, name), one in found.items():
        rows = tables.setdefault(table, [])
        us = 1e6 * median(seconds[table, name])
        rows.append({"key": name, "zh": one["zh"], "en": one["en"],
                     "graphs": ready[table, name][1], "us": float(f"{us:.4g}"),
                     "ratio": float(f"{us / (rows[0]['us'] if rows else us):.3g}")})
    return tables


def result(rounds: int) -> dict[str, Any]:
    """All tables as they are recorded; `inside.recorded` shows them."""
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    with torch.no_grad():
        tables = measure(rounds)
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": 1, "load": round(load, 1),
            "date": datetime.date.today().isoformat(), "columns": COLUMNS,
            "tables": {key: {"zh": TABLES[key][0], "en": TABLES[key][1], "rows": rows}
                       for key, rows in tables.items()}}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="what a graph break costs")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    measured = result(chosen.rounds)
    for table in measured["tables"].values():
        print(table["en"])
        for row in table["rows"]:
            print(f"  {row['en']:28}{row['graphs']:4} graphs{row['us']:12.5g} µs"
                  f"{row['ratio']:8.3g}")
    if chosen.record:
        report.write("graph-breaks", measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
