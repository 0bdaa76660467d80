"""What a reader meets who has written nothing yet: each check says so, and nothing fails before.

    python -m book.pipeline.notebooks.unsolved [FILES.ipynb]    default: all with complete cells

`make sync` asks this of every notebook that it executes, so a sealed notebook has passed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from book.pipeline.ground.paths import CHAPTERS, relative
from book.pipeline.notebooks import notebook as nb
from book.pipeline.notebooks import runner
from book.pipeline.notebooks.blanks import blanked

MISSING = {"NameError", "AssertionError", "TypeError"}  # how a check meets what is not written
SECONDS = 600.0  # against a hang


def problems(golden: NotebookNode, folder: Path) -> Iterator[str]:
    """What is wrong with the blanks of a notebook that is run in `folder`.

    Its cells run up to the last check with every blank empty, and then up to each further check
    with the earlier blanks filled in: a check must see its own blanks, not only those before.
    """
    complete = [i for i, cell in enumerate(nb.code_cells(golden)) if cell.metadata.get("complete")]
    if complete:
        yield from _all_empty(complete, _raised(golden, complete, complete[-1] + 1, folder))
    for number in complete[1:]:
        raised = _raised(golden, [number], number + 1, folder)
        if raised.get(number + 1) not in MISSING:
            yield f"code cell {number + 2} does not see the blanks of the cell before it"


def _all_empty(complete: list[int], raised: dict[int, str]) -> Iterator[str]:
    for number in complete:
        if number in raised:
            yield f"code cell {number + 1} cannot run before it is written: {raised[number]}"
        if raised.get(number + 1) not in MISSING:
            yield f"code cell {number + 2} does not see the blanks of the cell before it"
    for number in sorted(raised):
        if number < complete[0]:
            yield f"code cell {number + 1} fails before anything is to be written: {raised[number]}"


def _raised(golden: NotebookNode, empty: list[int], last: int, folder: Path) -> dict[int, str]:
    """Index -> name of the error, for the cells up to `last`, some of them with empty blanks."""
    cells = nb.code_cells(golden)[:last + 1]
    sources = [blanked(cell.source) if number in empty else cell.source
               for number, cell in enumerate(cells)]
    done, *_ = runner.execute(folder, sources, SECONDS, os.environ | nb.ENVIRONMENT)
    raised = {number: output["ename"] for number, result in enumerate(done)
              for output in result["outputs"] if output["output_type"] == "error"
              and runner.RAISES not in cells[number].metadata.get("tags", [])}
    if len(done) < len(cells):
        raised[len(done)] = "the process ended"
    return raised


def main() -> int:
    parser = argparse.ArgumentParser(description="do the checks of the blanks see them?")
    parser.add_argument("files", nargs="*", type=Path, help="notebooks (default: all)")
    files = parser.parse_args().files or sorted(CHAPTERS.glob("*/*.ipynb"))
    findings = [f"{relative(file)}: {text}" for file in files
                for text in problems(nbformat.read(file, 4), file.parent)]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
