"""The suite behind `make check`, `make test` and `make test-core`.

    quick   before a commit: what is cheap, and what changed
    core    everything that needs no browser and no compiler
    all     everything, as CI runs it

Three steps run side by side; a failure stops only what builds on it, and all failures are told at
the end. What passed is remembered until something changes that could make it fail:
`make test FRESH=1` runs everything, `DRY=1` nothing: it lists what would run, and why.
`make test ONLY="site pages"` runs these steps. `RECORD=1` stores how long each step took.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence

from book.pipeline.ground.paths import relative
from book.pipeline.suite import record
from book.pipeline.suite.lanes import FAILED, LOGS, SKIPPED, Lanes, Result, again, slowest, tests
from book.pipeline.suite.passed import BROWSERS
from book.pipeline.suite.steps import STEPS, Step

GROUPS = ("quick", "core", "all")


def missing_tools() -> list[str]:
    """What `make test` needs and this machine lacks, each with the Debian package that has it."""
    missing = []
    if not any(map(shutil.which, BROWSERS)):
        missing.append("a Chromium browser (chromium)")
    if not shutil.which("g++"):
        missing.append("a C++ compiler (g++)")
    fonts = subprocess.run(["fc-list", ":lang=zh"], capture_output=True, check=False).stdout \
        if shutil.which("fc-list") else b""
    if not fonts.strip() and sys.platform == "linux":
        missing.append("a Chinese font (fonts-noto-cjk)")
    return missing


def chosen(group: str, only: str = "") -> list[Step]:
    """The steps of a group; with `only` those named, and what they come after."""
    found = [step for step in STEPS if group in step.groups.split()]
    if not only:
        return found
    wanted = set(only.replace(",", " ").split())
    if not wanted:
        sys.exit(f"checks: ONLY={only!r} names no step")
    if unknown := wanted - {step.name for step in found}:
        sys.exit(f"checks: ONLY={only}: no step {', '.join(sorted(unknown))}; "
                 f"there are: {', '.join(step.name for step in found)}")
    for step in reversed(found):
        if step.name in wanted:
            wanted |= set(step.after)
    return [step for step in found if step.name in wanted]


def report(results: Sequence[Result], seconds: float) -> None:
    """The slowest tests, every failure with what it said, and the sum as the last line."""
    if slow := slowest(results):
        print("\nSlowest tests:", *(f"{taken:7.1f} s  {name}" for taken, name in slow), sep="\n")
    for result in results:
        if result.state in (FAILED, SKIPPED):
            print(f"\n──── {result.step.name}: {result.state} ────\n{result.output.strip()}\n")
            print(f"To go on: {result.step.advice}, then run it again alone: "
                  f"{again(result.step)}")
    print("\nSeconds of each step:",
          *(f"{result.seconds:7.1f} s  {result.step.name}: {result.state}" for result in results),
          sep="\n")
    failed = [result.step.name for result in results if result.state in (FAILED, SKIPPED)]
    print(f"\n{len(results) - len(failed)} of {len(results)} steps passed in {seconds:.0f} s"
          f"{'; not: ' + ', '.join(failed) if failed else ''}. Logs: {relative(LOGS)}")
    passed, broken = tests(results)
    print(f"{passed} passed, {broken} failed")


REMEMBERING = {"book.pipeline.suite.files", "book.pipeline.suite.remember"}


def list_what_runs(steps: Sequence[Step], lanes: Lanes) -> None:
    """Each step with the reason why it would run; nothing is run but the search for that."""
    for step in steps:
        if REMEMBERING.intersection(step.command):
            done = subprocess.run(step.command, cwd=lanes.root, env=os.environ | {"DRY": "1"},
                                  capture_output=True, text=True, check=False)
            print(f"{step.name}:", (done.stdout + done.stderr).strip(), flush=True)
        else:
            print(f"{step.name}: {lanes.why(step) or 'unchanged since it passed'}", flush=True)


def main() -> int:
    group = sys.argv[1] if len(sys.argv) == 2 else ""
    if group not in GROUPS:
        sys.exit("checks: say which: quick, core or all")
    steps = chosen(group, os.environ.get("ONLY", ""))
    if group == "all" and (missing := missing_tools()):
        sys.exit(f"test: this machine lacks {', '.join(missing)}; install the package in brackets, "
                 "or run `make test-core`, which needs none of them")
    started = time.perf_counter()
    lanes = Lanes(steps, fresh=bool(os.environ.get("FRESH")),
                  tell=lambda line: print(line, flush=True))
    if os.environ.get("DRY"):
        list_what_runs(steps, lanes)
        return 0
    results = lanes.run()
    seconds = time.perf_counter() - started
    report(results, seconds)
    if os.environ.get("RECORD") and group == "all" and not os.environ.get("ONLY"):
        record.store(results, seconds, lanes.fresh)
    return int(any(result.state in (FAILED, SKIPPED) for result in results))


if __name__ == "__main__":
    sys.exit(main())
