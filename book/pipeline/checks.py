"""The checks behind `make check`, `make test` and `make test-core`, in order, each with its time.

    quick   before a commit: what is cheap, and what changed
    core    everything that needs no browser and no compiler
    all     everything, as CI runs it
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

from book.pipeline.paths import NOTEBOOKS, ROOT

PYTHON = sys.executable
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True)
class Step:
    """One command; `advice` says how to go on when it fails."""

    name: str
    command: list[str]
    advice: str
    groups: str = "quick core all"


def module(name: str, *arguments: str) -> list[str]:
    return [PYTHON, "-m", f"book.pipeline.{name}", *arguments]


def pytest(*arguments: str) -> list[str]:
    return [PYTHON, "-m", "pytest", *arguments]


WORKERS = ["-n", "2"]
NBVAL = [*NOTEBOOKS, "--nbval", "--nbval-current-env", *WORKERS, "--dist", "loadscope"]

STEPS = [
    Step("lint of Python", [PYTHON, "-m", "ruff", "check", "."], "mend what ruff names"),
    Step("lint of sections and cards", module("lint"), "mend the named lines"),
    Step("source references", module("sources"), "name another target"),
    Step("notebooks up to date", module("sync", "--check"), "run `make sync`"),
    Step("card results up to date", module("prove", "--check"), "run `make prove`"),
    Step("unit tests", pytest("-m", "not slow and not browser and not compiler", *WORKERS),
         "mend the failing test", "quick"),
    Step("proofs of all cards, and each negated assert turns its proof red",
         module("prove", "--verify", "--mutate"), "mend the card or its proof", "core all"),
    Step("unit tests", pytest("-m", "not browser and not compiler", *WORKERS),
         "mend the failing test", "core"),
    Step("unit tests", pytest("-m", "not browser", *WORKERS), "mend the failing test", "all"),
    Step("notebooks under nbval", pytest(*NBVAL), "mend the section, then `make sync`",
         "core all"),
    Step("site", module("site"), "mend what Sphinx names", "core all"),
    Step("pages in Chromium", pytest("-m", "browser", *WORKERS), "mend the page", "all"),
]


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


def main() -> int:
    group = sys.argv[1] if len(sys.argv) == 2 else ""
    if group not in ("quick", "core", "all"):
        sys.exit("checks: say which: quick, core or all")
    if group == "all" and (missing := missing_tools()):
        sys.exit(f"test: this machine lacks {', '.join(missing)}; install the package in brackets, "
                 "or run `make test-core`, which needs none of them")
    steps = [step for step in STEPS if group in step.groups.split()]
    started = time.perf_counter()
    for number, step in enumerate(steps, 1):
        run(step, f"[{number}/{len(steps)}]")
    print(f"All {len(steps)} steps passed in {time.perf_counter() - started:.0f} s.")
    return 0


def run(step: Step, label: str) -> None:
    print(f"{label} {step.name} …", flush=True)
    started = time.perf_counter()
    if subprocess.run(step.command, cwd=ROOT, env=os.environ, check=False).returncode:
        again = shlex.join(step.command).removeprefix(f"{ROOT}/")  # all run from the root
        sys.exit(f"{label} {step.name}: failed. To go on: {step.advice}, then run it again alone: "
                 f"{again}")
    print(f"{label} {step.name}: {time.perf_counter() - started:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
