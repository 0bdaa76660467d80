"""What capture costs: the first call by stages, and the guards of every later call (chapter 5).

    python -m benchmarks.capture_costs             measure and print, about three minutes
    python -m benchmarks.capture_costs --record    also store the result that the sections show

One thread. The first step (forward and backward) of a model under `torch.compile` runs in a process
of its own with empty caches; torch's own clocks split it. A check of the guards is timed in a loop,
and once more by torch's `profile_guard_manager`, which empties the processor's caches before it.
Each figure is a median of the rounds.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from statistics import median
from typing import Any

from benchmarks import report
from book.pipeline.ground.paths import ROOT

ROUNDS, CHECKS = 3, 2000
LAYERS = {"mlp": 0, "layers2": 2, "layers12": 12}
LABELS = {"mlp": ("两层 MLP", "an MLP of two layers"),
          "layers2": ("2 层 Transformer 编码器", "a Transformer encoder of 2 layers"),
          "layers12": ("12 层 Transformer 编码器", "a Transformer encoder of 12 layers")}
TABLES = {
    "first-call": ("训练的第一步", "The first training step", [
        {"key": "first", "zh": "第一步（秒）", "en": "first step (s)"},
        {"key": "dynamo", "zh": "Dynamo（秒）", "en": "Dynamo (s)"},
        {"key": "aot", "zh": "AOTAutograd（秒）", "en": "AOTAutograd (s)"},
        {"key": "inductor", "zh": "Inductor（秒）", "en": "Inductor (s)"},
        {"key": "later", "zh": "以后每步（秒）", "en": "a later step (s)"}]),
    "guard-checks": ("每次调用的守卫检查", "The check of the guards at each call", [
        {"key": "guards", "zh": "守卫数", "en": "guards"},
        {"key": "us", "zh": "检查一次（微秒）", "en": "one check (µs)"},
        {"key": "us_cold", "zh": "CPU 缓存清空后（微秒）", "en": "CPU caches emptied (µs)"},
        {"key": "us_less", "zh": "不查 torch.nn 的模块（微秒）",
         "en": "torch.nn's modules left out (µs)"}]),
}


def model_and_input(name: str) -> tuple[Any, Any]:
    """The model in training mode and a batch: (32, 64), or (4, 16, 64) for an encoder."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    if not LAYERS[name]:
        return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)), torch.randn(32, 64)
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, LAYERS[name]), torch.randn(4, 16, 64)


def first_call(name: str) -> dict[str, float]:
    """Seconds of the first step, of its stages and of a later step, in this process."""
    import torch
    from torch._dynamo.utils import get_compilation_metrics

    torch.set_num_threads(1)
    model, x = model_and_input(name)
    step = torch.compile(lambda batch: model(batch).square().mean())
    seconds = []
    for _ in range(4):
        begin = time.perf_counter()
        step(x).backward()
        seconds.append(time.perf_counter() - begin)
    found = get_compilation_metrics()

    def total(key: str) -> float:
        return sum(getattr(one, key) or 0 for one in found) / 1e6

    dynamo, aot, inductor, backward = (
        total(f"{stage}_cumulative_compile_time_us")
        for stage in ("dynamo", "aot_autograd", "inductor", "backward"))
    # each clock runs on in the stages below; backward is compiled by Inductor, when it first runs
    return {"first": seconds[0], "dynamo": dynamo - aot, "aot": aot + backward - inductor,
            "inductor": inductor, "later": median(seconds[1:])}


def guard_check(name: str) -> dict[str, float]:
    """How many guards an entry has, and microseconds of one check, with and without torch.nn's."""
    import torch
    from torch._C._dynamo.guards import profile_guard_manager
    from torch._dynamo.eval_frame import _debug_get_cache_entry_list

    torch.set_num_threads(1)
    model, x = model_and_input(name)

    def step(model: Any, batch: Any) -> Any:
        return model(batch)

    def checked(**options: Any) -> tuple[int, float, float]:
        torch._dynamo.reset()
        torch.compile(step, backend="eager", **options)(model, x)
        manager = _debug_get_cache_entry_list(step.__code__)[0].guard_manager
        lines = [line for line in str(manager).split("\n") if "+- " in line]
        values = {"model": model, "batch": x}
        begin = time.perf_counter()
        for _ in range(CHECKS):
            assert manager.root.check(values)
        us = (time.perf_counter() - begin) / CHECKS * 1e6
        cold = profile_guard_manager(manager.root, values, 50)
        return sum("GuardManager" not in line for line in lines), us, cold

    guards, us, cold = checked()
    skip = torch.compiler.skip_guard_on_inbuilt_nn_modules_unsafe
    return {"guards": guards, "us": us, "us_cold": cold,
            "us_less": checked(options={"guard_filter_fn": skip})[1]}


def measure(what: str, name: str, module: str = "capture_costs") -> dict[str, float]:
    """A measuring function's result in a fresh process whose compiler finds empty caches."""
    program = (f"import json; from benchmarks import {module} as m; "
               f"print(json.dumps(m.{what}({name!r})))")
    with tempfile.TemporaryDirectory() as caches:
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False,
                              capture_output=True, text=True,
                              env=os.environ | {"TORCHINDUCTOR_CACHE_DIR": caches})
    if done.returncode:
        sys.exit(f"{done.stderr}\nbench: {what} of {name} failed; the reason stands above")
    return json.loads(done.stdout.splitlines()[-1])


def row(table: str, name: str, rounds: int) -> dict[str, Any]:
    """The medians of one model for one table."""
    what = {"first-call": "first_call", "guard-checks": "guard_check"}[table]
    found = [measure(what, name) for _ in range(rounds)]
    medians = {key: round(median(one[key] for one in found), 4) for key in found[0]}
    print(name, medians, flush=True)
    zh, en = LABELS[name]
    return {"key": name, "zh": zh, "en": en} | medians


def result(table: str, rounds: int) -> dict[str, Any]:
    """One table as it is recorded."""
    load = round(os.getloadavg()[0], 2)
    zh, en, columns = TABLES[table]
    rows = [row(table, name, rounds) for name in LAYERS]
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "threads": 1, "load": load,
            "date": datetime.date.today().isoformat(), "columns": columns,
            "tables": {table: {"zh": zh, "en": en, "rows": rows}}}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="what capture and guards cost")
    parser.add_argument("--record", action="store_true", help="store the result")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args(arguments)
    report.warn_if_busy()
    for table in TABLES:
        measured = result(table, chosen.rounds)
        if chosen.record:
            report.write(table, measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
