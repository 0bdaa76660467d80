"""The element that keeps the whole book, on the page that tells how to use it."""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans

PAGE = "book/how-to-use"
HEADING = "reading-offline"
NEEDS_SCRIPT = ("存下整本书需要 JavaScript。", "Keeping the whole book needs JavaScript.")


class InsertOfflineBook(SphinxTransform):
    """Put the element at the end of the section, below what the page says about it."""

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        for section in self.document.findall(nodes.section):
            if HEADING in section["ids"]:
                note = f"<noscript><p>{spans(*NEEDS_SCRIPT)}</p></noscript>"
                section.append(raw(f"<offline-book>{note}</offline-book>"))
