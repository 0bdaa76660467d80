"""A section's source (`.md`) as a notebook, with ids and digests that depend on content only."""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from book.pipeline.ground import digests
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import depends

if TYPE_CHECKING:  # a run on a GPU reads notebooks as JSON and has no nbformat
    from nbformat import NotebookNode

# The first code cell of every notebook. It finds `inside` from the repository's root and any folder
# below it (`parents` leaves out the path itself, hence one name more) and leaves an installed
# `inside` alone.
SETUP = (
    "import pathlib, sys; sys.path[:0] = [str(d / 'code') for d in "
    "(pathlib.Path.cwd() / '_').parents if (d / 'code/inside').is_dir()]"
)

HEAD = re.compile(r"---\n(?P<yaml>.*?^)---\n", re.M | re.S)  # of a source
# What a head says to the lists of the book (book.pipeline.content.heads): no notebook holds it.
TO_LISTS = re.compile(r"^(?:question|draft):.*\n(?:[ \t].*\n)*", re.M)

# The Python with which `make sync` makes the outputs of cells tagged `pinned-torch`.
PINNED_PYTHON = (3, 11)

# Written for every notebook; what a kernel says of itself names the patch version of its Python.
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python",
            "pygments_lexer": "ipython3"}

# Set alike while cells are executed for the golden file and while nbval compares them.
DRAWING = Path(__file__).with_name("matplotlibrc")
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "SOURCE_DATE_EPOCH": "0",  # matplotlib writes it as the date of an SVG
    "MATPLOTLIBRC": str(DRAWING),
    "BOOK_DEVICE": "cpu",  # also where there is a GPU; `make test-cuda` says otherwise
}


def read_source(path: Path) -> NotebookNode:
    """The source as a notebook without outputs; cell ids depend on type, source, occurrence."""
    import jupytext  # here, because the site is built without it
    from nbformat import NotebookNode

    notebook = jupytext.read(path)
    notebook.metadata = NotebookNode(kernelspec=notebook.metadata["kernelspec"])
    notebook.metadata["language_info"] = NotebookNode(LANGUAGE)
    notebook.nbformat_minor = 5
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        content = f"{cell.cell_type}:{cell.source}"
        seen[content] += 1
        cell["id"] = hashlib.sha1(f"{content}:{seen[content]}".encode()).hexdigest()[:8]
    return notebook


def source_digest(path: Path) -> str:
    """Changes with any change of the source file that its notebook could hold."""
    text = path.read_text(encoding="utf-8")
    head = HEAD.match(text)
    end = head.end() if head else 0
    return digests.of(TO_LISTS.sub("", text[:end]) + text[end:])


def program_digest(notebook: NotebookNode) -> str:
    """Changes when the outputs may change.

    It covers code cells, companions they import, recorded results they show, matplotlib's
    settings and the pinned torch.
    """
    cells = [(c.source, c.metadata.get("tags", [])) for c in code_cells(notebook)]
    imported = depends.digests(source for source, _ in cells)
    return digests.of_value([cells, imported, DRAWING.read_text(encoding="utf-8"), pinned_torch()])


def golden_digest(notebook: NotebookNode) -> str:
    """Changes with any edit of the generated notebook, its stored outputs included."""
    metadata = {key: value for key, value in notebook.metadata.items() if key != "book"}
    return digests.of_value([[dict(cell) for cell in notebook.cells], metadata])


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def output_text(cell: NotebookNode) -> str:
    """What a cell printed or returned, as plain text."""
    parts = []
    for output in cell.get("outputs", []):
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        else:
            parts.append(output.data.get("text/plain", ""))
    return "\n".join(parts)


def pinned_torch() -> str:
    """The version of torch named in requirements.txt: the one stored outputs were made with."""
    pin = re.search(r"^torch==(\S+)", (ROOT / "requirements.txt").read_text(), re.M)
    if pin is None:
        raise ValueError("requirements.txt: torch has no exact version; write torch==X.Y.Z")
    return pin[1]


def outputs_are_pinned_here() -> bool:
    """Whether this is the Python and the torch with which the stored outputs were made."""
    torch = version("torch").split("+")[0]
    return torch == pinned_torch() and sys.version_info[:2] == PINNED_PYTHON


def write_text(notebook: NotebookNode) -> str:
    """The notebook as the text of its file."""
    import nbformat

    return nbformat.writes(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
