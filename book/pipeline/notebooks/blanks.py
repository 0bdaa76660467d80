"""Complete beats: a code cell with `complete: true`, whose lines ending in `# blank` are the
reader's to write; the code cell after it checks what the reader wrote."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

COUNT = range(1, 7)
BLANK = re.compile(r"[ \t]*[^#\s](.*\S)?\s+# blank")
MARK = re.compile(r"#\s*blank\b")


def is_blank(line: str) -> bool:
    """Whether a line holds code and ends in `# blank`."""
    return BLANK.fullmatch(line) is not None


def blank(line: str) -> str:
    """The line as a reader finds it: its indentation, then `...  # blank`."""
    return line[:len(line) - len(line.lstrip())] + "...  # blank"


def blanked(source: str) -> str:
    """The cell as a reader finds it; ValueError where what is left is no Python."""
    text = "\n".join(blank(line) if is_blank(line) else line for line in source.split("\n"))
    try:
        ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"with its blanks the cell is no Python: {error.msg}, "
                         f"line {error.lineno}; blank whole statements") from None
    return text


def problems(source: str, metadata: dict, after: str | None) -> Iterator[str]:
    """Findings on the blanks of a code cell; `after` is the source of the next code cell."""
    complete, lines = metadata.get("complete"), source.split("\n")
    for number, line in enumerate(lines, 1):
        if MARK.search(line) and not (complete and is_blank(line)):
            yield (f"`# blank` on line {number} of the cell; it ends a line of code in a cell "
                   f"with complete: true and stands nowhere else")
    if "complete" in metadata:
        yield from _complete(source, metadata, after)


def _complete(source: str, metadata: dict, after: str | None) -> Iterator[str]:
    if metadata["complete"] is not True:
        yield f"complete is {metadata['complete']!r}; write true"
    if "predict" in metadata:
        yield "predict and complete on one cell; predict in a cell of its own"
    count = sum(map(is_blank, source.split("\n")))
    if count not in COUNT:
        yield f"{count} blank lines; end {COUNT[0]} to {COUNT[-1]} lines with `# blank`"
    try:
        blanked(source)
    except ValueError as error:
        yield str(error)
    if after is None or not _asserts(after):
        yield "no check of the blanks; let the next code cell assert what they must give"


def _asserts(source: str) -> bool:
    try:
        return any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source)))
    except SyntaxError:
        return False
