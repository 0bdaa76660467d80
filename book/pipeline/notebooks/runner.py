"""Runs notebooks without Jupyter, each in a process of its own, and compares like nbval.

Streams are compared whole; results by MIME type, all but PNG, JPEG and widget ids; an error by
its name and text, where the cell is tagged `raises-exception`. Anything on stderr is a failure.
The device of a tensor is left out on both sides.
"""

from __future__ import annotations

import difflib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import kernel, on_device
from book.pipeline.proofs import forks, trial

NOT_COMPARED = "nbval-ignore-output"
RAISES = "raises-exception"
SKIPPED = ("image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json")
NOT_BEGUN = "was not begun when the time was over"
NOT_DONE = "was not done when the time was over"
Texts = dict[str, list[str]]
Done = tuple[list[dict[str, Any]], int | None, str]


@dataclass(frozen=True)
class Finding:
    """A cell that failed or did not run: where, why, and what to read on it."""

    place: str
    reason: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


@dataclass
class Result:
    """How a notebook went; `cells` counts all its code cells."""

    name: str
    cells: int
    failed: list[Finding] = field(default_factory=list)
    not_run: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        parts = [f"{self.cells} cells"]
        parts += [f"{len(self.failed)} failed"] if self.failed else []
        parts += [f"{len(self.not_run)} not run"] if self.not_run else []
        return f"{self.name}: {', '.join(parts)}, {self.seconds:.1f} s"


def run(path: Path, name: str, run_only: Set[str], end: float,
        environment: Mapping[str, str] | None = None) -> Result:
    """Run a notebook until `end` (of time.monotonic) at the latest.

    Outputs of cells that have a tag of `run_only` are not compared. A notebook that cannot be
    read has failed; nothing is raised.
    """
    started = time.monotonic()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        return Result(name, 0, [Finding(name, f"is not JSON ({error}); run `make sync`")])
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    result = Result(name, len(cells))
    if started > end:
        result.failed.append(Finding(name, NOT_BEGUN))
        return result
    _run_cells(path, cells, run_only, end, environment, result)
    result.seconds = time.monotonic() - started
    return result


def _run_cells(path: Path, cells: list[Mapping[str, Any]], run_only: Set[str], end: float,
               environment: Mapping[str, str] | None, result: Result) -> None:
    """Run the cells and add to the result which failed, which did not run."""
    sources = [_joined(cell["source"]) for cell in cells]
    done, status, stderr = execute(path.parent, sources, end - time.monotonic(),
                                   environment)
    for number, (cell, fresh) in enumerate(zip(cells, done, strict=False), 1):
        place = f"{result.name} cell {number}"
        if fresh["missing"]:
            result.not_run.append(Finding(place, fresh["missing"]))
        else:
            _judge(cell, fresh["outputs"], run_only, place, result)
    if len(done) < len(cells):
        place, left = f"{result.name} cell {len(done) + 1}", len(cells) - len(done) - 1
        result.failed.append(Finding(place, f"{_how(status)}; {left} cells after it did not run",
                                     stderr))


def execute(cwd: Path, sources: list[str], limit: float,
            environment: Mapping[str, str] | None = None) -> Done:
    """Results of the cells that came to their end, exit status (None: too late), stderr."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        trial.prepare(Path(folder), {"cells": sources, "cwd": str(cwd.resolve()),
                                     "packages": sorted(known_packages())})
        return _execute(Path(folder), limit, environment)


def _execute(folder: Path, limit: float, environment: Mapping[str, str] | None) -> Done:
    process = subprocess.Popen([sys.executable, "-m", kernel.__name__, str(folder)], cwd=ROOT,
                               env=environment, stdin=subprocess.DEVNULL, start_new_session=True)
    status = forks.await_end(process.poll, process.pid, max(limit, 0))
    results, err = folder / "results.jsonl", folder / "err"
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    stderr = err.read_text(encoding="utf-8", errors="replace") if err.exists() else ""
    return [json.loads(line) for line in lines], status, stderr


def _how(status: int | None) -> str:
    if status is None:
        return NOT_DONE
    if status < 0:
        return f"the process was killed by {signal.Signals(-status).name}"
    return f"the process left with exit status {status}"


def _judge(cell: Mapping[str, Any], outputs: list[dict[str, Any]], run_only: Set[str],
           place: str, result: Result) -> None:
    """Add what is wrong with a cell that ran to the result of its notebook."""
    tags, fresh = set(cell["metadata"].get("tags", [])), texts(outputs)
    if written := fresh.pop("stderr", None):
        result.failed.append(Finding(place, "writes to stderr", *written))
    if "ename" in fresh and RAISES not in tags:
        error = f"{fresh['ename'][0]}: {fresh['evalue'][0]}"
        result.failed.append(Finding(place, error.splitlines()[0], error))
        return
    stored = texts(cell["outputs"])
    kinds = [kind for kind in stored | fresh if stored.get(kind) != fresh.get(kind)]
    if not kinds or tags & (run_only | {NOT_COMPARED}):
        return
    types = [output["laid_out"] for output in outputs if "laid_out" in output]
    if types and kinds == ["text/plain"]:
        reason = f"ran, not compared: IPython, which is not installed, lays out a {types[0]}"
        result.not_run.append(Finding(place, reason))
        return
    differences = (_difference(kind, stored.get(kind, []), fresh.get(kind, [])) for kind in kinds)
    result.failed.append(Finding(place, f"{', '.join(kinds)} differs", "\n".join(differences)))


def texts(outputs: Iterable[Mapping[str, Any]]) -> Texts:
    """What is compared of outputs, by stream, MIME type and part of an error."""
    found: Texts = {}
    for kind, text in _parts(outputs):
        text = on_device.sanitized(text)
        if kind in ("stdout", "stderr") and kind in found:
            found[kind] = [found[kind][0] + text]
        else:
            found.setdefault(kind, []).append(text)
    return found


def _parts(outputs: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for output in outputs:
        if output["output_type"] == "stream":
            yield output["name"], _joined(output["text"])
        elif output["output_type"] == "error":
            yield from ((key, output[key]) for key in ("ename", "evalue"))
        else:
            yield from ((mime, _joined(text)) for mime, text in output["data"].items()
                        if mime not in SKIPPED)


def _joined(text: str | list[str]) -> str:
    """A text as files of notebooks hold it: whole, or as a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def _difference(kind: str, stored: list[str], fresh: list[str]) -> str:
    old, new = ("\n".join(texts).splitlines() for texts in (stored, fresh))
    return "\n".join(difflib.unified_diff(old, new, f"{kind} stored", f"{kind} here", lineterm=""))


def known_packages() -> set[str]:
    """Modules, in lower case, that the book's own environment has: a typo is none of them."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    return {name.lower().replace("-", "_") for name in re.findall(r"^([\w.-]+)==", lines, re.M)}
