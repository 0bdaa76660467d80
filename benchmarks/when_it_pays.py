"""Whether compiling pays: the tables of chapter 5, "When does it pay?".

    python -m benchmarks.when_it_pays             measure and print, about five minutes
    python -m benchmarks.when_it_pays --record    also store the results that the section shows

One thread, Inductor with its default settings, which needs a C++ compiler. Each workload of
`code/pays_workloads.py` runs in fresh processes that share a cache folder of their own: the first
finds it empty (cold), three more find what it left (warm). Before a compiled call is timed, eager
mode has run and its results are kept; the compiled ones must be close to them. Steady times are
medians of rounds in which eager and compiled calls alternate, in a warm process. A row shows the
process whose speed-up is the middle one, and keeps the lowest and the highest. The product of two
matrices is the control: it is the same call in both, so what differs there is error. A speed-up
counts only where every process found more than 1.1, otherwise there are no break-even counts.
Where there is a GPU, all of it is measured there as well and stored as `when-it-pays-cuda`: every
clock is read after `torch.cuda.synchronize`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import logging
import math
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from statistics import median
from typing import Any

from benchmarks import report
from book.pipeline.ground.paths import CODE, ROOT

sys.path.insert(0, str(CODE))
from pays_workloads import LIBRARY, WORKLOADS

ROUNDS, SAMPLE = 21, 0.02  # rounds; seconds of a sample, so that the clock's own steps don't count
PROCESSES = 3  # an odd number, so that one of them is in the middle
NOISE = 1.1  # a speed-up up to here is not told from 1 on a machine that does other things too
RECORD = {"cpu": "when-it-pays", "cuda": "when-it-pays-cuda"}
COLUMNS = [
    {"key": "eager", "zh": "eager（毫秒）", "en": "eager (ms)"},
    {"key": "compiled", "zh": "编译后（毫秒）", "en": "compiled (ms)"},
    {"key": "factor", "zh": "加速比", "en": "speed-up"},
    {"key": "cold", "zh": "首次调用，无缓存（秒）", "en": "first call, cold (s)"},
    {"key": "warm", "zh": "首次调用，有缓存（秒）", "en": "first call, warm (s)"},
    {"key": "even_cold", "zh": "几次回本，无缓存", "en": "break-even calls, cold"},
    {"key": "even_warm", "zh": "几次回本，有缓存", "en": "break-even calls, warm"},
    {"key": "library", "zh": "eager 花在库上（%）", "en": "eager in libraries (%)"}]


# ---------------------------------------------------------------- in a process of its own
def clock(device: str) -> float:
    """Seconds, read when the device has finished what it was given."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()
    return time.perf_counter()


def seconds(call: Callable[[], Any], device: str, times: int = 1) -> float:
    """Mean seconds of a call, over `times` in a row."""
    begin = clock(device)
    for _ in range(times):
        call()
    return (clock(device) - begin) / times


def workload(name: str, device: str, rounds: int) -> dict[str, float]:
    """Seconds of the first compiled call and, for rounds > 0, medians in steady state."""
    import torch

    logging.getLogger("torch").setLevel(logging.CRITICAL)
    torch.set_num_threads(1)
    fn, run = WORKLOADS[name].prepare(device)
    expected = [one.clone() for one in run(fn)]
    seconds(lambda: run(fn), device, 3)
    fn, run = WORKLOADS[name].prepare(device)  # as it was, for workloads that change their tensors
    compiled = torch.compile(fn)
    begin = clock(device)
    results = run(compiled)
    first = clock(device) - begin
    torch.testing.assert_close(results, expected, rtol=1e-4, atol=1e-5)
    if not rounds:
        return {"first": first}
    calls = {"eager": lambda: run(fn), "compiled": lambda: run(compiled)}
    times = alternating(calls, device, rounds)
    found = {key: round(1e3 * value, 5) for key, value in times.items()}
    return found | {"first": first, "library": library(calls["eager"], device)} | {
        f"faults_{key}": faults(call) for key, call in calls.items()}


def alternating(calls: dict[str, Callable], device: str, rounds: int) -> dict[str, float]:
    """Median seconds of each call; the calls take turns, so that a busy spell hits them all."""
    times = {key: max(1, math.ceil(SAMPLE / seconds(call, device, 5)))
             for key, call in calls.items()}
    found: dict[str, list[float]] = {key: [] for key in calls}
    for _ in range(rounds):
        for key, call in calls.items():
            found[key].append(seconds(call, device, times[key]))
    return {key: median(values) for key, values in found.items()}


def faults(call: Callable[[], Any], times: int = 9) -> int:
    """Memory pages that the system has to provide anew for a call, the median of some."""
    counts = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        call()
        counts.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    return int(median(counts))


