"""What the templates beside this file put around a page: the contents of the book and of the page,
the chapter's number, and of scripts and styles only the book's own.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from docutils import nodes
from markupsafe import Markup, escape

from book.extension.bilingual import Element, element, spans
from book.extension.drawings import drawing
from book.extension.sections import PLANNED
from book.extension.slugs import SEPARATOR
from book.extension.web import TEMPLATES, bundles
from book.pipeline.content import heads
from book.pipeline.ground.paths import OPENING, SHEET, place

NAME = "book"
MATHS_STYLES = "katex/"
TOGGLE = ("展开或收起{}各节", "Show or hide the sections of {}")
CHEVRON = ('<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">'
           '<path d="M9 6l6 6-6 6"/></svg>')
DRAFT_MARK = f' <small class="draft-mark">{spans(*PLANNED)}</small>'
DRILL = "book/drill"
BELOW_TITLE = re.compile(r"^<ul>\s*<li><a[^>]*>.*?</a>(?P<list>.*)</li>\s*</ul>\s*$", re.S)
FOLD = re.compile(r'<details class="fold[^>]*>\s*<summary>(?P<name>.*?)</summary>', re.S)
LINK_CLASS = re.compile(r'\s*class="reference internal"')


# ---- around the page -----------------------------------------------------------------------------

def kind(document: str, root: str) -> str:
    """Which of the kinds of pages: front, opening, sheet, section, drill, or any other."""
    if found := place(document):
        return {OPENING: "opening", SHEET: "sheet"}.get(found[1], "section")
    return {root: "front", DRILL: "drill"}.get(document, "page")


def chapter_number(document: str) -> int | None:
    found = place(document)
    return int(found[0].partition("-")[0]) if found else None


def kicker(document: str, sections: list[str]) -> tuple[str, str] | None:
    """`5.12`, `第 5 章`: above a title; `sections` are the pages of the chapter in order."""
    number = chapter_number(document)
    if number is None:
        return None
    if kind(document, "") == "section":
        return (f"{number}.{sections.index(document) + 1}",) * 2
    return f"第 {number} 章", f"Chapter {number}"


def calm(body: str) -> str:
    """A link at a heading is for the mouse: Tab goes on to what is written, and who hears the page
    is not told of a dozen links named #."""
    hidden = '<a tabindex="-1" aria-hidden="true" class="headerlink"'
    return body.replace('<a class="headerlink"', hidden)


def numbered(body: str) -> str:
    """Folds of one name, of which a page has many, with numbers for who hears them."""
    names = Counter(match["name"] for match in FOLD.finditer(body))
    seen: Counter[str] = Counter()

    def number(match: re.Match[str]) -> str:
        name = match["name"]
        seen[name] += 1
        return match[0] if names[name] == 1 else match[0].replace(
            "</summary>", f'<span class="visually-hidden"> {seen[name]}</span></summary>')

    return FOLD.sub(number, body)


def on_this_page(toc: str) -> str:
    """The list below the title of a page, of Sphinx's list of all its headings; empty if none."""
    found = BELOW_TITLE.match(toc.strip())
    return LINK_CLASS.sub("", found["list"]).strip() if found else ""


def both(text: str) -> str:
    """`中文 · English`, already HTML, as a span of each language."""
    zh, separator, en = text.partition(SEPARATOR)
    return spans(zh, en, escape=False) if separator else text


# ---- contents of the book ------------------------------------------------------------------------

