"""How long the site takes to build, from nothing, into a folder of its own.

    python -m benchmarks.site_build             print it
    python -m benchmarks.site_build --record    also store the result for the status page

The budget is for 60 sections: what this book would take with so many is the time of one section
times 60. Processor time is that of all processes; with as many idle cores as processes, less passes
on the clock.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from sphinx_external_toc.parsing import parse_toc_yaml

from benchmarks import report
from book.pipeline import jupyter_book, site
from book.pipeline.ground.paths import ROOT, is_section

SECTIONS = 60
BUDGET = report.Budget(f"seconds of a build of {SECTIONS} sections", 60, " s")


def measure() -> dict[str, Any]:
    """The result as it is recorded."""
    documents = list(parse_toc_yaml(ROOT / "_toc.yml"))
    sections = sum(map(is_section, documents))
    with tempfile.TemporaryDirectory() as folder:
        clock, before = time.perf_counter(), os.times()
        site.build(ROOT, Path(folder))
        seconds, after = time.perf_counter() - clock, os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    return {"machine": report.machine(), "python": platform.python_version(),
            "date": datetime.date.today().isoformat(), "load": round(os.getloadavg()[0], 2),
            "processes": jupyter_book.jobs(), "pages": len(documents), "sections": sections,
            "seconds": round(seconds, 1), "cpu": round(cpu, 1),
            "expected": round(seconds / sections * SECTIONS, 1)}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="how long the site takes to build")
    parser.add_argument("--record", action="store_true", help="store the result")
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    found = measure()
    print(f"{found['seconds']} s on the clock, {found['cpu']} s of processors, {found['pages']} "
          f"pages, {found['sections']} of them sections",
          *BUDGET.lines({"the book": found["expected"]}), sep="\n")
    if chosen.record:
        report.write("site-build", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
