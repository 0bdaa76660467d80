"""Routes through the book, by goal: which sections, in which order, and how long they take."""

from __future__ import annotations

from pathlib import Path

import yaml
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import spans
from book.extension.front import time, together
from book.extension.places import fill
from book.extension.sections import Section, link, sections, written

PAGE, FILE = "book/how-to-use", "book/routes.yaml"


def read(root: Path) -> dict[str, list[str]]:
    """Heading's id -> pages of a route, in order."""
    file = root / FILE
    return yaml.safe_load(file.read_text(encoding="utf-8")) if file.is_file() else {}


def route(pages: list[str], known: dict[str, Section]) -> str:
    """The sections of a route with their minutes, then the sum; ValueError for an unknown one."""
    if unknown := [page for page in pages if page not in known]:
        raise ValueError(f"{FILE}: {unknown[0]} is no section of the book that is written")
    chosen = [known[page] for page in pages]
    items = "".join(f"<li>{link(one.document, one.title)} {time(one.minutes)}</li>"
                    for one in chosen)
    zh, en = together(chosen)
    return (f'<ol class="route">{items}</ol>'
            f"<p>{spans(f'合计约 {zh}。', f'About {en} in all.')}</p>")


class ListRoutes(SphinxTransform):
    """Put each route below the text of its heading."""

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        root = Path(self.env.srcdir)
        found = sections(root, list(self.env.external_site_map))
        known = {one.document: one for listed in found.values() for one in written(listed)}
        fill(self.document, PAGE, {heading: route(pages, known)
                                   for heading, pages in read(root).items()})
