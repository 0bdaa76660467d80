"""The notebooks that readers download, made from a golden one: nothing in them gives away what
the reader is to predict or to write."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from string import ascii_uppercase

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from book.pipeline.content import publication
from book.pipeline.notebooks import depends
from book.pipeline.notebooks import notebook as nb
from book.pipeline.notebooks.blanks import blanked

VARIANTS = {"zh": ("zh",), "en": ("en",), "both": ("zh", "en")}  # variant -> what it is written in
HEADING = re.compile(r"^(#+ )(.*) · (.*)$", re.M)

TEXTS = {
    "folder": {
        "zh": "运行时要用书里的 `code/`：把本书的 `code.zip` 解压到这个文件旁边再打开。",
        "en": "Running it needs the book's `code/`: unpack the book's `code.zip` beside this file, "
              "then open it.",
    },
    "predict": {
        "zh": "有选项的单元格，先选一项，再运行。",
        "en": "Where a cell has options, choose one before you run it.",
    },
    "complete": {
        "zh": "写着 `# blank` 的行由你来写，下一格会检查。",
        "en": "You write the lines marked `# blank`; the next cell checks them.",
    },
    "options": {"zh": "先选一项，再运行：", "en": "Choose one, then run the cell:"},
}


def reader_notebook(golden: NotebookNode, variant: str, in_book: bool = False) -> NotebookNode:
    """A golden notebook as a reader gets it, in `zh`, `en` or `both`; the same code in all.

    One that stays `in_book`, in the folder of the book, need not say where `code/` comes from.
    """
    reader = copy.deepcopy(golden)
    reader.metadata.pop("book", None)
    _hide_answers(nb.code_cells(reader))
    cells = (made for cell in reader.cells for made in _cells(cell, variant))
    reader.cells = [*cells]
    _set_up(reader, golden, variant, in_book)
    for cell in reader.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = NotebookNode(tags=tags) if tags else NotebookNode()
    return reader


def _hide_answers(cells: list[NotebookNode]) -> None:
    """Blank the lines of complete cells; drop the outputs that say what a reader finds out."""
    for cell, before in zip(cells, [None, *cells], strict=False):
        complete = cell.metadata.get("complete")
        checks = before is not None and before.metadata.get("complete")
        if complete:
            cell.source = blanked(cell.source)
        if complete or checks or "predict" in cell.metadata:
            cell.outputs, cell.execution_count = [], None


def _cells(cell: NotebookNode, variant: str) -> Iterator[NotebookNode]:
    """What stands for a golden cell: nothing, the cell, or the options and the cell."""
    if cell.metadata.get("lang", VARIANTS[variant][0]) not in VARIANTS[variant]:
        return
    if cell.cell_type == "markdown" and variant != "both" and "lang" not in cell.metadata:
        cell.source = HEADING.sub(r"\1\2" if variant == "zh" else r"\1\3", cell.source)
    if "predict" in cell.metadata:
        yield new_markdown_cell(_options(cell, variant), id=f"{cell.id}-options")
    yield cell


def _options(cell: NotebookNode, variant: str) -> str:
    """The options of a predict cell as lists, which the form of the page is made from too."""
    lists = []
    for lang in VARIANTS[variant]:
        lettered = zip(ascii_uppercase, cell.metadata["predict"]["options"], strict=False)
        items = [f"- {letter}. {option[lang]}" for letter, option in lettered]
        lists.append("\n".join([f"**{TEXTS['options'][lang]}**", "", *items]))
    return "\n\n".join(lists)


def _set_up(reader: NotebookNode, golden: NotebookNode, variant: str, in_book: bool) -> None:
    """Say before the setup cell what a reader must know; there, what to do if it finds nothing."""
    place = next((i for i, cell in enumerate(reader.cells)
                  if "setup" in cell.metadata.get("tags", [])), 0)
    marks = {key for cell in golden.cells for key in cell.metadata}
    if depends.needs_code(cell.source for cell in nb.code_cells(golden)):
        first, _, imports = reader.cells[place].source.partition("\n")
        reader.cells[place].source = "\n".join(filter(None, [first, missing_code(), imports]))
        marks |= set() if in_book else {"folder"}
    sentences = [key for key in ("folder", "predict", "complete") if key in marks]
    paragraphs = [("" if lang == "zh" else " ").join(TEXTS[key][lang] for key in sentences)
                  for lang in VARIANTS[variant]]
    if sentences:
        note = new_markdown_cell("\n\n".join(paragraphs), id="how-to-use")
        reader.cells.insert(place, note)


def missing_code() -> str:
    """Python that stops with one line where `inside` cannot be imported."""
    advice = "unpack the book's code.zip beside this notebook"
    if publication.REPOSITORY:
        advice += f", or git clone {publication.REPOSITORY} and run `make lab` there"
    return ('import importlib.util\nif not importlib.util.find_spec("inside"):\n'
            f'    raise ModuleNotFoundError("code/ of the book is missing: {advice}")')
