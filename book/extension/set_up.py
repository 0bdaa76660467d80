"""A section's set-up cell stands folded where it is run, so that no name on the page is unknown.

The lines that only let a notebook find the book's code are left out; with nothing else in it the
cell stays hidden (styles: .tag_setup).
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import element, raw, spans
from book.extension.predict import code_cells
from book.pipeline.ground.paths import is_section

TITLE = ("本节的准备代码：导入和辅助函数", "Set-up of this section: imports and helpers")
FINDS_CODE = re.compile(
    r"^(import pathlib, sys; sys\.path.*|from inside import use_device(; use_device\(\))?$"
    r"|use_device\(\))\n?", re.M)


class FoldSetUp(SphinxTransform):
    """Put the rest of the set-up cell into a closed fold."""

    def apply(self, **kwargs) -> None:
        if not is_section(self.env.docname):
            return
        for cell in code_cells(self.document):
            if "tag_setup" in cell["classes"]:
                self.fold(cell)

    def fold(self, cell: nodes.container) -> None:
        source = next(cell.findall(nodes.literal_block))
        rest = FINDS_CODE.sub("", source.astext()).strip("\n")
        if not rest:
            return
        shown = nodes.literal_block(rest, rest, language="python")
        summary = raw(f"<summary>{spans(*TITLE)}</summary>")
        cell.parent.insert(cell.parent.index(cell) + 1,
                           element("details", summary, shown, class_="fold set-up"))
