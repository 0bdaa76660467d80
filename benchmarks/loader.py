"""How fast mini_loader is beside torch's loader, on three workloads with 0, 1 and 2 workers.

    python -m benchmarks.loader               measure and print, about three minutes
    python -m benchmarks.loader --record      also store the result that the section shows

A figure is the median over rounds of one epoch, workers kept alive, after an epoch to warm up. In
each round both loaders run with each number of workers, one after the other, and then memory is
copied: by one thread, and by two at once. The consumer reads one element of each batch, and keeps
the labels, which are checked when the clock has stopped.

glibc is told to keep what is freed: whether it gives a batch's memory back to the kernel depends
on the history of the process, and then rows without workers can be several times slower.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import median
from typing import Any

import torch
from torch.utils import data

from benchmarks import report
from book.pipeline.ground.paths import CODE

ROUNDS = 9
WORKERS = (0, 1, 2)
COLUMNS = [
    {"key": "torch", "zh": "torch（样本/秒）", "en": "torch, samples a second"},
    {"key": "ours", "zh": "mini_loader（样本/秒）", "en": "mini_loader, samples a second"},
    {"key": "ratio", "zh": "倍数", "en": "ratio"},
    {"key": "to_best", "zh": "比 torch 最好的一行", "en": "ratio to torch's best row"},
    {"key": "gb", "zh": "GB/秒", "en": "GB a second"},
    {"key": "share", "zh": "占内存复制速度的比例", "en": "share of copying memory"},
]
KEEP = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
BUDGETS = {"cheap": 2.5, "heavy": 1.0, "large": 4.0}  # least ratio with two workers each
SHARE = 0.9  # of what copying memory reaches, on large


@dataclass(frozen=True)
class Workload:
    """A dataset of (x, label) with labels 0, 1, 2 …; both languages say what it is.

    `other` has variants for `loader_knobs`: {name: arguments of the loader that differ}.
    """

    key: str
    zh: str
    en: str
    dataset: data.Dataset
    batch_size: int
    other: dict[str, dict[str, Any]] = field(default_factory=dict)

    def sample_bytes(self) -> int:
        return self.dataset[0][0].nbytes


class Cheap(data.Dataset):
    """20,000 small images in memory."""

    def __init__(self, size: int = 20_000) -> None:
        self.x, self.y = torch.randn(size, 3, 32, 32), torch.arange(size)

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[i], self.y[i]


class Heavy(data.Dataset):
    """About 2 ms of Python and zlib for a sample."""

    def __init__(self, size: int = 640) -> None:
        self.size, self.x = size, torch.randn(3, 32, 32)
        self.text = os.urandom(20_000) + bytes(20_000)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        zlib.compress(self.text, 6)
        total = 0
        for number in range(42_000):
            total += number
        return self.x + i, i


class Large(data.Dataset):
    """Images of 0.6 MB, 64 different ones."""

    def __init__(self, size: int = 1024) -> None:
        self.size, self.x = size, torch.randn(64, 3, 224, 224)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return self.x[i % len(self.x)], i


def all_workloads() -> list[Workload]:
    return [
        Workload("cheap", "便宜的样本：20000 个 3×32×32，批大小 256",
                 "Cheap samples: 20,000 of 3×32×32, batches of 256", Cheap(), 256),
        Workload("heavy", "费时的样本：每个约 2 毫秒 Python，批大小 32",
                 "Heavy samples: about 2 ms of Python each, batches of 32", Heavy(), 32),
        Workload("large", "大样本：3×224×224，批大小 32",
                 "Large samples: 3×224×224, batches of 32", Large(), 32),
    ]


# ---- measuring --------------------------------------------------------------------------------

def loaders(workload: Workload, workers: int) -> dict[str, Iterable[Any]]:
    sys.path.insert(0, str(CODE))
    import mini_loader

    arguments = {"batch_size": workload.batch_size, "num_workers": workers,
                 "persistent_workers": workers > 0}
    return {"torch": data.DataLoader(workload.dataset, **arguments),
            "ours": mini_loader.DataLoader(workload.dataset, **arguments)}


def epoch(loader: Iterable[Any], size: int,
          clock: Callable[[], float] = time.perf_counter) -> float:
    """Samples a second of one epoch. Ends the program if a sample is missing or out of place."""
    labels, start = [], clock()
    for x, y in loader:
        x.flatten()[0].item()
        labels.append(y)
    seconds = clock() - start
    if not torch.equal(torch.cat(labels), torch.arange(size)):
        sys.exit(f"bench: the labels of an epoch are not 0 … {size - 1}")
    return size / seconds


def copy_rate(threads: int, megabytes: int = 20, times: int = 40) -> float:
    """GB copied a second by so many threads at once, to memory that was written before.

    As for the large samples, a batch's worth at a time, and more memory than a cache holds.
    """
    elements = megabytes * 250_000
    sources, targets = torch.ones(2, elements), torch.ones(threads, 3, elements)

    def copy(own: torch.Tensor) -> None:
        for number in range(times):
            own[number % 3].copy_(sources[number % 2])

    with ThreadPoolExecutor(threads) as pool:
        start = time.perf_counter()
        list(pool.map(copy, targets))
        seconds = time.perf_counter() - start
    return threads * times * elements * 4 / seconds / 1e9


def rounds_of(workload: Workload, rounds: int,
              copy: Callable[[int], float] = copy_rate) -> list[dict[Any, float]]:
    """For each round (kind, workers) -> samples a second, and ("copy", threads) -> GB a second."""
    size = len(workload.dataset)
    kinds = {workers: loaders(workload, workers) for workers in WORKERS}
    for pair in kinds.values():
        for loader in pair.values():
            epoch(loader, size)
    found = []
    for number in range(rounds):
        one: dict[Any, float] = {("copy", threads): copy(threads) for threads in (1, 2)}
        for workers, pair in kinds.items():
            for kind in sorted(pair, reverse=bool(number % 2)):
                one[kind, workers] = epoch(pair[kind], size)
        found.append(one)
    return found


# ---- results ----------------------------------------------------------------------------------

def digits(value: float) -> float:
    return float(f"{value:.3g}")


def rows(workload: Workload, found: list[dict[Any, float]]) -> list[dict[str, Any]]:
    """One row for each number of workers; ratios are medians of the rounds' own ratios."""
    best = max(WORKERS, key=lambda workers: median(one["torch", workers] for one in found))
    nbytes = workload.sample_bytes()

    def usual(value: Callable[[dict[Any, float]], float]) -> float:
        return digits(median(map(value, found)))

    made = []
    for n in WORKERS:
        made.append({
            "key": str(n), "zh": f"{n} 个工作进程", "en": f"{n} worker{'s' * (n != 1)}",
            "torch": usual(lambda one, n=n: one["torch", n]),
            "ours": usual(lambda one, n=n: one["ours", n]),
            "ratio": usual(lambda one, n=n: one["ours", n] / one["torch", n]),
            "to_best": usual(lambda one, n=n: one["ours", n] / one["torch", best]),
            "gb": usual(lambda one, n=n: one["ours", n] * nbytes / 1e9),
            "share": usual(lambda one, n=n: one["ours", n] * nbytes / 1e9
                           / one["copy", max(n, 1)])})
    return made


