"""What the book can say of its own state, read from committed files: no torch, nothing executed."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
from sphinx_external_toc.parsing import parse_toc_yaml

from book.pipeline.cards import book as cards
from book.pipeline.cards import report as card_report
from book.pipeline.content.chapters import read as read_chapters
from book.pipeline.ground.paths import CHAPTERS, FRONT_PAGE, ROOT, relative
from book.pipeline.notebooks import notebook, on_device
from book.pipeline.state.records import recorded, state

MARKED = ("pinned-torch", "cuda", "nbval-ignore-output")


def versions() -> dict[str, str]:
    """Versions with which outputs were made and pages are built."""
    locked = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return {
        "torch": notebook.pinned_torch(),
        "Python": ".".join(map(str, notebook.PINNED_PYTHON)),
        "jupyter-book": version("jupyter-book"),
        "KaTeX": locked["node_modules/katex"]["version"],
        "ts-fsrs": locked["node_modules/ts-fsrs"]["version"],
    }


def chapters(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Per chapter that has a notebook: its name, notebooks, compared code cells, cards by kind."""
    rows = []
    for chapter in read_chapters().values():
        files = sorted((CHAPTERS / chapter.folder).glob("*.ipynb"))
        cells = [cell for file in files for cell in notebook.code_cells(nbformat.read(file, 4))]
        cards_of = report["chapters"].get(chapter.slug, {"total": 0, "kind": {}})
        if files:
            rows.append({"number": chapter.number, "name": chapter.name, "notebooks": len(files),
                         "cells": len(cells), "cards": cards_of})
    return rows


def cells() -> int:
    """Code cells of all notebooks, that of the front page included: what nbval runs."""
    files = [*CHAPTERS.glob("*/*.ipynb"), FRONT_PAGE.with_suffix(".ipynb")]
    return sum(len(notebook.code_cells(nbformat.read(file, 4))) for file in files)


def marked_cells() -> list[dict[str, str]]:
    """Cells whose output is compared under the pinned torch only, or never, or that need a GPU."""
    rows = []
    for file in sorted(CHAPTERS.glob("*/*.ipynb")):
        for cell in notebook.code_cells(nbformat.read(file, 4)):
            for tag in set(MARKED) & set(cell.metadata.get("tags", [])):
                first = next(line for line in cell.source.splitlines() if line.strip())
                rows.append({"file": relative(file), "tag": tag, "line": first})
    return rows


def devices() -> list[dict[str, Any]]:
    """Per notebook: its code cells on the reader's device, and on the CPU by reason."""
    rows = []
    for file in sorted(CHAPTERS.glob("*/*.ipynb")):
        cells = notebook.code_cells(nbformat.read(file, 4))
        found = on_device.summary([cell.source for cell in cells],
                                  [cell.metadata.get("tags", []) for cell in cells])
        rows.append({"file": relative(file), "device": found.pop("device", 0), "cpu": found})
    return rows


def documents() -> list[str]:
    """The pages of the book, in its order."""
    return list(parse_toc_yaml(ROOT / "_toc.yml"))


def status(root: Path = ROOT) -> dict[str, Any]:
    """Everything the status page shows."""
    book, problems = cards.load(root)
    if problems:
        raise ValueError(f"cards cannot be read: {problems[0]}")
    report = card_report.report(book)
    return {
        "versions": versions(), "chapters": chapters(report), "marked": marked_cells(),
        "devices": devices(),
        "cards": report["total"], "errata": report["errata"], "claims": book.errata,
        "torch-versions": recorded("torch-versions"), "cuda": recorded("cuda"),
        "pages": recorded("pages"), "notebooks": recorded("notebooks"),
        "site-build": recorded("site-build"), "search": recorded("search"),
        "suite": recorded("suite"), "records": state(),
        "totals": {"pages": len(documents()), "notebooks": len(list(CHAPTERS.glob("*/*.ipynb"))),
                   "cells": cells()},
    }
