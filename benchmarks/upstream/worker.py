"""One file of tests, in a process of its own that imports it once; a line of JSON for each result.

    python -m benchmarks.upstream.worker CHECKOUT FILE LINES [NAME …]

FILE is a path in the checkout, or `opinfo`. LINES is the file to which the results are appended;
with NAMEs only the tests whose names contain one are run.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from benchmarks.upstream import dynamo, inductor, loading, opinfo
from benchmarks.upstream.checkout import INDUCTOR, OPINFO

SECONDS = "UPSTREAM_SECONDS"  # in the environment: another limit for each test


def results(root: Path, name: str, only: list[str]) -> Iterator[dict[str, Any]]:
    """Of each test or operator, in plain data."""
    limit = {"seconds": float(os.environ[SECONDS])} if SECONDS in os.environ else {}
    if name == OPINFO:
        for op in opinfo.operators():
            if chosen(opinfo.name_of(op), only):
                yield of_cases(opinfo.name_of(op), opinfo.run(op, **limit))
        return
    module = loading.load(root / name)
    found = loading.tests(module)
    if name == INDUCTOR:
        for test in inductor.tests_of(module, found):
            if chosen(loading.short(test), only):
                yield of_cases(loading.short(test), inductor.run(test, **limit))
        return
    for test in found:
        if chosen(loading.short(test), only):
            yield dynamo.row(test, loading.short(test), module, **limit)._asdict()


def chosen(name: str, only: list[str]) -> bool:
    return not only or any(part in name for part in only)


def of_cases(name: str, told: inductor.Told | str) -> dict[str, Any]:
    if isinstance(told, str):
        return {"test": name, "cases": [], "why": told}
    return {"test": name, "cases": [[kind, *verdict] for kind, verdict in told]}


def main() -> int:
    root, name, lines, *only = sys.argv[1:]
    del sys.argv[1:]  # PyTorch's tests read the command line
    lines = Path(lines).absolute()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="upstream_") as work:
        os.chdir(work)
        with lines.open("a", encoding="utf-8") as out:
            try:
                for one in results(Path(root).absolute(), name, only):
                    out.write(json.dumps(one) + "\n")
                    out.flush()
            except BaseException as error:
                why = f"{type(error).__name__}: {error}".splitlines()[0]
                out.write(json.dumps({"test": "", "why": why}) + "\n")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
