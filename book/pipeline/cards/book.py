"""The book's cards: read every `cards/SECTION.yaml` and check it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from book.pipeline.cards import rules
from book.pipeline.content import chapters
from book.pipeline.ground.paths import ROOT
from book.pipeline.ground.problem import Problem
from book.pipeline.text import marked_yaml
from book.pipeline.text.marked_yaml import Marked, Place

FILES = "cards/*.yaml"  # in the folder of a chapter, one for each section that has cards


@dataclass(frozen=True)
class Card:
    """One card as written: `data` is its mapping in that file, checked by the schema."""

    id: str
    data: Mapping[str, Any]
    file: str
    place: Place
    marks: Marked

    @property
    def needs(self) -> str:
        return self.data.get("needs", "cpu")

    @property
    def variants(self) -> list[dict[str, Any]]:
        """Parameter sets to run with; one empty set where the card has none."""
        return self.data.get("variants") or [{}]

    def line(self, *place: str | int) -> int:
        """Line of a field in the file."""
        return self.marks.line((*self.place, *place))

    def line_within(self, name: str, line: int) -> int:
        """Line in the file of a line of `code`, `fixed` or `proof`, where these are blocks."""
        body = self.marks.bodies.get((*self.place, name))
        return body + line - 1 if body else self.line(name)

    def problem(self, text: str, line: int | None = None) -> Problem:
        return Problem(self.file, line or self.line(), text, self.id)


@dataclass
class Section:
    """The cards of one file in the folder `cards` of a chapter."""

    path: Path
    cards: list[Card]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def results(self) -> Path:
        """The generated file beside the written one."""
        return self.path.with_suffix(".json")


@dataclass
class Chapter:
    """The cards of one folder of `chapters/`, section by section in the order of their names."""

    slug: str
    folder: Path
    complete: bool
    sections: list[Section]

    @property
    def cards(self) -> list[Card]:
        return [card for section in self.sections for card in section.cards]


@dataclass
class Book:
    """All chapters that have cards, with the lists that cards are checked against."""

    root: Path = ROOT
    chapters: list[Chapter] = field(default_factory=list)
    errata: dict[str, dict[str, Any]] = field(default_factory=dict)
    retired: list[str] = field(default_factory=list)
    open_ids: dict[str, list[str]] = field(default_factory=dict)

    @property
    def sections(self) -> list[Section]:
        return [section for chapter in self.chapters for section in chapter.sections]

    @property
    def cards(self) -> list[Card]:
        return [card for section in self.sections for card in section.cards]


def load(root: Path = ROOT, schema: bool = True) -> tuple[Book, list[Problem]]:
    """Read and check all cards below `root`; with problems, the book is not to be used.

    Without `schema`, which needs jsonschema, fields of a wrong type or name go unnoticed.
    """
    book, problems = Book(root), []
    errata, wrong = _read_list(root, "book/errata.yaml")
    book.errata = {key: row for group in (errata or {}).values() for key, row in group.items()}
    retired, wrong_too = _read_list(root, "book/retired-cards.yaml")
    book.retired = retired or []
    problems += [*wrong, *wrong_too, *chapters.problems(root, schema), *_old_files(root)]
    for folder in chapters.folders(root):
        chapter, found = _read_chapter(root, folder, schema)
        problems += found
        if chapter.sections:
            book.chapters.append(chapter)
        for card in chapter.cards:
            problems += _check_card(card, chapter, book)
    problems += _check_ids(book)
    return book, sorted(set(problems), key=lambda p: (p.file, p.line, p.text))


def _read_list(root: Path, name: str) -> tuple[Any, list[Problem]]:
    path = root / name
    if not path.is_file():
        return None, [Problem(name, 1, "the file is missing: restore it from the repository")]
    marked = marked_yaml.parse(path.read_text(encoding="utf-8"))
    return marked.value, [Problem(name, line, text) for line, text in marked.problems]


def _old_files(root: Path) -> Iterator[Problem]:
    """One file for a whole chapter, as there was once: its cards would go unnoticed."""
    for path in sorted(root.glob("chapters/*/cards.yaml")):
        text = "the file is not read: write the cards of each section in cards/SECTION.yaml"
        yield Problem(path.relative_to(root).as_posix(), 1, text)


def _read_chapter(root: Path, folder: Path, schema: bool) -> tuple[Chapter, list[Problem]]:
    sections, problems = [], []
    for path in sorted(folder.glob(FILES)):
        section, found = _read_section(root, path, schema)
        sections.append(section)
        problems += found
    slug = folder.name.split("-", 1)[1]
    return Chapter(slug, folder, chapters.complete(folder), sections), problems


def _read_section(root: Path, path: Path, schema: bool) -> tuple[Section, list[Problem]]:
    file = path.relative_to(root).as_posix()
    marked = marked_yaml.parse(path.read_text(encoding="utf-8"))
    problems = [Problem(file, line, text) for line, text in marked.problems]
    if schema and not problems:
        problems += _check_schema(marked, file)
    rows = marked.value if isinstance(marked.value, list) else []
    cards = [
        Card(str(row["id"]), row, file, (i,), marked)
        for i, row in enumerate(rows)
        if isinstance(row, dict) and "id" in row
    ]
    return Section(path, cards), problems


def _check_schema(marked: Marked, file: str) -> Iterator[Problem]:
    for place, text in rules.schema_errors(marked.value):
        card = ""
        if place:
            row = marked.value[place[0]]
            named = isinstance(row, dict) and row.get("id")
            card = str(named or f"number {place[0] + 1} of the file")
        name = rules.field_name(place[1:]) or ("the card" if card else "the file")
        yield Problem(file, marked.line(place), text.format(name=name), card)


def _check_card(card: Card, chapter: Chapter, book: Book) -> Iterator[Problem]:
    """Rules that a schema cannot hold; a field of the wrong type is left to the schema."""
    if not card.id.startswith(f"{chapter.slug}-"):
        yield card.problem(f"id must begin with '{chapter.slug}-'", card.line("id"))
    if card.id in book.retired:
        text = "the id is retired (book/retired-cards.yaml): choose a new one"
        yield card.problem(text, card.line("id"))
    yield from _check_section(card, chapter)
    for place, text in rules.content_errors(card.data):
        line = card.line(*place)
        if place[0] == "proof" and len(place) == 2:
            line = card.line_within("proof", place[1])
        yield card.problem(text, line)
    for place, name in rules.refuted(card.data):
        if name not in book.errata:
            text = f"{rules.field_name(place)} names '{name}', not in book/errata.yaml"
            yield card.problem(text, card.line(*place))


def _check_section(card: Card, chapter: Chapter) -> Iterator[Problem]:
    section, file = card.data.get("section"), Path(card.file).stem
    if not isinstance(section, str):
        return
    if section != file:
        text = f"section is '{section}' in the file of '{file}': move the card to {section}.yaml"
        yield card.problem(text, card.line("section"))
    elif not (chapter.folder / f"{section}.md").is_file():
        known = ", ".join(sorted(p.stem for p in chapter.folder.glob("*.md"))) or "none yet"
        text = f"section '{section}' has no file {section}.md in the chapter (there: {known})"
        yield card.problem(text, card.line("section"))


def _check_ids(book: Book) -> Iterator[Problem]:
    """Ids given twice, and ids that are named but do not exist (open, or wrong when complete)."""
    first: dict[str, Card] = {}
    for card in book.cards:
        if card.id in first:
            at = f"{first[card.id].file}:{first[card.id].line('id')}"
            yield card.problem(f"the id is taken by {at}: choose another", card.line("id"))
        first.setdefault(card.id, card)
    complete = [chapter.slug for chapter in book.chapters if chapter.complete]
    for card in book.cards:
        for place, name in rules.named_ids(card.data):
            where = rules.field_name(place)
            if name == card.id:
                yield card.problem(f"{where} names the card itself", card.line(*place))
            elif name not in first:
                done = next((slug for slug in complete if name.startswith(f"{slug}-")), None)
                book.open_ids.setdefault(name, []).append(card.id)
                if done:
                    text = f"{where} names '{name}': chapter '{done}' is complete without it"
                    yield card.problem(text, card.line(*place))