class Contents:
    """The contents of the whole book, as the column on the left of a page has them."""

    def __init__(self, app):
        self.builder, self.map = app.builder, app.env.external_site_map
        self.titles = {document: app.builder.render_partial(title)["title"]
                       for document, title in app.env.titles.items()}
        self.drafts = set(heads.drafts(self.titles, Path(app.srcdir)))

    def below(self, document: str) -> list[str]:
        """The pages that stand below a page in `_toc.yml`."""
        return [str(item) for tree in self.map[document].subtrees for item in tree.items]

    def html(self, page: str) -> str:
        """All of it, with the addresses and the marks of one page."""
        parts = []
        for tree in self.map[self.map.root.docname].subtrees:
            rows = "".join(self.row(str(item), page) for item in tree.items)
            caption = both(str(escape(tree.caption))) if tree.caption else ""
            if [caption] == [self.titles[str(item)] for item in tree.items]:
                caption = ""  # its only page says the same
            parts.append(f'<p class="caption">{caption}</p><ul>{rows}</ul>')
        return "".join(parts)

    def row(self, document: str, page: str) -> str:
        """A page; below the opening of a chapter its sections, unfolded where one is read."""
        below, number = self.below(document), chapter_number(document)
        if not below:
            return f"<li>{self.link(document, page)}</li>"
        here = page in (document, *below)
        rows = "".join(f"<li>{self.link(one, page)}</li>" for one in below)
        mark = f'<span class="number" aria-hidden="true">{number}</span>' if number else ""
        names = (f"第 {number} 章", f"chapter {number}") if number else ("本章", "this chapter")
        toggle = spans(*(words.format(name) for words, name in zip(TOGGLE, names, strict=True)))
        return (f'<li class="chapter{" current" if here else ""}" data-chapter="{number or ""}">'
                f"{self.link(document, page, mark)}<details{' open' if here else ''}><summary>"
                f'<span class="visually-hidden">{toggle}</span>{CHEVRON}</summary>'
                f"<ul>{rows}</ul></details></li>")

    def link(self, document: str, page: str, mark: str = "") -> str:
        here = ' aria-current="page"' if document == page else ""
        address = self.builder.get_relative_uri(page, document) or "#"
        return (f'<a data-page="{document}" href="{address}"{here}>{mark}'
                f"{self.titles[document]}{DRAFT_MARK if document in self.drafts else ''}</a>")


def contents(app) -> Contents:
    """The contents, made once by each process that writes pages."""
    if not hasattr(app.builder, "book_contents"):
        app.builder.book_contents = Contents(app)
    return app.builder.book_contents


# ---- hooks of Sphinx -----------------------------------------------------------------------------

def give_parts(app, pagename: str, templatename: str, context: dict[str, Any], doctree) -> None:
    """What layout.html needs and Sphinx does not give."""
    book, found = contents(app), place(pagename)
    opening = f"chapters/{found[0]}/{OPENING}" if found else ""
    context |= {
        "both": both, "draft": pagename in book.drafts, "kind": kind(pagename, app.config.root_doc),
        "chapter": chapter_number(pagename), "contents": Markup(book.html(pagename)),
        "kicker": kicker(pagename, book.below(opening) if opening else []),
        "machine": Markup(drawing(Path(app.srcdir), found[0]) if found else ""),
        "body": Markup(numbered(calm(context.get("body", "")))),
        "on_this_page": Markup(on_this_page(context.get("toc", ""))),
    }


def keep_own(app, pagename: str, templatename: str, context: dict[str, Any], doctree) -> None:
    """Drop the scripts and styles that extensions add to every page."""
    own = {file.name for file in bundles(app).iterdir()}
    has_maths = 'class="math' in context.get("body", "")
    for key in ("script_files", "css_files"):
        context[key] = [asset for asset in context[key] if is_own(asset, own, has_maths)]


def is_own(asset, own: set[str], has_maths: bool) -> bool:
    name = str(getattr(asset, "filename", asset) or "").removeprefix("_static/")
    return name in own or (has_maths and name.startswith(MATHS_STYLES))


def frame_tables(app, doctree: nodes.document, document: str) -> None:
    """A table scrolls inside a box of its own, as those do that the build fills."""
    for table in list(doctree.findall(nodes.table)):
        if not isinstance(table.parent, Element):
            box = element("div", class_="wide-table", tabindex="0")
            table.parent.replace(table, box)
            box.append(table)


def no_search(app) -> None:
    app.builder.search = False  # Sphinx's index: seconds to make, and it finds no Chinese


def setup(app):
    app.add_html_theme(NAME, str(TEMPLATES))
    app.connect("builder-inited", no_search)
    app.connect("doctree-resolved", frame_tables)
    app.connect("html-page-context", give_parts, priority=100)
    app.connect("html-page-context", keep_own, priority=900)
