"""How long a section takes to read: for the lists of sections, and for the reading gate."""

from __future__ import annotations

import math

from nbformat import NotebookNode

from book.pipeline.notebooks.notebook import code_cells

HANDS_ON = {"predict": 1.5, "complete": 4.0}  # minutes for a cell in which the reader acts
WORDS = 180  # English words read in a minute, of a text that wants thought
LINES = 20  # lines of code read in a minute


def minutes(book: NotebookNode) -> int:
    """Reading time in steps of five: English words, code, and the cells where the reader acts.

    The time is counted on the English text; the Chinese says the same. A cell that sets up is not
    counted: no page shows it.
    """
    words = sum(len(cell.source.split()) for cell in book.cells
                if cell.metadata.get("lang") == "en")
    lines = sum(len(cell.source.splitlines()) for cell in code_cells(book)
                if "setup" not in cell.metadata.get("tags", []))
    acts = sum(spent for cell in code_cells(book) for kind, spent in HANDS_ON.items()
               if kind in cell.metadata)
    return 5 * max(1, math.ceil((words / WORDS + lines / LINES + acts) / 5))
