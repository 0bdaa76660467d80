"""Time and memory of executing each notebook in a fresh process.

    python -m benchmarks.notebooks                 every notebook of chapters/
    python -m benchmarks.notebooks FILE.ipynb      only the named ones
    python -m benchmarks.notebooks --record        also store the result for the status page

The time runs from the start of the kernel to the end of the last cell. The memory is the largest
resident set of any process that the notebook ran in or started: pages that a forked worker shares
with its parent are not counted twice.
"""

from __future__ import annotations

import argparse
import datetime
import json
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat

from benchmarks import report
from book.pipeline import sync
from book.pipeline.ground.paths import CHAPTERS, ROOT, relative

TIME = report.Budget("notebook time", 40, " s")
MEMORY = report.Budget("notebook memory", 2000, " MB")
UNIT = 1 if sys.platform == "darwin" else 1024  # bytes in which the system counts memory


def execute(path: Path) -> dict[str, float]:
    """{seconds, peak_mb} of a notebook; right once only in the life of a process.

    Raises sync.SyncError when a cell fails.
    """
    started = time.perf_counter()
    sync.execute(nbformat.read(path, 4), path)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * UNIT
    return {"seconds": round(seconds, 1), "peak_mb": round(peak / 1e6)}


def measure(path: Path) -> dict[str, float]:
    """`execute` in a process of its own: the system remembers the peak of a process for ever."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.notebooks", "--here", str(path)],
                          cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}\nbench: {relative(path)} could not be executed; "
                 f"the reason stands above")
    return json.loads(done.stdout)


def measure_all(paths: list[Path]) -> dict[str, Any]:
    """The result of all wanted notebooks, as it is recorded."""
    rows = {}
    for path in paths:
        name = relative(path.with_suffix(""))
        rows[name] = measure(path)
        print(f"{name:45} {rows[name]['seconds']:6.1f} s {rows[name]['peak_mb']:6} MB", flush=True)
    return {"machine": report.machine(), "torch": version("torch"),
            "python": platform.python_version(), "date": datetime.date.today().isoformat(),
            "seconds": {name: row["seconds"] for name, row in rows.items()},
            "peak_mb": {name: row["peak_mb"] for name, row in rows.items()}}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="time and memory of the notebooks")
    parser.add_argument("notebooks", nargs="*", type=Path, help="files (default: all)")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    if chosen.here:
        print(json.dumps(execute(chosen.here)))
        return 0
    if chosen.record and chosen.notebooks:
        parser.error("only the result of all notebooks is recorded; leave the names out")
    report.warn_if_busy()
    paths = [path.resolve() for path in chosen.notebooks] or sorted(CHAPTERS.glob("*/*.ipynb"))
    result = measure_all(paths)
    print(*TIME.lines(result["seconds"]), *MEMORY.lines(result["peak_mb"]), sep="\n")
    if chosen.record:
        report.write("notebooks", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
