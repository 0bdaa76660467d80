"""A chapter's opening lists its sections; its cheat sheet folds the cells that check it.

    chapters/01-tensors/index           the opening: what there is, what one will be able to do
    chapters/01-tensors/cheat-sheet     one or two printed pages; its cells are for the screen only
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from docutils import nodes
from markupsafe import Markup
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import element, raw, spans
from book.extension.places import fill
from book.extension.predict import code_cells
from book.extension.progress import summary
from book.extension.sections import (
    HEAD,
    SHEET_TITLE,
    Section,
    asked,
    facts,
    link,
    sections,
    written,
)
from book.extension.tables import table
from book.pipeline.ground.paths import OPENING, SHEET, place

LIST = "sections-of-this-chapter"  # id of the section that gets the list
UP = "../../"  # from a page of a chapter to the root of the book
CHECKS, SETS_UP = ("证明：{}", "Proofs: {}"), ("准备", "Set-up")
ONE_PAGE, TWO_PAGES = (("可打印，A4 一页", "prints on one A4 page"),
                       ("可打印，A4 两页", "prints on two A4 pages"))


def listing(ready: list[Section], sheet: str | None, pages: tuple[str, str]) -> str:
    """Per section: its question, how long it takes, how many cards; below, the cheat sheet."""
    rows = [[cells[0] + Markup(asked(section)), *cells[1:]] for section, cells in
            ((section, facts(section, UP)) for section in ready)]
    if sheet:
        rows.append([Markup(link(sheet, SHEET_TITLE, UP)), pages, ""])
    return summary(written(ready)) + table(HEAD, rows)


def on_paper(sheet: Path) -> tuple[str, str]:
    """How many pages the sheet says it prints on; the print is measured in tests/pages."""
    says_two = sheet.exists() and TWO_PAGES[1] in sheet.read_text(encoding="utf-8")
    return TWO_PAGES if says_two else ONE_PAGE


class ListSections(SphinxTransform):
    """Put the list below the text of its heading in a chapter's opening."""

    def apply(self, **kwargs) -> None:
        chapter, page = place(self.env.docname) or ("", "")
        if page != OPENING:
            return
        documents = list(self.env.external_site_map)
        ready = sections(Path(self.env.srcdir), documents).get(chapter, [])
        sheet = f"chapters/{chapter}/{SHEET}"
        pages = on_paper(Path(self.env.srcdir) / f"{sheet}.ipynb")
        fill(self.document, self.env.docname,
             {LIST: listing(ready, sheet if sheet in documents else None, pages)})


class FoldChecks(SphinxTransform):
    """Mark the cheat sheet for its print style, and fold its cells: those of a table below it,
    those that stand before the first table at the end."""

    def apply(self, **kwargs) -> None:
        _, page = place(self.env.docname) or ("", "")
        if page != SHEET:
            return
        sheet = next(self.document.findall(nodes.section))
        sheet["classes"].append(SHEET)
        for part in [*(one for one in sheet if isinstance(one, nodes.section)), sheet]:
            self.fold(part, [cell for cell in code_cells(part)
                             if cell.parent is part and "tag_setup" not in cell["classes"]])

    def fold(self, part: nodes.section, cells: list[nodes.container]) -> None:
        """Put cells of a part into one fold at its end."""
        if not cells:
            return
        code = "\n".join(next(cell.findall(nodes.literal_block)).astext() for cell in cells)
        for cell in cells:
            part.remove(cell)
        part.append(element("details", raw(f"<summary>{spans(*title(code))}</summary>"), *cells,
                            class_="fold proof"))


def title(code: str) -> tuple[str, str]:
    """What cells of the sheet are for: the lines that they check, `A1–A4`, or to prepare others."""
    calls = [node for node in ast.walk(ast.parse(code))
             if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "check"]
    runs = runs_of([word.arg for call in calls for word in call.keywords])
    if not runs:
        return SETS_UP
    texts = [first if first == last else f"{first}–{last}" for first, last in runs]
    return CHECKS[0].format("、".join(texts)), CHECKS[1].format(", ".join(texts))


def runs_of(labels: list[str]) -> list[tuple[str, str]]:
    """First and last label of each run that counts up: A1, A2, B7 are A1 to A2 and B7."""
    runs: list[tuple[str, str]] = []
    for label in labels:
        if runs and label == following(runs[-1][1]):
            runs[-1] = runs[-1][0], label
        else:
            runs.append((label, label))
    return runs


def following(label: str) -> str:
    return re.sub(r"\d+$", lambda number: str(int(number[0]) + 1), label)
