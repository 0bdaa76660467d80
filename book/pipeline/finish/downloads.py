"""The files that a reader downloads: notebooks, the code they import, exercises.

The archive of the code, unpacked beside a downloaded notebook, is what that notebook needs.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat

from book.pipeline.ground.paths import CODE, RESULTS, ROOT, place
from book.pipeline.notebooks import faded
from book.pipeline.notebooks.downloads import VARIANTS, reader_notebook
from book.pipeline.notebooks.notebook import write_text

FOLDER = "downloads"
ARCHIVE = "code.zip"
EXERCISES = "exercises.yaml"  # of a chapter; exercises-PAGE.yaml are those of one page
NEEDED = (CODE, ROOT / "book" / "web", RESULTS)  # `inside` reads the other two
LICENCE = ROOT / "LICENSE"
SUFFIXES = {".py", ".js", ".css", ".json"}
DAY = (1980, 1, 1, 0, 0, 0)  # of every file in the archive: the same code makes the same bytes


def notebooks(root: Path, documents: Iterable[str], variants: Iterable[str] = VARIANTS,
              in_book: bool = False) -> Iterator[tuple[str, str]]:
    """Name and text of every page of a chapter as a notebook, in these variants."""
    for document in documents:
        if found := place(document):
            golden = nbformat.read(root / f"{document}.ipynb", 4)
            for variant in variants:
                reader = reader_notebook(golden, variant, in_book)
                yield f"{found[0]}/{found[1]}.{variant}.ipynb", write_text(reader)


def exercises(root: Path) -> Iterator[tuple[str, str]]:
    """Name and text of the files of every chapter that has exercises.

    Raises FadeError for a list that is wrong.
    """
    for source in sorted(root.glob("chapters/*/exercises*.yaml")):
        for name, text in faded.files(source).items():
            yield f"{source.parent.name}/exercises/{name}", text


def write(site: Path, files: Iterable[tuple[str, str]]) -> None:
    """Named texts as files below `downloads/`."""
    for name, text in files:
        file = site / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def write_code(site: Path) -> None:
    """The files of code/ below downloads/code/, and the archive."""
    folder = site / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / ARCHIVE, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in needed():
            name = path.relative_to(ROOT)
            archive.writestr(zipfile.ZipInfo(str(name), DAY), path.read_bytes(),
                             zipfile.ZIP_DEFLATED)
            if path.is_relative_to(CODE):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, folder / name)


def needed() -> list[Path]:
    """What the archive holds, in order: the licence and the code."""
    return [LICENCE, *sorted(path for folder in NEEDED for path in folder.rglob("*")
                             if path.suffix in SUFFIXES and "__pycache__" not in path.parts)]
