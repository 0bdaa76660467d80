"""How long `load_inline` takes, and why: the tables of chapter 1, "A kernel in C++".

    python -m benchmarks.load_inline              measure and print, two or three minutes
    python -m benchmarks.load_inline --record     also store what the section shows

It needs a C++ compiler and ninja. Each start is a process of its own in the same folder of
extensions, one after the other; what is timed is the call of `load_inline`, without the import of
torch. Lines are those that the compiler reads after `#include` has been followed. The recurrence
has 64 rows of 1024 steps in float32; a time of it is the median of 15, on one thread.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch

from benchmarks.report import described, run
from book.pipeline.ground.paths import CODE

sys.path.insert(0, str(CODE))

import kernel_in_cpp

RUNS, SHAPE = 15, (64, 1024)
COLUMNS = [{"key": "seconds", "zh": "用时（秒）", "en": "time (s)"},
           {"key": "lines", "zh": "编译器读的行数", "en": "lines that the compiler reads"}]
IMPLICIT = "#include <torch/extension.h>\n"  # what load_inline puts in front
PROGRAM = """
import sys, time
from torch.utils.cpp_extension import load_inline
import kernel_in_cpp
start = time.perf_counter()
load_inline("decay", kernel_in_cpp.SOURCE + sys.argv[1], is_python_module=False,
            no_implicit_headers=sys.argv[2] == "few")
print(time.perf_counter() - start)
"""
STARTS = [("空目录", "an empty folder", "", "all"),
          ("新进程，源码没变", "a new process, the same source", "", "all"),
          ("源码末尾加一行注释", "a comment added at the end", "// new\n", "all"),
          ("空目录，不要 torch/extension.h", "an empty folder, without torch/extension.h",
           "", "few")]


def lines(source: str) -> int:
    """Lines of `source` after the preprocessor."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "decay.cpp"
        file.write_text(source, encoding="utf-8")
        words = [word for word in kernel_in_cpp.command(file, "-")
                 if word not in ("-shared", "-ltorch_cpu", "-lc10")]
        python = f"-I{sysconfig.get_paths()['include']}"
        done = subprocess.run([*words, python, "-E"], check=True, capture_output=True, text=True)
    return done.stdout.count("\n")


def started(folder: Path, addition: str, headers: str) -> float:
    """Seconds that `load_inline` takes in a process of its own."""
    environment = {**os.environ, "TORCH_EXTENSIONS_DIR": str(folder), "OMP_NUM_THREADS": "1",
                   "PYTHONPATH": str(CODE)}
    done = subprocess.run([sys.executable, "-c", PROGRAM, addition, headers], check=True,
                          capture_output=True, text=True, env=environment)
    return float(done.stdout.split()[-1])


def building() -> list[dict[str, Any]]:
    """A row for each start; the last has a folder of its own."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for zh, en, addition, headers in STARTS:
            row = {"zh": zh, "en": en,
                   "seconds": started(Path(folder) / headers, addition, headers)}
            if en != STARTS[1][1]:  # which compiles nothing
                row["lines"] = lines(IMPLICIT * (headers == "all") + kernel_in_cpp.SOURCE
                                     + addition)
            rows.append(row)
    return rows


def taken(call: Any, x: torch.Tensor) -> float:
    """Seconds of one call, the median of RUNS after a first that does not count."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        call(x, 0.5)
        times.append(time.perf_counter() - start)
    return median(times[1:])


def calling() -> list[dict[str, Any]]:
    """The recurrence in torch operators and in C++."""
    x = torch.ones(SHAPE)
    with tempfile.TemporaryDirectory() as folder:
        kernel_in_cpp.load(kernel_in_cpp.build(folder))
        return [{"zh": "torch 算子，逐步", "en": "torch operators, step by step",
                 "seconds": taken(kernel_in_cpp.in_python, x)},
                {"zh": "C++ 算子", "en": "the C++ operator",
                 "seconds": taken(torch.ops.book_cpp.decay, x)}]


def compiling() -> dict[str, Any]:
    return described(COLUMNS, {"build": ("load_inline", "load_inline", building)})


def computing() -> dict[str, Any]:
    return described(COLUMNS[:1], {
        "call": ("一次调用，64×1024", "one call, 64×1024", calling)})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="how long load_inline takes, and why")
    parser.add_argument("--record", action="store_true", help="store the results")
    parser.parse_args(arguments)
    for tool in "ninja", kernel_in_cpp.command("", "")[0]:
        if not shutil.which(tool):
            print(f"bench: {tool} is missing, which load_inline needs (Debian: apt install "
                  f"ninja-build g++)", file=sys.stderr)
            return 1
    run("load-inline", compiling, arguments)
    return run("recurrence-in-cpp", computing, arguments)


if __name__ == "__main__":
    sys.exit(main())
