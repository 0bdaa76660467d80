"""`make upstream`: PyTorch's own tests on the companions; the package's docstring says how."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.upstream import checkout, differences, table
from benchmarks.upstream.checkout import PARTS, Checkout, NoCheckout
from book.pipeline.ground import digests
from book.pipeline.ground.paths import ROOT
from book.pipeline.state import records

KEPT = ROOT / "_build" / "upstream"  # results of a run that was stopped, or did not end well


def results(found: Checkout, part: str, names: list[str],
            not_run: list[str]) -> Iterator[dict[str, Any]]:
    """What became of each test of a part; a process for each file."""
    kept = kept_of(found, part, names)
    kept.mkdir(parents=True, exist_ok=True)
    for file in found.files(part):
        started = time.perf_counter()
        rows, why = of_file(found, part, file, names, kept / Path(file).stem)
        yield from rows
        counts = Counter(row.get("outcome") or outcome for row in rows
                         for outcome in ([""] if "outcome" in row else
                                         [case[1] for case in row["cases"]]))
        told = ", ".join(f"{outcome} {n}" for outcome, n in counts.most_common())
        print(f"{file:44} {time.perf_counter() - started:6.0f} s  {told}", flush=True)
        if why:
            not_run.append(f"NOT RUN {file}: {why}")


def kept_of(found: Checkout, part: str, names: list[str]) -> Path:
    """Where the results of a run lie: of this checkout, these scripts and this companion."""
    measured = records.RECORDS[f"upstream-{part}"].subject()
    return KEPT / digests.of_value([str(found.root), found.version, measured, *names])[:16]


def of_file(found: Checkout, part: str, file: str, names: list[str],
            lines: Path) -> tuple[list[dict[str, Any]], str]:
    """The rows of a file of tests, and why it ended before its end; `lines` keeps them."""
    lines.touch()
    with tempfile.TemporaryDirectory(prefix="upstream_") as work:
        environment = {
            **os.environ, "OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "TORCHINDUCTOR_CACHE_DIR": f"{work}/inductor", "MINI_COMPILE_CACHE": f"{work}/mini",
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        done = subprocess.run([sys.executable, "-m", "benchmarks.upstream.worker",
                               str(found.root), part, file, str(lines), *names], check=False,
                              env=environment, capture_output=True, text=True, errors="replace")
    rows = {row["test"]: row for row in map(json.loads, lines.read_text("utf-8").splitlines())}
    why = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
    return [*rows.values()], why if done.returncode else ""


def measured(part: str, found: Checkout, rows: list[dict[str, Any]]) -> dict:
    """What is stored."""
    return {"machine": report.machine(), "python": platform.python_version(),
            "torch": version("torch"), "checkout": found.version, "threads": 1,
            "date": datetime.date.today().isoformat(),
            "loops": sum(case[3] for row in rows for case in row.get("cases", ())),
            **table.of_part(part, rows, found.version), "failures": table.failures(rows)}


def show(result: dict[str, Any]) -> None:
    for one in result["tables"].values():
        print(f"\n{one['en']}")
        for row in one["rows"]:
            numbers = "".join(f"{row[column['key']]:8}" for column in result["columns"])
            print(f"  {row['en']:48}{numbers}")
    if result["loops"]:
        print(f"loops of mini_compile: {result['loops']}")
    for one in result["failures"]:
        print(f"  {one['test']}: {one['how']}")


def run(part: str, found: Checkout, record: bool, names: list[str]) -> int:
    """One of the companions; exit status 1 if something differs that isn't listed, or
    a file of tests could not be run."""
    not_run: list[str] = []
    rows = list(results(found, part, names, not_run))
    result = measured(part, found, rows)
    show(result)
    wrong = [*not_run, *table.unlisted(rows, differences.LISTED[part])]
    print(*wrong, sep="\n")
    if not wrong:
        shutil.rmtree(kept_of(found, part, names))
    if record and (names or not_run):
        print("upstream: not all tests were run, so nothing is recorded")
    elif record:
        report.write(f"upstream-{part}", result)
    return int(bool(wrong))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="make upstream", description="PyTorch's own tests on "
                                     "companions of the book")
    parser.add_argument("--checkout", default="", help="a folder with PyTorch's source")
    parser.add_argument("--only", choices=PARTS, help="one of the companions")
    parser.add_argument("--record", action="store_true", help="store the results")
    parser.add_argument("names", nargs="*", help="only tests whose names contain one of these")
    chosen = parser.parse_args(arguments)
    parts = (chosen.only,) if chosen.only else PARTS
    try:
        found = checkout.find(chosen.checkout, parts)
        return max(run(part, found, chosen.record, chosen.names) for part in parts)
    except NoCheckout as error:
        sys.exit(f"upstream: {error}")


if __name__ == "__main__":
    sys.exit(main())
