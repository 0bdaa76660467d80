"""Whether this machine is quiet enough to time something on it.

The load average does not say: it remembers for a minute what has just ended, a benchmark of our
own for example. So one loop runs on each core at the same time, for as much processor time as
`LOOP`; where others want the processors too, it takes longer on the clock. Who they are is read
from /proc, where there is one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

PROC = Path("/proc")
LOOP = 0.5  # seconds of processor time
SHARE = 0.9  # of a core that each loop must get
TICKS = os.sysconf("SC_CLK_TCK")
SPIN = f"""import time
start, began = time.process_time(), time.perf_counter()
while time.process_time() < start + {LOOP}: pass
print(time.perf_counter() - began)"""


def busy() -> str:
    """What keeps this machine busy, in a line; "" on a quiet one."""
    before, began = processor_times(), time.perf_counter()
    share = reference()
    if share >= SHARE:
        return ""
    line = f"a loop on each of {os.cpu_count()} cores gets {share:.0%} of one"
    return f"{line}; {name}" if (name := busiest(before, time.perf_counter() - began)) else line


def reference() -> float:
    """The least share of a core that one of as many loops as there are cores gets."""
    loops = [subprocess.Popen([sys.executable, "-S", "-c", SPIN], stdout=subprocess.PIPE, text=True)
             for _ in range(os.cpu_count() or 1)]
    return min(LOOP / float(loop.communicate()[0]) for loop in loops)


def processor_times() -> dict[int, tuple[str, float]]:
    """Process id -> its name and the processor time that it has used; those that may be read."""
    found = {}
    for file in PROC.glob("[0-9]*/stat"):
        try:
            name, _, rest = file.read_text().partition("(")[2].rpartition(")")
        except OSError:  # it has ended
            continue
        user, system = rest.split()[11:13]
        found[int(file.parent.name)] = name, (int(user) + int(system)) / TICKS
    return found


def busiest(before: dict[int, tuple[str, float]], seconds: float) -> str:
    """The other process that used most since; "" where none shows, as from inside a container."""
    used = {pid: (now - before[pid][1], name) for pid, (name, now) in processor_times().items()
            if pid in before and pid != os.getpid()}
    most, pid = max(((taken, pid) for pid, (taken, _) in used.items()), default=(0, 0))
    return f"{used[pid][1]} (process {pid}) keeps {most / seconds:.1f} busy" if most else ""
