"""Anchors that a page has given away: old links to them still come to this page."""

from __future__ import annotations

import html
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.pipeline.content import moved
from book.pipeline.content.moved import Moved


class LeadOn(SphinxTransform):
    """Put the old anchors at the end of their page; each shows only to who asks for it.

    A script takes its reader to the new place; without scripts the anchor is a line with a link.
    """

    def apply(self, **kwargs) -> None:
        root = Path(self.env.srcdir)
        for one in moved.read(root):
            if one.page == self.env.docname and one.anchors:
                page = next(self.document.findall(nodes.section))
                page.append(raw(element(one, root)))


def element(one: Moved, root: Path) -> str:
    lines = []
    for name, to in one.anchors.items():
        zh, en = (f'<a href="{to.address(one.page)}">{html.escape(half)}</a>'
                  for half in moved.title(root, to.page))
        said = spans(f"这里的内容已经搬到 {zh}。", f"What stood here has moved to {en}.",
                     escape=False)
        lines.append(f'<p class="moved-anchor" id="{name}">{said}</p>')
    return f"<moved-anchors>{''.join(lines)}</moved-anchors>"
