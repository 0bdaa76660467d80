"""How long each stage of the compiler takes for the examples of the pipeline explorer (chapter 5).

    python -m benchmarks.pipeline_times             measure and print, about three minutes
    python -m benchmarks.pipeline_times --record    also store what the explorer shows

It needs a C++ compiler. One thread; each example runs in a process of its own with empty caches.
Its calls are made once and split by torch's own clocks, and then made again, compiled and eager.
Where a result needs a gradient, its backward is in all figures. The C++ compiler's time includes
its trials of the machine's vector instructions and its precompiled header.
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

from benchmarks import capture_costs, report
from book.pipeline.ground.paths import CODE

sys.path.insert(0, str(CODE))
from inside.widgets.pipeline_words import FUNCTIONS

ROUNDS, CALLS = 3, 300
COLUMNS = [
    {"key": "dynamo", "zh": "Dynamo（毫秒）", "en": "Dynamo (ms)"},
    {"key": "aot", "zh": "AOTAutograd（毫秒）", "en": "AOTAutograd (ms)"},
    {"key": "inductor", "zh": "Inductor（毫秒）", "en": "Inductor (ms)"},
    {"key": "cpp", "zh": "C++ 编译器（毫秒）", "en": "C++ compiler (ms)"},
    {"key": "later", "zh": "以后每次（微秒）", "en": "each later time (µs)"},
    {"key": "eager", "zh": "不编译（微秒）", "en": "not compiled (µs)"},
]


def example(name: str, wrap: Callable) -> Callable[[], None]:
    """All calls of an example, its `step` wrapped, with backward where a gradient is needed."""
    from inside.compile.observe.pipeline_stages import FUNCTION, define

    names = define(FUNCTIONS[name].source) | {"print": lambda *words: None}
    names[FUNCTION] = wrap(names[FUNCTION])
    calls = [compile(call, "<call>", "eval") for call in FUNCTIONS[name].calls]

    def run() -> None:
        for call in calls:
            result = eval(call, names)
            if result.requires_grad:
                result.backward()

    return run


def microseconds(run: Callable[[], None]) -> float:
    """The median of a run's times."""
    taken = []
    for _ in range(CALLS):
        begin = time.perf_counter()
        run()
        taken.append(time.perf_counter() - begin)
    return median(taken) * 1e6


def times(name: str) -> dict[str, float]:
    """Milliseconds of each stage, microseconds with and without the compiler, in this process."""
    import torch
    from torch._dynamo.utils import compilation_time_metrics as clocks

    torch.set_num_threads(1)
    run = example(name, torch.compile)
    run()
    dynamo, aot, lowering, cpp, backward = (1e3 * sum(clocks.get(clock, [])) for clock in (
        "_compile.compile_inner", "create_aot_dispatcher_function", "compile_fx_inner",
        "compile_file", "backward._backward_impl"))
    # each clock runs on in the stages below; backward is compiled when it first runs
    return {"dynamo": dynamo - aot, "aot": aot + backward - lowering, "inductor": lowering - cpp,
            "cpp": cpp, "later": microseconds(run), "eager": microseconds(example(name, same))}


def same(function: Callable) -> Callable:
    return function


def row(name: str, rounds: int) -> dict[str, Any]:
    found = [capture_costs.measure("times", name, "pipeline_times") for _ in range(rounds)]
    zh, en = FUNCTIONS[name].name
    medians = {key: round(median(one[key] for one in found), 1) for key in found[0]}
    print(name, medians, flush=True)
    return {"key": name, "zh": zh, "en": en} | medians


def result(rounds: int) -> dict[str, Any]:
    """What is recorded; `inside.widgets.pipeline_explorer` shows it."""
    load = round(os.getloadavg()[0], 2)
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": 1, "load": load,
            "date": datetime.date.today().isoformat(), "columns": COLUMNS,
            "tables": {"times": {"zh": "例子", "en": "example",
                                 "rows": [row(name, rounds) for name in FUNCTIONS]}}}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="how long each stage of the compiler takes")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    measured = result(chosen.rounds)
    if chosen.record:
        report.write("pipeline-times", measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
