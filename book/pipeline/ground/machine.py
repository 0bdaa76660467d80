"""Which machine this is, as every record of a measurement names it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")


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
