"""Where things are, relative to the repository's root, and how they are named in messages."""

from __future__ import annotations

import glob
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CHAPTERS = ROOT / "chapters"
CODE = ROOT / "code"
FRONT_PAGE = ROOT / "book" / "index.md"  # a notebook too: its prediction is run like any other
NOTEBOOKS = ("chapters", "book/index.ipynb")  # where nbval finds all of them
SITE = ROOT / "_build" / "html"
WEB = ROOT / "book" / "web"
NPM = ROOT / "node_modules"
KATEX = NPM / "katex" / "dist"
OPENING, SHEET = "index", "cheat-sheet"  # pages of a chapter that are no sections: no cards, no row
RESULTS = ROOT / "benchmarks" / "results"  # written by the commands that record, never by a build


def widgets(web: Path = WEB) -> dict[str, Path]:
    """The main module of each widget by the name of its element, which is that of its folder."""
    return {file.parent.name: file for file in sorted(web.glob("*/index.js"))}


def place(document: str) -> tuple[str, str] | None:
    """Chapter folder and page of a page, as in `chapters/01-tensors/index`; None outside them."""
    match document.split("/"):
        case [CHAPTERS.name, chapter, page]:
            return chapter, page
    return None


def is_section(document: str) -> bool:
    """Whether a page, as in `chapters/01-tensors/storage-and-strides`, is a section of the book."""
    found = place(document)
    return found is not None and found[1] not in (OPENING, SHEET)


def relative(path: Path) -> str:
    """The path as a reader of the repository knows it."""
    path = Path(path).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


PART = ".part"  # ends the name of a file that is being written


def remove_parts(path: Path) -> None:
    """Take away what a `write_atomic` of this file has left that was killed."""
    for part in path.parent.glob(f".*.{glob.escape(path.name)}{PART}"):
        part.unlink(missing_ok=True)


def write_atomic(path: Path, text: str) -> None:
    """Replace the file's content in one step, so that no half-written file is ever seen."""
    content = text.encode()
    with tempfile.NamedTemporaryFile("wb", prefix=".", suffix=f".{path.name}{PART}",
                                     dir=path.parent, delete=False) as file:
        written = Path(file.name)
        try:
            file.write(content)
            file.close()
            written.chmod(0o644)
            written.replace(path)
        except BaseException:
            written.unlink(missing_ok=True)
            raise