def library(call: Callable[[], Any], device: str) -> float:
    """Percent of an eager call's whole time, measured without the profiler, spent in libraries.

    Those are matrix products and attention; the profiler says how long they take.
    """
    from torch.profiler import ProfilerActivity, profile

    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if device == "cuda" else [])]
    own = "self_device_time_total" if device == "cuda" else "self_cpu_time_total"
    shares = []
    for _ in range(5):
        whole = 1e6 * seconds(call, device, 5)
        with profile(activities=activities) as seen:
            seconds(call, device, 5)
        ours = sum(getattr(each, own) for each in seen.key_averages()
                   if each.key.startswith("aten::")
                   and each.key.removeprefix("aten::").startswith(LIBRARY)) / 5
        shares.append(min(100.0, 100 * ours / whole))
    return round(median(shares), 1)


def copying(device: str) -> dict[str, float]:
    """GB/s of a copy, bytes read and bytes written together, between tensors of 256 MiB."""
    import torch

    torch.set_num_threads(1)
    source = torch.ones(2**26, device=device)
    target = torch.ones_like(source)
    best = median(seconds(lambda: target.copy_(source), device) for _ in range(9))
    return {"copy": round(2 * source.nbytes / best / 1e9, 1)}


# ---------------------------------------------------------------- around them
def measure(call: str, caches: str) -> dict[str, float]:
    """What a function of this file returns in a fresh process with these caches."""
    program = f"import json; from benchmarks import when_it_pays as w; print(json.dumps(w.{call}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False,
                          capture_output=True, text=True,
                          env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": caches})
    if done.returncode:
        sys.exit(f"{done.stderr}\nbench: {call} failed; the reason stands above")
    return json.loads(done.stdout.splitlines()[-1])


def break_even(first: float, eager: float, compiled: float) -> int | None:
    """The fewest calls whose total is no longer than eager's; None if there is no such number.

    `first` in seconds, the others in milliseconds; the first call is one of those counted.
    """
    if compiled >= eager:
        return None
    return max(1, math.ceil((1e3 * first - compiled) / (eager - compiled)))


def row(name: str, device: str, rounds: int) -> dict[str, Any]:
    """One workload, as it is recorded; without break-even counts where the gain may be noise."""
    with tempfile.TemporaryDirectory() as caches:
        cold = measure(f"workload({name!r}, {device!r}, 0)", caches)["first"]
        runs = sorted((measure(f"workload({name!r}, {device!r}, {rounds})", caches)
                       for _ in range(PROCESSES)), key=lambda one: one["eager"] / one["compiled"])
    found = runs[len(runs) // 2]
    eager, compiled, warm = found["eager"], found["compiled"], found["first"]
    spread = [round(one["eager"] / one["compiled"], 3) for one in (runs[0], runs[-1])]
    even = {"even_cold": break_even(cold, eager, compiled),
            "even_warm": break_even(warm, eager, compiled)} if spread[0] > NOISE else {}
    made = {"key": name, "zh": WORKLOADS[name].zh, "en": WORKLOADS[name].en,
            "eager": eager, "compiled": compiled, "factor": round(eager / compiled, 3),
            "spread": spread, "cold": round(cold, 2), "warm": round(warm, 2),
            "library": found["library"], "faults_eager": found["faults_eager"],
            "faults_compiled": found["faults_compiled"]}
    made |= even
    print(f"  {made['en']:40}", {key: made[key] for key in list(made)[3:]}, flush=True)
    return made


def result(device: str, rounds: int) -> dict[str, Any]:
    """All workloads on one device, as they are recorded; `inside.recorded` shows them."""
    load, machine = os.getloadavg()[0], report.machine()
    if device == "cuda":
        import torch

        machine = f"{torch.cuda.get_device_name()}; {machine}"
    with tempfile.TemporaryDirectory() as caches:
        copy = measure(f"copying({device!r})", caches)["copy"]
    rows = [row(name, device, rounds) for name in WORKLOADS]
    return {"machine": machine, "python": platform.python_version(), "torch": version("torch"),
            "threads": 1, "load": round(load, 1), "date": datetime.date.today().isoformat(),
            "copy_gb_s": copy, "columns": COLUMNS,
            "tables": {device: {"zh": {"cpu": "CPU", "cuda": "GPU"}[device],
                                "en": {"cpu": "CPU", "cuda": "GPU"}[device], "rows": rows}}}


def devices() -> list[str]:
    """Where this machine can measure."""
    import torch

    return ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="whether compiling pays")
    parser.add_argument("--record", action="store_true", help="store the results")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--device", choices=list(RECORD), help="measure there alone")
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    for device in [chosen.device] if chosen.device else devices():
        print(device)
        measured = result(device, chosen.rounds)
        if chosen.record:
            report.write(RECORD[device], measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