def result(workloads: list[Workload], rounds: int) -> dict[str, Any]:
    """All tables as they are recorded."""
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tables, copies = {}, []
    for workload in workloads:
        found = rounds_of(workload, rounds)
        copies += found
        tables[workload.key] = {"zh": workload.zh, "en": workload.en,
                                "rows": rows(workload, found)}
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": 1, "load": round(load, 1), "rounds": rounds,
            "date": datetime.date.today().isoformat(), "columns": COLUMNS,
            "copy": {str(threads): digits(median(one["copy", threads] for one in copies))
                     for threads in (1, 2)},
            "tables": tables}


def verdicts(measured: dict[str, Any]) -> list[str]:
    lines = []
    for key, table in measured["tables"].items():
        two = next(row for row in table["rows"] if row["key"] == "2")
        budget = report.Budget("mini_loader against torch, 2 workers", BUDGETS[key], "x",
                               floor=True)
        lines += budget.lines({key: two["ratio"]})
        if key == "large":
            budget = report.Budget("share of copying memory, 2 workers", SHARE, floor=True)
            lines += budget.lines({key: two["share"]})
    return lines


def show(measured: dict[str, Any]) -> None:
    for table in measured["tables"].values():
        print(table["en"])
        for row in table["rows"]:
            print(f"  {row['en']:10}" + "".join(f"{row[column['key']]:12,g}" for column in COLUMNS))
    print("columns: " + "; ".join(column["en"] for column in COLUMNS))
    print("copying memory, GB a second: "
          + ", ".join(f"{threads} thread(s) {rate:g}"
                      for threads, rate in measured["copy"].items()))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="mini_loader against torch's loader")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    parser.add_argument("--only", choices=sorted(BUDGETS), help="one workload, for a look")
    chosen = parser.parse_args(arguments)
    if chosen.record and chosen.only:
        parser.error("--record stores all workloads; leave out --only")
    report.warn_if_busy()
    workloads = [one for one in all_workloads() if chosen.only in (None, one.key)]
    measured = result(workloads, chosen.rounds)
    show(measured)
    lines = verdicts(measured)
    print("\n".join(lines))
    if chosen.record:
        report.write("loader", measured)
    return any(line.startswith("OVER") for line in lines)


if __name__ == "__main__":
    if not KEEP.items() <= os.environ.items():    # glibc reads them when a program starts
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | KEEP)
    sys.exit(main())
