"""Which notebooks have passed on the rehearsal device; it runs those that have not.

    python -m book.pipeline.notebooks.rehearsed    all without a good seal; FRESH=1: all

A notebook that has passed carries a seal: a digest of its program, its stored outputs and the
device. `make sync` rehearses what it has executed and writes the seal, and desk refuses a notebook
without a good one, so that a clean clone has nothing to rehearse.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent

import nbformat
from nbformat import NotebookNode

from book.pipeline.ground import digests
from book.pipeline.ground.paths import CHAPTERS, FRONT_PAGE, relative, write_atomic
from book.pipeline.notebooks import notebook as nb
from book.pipeline.notebooks import on_device, rehearsal, under_nbval
from book.pipeline.notebooks.under_nbval import ALL, Result

KEY = "rehearsed"  # in the notebook's own metadata, so that two branches seal without a conflict
WORKERS = 2


def seal(notebook: NotebookNode) -> str:
    """Changes when the rehearsal could end otherwise; prose does not."""
    outputs = [cell.outputs for cell in nb.code_cells(notebook)]
    device = [digests.of_file(rehearsal.HERE / name) for name in rehearsal.FILES]
    return digests.of_value([nb.program_digest(notebook), outputs, device,
                             digests.of_file(on_device.SANITIZE)])


def sealed(notebook: NotebookNode) -> bool:
    """Whether the notebook has passed the rehearsal as it is now."""
    return notebook.metadata.get("book", {}).get(KEY) == seal(notebook)


def run(files: Sequence[Path]) -> Result:
    """Rehearse notebooks under nbval. Raises CannotBuildError where there is no device."""
    return under_nbval.run(sys.executable, [relative(file) for file in files], WORKERS,
                           environment=rehearsal.environment())


def rehearse(files: Sequence[Path]) -> Result:
    """Rehearse notebooks and seal those that pass."""
    before = {file: nbformat.read(file, 4) for file in files}
    result = run(files)
    for file, notebook in before.items():
        places = [finding.place for finding in result.failed]
        if ALL not in places and not any(under_nbval.is_of(place, relative(file))
                                         for place in places):
            notebook.metadata["book"][KEY] = seal(notebook)
            write_atomic(file, nb.write_text(notebook))
    return result


def report(result: Result) -> None:
    """Print what failed, with what to read on it."""
    for finding in result.failed:
        print(f"FAILED {finding}", indent(finding.detail, "    ").rstrip(), sep="\n")


def main() -> int:
    files = [*sorted(CHAPTERS.glob("*/*.ipynb")), FRONT_PAGE.with_suffix(".ipynb")]
    todo = [file for file in files
            if os.environ.get("FRESH") or not sealed(nbformat.read(file, 4))]
    try:
        result = run(todo) if todo else Result("notebooks", 0)
    except rehearsal.CannotBuildError as error:
        sys.exit(f"rehearsal: {error}")
    report(result)
    print(f"{len(todo)} of {len(files)} notebooks rehearsed, the others are sealed; "
          f"{result.cells} cells, {len(result.failed)} failures")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
