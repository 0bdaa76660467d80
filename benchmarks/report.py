"""What every measuring script says and stores alike: machine, budgets, tables, result file."""

from __future__ import annotations

import argparse
import datetime
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from book.pipeline.ground.machine import machine as machine  # every script says it
from book.pipeline.ground.paths import relative
from book.pipeline.state import records

BUSY = 0.5  # load per core above which timings say more about the neighbours


@dataclass(frozen=True)
class Budget:
    """A limit for one measured quantity: a ceiling, or with `floor` the least that will do."""

    what: str
    limit: float
    unit: str = ""
    floor: bool = False

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.floor else value <= self.limit

    def lines(self, values: dict[str, float]) -> list[str]:
        """One line with the worst of the named values, or a line for each that is outside."""
        if not values:
            return []
        sign = "≥" if self.floor else "≤"
        outside = [name for name in values if not self.holds(values[name])]
        worst = (min if self.floor else max)(values, key=values.__getitem__)
        verdict = "OVER  " if outside else "within"
        return [f"{verdict} budget: {self.what} {values[name]:,g}{self.unit} "
                f"({sign} {self.limit:,g}{self.unit})  {name}" for name in outside or [worst]]


def warn_if_busy() -> None:
    """Say when other work runs on this machine: it slows down whatever is timed."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > BUSY * cores:
        print(f"bench: the load of this machine is {load:.1f} on {cores} cores; "
              f"times will be too long, measure again when it is idle", flush=True)


def write(name: str, result: dict[str, Any]) -> Path:
    """Replace the result file of one script and say so."""
    file = records.write(name, result)
    print(f"bench: recorded in {relative(file)}")
    return file


def described(columns: list[dict[str, str]],
              tables: dict[str, tuple[str, str, Callable[[], list]]],
              **more: Any) -> dict[str, Any]:
    """The rows of each table with the columns and the conditions under which they were made.

    A table is (its name in Chinese, in English, what measures its rows), with one thread of torch.
    `more` is stored beside them.
    """
    import torch  # here: most scripts do without it

    load = os.getloadavg()[0]
    torch.set_num_threads(1)
    return {"machine": machine(), "torch": version("torch"), "threads": 1,
            "load": round(load, 1), "date": datetime.date.today().isoformat(),
            "columns": columns,
            "tables": {key: {"zh": zh, "en": en, "rows": rows()}
                       for key, (zh, en, rows) in tables.items()}, **more}


def run(name: str, make: Callable[[], dict[str, Any]], arguments: list[str] | None) -> int:
    """Print what `make` measures, and store it under `name` if that is asked for."""
    parser = argparse.ArgumentParser(description=f"measure {name}")
    parser.add_argument("--record", action="store_true", help="store the result")
    chosen = parser.parse_args(arguments)
    warn_if_busy()
    measured = make()
    for table in measured["tables"].values():
        print(table["en"])
        for row in table["rows"]:
            print("  ", row["en"], {k: v for k, v in row.items() if k not in ("zh", "en")})
    if chosen.record:
        write(name, measured)
    return 0
