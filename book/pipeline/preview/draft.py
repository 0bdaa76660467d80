"""A section's source with the outputs that still belong to it: a notebook without a seal."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.reader import NotJSONError

from book.pipeline import lint, sources, sync
from book.pipeline.ground.paths import relative
from book.pipeline.notebooks import notebook as nb

NOT_RUN = "not-run"  # tag of a cell that was not executed as it is now


class DraftError(Exception):
    """A source that no page can be made of: one line, what, where, how to mend."""


def read(source: Path) -> NotebookNode:
    """The source, with what the notebook beside it knows of each cell that has not changed.

    Raises DraftError.
    """
    if findings := lint.lint_metadata(source.read_text(encoding="utf-8")):
        line, text = min(findings)
        raise DraftError(f"{relative(source)}:{line}: {text}")
    draft, known = nb.read_source(source), stored(source.with_suffix(".ipynb"))
    try:
        for cell in draft.cells:
            fill(cell, known.get(cell.id))
        sync.check_predictions(draft, source)
    except (sources.SourceError, sync.SyncError) as error:
        raise DraftError(str(error).splitlines()[0]) from None
    return draft


def stored(file: Path) -> dict[str, NotebookNode]:
    """The cells of an executed notebook by their ids, which are digests of their sources."""
    try:
        return {cell.id: cell for cell in nbformat.read(file, 4).cells}
    except (FileNotFoundError, NotJSONError):
        return {}


def fill(cell: NotebookNode, known: NotebookNode | None) -> None:
    """Give a cell its output or its resolved links; mark it where nobody executed it so."""
    if cell.cell_type == "markdown":
        cell.source = known.source if known else sources.resolve_links(cell.source)
    elif known:
        cell.outputs, cell.execution_count = known.outputs, known.execution_count
    elif cell.cell_type == "code":
        cell.metadata["tags"] = [*cell.metadata.get("tags", []), NOT_RUN]
        cell.metadata.pop("predict", None)  # which option is right, only the output says


def not_run(draft: NotebookNode) -> list[NotebookNode]:
    """The cells that were not executed as they are."""
    return [cell for cell in draft.cells if NOT_RUN in cell.metadata.get("tags", [])]
