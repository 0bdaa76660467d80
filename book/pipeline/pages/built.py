"""The pages of a built site, parsed once; the notebook and the cards that a page is made from.

Parsed by lexbor, which builds the tree that a browser builds: 4 ms a page, where BeautifulSoup
takes 250 (lxml takes 6, and puts a block inside a paragraph where a browser closes it).
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from book.pipeline.cards import claims, results
from book.pipeline.cards.book import Card, load
from book.pipeline.cards.results import Entry
from book.pipeline.ground.paths import ROOT, SITE, place

_markdown = MarkdownIt("commonmark")


class Finding(NamedTuple):
    """One thing to mend: on which page, near which element, what."""

    page: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}{self.where and f' {self.where}'}: {self.text}"


def text(node: LexborNode | None) -> str:
    """The text below an element, as it stands in the file; empty without an element."""
    return node.text(deep=True, separator="", strip=False).strip() if node else ""


def squeezed(words: str) -> str:
    """Without white space, which a page may break or add."""
    return "".join(words.split())


def rendered(markdown: str) -> str:
    """What a page shows of one line of Markdown."""
    return text(LexborHTMLParser(f"<p>{_markdown.renderInline(markdown)}").body)


def children(node: LexborNode) -> list[LexborNode]:
    return list(node.iter(include_text=False))


def sibling(node: LexborNode) -> LexborNode | None:
    """The next element after this one."""
    while (node := node.next) is not None and not node.is_element_node:
        pass
    return node


def classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()


def near(node: LexborNode | None) -> str:
    """A short address for people: the tag, and the id of the element or of what holds it."""
    at = node
    while at is not None and not at.attributes.get("id"):
        at = at.parent
    tag = node.tag if node else ""
    return f"#{at.attributes['id']} {tag if at != node else ''}".strip() if at else tag


class Page:
    """An HTML file with an article."""

    def __init__(self, site: Site, name: str, html: str) -> None:
        self.site, self.name, self.html = site, name, html
        self.document = name.removesuffix(".html")
        self.tree = LexborHTMLParser(html)
        self.all, self.first = self.tree.css, self.tree.css_first

    @cached_property
    def ids(self) -> list[str]:
        return [tag.attributes["id"] for tag in self.all("[id]")]

    @cached_property
    def anchors(self) -> frozenset[str]:
        return frozenset(self.ids)

    @cached_property
    def cells(self) -> list[dict[str, Any]]:
        """Cells of the notebook that the page is made from; none if it is made from none."""
        file = self.site.root / f"{self.document}.ipynb"
        return json.loads(file.read_text(encoding="utf-8"))["cells"] if file.is_file() else []

    def target(self, address: str) -> tuple[str, str] | None:
        """File of the site and anchor that an address on this page means; None outside the site."""
        parts = urlsplit(address)
        if parts.scheme or parts.netloc:
            return None
        path = posixpath.join(posixpath.dirname(self.name), unquote(parts.path)).lstrip("/")
        return (posixpath.normpath(path) if parts.path else self.name), unquote(parts.fragment)

    def links(self, part: LexborNode, selector: str = "a[href]") -> list[str]:
        """Files of the site that a part of the page links, in order."""
        found = (self.target(link.attributes["href"]) for link in part.css(selector))
        return [target[0] for target in found if target]

    def finding(self, node: LexborNode | str | None, words: str) -> Finding:
        return Finding(self.name, node if isinstance(node, str) else near(node), words)


@dataclass
class Site:
    """A folder that `make site` has filled, and the sources that it is made from."""

    folder: Path = SITE
    root: Path = ROOT

    @cached_property
    def pages(self) -> dict[str, Page]:
        """The pages by name; what the theme leaves in `_static` is none of them."""
        found = {}
        for file in sorted(self.folder.rglob("*.html")):
            name = file.relative_to(self.folder).as_posix()
            html = file.read_text(encoding="utf-8")
            if "<article" in html and not name.startswith("_static/"):
                found[name] = Page(self, name, html)
        return found

    @cached_property
    def has_file(self) -> Callable[[str], bool]:
        return cache(lambda name: (self.folder / name).is_file())

    @cached_property
    def claims(self) -> dict[str, claims.Claim]:
        return claims.read(self.root)

    @cached_property
    def _chapters(self) -> dict[str, tuple[list[Card], dict[str, Entry]]]:
        book, _ = load(self.root, schema=False)
        return {chapter.folder.name: (chapter.cards, {
            name: entry for section in chapter.sections
            for name, entry in results.entries(results.read_file(section.results)).items()})
            for chapter in book.chapters}

    def cards(self, document: str) -> Iterator[tuple[Card, Entry]]:
        """The cards of a section as written, each with what its proof has recorded."""
        chapter, section = place(document) or ("", "")
        cards, entries = self._chapters.get(chapter, ([], {}))
        for card in cards:
            if card.data.get("section") == section:
                yield card, entries.get(card.id, {})

    def chapters(self) -> dict[str, list[str]]:
        """Chapter folder -> names of its pages."""
        found: dict[str, list[str]] = {}
        for name in self.pages:
            if at := place(name.removesuffix(".html")):
                found.setdefault(at[0], []).append(name)
        return found
