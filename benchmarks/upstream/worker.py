"""One file of tests, in a process of its own that imports it once; a line of JSON for each result.

    python -m benchmarks.upstream.worker CHECKOUT PART FILE LINES [NAME …]

PART is a companion's: dynamo, compile, module, layers, index. FILE is a path in the checkout, or
`opinfo`. LINES is the file to which the results are appended; tests whose results are there already
are not run again. With NAMEs only the tests whose names contain one are run.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.upstream import dynamo, inductor, loading, opinfo
from benchmarks.upstream.checkout import INDUCTOR, OPINFO

SECONDS = "UPSTREAM_SECONDS"  # in the environment: another limit for each test


def results(root: Path, part: str, name: str, only: list[str],
            done: set[str]) -> Iterator[dict[str, Any]]:
    """Of each test or operator, in plain data."""
    for test, run in named(root, part, name):
        if test not in done and (not only or any(part in test for part in only)):
            yield run()


def named(root: Path, part: str,
          name: str) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """The name of each test of a file, and what runs it."""
    limit = {"seconds": float(os.environ[SECONDS])} if SECONDS in os.environ else {}
    if name == OPINFO:
        for op in opinfo.operators():
            yield opinfo.name_of(op), lambda op=op: of_cases(
                opinfo.name_of(op), opinfo.run(op, **limit))
        return
    if part not in ("dynamo", "compile"):
        from benchmarks.upstream import replaced  # here: it needs the package expecttest
        for short, run in replaced.runs(part, root / name, **limit):
            yield short, lambda run=run: run()._asdict()
        return
    module = loading.load(root / name)
    found = loading.tests(module)
    for test in inductor.tests_of(module, found) if name == INDUCTOR else found:
        short = loading.short(test)
        if name == INDUCTOR:
            yield short, lambda test=test, short=short: of_cases(short, inductor.run(test, **limit))
        else:
            yield short, lambda test=test, short=short: dynamo.row(
                test, short, module, **limit)._asdict()


def of_cases(name: str, told: inductor.Told | str) -> dict[str, Any]:
    if isinstance(told, str):
        return {"test": name, "cases": [], "why": told}
    return {"test": name, "cases": [[kind, *verdict] for kind, verdict in told]}


def main() -> int:
    root, part, name, lines, *only = sys.argv[1:]
    del sys.argv[1:]  # PyTorch's tests read the command line
    lines = Path(lines).absolute()
    done = {json.loads(line)["test"] for line in lines.read_text("utf-8").splitlines()} \
        if lines.exists() else set()
    torch.set_num_threads(1)
    parent = os.getppid()
    with tempfile.TemporaryDirectory(prefix="upstream_") as work, lines.open("a") as out:
        os.chdir(work)
        for one in results(Path(root).absolute(), part, name, only, done):
            out.write(json.dumps(one) + "\n")
            out.flush()
            if os.getppid() != parent:  # whoever started this was ended
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
