"""One trial: run a card's code, then its proof, in a process that does nothing else.

Knows nothing of cards, schemas or files of the book. Every trial has a folder of its own:

    job.json     what to run: {variant, code, proof}
    work/        the current directory of the code
    out, err     all that the process and its children print
    result.json  written last; if it is absent, the process ended early

    python -m book.pipeline.proofs.trial FOLDER     runs one in a fresh interpreter
"""

from __future__ import annotations

import faulthandler
import gc
import json
import linecache
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

CODE, PROOF = "<code>", "<proof>"
REACHED = "__reached__"  # a call that the self-test puts around an assertion: (number, test)


def prepare(folder: Path, job: dict[str, Any]) -> None:
    """Lay out the folder of a trial."""
    (folder / "work").mkdir()
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")


def run_in(folder: Path) -> None:
    """Run the trial of the folder and end this process."""
    owner = os.getpid()
    redirect(folder)
    result = _perform(json.loads((folder / "job.json").read_text(encoding="utf-8")), folder)
    if os.getpid() != owner:  # a process that the proof forked and that came out of it
        os._exit(1)
    flush()
    partial = folder / "result.part"
    partial.write_text(json.dumps(result), encoding="utf-8")
    partial.rename(folder / "result.json")
    os._exit(0)  # no exit handlers: what the proof registered must not delay or fail the end


def redirect(folder: Path) -> None:
    """Send both streams to files, at the level that C++ and worker processes write to."""
    for name, number in (("out", 1), ("err", 2)):
        with (folder / name).open("wb") as file:
            os.dup2(file.fileno(), number)
    for name in ("stdout", "stderr"):
        getattr(sys, name).reconfigure(encoding="utf-8", line_buffering=True)
    faulthandler.enable(file=sys.stderr)  # a crash then names its line
    os.chdir(folder / "work")


def flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()


def _perform(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    import torch

    torch.set_num_threads(int(os.environ.get("BOOK_THREADS") or 1))  # 1 but in `make test-cpu`
    gc.freeze()  # 300,000 objects of torch: walking and so copying them takes 0.2 s a collection
    space = main_module(job["variant"])
    before = _cpu_seconds()
    raised = _execute(job["code"], CODE, space)
    flush()
    shown = (folder / "out").read_text(encoding="utf-8", errors="replace")
    if raised:
        shown += f"{raised['type']}: {raised['message']}".rstrip(": ") + "\n"
    shown = shown.rstrip("\n")
    space["shown"] = shown
    reached: set[int] = set()
    space[REACHED] = lambda number, test: reached.add(number) or test
    failure = _execute(job["proof"], PROOF, space)
    spent = _cpu_seconds() - before
    return {"shown": shown, "raised": raised, "failure": failure, "reached": sorted(reached),
            "cpu": round(spent, 4)}


def main_module(variant: dict[str, Any]) -> dict[str, Any]:
    """A fresh `__main__`, so that code sees what a script sees and its classes can be pickled."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    module.__dict__.update(variant)
    return module.__dict__


def _cpu_seconds() -> float:
    """Processor time of this process and its ended children; the load of others counts less."""
    return sum(os.times()[:4])


def _execute(source: str, name: str, space: dict[str, Any]) -> dict[str, Any] | None:
    """Run a program; what it raised as {type, message, stage, line, text}, or None.

    With its assertions, also where PYTHONOPTIMIZE would leave them out.
    """
    lines = source.splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)  # for inspect.getsource
    try:
        exec(compile(source, name, "exec", dont_inherit=True, optimize=0), space)
    except BaseException as error:  # SystemExit too: leaving early proves nothing
        return _description(error)
    return None


def _description(error: BaseException) -> dict[str, Any]:
    places = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError):
        places.append((error.filename, error.lineno))
    stage, line = next((p for p in reversed(places) if p[0] in (CODE, PROOF)), ("", 0))
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return {
        "type": type(error).__name__,
        "message": next((line for line in message.splitlines() if line.strip()), ""),
        "stage": stage.strip("<>"),
        "line": line,
        "text": linecache.getline(stage, line).strip(),
    }


if __name__ == "__main__":
    import functorch.compile  # noqa: F401  (as in the process that is forked from: both unused)
    import torch._dynamo
    import torch._inductor.compile_fx  # noqa: F401

    run_in(Path(sys.argv[1]))
