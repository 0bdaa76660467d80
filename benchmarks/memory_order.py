"""What the order of elements in memory costs: the tables of chapter 1, "Order in memory and speed".

    python -m benchmarks.memory_order              measure and print, about a minute
    python -m benchmarks.memory_order --record     also store the result that the section shows

One thread. Every case runs once per round, so that what else the machine does falls on all of
them and each case finds the caches filled by another; the figure is the median of the rounds.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from typing import Any

import torch

from benchmarks import report

ROUNDS = 15
N = 4096  # rows and columns of the large matrices: 64 MiB of float32, more than most caches
MIB = 2**20
COLUMNS = [
    {"key": "mib", "zh": "最少搬运（MiB）", "en": "MiB moved, at least"},
    {"key": "ms", "zh": "毫秒", "en": "ms"},
    {"key": "ratio", "zh": "与首行之比", "en": "ratio to first row"},
]


@dataclass
class Case:
    """One row of a table: what runs, and the bytes that it must at least read and write."""

    key: str
    zh: str
    en: str
    bytes: int
    run: Callable[[], Any]


@dataclass
class Table:
    """Cases that are compared with the first of them."""

    key: str
    zh: str
    en: str
    cases: list[Case]


def same(key: str, code: str, moved: int, run: Callable[[], Any]) -> Case:
    """A case whose label is a piece of code, the same in both languages."""
    return Case(key, code, code, moved, run)


def lines() -> Table:
    flat = torch.randn(N * N)
    few = flat[: N * N // 16]
    return Table("lines", "求和", "Sum", [
        same("all", "flat.sum()", flat.nbytes, flat.sum),
        same("sixteenth", "flat[::16].sum()", flat.nbytes, flat[::16].sum),
        same("few", "flat[:len(flat) // 16].sum()", few.nbytes, few.sum),
    ])


def loops() -> Table:
    x, some = torch.randn(N, N), range(0, 64, 16)  # no two of these columns share a cache line
    same_elements = x[:64:16]

    def by_rows() -> None:
        for i in some:
            for j in range(N):
                x[i, j].item()

    def by_columns() -> None:
        for j in some:
            for i in range(N):
                x[i, j].item()

    return Table("loop", "读 16384 个元素", "Read 16384 elements", [
        Case("rows", "x[i, j].item()，沿行", "x[i, j].item(), along rows", same_elements.nbytes,
             by_rows),
        Case("columns", "x[i, j].item()，沿列", "x[i, j].item(), down columns", 4 * N * 64,
             by_columns),
        same("operator", "x[:64:16].sum()", same_elements.nbytes, same_elements.sum),
    ])


def sums() -> Table:
    x = torch.randn(N, N)
    return Table("sum", "64 MiB 的矩阵求和", "Sum of a 64 MiB matrix", [
        same("dim1", "X.sum(dim=1)", x.nbytes, lambda: x.sum(dim=1)),
        same("dim0", "X.sum(dim=0)", x.nbytes, lambda: x.sum(dim=0)),
        same("dim0_of_t", "X.T.sum(dim=0)", x.nbytes, lambda: x.T.sum(dim=0)),
    ])


def small_sums() -> Table:
    x, times = torch.randn(256, 256), range(1024)
    moved = len(times) * x.nbytes
    return Table("small", "256 KiB 的矩阵求和，1024 次", "Sum of a 256 KiB matrix, 1024 times", [
        same("dim1", "x.sum(dim=1)", moved, lambda: [x.sum(dim=1) for _ in times]),
        same("dim0", "x.sum(dim=0)", moved, lambda: [x.sum(dim=0) for _ in times]),
    ])


def copies() -> Table:
    x, out = torch.randn(N, N), torch.empty(N, N)
    batch = x.view(16, 1024, 1024)
    batch_out = out.view(16, 1024, 1024)
    moved = 2 * x.nbytes
    return Table("copy", "复制 64 MiB", "Copy 64 MiB", [
        same("straight", "out.copy_(X)", moved, lambda: out.copy_(x)),
        same("matrix", "out.copy_(X.T)", moved, lambda: out.copy_(x.T)),
        same("batch", "out.copy_(B.mT)", moved, lambda: batch_out.copy_(batch.mT)),
        same("clone", "X.clone()", moved, x.clone),
        same("contiguous", "X.T.contiguous()", moved, lambda: x.T.contiguous()),
    ])


def elementwise() -> Table:
    x, y, out, scratch = torch.randn(N, N), torch.randn(N, N), *torch.empty(2, N, N)
    moved = 3 * x.nbytes
    return Table("add", "逐元素相加", "Elementwise addition", [
        same("rows", "add(X, Y, out=out)", moved, lambda: torch.add(x, y, out=out)),
        same("columns", "add(X.T, Y.T, out=out.T)", moved,
             lambda: torch.add(x.T, y.T, out=out.T)),
        same("mixed", "add(X, Y.T, out=out)", moved, lambda: torch.add(x, y.T, out=out)),
        same("two_steps", "add(X, tmp.copy_(Y.T), out=out)", moved + 2 * x.nbytes,
             lambda: torch.add(x, scratch.copy_(y.T), out=out)),
    ])


def small_additions() -> Table:
    x, y, out, tmp = torch.randn(4, 128, 128)
    times = range(1024)
    moved = 3 * len(times) * x.nbytes

    def repeat(run: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: [run() for _ in times]

    return Table("small_add", "64 KiB 的矩阵相加，1024 次",
                 "Addition of 64 KiB matrices, 1024 times", [
        same("rows", "add(x, y, out=out)", moved, repeat(lambda: torch.add(x, y, out=out))),
        same("mixed", "add(x, y.T, out=out)", moved, repeat(lambda: torch.add(x, y.T, out=out))),
        same("two_steps", "add(x, tmp.copy_(y.T), out=out)", moved + moved * 2 // 3,
             repeat(lambda: torch.add(x, tmp.copy_(y.T), out=out))),
    ])


def mixed_addition(n: int) -> Case:
    """`add(X, Y.T, out=out)` of n × n matrices."""
    x, y, out = torch.randn(n, n), torch.randn(n, n), torch.empty(n, n)
    return same(str(n), f"add(X, Y.T, out=out), {n} × {n}", 3 * x.nbytes,
                lambda: torch.add(x, y.T, out=out))


def sizes() -> Table:
    """A row of 4096 bytes, and one that is a cache line longer."""
    return Table("sizes", "次序混着相加，两种边长", "Addition in mixed orders, two sizes",
                 [mixed_addition(1024), mixed_addition(1040)])


def products() -> Table:
    a, b, out = torch.randn(1024, 1024), torch.randn(1024, 1024), torch.empty(1024, 1024)
    gaps = torch.randn(2048, 2048)[::2, ::2]
    moved = 3 * a.nbytes
    return Table("mm", "矩阵乘法", "Matrix product", [
        same("plain", "mm(A, B)", moved, lambda: torch.mm(a, b, out=out)),
        same("left", "mm(A.T, B)", moved, lambda: torch.mm(a.T, b, out=out)),
        same("right", "mm(A, B.T)", moved, lambda: torch.mm(a, b.T, out=out)),
        same("gaps", "mm(W[::2, ::2], B)", moved + 3 * a.nbytes,
             lambda: torch.mm(gaps, b, out=out)),
    ])


def convolutions(key: str, channels: int, pixels: int) -> Table:
    """3×3, to 64 channels; image and weight in the usual format, then both channels last."""
    x, w = torch.randn(8, channels, pixels, pixels), torch.randn(64, channels, 3, 3)
    last = [t.to(memory_format=torch.channels_last) for t in (x, w)]
    conv = torch.nn.functional.conv2d
    moved = 4 * (x.numel() + w.numel() + 8 * 64 * pixels**2)
    return Table(key, f"卷积，输入 {channels} 通道", f"Convolution, {channels} input channels", [
        same("nchw", "contiguous", moved, lambda: conv(x, w, padding=1)),
        same("last", "channels_last", moved, lambda: conv(*last, padding=1)),
    ])


def all_tables() -> list[Table]:
    return [lines(), loops(), sums(), small_sums(), copies(), elementwise(), small_additions(),
            sizes(), products(), convolutions("conv64", 64, 56), convolutions("conv3", 3, 112)]


def measure(tables: list[Table], rounds: int) -> dict[tuple[str, str], float]:
    """(table, case) -> median milliseconds; a round before the first warms up."""
    seconds: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds + 1):
        for table in tables:
            for case in table.cases:
                start = time.perf_counter()
                case.run()
                took = time.perf_counter() - start
                if number:
                    seconds.setdefault((table.key, case.key), []).append(took)
    return {name: 1e3 * median(each) for name, each in seconds.items()}


def digits(value: float) -> float:
    """Four significant digits: a small ratio keeps as many as a large one."""
    return float(f"{value:.4g}")


def rows(table: Table, ms: dict[tuple[str, str], float]) -> list[dict[str, Any]]:
    first = ms[table.key, table.cases[0].key]
    return [{"key": case.key, "zh": case.zh, "en": case.en,
             "mib": round(case.bytes / MIB, 4), "ms": digits(ms[table.key, case.key]),
             "ratio": digits(ms[table.key, case.key] / first)} for case in table.cases]


def result(rounds: int) -> dict[str, Any]:
    """All tables as they are recorded; `inside.recorded` shows them."""
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tables = all_tables()
    with torch.inference_mode():
        ms = measure(tables, rounds)
    return {"machine": report.machine(), "torch": version("torch"), "threads": 1,
            "load": round(load, 1), "date": datetime.date.today().isoformat(),
            "columns": COLUMNS,
            "tables": {table.key: {"zh": table.zh, "en": table.en, "rows": rows(table, ms)}
                       for table in tables}}


def show(measured: dict[str, Any]) -> None:
    for table in measured["tables"].values():
        print(table["en"])
        for row in table["rows"]:
            print(f"  {row['en']:34}{row['mib']:9.2f} MiB{row['ms']:10.4g} ms"
                  f"{row['ratio']:10.3g}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="time of one operation in several orders")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    measured = result(chosen.rounds)
    show(measured)
    if chosen.record:
        report.write("memory-order", measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
