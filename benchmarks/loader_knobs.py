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

import os
import platform
import sys
import time
import zlib
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import torch
from torch.utils import data

from benchmarks import report
from benchmarks.loader import Workload, digits, epoch

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
def rounds_of(workload: Workload, rounds: int) -> list[dict[str, float]]:
    """For each round {knob: samples a second}, all knobs in turn, after an epoch to warm up."""
    size = len(workload.dataset)
    made = {knob.key: found for knob in KNOBS if (found := loader(workload, knob)) is not None}
    for one in made.values():
        epoch(one, size)
    return [{key: epoch(one, size) for key, one in made.items()} for _ in range(rounds)]


def factors(found: list[dict[str, float]]) -> dict[str, float]:
    """{knob: median over rounds of its speed beside that without workers in the same round}."""
    return {key: digits(median(one[key] / one["0"] for one in found)) for key in found[0]}


def rows(workloads: list[Workload], rounds: int) -> list[dict[str, Any]]:
    """The first row has samples a second, the others factors; a column for each workload."""
    rates: dict[str, Any] = {"key": "rate", "zh": "没有工作进程（样本/秒）",
                             "en": "no worker, samples a second"}
    made = {knob.key: {"key": knob.key, "zh": f"{knob.zh}（倍）", "en": f"{knob.en} (times)"}
            for knob in KNOBS if knob.key != "0"}
    for workload in workloads:
        found = rounds_of(workload, rounds)
        rates[workload.key] = digits(median(one["0"] for one in found))
        for key, factor in factors(found).items():
            if key != "0":
                made[key][workload.key] = factor
    return [rates, *made.values()]


def result(workloads: list[Workload], rounds: int = ROUNDS) -> dict[str, Any]:
    """What is recorded; `inside.recorded` shows it."""
    return report.described(
        COLUMNS, {"knobs": ("与没有工作进程时相比", "compared with no worker",
                            partial(rows, workloads, rounds))},
        python=platform.python_version(), rounds=rounds, cores=len(os.sched_getaffinity(0)))


def main(arguments: list[str] | None = None) -> int:
    return report.run("loader-knobs", lambda: result(all_workloads()), arguments)


if __name__ == "__main__":
    sys.exit(main())
