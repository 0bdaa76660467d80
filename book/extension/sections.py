"""What lists say of a section: title, question, minutes, cards; on which page it is.

Of one that is being written they say just that: it has no time and counts in no sum.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import nbformat
from markupsafe import Markup

from book.extension.bilingual import inline, spans
from book.extension.slugs import SEPARATOR
from book.pipeline.cards import results
from book.pipeline.content import heads
from book.pipeline.content.heads import Head
from book.pipeline.ground.paths import is_section, place
from book.pipeline.reading.minutes import Estimate, estimate

HEAD = [("节", "Section"), ("时间", "Time"), ("卡片", "Cards")]
PLANNED = ("编写中", "being written")
SHEET_TITLE = ("速查表", "Cheat sheet")
LANGS = ("zh", "en")


class Section(NamedTuple):
    """A section that exists: its page, both halves of its title, minutes, number of cards."""

    document: str
    title: tuple[str, str]
    minutes: Estimate
    cards: int
    question: tuple[str, str] | None = None
    draft: bool = False


def sections(root: Path, documents: list[str]) -> dict[str, list[Section]]:
    """Chapter folder -> its sections that are pages of the book, in the order of `documents`."""
    found: dict[str, list[Section]] = {}
    for document in filter(is_section, documents):
        folder, _ = place(document)
        head = heads.read(root / f"{document}.md", root)
        found.setdefault(folder, []).append(_section(root / f"{document}.ipynb", document, head))
    return found


def written(listed: Iterable[Section]) -> list[Section]:
    """Those that are no drafts."""
    return [one for one in listed if not one.draft]


@cache  # the front page, the openings and every section's own page ask
def _read(file: Path, changed: int) -> tuple[tuple[str, str], Estimate]:
    book = nbformat.read(file, 4)
    title = re.search(r"^# (.+)$", book.cells[0].source, re.M)[1].split(SEPARATOR)
    return (title[0], title[1]), estimate(book)


def _section(file: Path, document: str, head: Head) -> Section:
    title, minutes = _read(file, file.stat().st_mtime_ns)
    proved = results.read_file(file.parent / "cards" / f"{file.stem}.json")
    return Section(document, title, minutes, len(results.entries(proved)), *head)


def link(document: str, title: tuple[str, str], up: str = "../", anchor: str = "") -> str:
    """A link from a page that is `up` below the root; one to a whole page gets a mark when read."""
    page, place = ("", f"#{anchor}") if anchor else (f' data-page="{document}"', "")
    return f'<a{page} href="{up}{document}.html{place}">{spans(*title)}</a>'


def facts(section: Section, up: str = "../") -> list[object]:
    """The cells of a section in a table with `HEAD`."""
    name = Markup(link(section.document, section.title, up))
    if section.draft:
        return [name, PLANNED, ""]
    return [name, in_table(section.minutes), section.cards]


def in_table(minutes: Estimate) -> tuple[str, str]:
    """`16 min (25 with exercises)`, in the words of each language."""
    if not minutes.acting:
        return f"{minutes.zh} 分钟", f"{minutes.en} min"
    return (f"{minutes.zh} 分钟（连做题 {minutes.whole('zh')}）",
            f"{minutes.en} min ({minutes.whole('en')} with exercises)")


def asked(section: Section) -> str:
    """The question of a section as HTML; empty without one."""
    if not section.question:
        return ""
    words = spans(*map(inline, section.question), escape=False)
    return f'<span class="section-question">{words}</span>'
