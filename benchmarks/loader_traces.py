"""How far the loader's timeline is from real workers: traces of torch's loader beside its model.

    python -m benchmarks.loader_traces              measure and print, half a minute
    python -m benchmarks.loader_traces --record     also store what the section shows

A worker sleeps for as long as the model says that a batch takes, and the loop sleeps for a step.
What differs is what the model leaves out: sending, waking up, the loader's own work. When the
workers begin is taken from the trace, as the model's `startup`. The median of 3 epochs counts.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

from torch.utils.data import DataLoader, Dataset, get_worker_info

from benchmarks.report import described, run
from book.pipeline.ground.paths import CODE

sys.path.insert(0, str(CODE))

from inside.data.observe import virtual_loader

DEFAULTS = {"num_workers": 2, "prefetch_factor": 2, "batches": 16, "fetch": 20, "step": 20,
            "spread": 0, "startup": 0, "pin": 0, "in_order": True, "slow": "none", "which": 0,
            "factor": 5}
RUNS = 3
CASES = {
    "两个工作进程，刚好跟得上": ("2 workers that just keep up", {}),
    "第 8 批慢": ("batch 8 is slow", {"slow": "batch", "which": 8}),
    "1 号工作进程慢": ("worker 1 is slow", {"slow": "worker", "which": 1}),
    "1 号工作进程慢，不按编号交出": ("worker 1 is slow, not in order",
                      {"slow": "worker", "which": 1, "in_order": False}),
    "各批长短不一": ("batches differ", {"spread": 100, "fetch": 36}),
    "四个工作进程，各批长短不一": ("4 workers, batches differ",
                     {"spread": 100, "fetch": 70, "num_workers": 4}),
    "在主进程里做": ("in the main process", {"num_workers": 0}),
    "做一批、训练一步都是 2 毫秒": ("2 ms for a batch and for a step", {"fetch": 2, "step": 2}),
}
COLUMNS = [
    {"key": "model", "zh": "模型：总毫秒", "en": "model: ms in all"},
    {"key": "real", "zh": "实测：总毫秒", "en": "measured: ms in all"},
    {"key": "error", "zh": "模型差多少（%）", "en": "error of the model (%)"},
    {"key": "model_waits", "zh": "模型：等待（%）", "en": "model: waiting (%)"},
    {"key": "waits", "zh": "实测：等待（%）", "en": "measured: waiting (%)"},
]


class Sleeper(Dataset):
    """Sample i is (number of its worker, when it was begun), after the time that it takes."""

    def __init__(self, settings: dict[str, Any]):
        self.settings, self.model = settings, virtual_loader.Machine(settings)

    def __len__(self) -> int:
        return self.settings["batches"]

    def __getitem__(self, i: int) -> tuple[int | None, float]:
        begun, info = time.monotonic(), get_worker_info()
        worker = info.id if info else None
        time.sleep(self.model.make(i, worker, 0) / 1000)
        return worker, begun


def trace(settings: dict[str, Any]) -> tuple[float, float, float]:
    """Milliseconds of one epoch with real workers: when the first began, waiting, all."""
    options: dict[str, Any] = {"num_workers": settings["num_workers"]}
    if settings["num_workers"]:
        options |= {"prefetch_factor": settings["prefetch_factor"],
                    "in_order": settings["in_order"], "multiprocessing_context": "fork"}
    loader = DataLoader(Sleeper(settings), batch_size=None, **options)
    first, waited = [], 0.0
    start = asked = time.monotonic()
    for _, begun in loader:
        waited += time.monotonic() - asked
        first.append(begun - start)
        time.sleep(settings["step"] / 1000)
        asked = time.monotonic()
    return 1000 * min(first), 1000 * waited, 1000 * (asked - start)


def compared(settings: dict[str, Any]) -> dict[str, float]:
    """The model beside the median of some traces."""
    with warnings.catch_warnings():                     # more workers than cores: they sleep
        warnings.simplefilter("ignore", UserWarning)
        traces = [trace(settings) for _ in range(RUNS)]
    started, waited, real = (median(column) for column in zip(*traces, strict=True))
    if settings["num_workers"]:
        settings = settings | {"startup": round(started)}
    rows = virtual_loader.run(settings)
    total = rows[-1]["done"]
    model_waited = sum(row["given"] - row["asked"] for row in rows)
    real = round(real)
    return {"model": total, "real": real, "error": round(100 * (total - real) / real, 1),
            "model_waits": round(100 * model_waited / total), "waits": round(100 * waited / real)}


def rows() -> list[dict[str, Any]]:
    return [{"zh": zh, "en": en, **compared(DEFAULTS | settings)}
            for zh, (en, settings) in CASES.items()]


TABLES: dict[str, tuple[str, str, Callable[[], list]]] = {
    "traces": ("一轮 16 批，模型与真的工作进程", "an epoch of 16 batches, model and real workers",
               rows)}


def result() -> dict[str, Any]:
    """What is recorded; `inside.recorded` shows it."""
    return described(COLUMNS, TABLES)


def main(arguments: list[str] | None = None) -> int:
    return run("loader-traces", result, arguments)


if __name__ == "__main__":
    sys.exit(main())
