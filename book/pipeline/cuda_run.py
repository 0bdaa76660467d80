"""Run all notebooks, and the proofs of cards, on this machine's GPU, in the current environment.

    python -m book.pipeline.cuda_run                 which claims hold on this GPU?
    python -m book.pipeline.cuda_run --record        also store the result for the status page
    python -m book.pipeline.cuda_run --device rehearsal   without a GPU: on a device made for that
    python -m book.pipeline.cuda_run --device cpu    without a GPU: only that everything runs

Notebooks run under nbval, with BOOK_DEVICE set, so that their tensors live on the device. What
nbval needs and is not installed goes into `.venv-cuda`, which sees the packages of the current
environment; without a network, notebooks are run by a plain runner that needs torch and PyYAML
only and lists a cell whose package is absent as not run. Cells tagged `pinned-torch` are run, and
compared under the pinned torch and Python only; those tagged `cuda` differ on a GPU by intent and
are run, as are those tagged `rehearsal` on that device. Of the cards, proofs that need a processor
or a GPU are run. What is not done after 7 minutes (or --minutes) has failed.

Exit status: 0 nothing failed, 1 something failed, 2 it could not run.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import Any

from book.pipeline.cards.book import Book, Card, load
from book.pipeline.ground.paths import NOTEBOOKS, RESULTS, ROOT, write_atomic
from book.pipeline.notebooks import on_device, rehearsal, runner, under_nbval
from book.pipeline.notebooks.notebook import ENVIRONMENT, outputs_are_pinned_here
from book.pipeline.notebooks.runner import NOT_BEGUN, Finding, known_packages
from book.pipeline.proofs.forks import Outcome, Trials, TrialsError
from book.pipeline.proofs.prover import Prover
from book.pipeline.state import records

try:
    import jsonschema
except ImportError:
    jsonschema = None

RECORD = RESULTS / "cuda.json"
MINUTES = 7.0  # on a GPU, one less than the 8 that are promised: stuck processes take time to end
NEEDS = ("cpu", "cuda")  # cards of other classes need a compiler or several processes
NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)'")


class CannotRunError(Exception):
    """There is nothing to run on; the message is for the user."""


class TimedTrials:
    """Trials that all end soon after `end` (of time.monotonic)."""

    def __init__(self, trials: Trials, end: float) -> None:
        self.trials = trials
        self.end = end

    def run(self, *program: Any, limit: float, **more: Any) -> Outcome:
        left = max(self.end - time.monotonic(), 1.0)
        return self.trials.run(*program, limit=min(limit, left), **more)


@dataclass
class Proved:
    """How the cards of a chapter went."""

    proved: int = 0
    failed: list[Finding] = field(default_factory=list)
    not_run: list[Finding] = field(default_factory=list)


def machine(device: str) -> dict[str, str | None]:
    """{gpu, torch, cuda, python} of this environment; `gpu` is None on the CPU.

    Raises CannotRunError where there is no torch, or no GPU and one is asked for.
    """
    if device != "cuda":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # for the processes of notebooks and proofs too
    try:
        import torch
    except ImportError:
        raise CannotRunError(f"{sys.executable} has no torch; install it there or name another "
                             "Python: make test-cuda PYTHON=…") from None
    if device == "cuda" and not torch.cuda.is_available():
        raise CannotRunError(f"torch {torch.__version__} sees no CUDA device; to rehearse the run "
                             "without one: make test-cuda DEVICE=rehearsal")
    return {"gpu": torch.cuda.get_device_name() if device == "cuda" else None,
            "torch": torch.__version__, "cuda": torch.version.cuda,
            "python": platform.python_version()}


def prove(cards: list[Card], gpu: bool, end: float, trials: Trials) -> Proved:
    """Run the proofs of some cards one after another."""
    result, prover = Proved(), Prover(TimedTrials(trials, end))
    for card in cards:
        place = f"{card.file} card '{card.id}'"
        if card.needs == "cuda" and not gpu:
            result.not_run.append(Finding(place, "needs a GPU"))
        elif time.monotonic() > end:
            result.failed.append(Finding(place, NOT_BEGUN))
        else:
            _prove(card, prover, place, result)
    return result


def _prove(card: Card, prover: Prover, place: str, result: Proved) -> None:
    try:
        problems = [problem.text for problem in prover.prove(card).problems]
    except TrialsError as error:
        problems = [str(error)]
    named = {name for problem in problems for name in NO_MODULE.findall(problem)}
    if absent := sorted(name for name in named if name.lower() in known_packages()):
        text = f"needs {', '.join(absent)}, which is not installed"
        result.not_run.append(Finding(place, text))
    elif problems:
        result.failed.append(Finding(place, problems[0], "\n".join(problems)))
    else:
        result.proved += 1


def environment(device: str) -> dict[str, str]:
    """Variables for the processes of notebooks: their tensors live on `device`.

    Raises CannotRunError where the rehearsal device cannot be built.
    """
    if device != rehearsal.NAME:
        return {**os.environ, **ENVIRONMENT, "BOOK_DEVICE": device}
    try:
        return rehearsal.environment()
    except rehearsal.CannotBuildError as error:
        raise CannotRunError(str(error)) from None


def run(root: Path, device: str, workers: int, python: str | None = None,
        minutes: float = MINUTES) -> dict[str, Any]:
    """Run everything below `root` for at most `minutes`: {runner, cells, failed, not_run, cards}.

    `python` has nbval; without it, notebooks are run by the plain runner, which says how each
    went. `failed` and `not_run` hold Findings. Raises CannotRunError where nothing can be read.
    """
    book, problems = load(root, schema=jsonschema is not None)
    if problems:
        raise CannotRunError(f"cards cannot be read: {problems[0]}")
    paths = list(notebook_files(root))
    if not paths:
        raise CannotRunError(f"no notebook lies in {' or '.join(NOTEBOOKS)} of {root}")
    seconds = 60 * minutes
    variables, end = environment(device), time.monotonic() + seconds
    with Trials(lanes=workers) as trials, ThreadPoolExecutor(workers) as pool:
        if python:
            names = [str(path) for path in paths]
            notebooks = [pool.submit(under_nbval.run, python, names, workers, seconds, variables,
                                     forked=device != "cuda")]
        else:
            notebooks = _submit_plain(pool, root, paths, device, end, variables)
        proofs = [] if device == rehearsal.NAME else _submit_proofs(
            pool, book, device == "cuda", end, trials)  # cards are about the CPU, or about a GPU
        try:
            for done in as_completed(notebooks):
                if not python:
                    print(done.result(), flush=True)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)  # what is under way ends, no more begins
            raise
    return {"runner": "nbval" if python else "plain",
            **_together([job.result() for job in notebooks], [job.result() for job in proofs])}


def _submit_plain(pool: ThreadPoolExecutor, root: Path, paths: list[Path], device: str,
                  end: float, variables: dict[str, str]) -> list[Future[runner.Result]]:
    run_only = on_device.not_compared(device, outputs_are_pinned_here())
    return [pool.submit(runner.run, path, path.relative_to(root).as_posix(), run_only, end,
                        variables) for path in paths]


def notebook_files(root: Path) -> Iterator[Path]:
    """All notebooks that nbval compares."""
    for place in (root / name for name in NOTEBOOKS):
        files = place.glob("*/*.ipynb") if place.is_dir() else place.parent.glob(place.name)
        yield from sorted(files)


def _submit_proofs(pool: ThreadPoolExecutor, book: Book, gpu: bool, end: float,
                   trials: Trials) -> list[Future[Proved]]:
    chapters = [[card for card in chapter.cards if card.needs in NEEDS]
                for chapter in book.chapters]
    return [pool.submit(prove, cards, gpu, end, trials) for cards in chapters if cards]


def _together(notebooks: list[runner.Result], proofs: list[Proved]) -> dict[str, Any]:
    both = [*notebooks, *proofs]
    return {"cells": sum(book.cells for book in notebooks),
            "failed": [finding for book in notebooks for finding in book.failed],
            "not_run": [finding for part in both for finding in part.not_run],
            "cards": {"proved": sum(part.proved for part in proofs),
                      "failed": [finding for part in proofs for finding in part.failed]}}


def report(facts: dict[str, str | None], result: dict[str, Any], seconds: float) -> int:
    """Print failures with their differences, what was not run, and a summary; count failures."""
    failed = result["failed"] + result["cards"]["failed"]
    for finding in failed:
        print(f"FAILED {finding}")
        print(indent(finding.detail, "    ").rstrip())
    for finding in result["not_run"]:
        print(f"NOT RUN {finding}")
    if jsonschema is None:
        print("cards were not checked against their schema: jsonschema is not installed")
    print(f"{facts['gpu'] or 'no GPU'}, {result['runner']}, torch {facts['torch']}, "
          f"Python {facts['python']}: {result['cells']} cells, "
          f"{result['cards']['proved']} cards proved, {len(result['not_run'])} not run, "
          f"{len(failed)} failures, {seconds:.0f} s")
    return len(failed)


def record(path: Path, root: Path, facts: dict[str, str | None], result: dict[str, Any]) -> None:
    """Store the result of what lies below `root`; findings as one line each."""
    content = {**facts, "date": datetime.date.today().isoformat(), **result,
               "measured": records.whole_book(root)}
    text = json.dumps(content, ensure_ascii=False, indent=1, default=str)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text + "\n")
    print(f"wrote {path}")


def main(argv: list[str] | None = None) -> int:
    """Command line; returns the exit status."""
    options = _parser().parse_args(argv)
    started = time.monotonic()
    try:
        if options.device != "cuda" and options.record:
            raise CannotRunError("a rehearsal is not recorded; leave out --record")
        facts = machine(options.device)
        python = under_nbval.python_with_jupyter(ROOT / ".venv-cuda")
        result = run(options.root, options.device, options.workers, python,
                     options.minutes)
    except CannotRunError as error:
        print(f"test-cuda: {error}", file=sys.stderr)
        return 2
    failures = report(facts, result, time.monotonic() - started)
    if options.record:
        record(options.record, options.root, facts, result)
    return 1 if failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m book.pipeline.cuda_run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cuda", "cpu", rehearsal.NAME], default="cuda")
    parser.add_argument("--record", type=Path, nargs="?", const=RECORD, metavar="FILE",
                        help="store the result, by default for the status page")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 8),
                        help="processes at a time (default: one per core, 8 at most)")
    parser.add_argument("--minutes", type=float, default=MINUTES,
                        help=f"what is not done then has failed (default: {MINUTES:.0f})")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
