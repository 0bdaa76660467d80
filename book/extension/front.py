"""The front page: the map of the five machines around one training step, the table of sections."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import nbformat
from docutils import nodes
from markupsafe import Markup
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.slugs import SEPARATOR
from book.extension.tables import table
from book.pipeline.cards import results
from book.pipeline.chapters import Chapter, Machine, read
from book.pipeline.paths import OPENING, SHEET, is_section
from book.pipeline.reading.minutes import minutes

PAGE = "book/index"
PLANNED = ("编写中", "being written")
HEAD = [("节", "Section"), ("时间", "Time"), ("卡片", "Cards")]
SHEET_TITLE = ("速查表", "Cheat sheet")


class Section(NamedTuple):
    """A section that exists: its page, both halves of its title, minutes, number of cards."""

    document: str
    title: tuple[str, str]
    minutes: int
    cards: int


def sections(root: Path, documents: list[str]) -> dict[str, list[Section]]:
    """Chapter folder -> its sections that are pages of the book, in the order of `documents`."""
    found: dict[str, list[Section]] = {}
    for document in filter(is_section, documents):
        chapter = document.split("/")[1]
        found.setdefault(chapter, []).append(_section(root / f"{document}.ipynb", document))
    return found


def _section(file: Path, document: str) -> Section:
    book = nbformat.read(file, 4)
    title = re.search(r"^# (.+)$", book.cells[0].source, re.M)[1].split(SEPARATOR)
    proved = results.read_file(file.parent / "cards" / f"{file.stem}.json")
    return Section(document, (title[0], title[1]), minutes(book), len(results.entries(proved)))


def machine_map(chapters: Iterable[Chapter], found: dict[str, list[Section]],
                documents: list[str]) -> str:
    """One training step from the outside in: a frame around what is compiled.

    The compiler stands before the loop, then comes the loader, then the body of the step: the
    machines in the reverse order of their chapters.
    """
    machines = sorted((one for one in chapters if one.machine), reverse=True,
                      key=lambda chapter: chapter.number)
    around, inside = (
        "".join(_box(one, one.machine, found.get(one.folder, []), documents)
                for one in machines if one.machine.in_step is in_step)
        for in_step in (False, True))
    return f'<div class="machine-map">{around}<div class="machine-frame">{inside}</div></div>'


def _box(chapter: Chapter, machine: Machine, ready: list[Section], documents: list[str]) -> str:
    """A machine: its name leads to the opening of its chapter, if there is one."""
    opening, sheet = (f"chapters/{chapter.folder}/{page}" for page in (OPENING, SHEET))
    items = [link(section.document, section.title) for section in ready]
    if sheet in documents:
        items.append(link(sheet, SHEET_TITLE))
    links = "".join(f"<li>{item}</li>" for item in items)
    state = f"<ul>{links}</ul>" if ready else f'<p class="planned">{spans(*PLANNED)}</p>'
    name = link(opening, chapter.name) if opening in documents else spans(*chapter.name)
    number = spans(f"第 {chapter.number} 章", f"Chapter {chapter.number}")
    return (f'<div class="machine{"" if ready else " is-planned"}">'
            f"<code>{html.escape(machine.line)}</code>"
            f"<div><b>{name}</b> <small>{number}</small>"
            f"<p>{spans(*machine.job)}</p>{state}</div></div>")


def link(document: str, title: tuple[str, str], up: str = "../") -> str:
    """A link from a page that is `up` below the root of the book."""
    return f'<a href="{up}{document}.html">{spans(*title)}</a>'


def section_table(chapters: Iterable[Chapter], found: dict[str, list[Section]]) -> str:
    """Per section: its chapter, about how long it takes, how many cards it has."""
    rows = [[chapter.name, *facts(section)] for chapter in chapters
            for section in found.get(chapter.folder, [])]
    return table([("章", "Chapter"), *HEAD], rows)


def facts(section: Section, up: str = "../") -> list[object]:
    """The cells of a section in a table with `HEAD`."""
    return [Markup(link(section.document, section.title, up)),
            (f"约 {section.minutes} 分钟", f"about {section.minutes} min"), section.cards]


class FillFront(SphinxTransform):
    """Put map and table below the text of their headings."""

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        documents = list(self.env.external_site_map)
        root = Path(self.env.srcdir)
        found, chapters = sections(root, documents), read(root).values()
        parts = {"the-five-machines": machine_map(chapters, found, documents),
                 "sections": section_table(chapters, found)}
        headed = {part["ids"][0]: part for part in self.document.findall(nodes.section)}
        for name, part in parts.items():
            headed[name].append(raw(part))
