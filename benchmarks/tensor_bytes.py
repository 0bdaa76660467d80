"""What a million numbers cost as Python and PyTorch objects: chapter 1, "The bytes of a tensor".

    python -m benchmarks.tensor_bytes              measure and print, some ten seconds
    python -m benchmarks.tensor_bytes --record     also store the result that the section shows

Each case is built in a process of its own, which reads its resident memory before and after (from
/proc, so on Linux only). Nothing is timed.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import multiprocessing
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks import report

COUNT = 1_000_000
MIB = 2**20
COLUMNS = [
    {"key": "mib", "zh": "多占的内存（MiB）", "en": "memory taken (MiB)"},
    {"key": "each", "zh": "平均每个数（字节）", "en": "bytes per number"},
]


def one_tensor() -> Any:
    return torch.ones(COUNT)


def list_of_floats() -> Any:
    return [float(i) for i in range(COUNT)]


def list_of_views() -> Any:
    return list(torch.ones(COUNT).unbind())


def list_of_inference_views() -> Any:
    with torch.inference_mode():
        return list_of_views()


def list_of_tensors() -> Any:
    return [torch.ones(()) for _ in range(COUNT)]


# Each label is a piece of code, the same in both languages.
CASES: dict[str, tuple[str, Callable[[], Any]]] = {
    "tensor": ("torch.ones(1_000_000)", one_tensor),
    "floats": ("[float(i) for i in range(1_000_000)]", list_of_floats),
    "views": ("list(torch.ones(1_000_000).unbind())", list_of_views),
    "inference": ("torch.inference_mode(): list(torch.ones(1_000_000).unbind())",
                  list_of_inference_views),
    "tensors": ("[torch.ones(()) for _ in range(1_000_000)]", list_of_tensors),
}


def resident() -> int:
    """Bytes of this process that are in physical memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def grown(key: str) -> int:
    """By how many bytes this process grows while it builds one case and keeps it."""
    torch.set_num_threads(1)
    [torch.ones(()) + i for i in range(100)]  # whatever torch allocates once
    gc.collect()
    before = resident()
    kept = CASES[key][1]()
    after = resident()
    del kept
    return after - before


def rows() -> list[dict[str, Any]]:
    """One row for each case, each measured in a fresh process."""
    found = []
    for key, (label, _) in CASES.items():
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            taken = pool.apply(grown, (key,))
        found.append({"key": key, "zh": label, "en": label, "mib": round(taken / MIB, 1),
                      "each": round(taken / COUNT)})
    return found


def result() -> dict[str, Any]:
    """The record: conditions and one table."""
    return {
        "machine": report.machine(),
        "python": sys.version.split()[0],
        "torch": version("torch"),
        "threads": 1,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "columns": COLUMNS,
        "tables": {"million": {"zh": "一百万个 float32", "en": "A million float32 numbers",
                               "rows": rows()}},
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="memory of a million numbers")
    parser.add_argument("--record", action="store_true", help="store the result")
    chosen = parser.parse_args(arguments)
    measured = result()
    for row in measured["tables"]["million"]["rows"]:
        print(f"{row['mib']:8.1f} MiB {row['each']:5d} bytes each  {row['en']}")
    if chosen.record:
        report.write("tensor-bytes", measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
