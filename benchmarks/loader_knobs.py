"""What each knob of torch's DataLoader does to four workloads: the table of "Waiting for data".

    python -m benchmarks.loader_knobs               measure and print, about five minutes
    python -m benchmarks.loader_knobs --record      also store the result that the section shows

Images are decompressed, which needs a core; rows are tiny; large samples are only copied; slow
reads sleep. A figure is the samples a second of an epoch, divided by those without workers in the
same round; the median over rounds is shown. Workers are kept alive, after an epoch to warm up, but
for the row that starts them anew. The consumer reads one element of each batch and keeps the
labels, which are checked when the clock has stopped. Pinned memory isn't measured, because without
an accelerator there is none.
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
from dataclasses import dataclass, field
from importlib.metadata import version
from statistics import median
from typing import Any

import torch
from torch.utils import data

from benchmarks import report

ROUNDS = 7
READ = 0.004  # seconds of one request to the slow storage
WORKERS = (0, 1, 2, 4, 8)
USUAL = 2  # workers where another knob is turned


# ---- the workloads ------------------------------------------------------------------------------
class Images(data.Dataset):
    """Sample i is decompressed and made smaller."""

    def __init__(self, size: int = 256) -> None:
        self.size = size
        generator = torch.Generator().manual_seed(0)
        pixels = torch.randint(8, (3, 256, 256), generator=generator, dtype=torch.uint8)
        self.file = zlib.compress(pixels.numpy().tobytes())

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        pixels = torch.frombuffer(bytearray(zlib.decompress(self.file)), dtype=torch.uint8)
        return pixels.view(3, 256, 256)[:, ::4, ::4].float() / 255, i


class Rows(data.Dataset):
    """Rows of 16 numbers in a table; `whole`: a batch is one indexing, in a single tensor."""

    def __init__(self, size: int = 20_000, whole: bool = False) -> None:
        self.x, self.y = torch.zeros(size, 16), torch.arange(size)
        if whole:
            self.__getitems__ = lambda indices: (self.x[indices], self.y[indices])

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, i: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[i], self.y[i]


class Large(data.Dataset):
    """Samples of 3×512×512 numbers, 16 different ones."""

    def __init__(self, size: int = 160, dtype: torch.dtype = torch.float32) -> None:
        self.size, self.x = size, torch.zeros(16, 3, 512, 512, dtype=dtype)

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return self.x[i % 16], i


class Slow(data.Dataset):
    """Each sample is a request that takes 4 ms; `whole`: each batch is one."""

    def __init__(self, size: int = 256, whole: bool = False) -> None:
        self.size = size
        if whole:
            self.__getitems__ = self.read

    def __len__(self) -> int:
        return self.size

    def read(self, indices: list[int]) -> list[tuple[torch.Tensor, int]]:
        time.sleep(READ)
        return [(torch.zeros(16), i) for i in indices]

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return self.read([i])[0]


def as_it_is(batch: Any) -> Any:
    return batch


@dataclass(frozen=True)
class Workload:
    """A dataset of (x, label) with labels 0, 1, 2 …; `other` changes what a cure would change."""

    key: str
    zh: str
    en: str
    dataset: data.Dataset
    batch_size: int
    other: dict[str, dict[str, Any]] = field(default_factory=dict)


def all_workloads() -> list[Workload]:
    return [
        Workload("images", "图像：要解压", "images: to be decompressed", Images(), 16),
        Workload("rows", "16 个数一行", "rows of 16 numbers", Rows(), 250,
                 {"whole": {"dataset": Rows(whole=True), "collate_fn": as_it_is}}),
        Workload("large", "大样本：3×512×512", "large: 3×512×512", Large(), 8,
                 {"bytes": {"dataset": Large(dtype=torch.uint8)}}),
        Workload("slow", "慢存储：每次读 4 毫秒", "slow storage: 4 ms for a read", Slow(), 16,
                 {"whole": {"dataset": Slow(whole=True)}})]


COLUMNS = [{"key": one.key, "zh": one.zh, "en": one.en} for one in all_workloads()]


# ---- the knobs ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class Knob:
    """A row: arguments for the loader, how many times the batch size, the name of a variant."""

    key: str
    zh: str
    en: str
    arguments: dict[str, Any]
    grow: int = 1
    other: str = ""


def workers(n: int) -> Knob:
    return Knob(str(n), f"{n} 个工作进程", f"{n} worker{'s' * (n != 1)}", {"num_workers": n})


KNOBS = [
    *map(workers, WORKERS),
    Knob("prefetch", f"{USUAL} 个，prefetch_factor=8", f"{USUAL} workers, prefetch_factor=8",
         {"num_workers": USUAL, "prefetch_factor": 8}),
    Knob("anew", f"{USUAL} 个，每轮重新启动", f"{USUAL} workers, started anew each epoch",
         {"num_workers": USUAL, "persistent_workers": False}),
    Knob("batch", f"{USUAL} 个，batch 放大到四倍", f"{USUAL} workers, batches four times as large",
         {"num_workers": USUAL}, grow=4),
    Knob("whole-0", "没有工作进程，整批一起取", "no worker, __getitems__", {"num_workers": 0},
         other="whole"),
    Knob("whole", f"{USUAL} 个，整批一起取", f"{USUAL} workers, __getitems__",
         {"num_workers": USUAL}, other="whole"),
    Knob("bytes-0", "没有工作进程，uint8", "no worker, uint8", {"num_workers": 0}, other="bytes"),
    Knob("bytes", f"{USUAL} 个，uint8", f"{USUAL} workers, uint8", {"num_workers": USUAL},
         other="bytes")]


def loader(workload: Workload, knob: Knob) -> data.DataLoader | None:
    """The loader of a cell of the table; None where a workload has no such variant."""
    if knob.other and knob.other not in workload.other:
        return None
    arguments = {"dataset": workload.dataset, "batch_size": workload.batch_size * knob.grow,
                 "persistent_workers": knob.arguments["num_workers"] > 0,
                 **workload.other.get(knob.other, {}), **knob.arguments}
    return data.DataLoader(**arguments)


# ---- measuring ----------------------------------------------------------------------------------
def epoch(batches: Iterable[Any], size: int,
          clock: Callable[[], float] = time.perf_counter) -> float:
    """Samples a second of one epoch. Ends the program if a sample is missing or out of place."""
    labels, start = [], clock()
    for x, y in batches:
        x.flatten()[0].item()
        labels.append(y)
    seconds = clock() - start
    if not torch.equal(torch.cat(labels), torch.arange(size)):
        sys.exit(f"bench: the labels of an epoch are not 0 … {size - 1}")
    return size / seconds


def rounds_of(workload: Workload, rounds: int) -> list[dict[str, float]]:
    """For each round {knob: samples a second}, all knobs in turn, after an epoch to warm up."""
    size = len(workload.dataset)
    made = {knob.key: found for knob in KNOBS if (found := loader(workload, knob)) is not None}
    for one in made.values():
        epoch(one, size)
    return [{key: epoch(one, size) for key, one in made.items()} for _ in range(rounds)]


def factors(found: list[dict[str, float]]) -> dict[str, float]:
    """{knob: median over rounds of its speed beside that without workers in the same round}."""
    return {key: float(f"{median(one[key] / one['0'] for one in found):.3g}") for key in found[0]}


def result(workloads: list[Workload], rounds: int) -> dict[str, Any]:
    """All that is recorded; the first row has samples a second, the others factors."""
    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    rates: dict[str, Any] = {"key": "rate", "zh": "没有工作进程（样本/秒）",
                             "en": "no worker, samples a second"}
    rows = {knob.key: {"key": knob.key, "zh": f"{knob.zh}（倍）", "en": f"{knob.en} (times)"}
            for knob in KNOBS if knob.key != "0"}
    for workload in workloads:
        found = rounds_of(workload, rounds)
        rates[workload.key] = float(f"{median(one['0'] for one in found):.3g}")
        for key, factor in factors(found).items():
            if key != "0":
                rows[key][workload.key] = factor
    table = {"zh": "与没有工作进程时相比", "en": "compared with no worker",
             "rows": [rates, *rows.values()]}
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": 1, "load": round(load, 1), "rounds": rounds,
            "date": datetime.date.today().isoformat(), "cores": len(os.sched_getaffinity(0)),
            "columns": COLUMNS, "tables": {"knobs": table}}


def show(measured: dict[str, Any]) -> None:
    print(" " * 44 + "".join(f"{column['key']:>10}" for column in COLUMNS))
    for row in measured["tables"]["knobs"]["rows"]:
        cells = [f"{row[column['key']]:10,g}" if column["key"] in row else " " * 10
                 for column in COLUMNS]
        print(f"{row['en']:44}" + "".join(cells))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="what each knob of the loader does")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    measured = result(all_workloads(), chosen.rounds)
    show(measured)
    if chosen.record:
        report.write("loader-knobs", measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
