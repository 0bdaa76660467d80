"""How long a run of the whole suite took: `make test FRESH=1 RECORD=1` stores it."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from book.pipeline.ground.paths import RESULTS, relative, write_atomic
from book.pipeline.state import records
from book.pipeline.suite.lanes import FAILED, KNOWN, PASSED, SKIPPED, Result, counts

NAME = "suite"


def of_run(results: Sequence[Result], seconds: float, fresh: bool) -> dict[str, Any]:
    """The machine, the versions, and each step with its seconds and what it counted.

    `clean` says that every step ran afresh: not one was known from before.
    """
    from benchmarks.report import machine

    return {
        "machine": machine(), "torch": version("torch"), "python": platform.python_version(),
        "date": datetime.date.today().isoformat(), "depth": os.environ.get("DEPTH") or "1",
        "clean": fresh and all(result.state != KNOWN for result in results),
        "total": round(seconds),
        "steps": {result.step.name: {"passed": result.state in (PASSED, KNOWN),
                                     "seconds": round(result.seconds, 1),
                                     "counts": counts(result.output)} for result in results},
    }


def store(results: Sequence[Result], seconds: float, fresh: bool, folder: Path = RESULTS) -> None:
    """Store a run; one with a failure is told and not stored, as its times say nothing."""
    if any(result.state in (FAILED, SKIPPED) for result in results):
        print("not recorded: a step did not pass")
        return
    told = of_run(results, seconds, fresh) | {"measured": records.whole_suite()}
    file = folder / f"{NAME}.json"
    write_atomic(file, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    print(f"recorded in {relative(file)}")
