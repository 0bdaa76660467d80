"""What every measuring script says and stores alike: machine, budgets, result file."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book.pipeline.ground.paths import relative
from book.pipeline.state import records

CPUINFO = Path("/proc/cpuinfo")
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


def cpu_model() -> str:
    """The processor's name as its maker wrote it, else its architecture."""
    if CPUINFO.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", CPUINFO.read_text(), re.M)
        return found[1].strip() if found else platform.machine()
    if sys.platform == "darwin":
        return subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], check=True,
                              capture_output=True, text=True).stdout.strip()
    return platform.machine()


def system_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return f"{platform.system()} {platform.release()}"


def machine() -> str:
    """Processor, cores and system: what a timing depends on, and no name of the host."""
    return f"{cpu_model()}, {os.cpu_count()} cores, {system_name()}"


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
