"""What a section says of itself in the head of its `.md`, beside what jupytext needs there.

    question:           what the section answers, asked on the way to it
      zh: …
      en: …
    draft: true         it is being written (default: false); an opening may say so too

None of it goes into the notebook, so that a change here makes no notebook stale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from book.pipeline.cards import rules
from book.pipeline.ground.paths import ROOT, place
from book.pipeline.ground.problem import Problem
from book.pipeline.notebooks.notebook import HEAD
from book.pipeline.text import marked_yaml
from book.pipeline.text.marked_yaml import Marked


class Head(NamedTuple):
    """The question of a section in zh and en, if it has one; whether it is being written."""

    question: tuple[str, str] | None = None
    draft: bool = False


def parse(text: str) -> Marked:
    """The head of a `.md`; its lines are those of the file."""
    found = HEAD.match(text)
    return marked_yaml.parse(f"\n{found['yaml']}" if found else "")


def problems(text: str) -> Iterator[tuple[int, str]]:
    """`(line, text)` of what is wrong in the form of a head."""
    marked = parse(text)
    yield from marked.problems
    if not marked.problems:
        for place, words in rules.schema_errors(marked.value or {}, "head"):
            name = rules.field_name(place) or "the head"
            yield marked.line(place), words.format(name=name)


def read(path: Path, root: Path = ROOT) -> Head:
    """The head of a text of a chapter; an empty one without the file or without a head.

    Raises ValueError, in one line.
    """
    return _read(path, root, path.stat().st_mtime_ns) if path.is_file() else Head()


@cache  # the lists of sections, every page and its neighbours ask
def _read(path: Path, root: Path, changed: int) -> Head:
    text = path.read_text(encoding="utf-8")
    if not HEAD.match(text):
        return Head()
    if wrong := next(problems(text), None):
        raise ValueError(str(Problem(path.relative_to(root).as_posix(), *wrong)))
    content = parse(text).value or {}
    question = content.get("question")
    return Head(question and (question["zh"], question["en"]), content.get("draft", False))


def drafts(documents: Iterable[str], root: Path = ROOT) -> list[str]:
    """Those among the pages of the book that are being written."""
    return [one for one in documents if is_draft(one, root)]


def is_draft(document: str, root: Path = ROOT) -> bool:
    """Whether a page of a chapter is being written."""
    return place(document) is not None and read(root / f"{document}.md", root).draft
