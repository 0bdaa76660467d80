"""Run all notebooks and proofs with another torch, in an environment of its own.

    python -m book.pipeline.other_torch 2.11.0             which claims still hold there?
    python -m book.pipeline.other_torch 2.11.0 --record    also store the result for the status page

Outputs of cells tagged `pinned-torch` and stored card results are run there, not compared.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from book.pipeline.environment import WANTED
from book.pipeline.ground.paths import NOTEBOOKS, RESULTS, ROOT, write_atomic
from book.pipeline.notebooks import under_nbval
from book.pipeline.state import records

RECORD = RESULTS / "torch-versions.json"
TORCH = re.compile(r"^torch==\S+", re.M)


def environment(version: str) -> Path:
    """The Python of `.venv-torch-VERSION`, installed on first use (a CUDA torch is gigabytes)."""
    venv = ROOT / f".venv-torch-{version}"
    python = venv / "bin" / "python"
    if (venv / ".done").exists():
        return python
    print(f"test-torch: installing torch {version} into {venv.name} …", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    for name in (*WANTED.values(), "constraints.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        (venv / name).write_text(TORCH.sub(f"torch=={version}", text), encoding="utf-8")
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "-r", "requirements.txt", "-c", "constraints.txt"]
    if index := os.environ.get("TORCH_INDEX"):
        command += ["--extra-index-url", index]
    if subprocess.run(command, cwd=venv, check=False).returncode:
        sys.exit(f"test-torch: torch {version} could not be installed; its messages stand above")
    (venv / ".done").touch()
    return python


def run_notebooks(python: Path) -> dict:
    """{cells, failed: [notebook and cell]} of nbval over all notebooks."""
    result = under_nbval.run(str(python), NOTEBOOKS, workers=2)
    return {"cells": result.cells, "failed": [finding.place for finding in result.failed]}


def run_proofs(python: Path) -> dict:
    """{proved, failed: [line of the prover]} of all cards; a red card leaves the others counted."""
    done = subprocess.run([str(python), "-m", "book.pipeline.prove", "--verify",
                           "--self-test", "none"], cwd=ROOT, check=False, capture_output=True,
                          text=True)
    print(done.stdout, done.stderr, sep="")
    proved = re.search(r"(\d+) of \d+ cards proved", done.stdout)
    failed = re.findall(r"^chapters/.*$", done.stderr, re.M)
    if done.returncode and not failed:  # the prover itself did not come to its end
        failed = ["cards: " + (done.stderr.strip().splitlines() or ["no message"])[-1]]
    return {"proved": int(proved[1]) if proved else 0, "failed": failed}


def record(version: str, result: dict) -> None:
    """Keep the newest result of each torch."""
    results = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    results[version] = result
    RESULTS.mkdir(parents=True, exist_ok=True)
    write_atomic(RECORD, json.dumps(dict(sorted(results.items())), indent=1) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description="notebooks and proofs under another torch")
    parser.add_argument("version", help="a release of torch, such as 2.11.0")
    parser.add_argument("--record", action="store_true", help="store the result")
    options = parser.parse_args()
    started = time.perf_counter()
    python = environment(options.version)
    result = {"notebooks": run_notebooks(python), "cards": run_proofs(python),
              "python": platform.python_version(), "machine": platform.machine(),
              "date": datetime.date.today().isoformat(), "measured": records.whole_book(ROOT)}
    failed = result["notebooks"]["failed"] + result["cards"]["failed"]
    print(*failed, sep="\n")
    print(f"torch {options.version}: {result['notebooks']['cells']} cells, "
          f"{result['cards']['proved']} cards proved, {len(failed)} failures, "
          f"{time.perf_counter() - started:.0f} s")
    if options.record:
        record(options.version, result)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
