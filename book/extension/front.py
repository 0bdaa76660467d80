"""The front page: ways in, the five machines as the rooms of one house, sections by chapter."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.drawings import drawing
from book.extension.places import fill
from book.extension.progress import hours, summary
from book.extension.sections import LANGS, PLANNED, SHEET_TITLE, Section, link, sections, written
from book.extension.slugs import slug
from book.pipeline.content import planned
from book.pipeline.content.chapters import Chapter, Machine, read
from book.pipeline.content.planned import Planned
from book.pipeline.ground.paths import OPENING, SHEET
from book.pipeline.reading.minutes import Estimate

PAGE = "book/index"
SELF_TEST = ("五分钟自测", "five-minute self-test")
SHEETS, SELF_TESTS = ("速查表", "Cheat sheets"), ("自测", "Self-tests")
BEING_WRITTEN = ("编写中的章", "Chapters being written")
SELF_TEST_ID = "a-five-minute-self-test"  # of the heading in a chapter's opening
GLOSSARY = ("book/glossary", ("术语表", "Glossary"))
MARK = ("<img class=\"front-mark\" src=\"../_static/mark.svg\" alt=\"\" width=\"32\" "
        "height=\"32\">")


class Book(NamedTuple):
    """What the front page shows: the chapters, their sections, all pages, where the files lie, the
    chapters that are planned."""

    chapters: list[Chapter]
    sections: dict[str, list[Section]]
    documents: list[str]
    root: Path
    planned: list[Planned]

    def page(self, chapter: Chapter, name: str) -> str | None:
        """A page of a chapter, if it exists."""
        document = f"chapters/{chapter.folder}/{name}"
        return document if document in self.documents else None


def book(root: Path, documents: list[str]) -> Book:
    return Book(list(read(root).values()), sections(root, documents), documents, root,
                planned.read(root))


# ---------------------------------------------------------------- the parts of the page
def ways_in(book: Book) -> str:
    """A line for who wants to be tested, one for who looks something up, a link per chapter."""
    tests = [link(page, one.name, anchor=SELF_TEST_ID)
             for one in book.chapters if (page := book.page(one, OPENING))]
    sheets = [link(page, one.name) for one in book.chapters if (page := book.page(one, SHEET))]
    if GLOSSARY[0] in book.documents:
        sheets.append(link(*GLOSSARY))
    lines = ((SELF_TESTS, tests), (SHEETS, sheets))
    return "".join(f'<p class="ways-in" role="group" aria-labelledby="{slug(name[1])}">'
                   f'<b id="{slug(name[1])}">{spans(*name)}</b><span>{"".join(links)}</span></p>'
                   for name, links in lines if links)


def machine_map(book: Book) -> str:
    """The machines as rooms, in the order of the lines of a training step.

    The compiler stands before the loop, then comes the loader, then the body of the step: the
    machines in the reverse order of their chapters.
    """
    machines = sorted((one for one in book.chapters if one.machine), reverse=True,
                      key=lambda chapter: chapter.number)
    rooms = "".join(_room(one, one.machine, book) for one in machines if one.machine)
    return f'<div class="machines"><div class="house">{rooms}</div></div>'


def _room(chapter: Chapter, machine: Machine, book: Book) -> str:
    """A machine: all of it leads to the opening of its chapter, if there is one."""
    opening = book.page(chapter, OPENING)
    tag, href = ("a", f' href="../{opening}.html"') if opening else ("div", "")
    planned = "" if written(book.sections.get(chapter.folder, [])) else " is-planned"
    state = f'<span class="planned">{spans(*PLANNED)}</span>' if planned else ""
    step = ' class="in-step"' if machine.in_step else ""
    return (f'<{tag} class="machine{planned}"{href} data-chapter="{chapter.number}">'
            f'{drawing(book.root, chapter.folder)}<span class="machine-words">'
            f"<code{step}>{html.escape(machine.line)}</code>"
            f"<b>{spans(*chapter.name)} <small>{_number(chapter)}</small></b>"
            f"<span>{spans(*machine.job)}</span>{state}</span></{tag}>")


def _number(chapter: Chapter | Planned) -> str:
    return spans(f"第 {chapter.number} 章", f"Chapter {chapter.number}")


def section_lists(book: Book) -> str:
    """Per chapter with an opening or sections: what there is of it in one line, then these; at the
    end those that are planned."""
    lists = [_chapter(one, book.sections.get(one.folder, []), book) for one in book.chapters
             if one.folder in book.sections or book.page(one, OPENING)]
    every = [section for ready in book.sections.values() for section in ready]
    return f'{summary(written(every))}{"".join(lists)}{_planned(book.planned)}'


def _chapter(chapter: Chapter, ready: list[Section], book: Book) -> str:
    opening, sheet = book.page(chapter, OPENING), book.page(chapter, SHEET)
    name = link(opening, chapter.name) if opening else spans(*chapter.name)
    about = [spans(*(size(written(ready)) if written(ready) else PLANNED))]
    if opening:
        about.append(link(opening, SELF_TEST, anchor=SELF_TEST_ID))
    if sheet:
        about.append(link(sheet, SHEET_TITLE))
    rows = "".join(f"<li>{link(one.document, one.title)} {how_long(one)}</li>" for one in ready)
    items = rows and f"<ol>{rows}</ol>"
    identity = slug(chapter.name[1])
    return (f'<section id="{identity}" class="chapter-list" data-chapter="{chapter.number}">'
            f'<h3 id="{identity}-name"><small>{chapter.number}</small> {name}</h3>'
            f'<p role="group" aria-labelledby="{identity}-name">'
            f'{"".join(f"<span>{part}</span>" for part in about)}</p>{items}</section>')


def _planned(chapters: list[Planned]) -> str:
    """The chapters without a page, each with an id: the search leads there (finish/entries.py)."""
    rows = "".join(f'<li class="planned" id="{slug(one.name[1])}"><small>{_number(one)}</small> '
                   f"{spans(*_announced(one), escape=False)}</li>" for one in chapters)
    return rows and (f'<section id="{slug(BEING_WRITTEN[1])}" class="chapter-list">'
                     f"<h3>{spans(*BEING_WRITTEN)}</h3>"
                     f"<ul>{rows}</ul></section>")


def _announced(chapter: Planned) -> list[str]:
    """Its name and what it will be about, as HTML, in both languages."""
    return [f"<b>{html.escape(name)}</b>{colon}{html.escape(about)}" for name, colon, about in
            zip(chapter.name, ("：", ": "), chapter.about, strict=True)]


def size(ready: list[Section]) -> tuple[str, str]:
    """How many sections, about how many hours, how many cards, in both languages."""
    (zh, en), cards = together(ready), sum(one.cards for one in ready)
    return (f"{len(ready)} 节，约 {zh}，{cards} 张卡片",
            f"{len(ready)} section{'s' * (len(ready) != 1)}, about {en}, {cards} cards")


def how_long(section: Section) -> str:
    """How long a section takes, or that it is being written."""
    return f"<small>{spans(*PLANNED)}</small>" if section.draft else time(section.minutes)


def time(minutes: Estimate) -> str:
    """How long a section takes with its exercises."""
    zh, en = minutes.whole("zh"), minutes.whole("en")
    return f"<small>{spans(f'{zh} 分钟', f'{en} min')}</small>"


def together(chosen: list[Section]) -> tuple[str, str]:
    """How long sections take together, in words of each language."""
    zh, en = (hours(sum(one.minutes.whole(lang) for one in chosen)) for lang in LANGS)
    return zh[0], en[1]


PARTS: dict[str, Callable[[Book], str]] = {  # id of a heading -> what stands below its text
    "where-to-start": ways_in, "the-five-machines": machine_map, "sections": section_lists}


class FillFront(SphinxTransform):
    """Put the parts below the text of their headings."""

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        shown = book(Path(self.env.srcdir), list(self.env.external_site_map))
        fill(self.document, PAGE, {name: made(shown) for name, made in PARTS.items()})
        next(self.document.findall(nodes.section)).insert(1, raw(MARK))
