"""Complete beats: the cell stands with its blanks; the solution and its output are in a fold."""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import element, raw, spans
from book.extension.predict import code_cells
from book.pipeline.notebooks.blanks import blanked

LABEL = ("轮到你写", "Your turn")
NOTE = (
    "在 notebook 里补上写着 <code># blank</code> 的行，下一格会检查。",
    "Write the lines marked <code># blank</code> in the notebook; the next cell checks them.",
)
SOLUTION = ("参考答案", "Solution")


class BlankCells(SphinxTransform):
    """Blank the source of each complete cell and fold what it held."""

    def apply(self, **kwargs) -> None:
        for cell in code_cells(self.document):
            if cell.get("cell_metadata", {}).get("complete"):
                self.blank(cell)

    def blank(self, cell: nodes.container) -> None:
        source, *outputs = cell.children
        solution = source.deepcopy()
        block = next(source.findall(nodes.literal_block))
        block.rawsource = blanked(block.astext())  # Sphinx highlights a block equal to its source
        block.children = []
        block += nodes.Text(block.rawsource)
        cell.children = []
        cell["classes"].append("complete")
        cell.extend([
            raw(f'<p class="complete-label">{spans(*LABEL)}</p>'),
            source,
            raw(f'<p class="complete-note">{spans(*NOTE, escape=False)}</p>'),
            element("details", raw(f"<summary>{spans(*SOLUTION)}</summary>"), solution, *outputs,
                    class_="fold"),
        ])
