"""The files that a reader downloads: notebooks, the code they import, exercises.

The archive of the code, unpacked beside a downloaded notebook, is what that notebook needs.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path

import nbformat

from book.pipeline.notebooks import faded
from book.pipeline.notebooks.downloads import VARIANTS, reader_notebook
from book.pipeline.notebooks.notebook import write_text
from book.pipeline.paths import CODE, RESULTS, ROOT, place

FOLDER = "downloads"
ARCHIVE = "code.zip"
EXERCISES = "exercises.yaml"
NEEDED = (CODE, ROOT / "book" / "web", RESULTS)  # `inside` reads the other two
LICENCE = ROOT / "LICENSE"
SUFFIXES = {".py", ".js", ".css", ".json"}
DAY = (1980, 1, 1, 0, 0, 0)  # of every file in the archive: the same code makes the same bytes


def write_notebooks(site: Path, root: Path, documents: Iterable[str]) -> None:
    """Every page of a chapter as a notebook, in its variants."""
    for document in documents:
        if found := place(document):
            golden = nbformat.read(root / f"{document}.ipynb", 4)
            folder = site / FOLDER / found[0]
            folder.mkdir(parents=True, exist_ok=True)
            for variant in VARIANTS:
                text = write_text(reader_notebook(golden, variant))
                (folder / f"{found[1]}.{variant}.ipynb").write_text(text, encoding="utf-8")


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


def write_exercises(site: Path, root: Path) -> None:
    """The files of every chapter that has exercises. Raises FadeError for a list that is wrong."""
    for source in sorted(root.glob(f"chapters/*/{EXERCISES}")):
        folder = site / FOLDER / source.parent.name / "exercises"
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in faded.files(source).items():
            (folder / name).write_text(text, encoding="utf-8")
