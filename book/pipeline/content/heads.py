"""What a section says of itself in the head of its `.md`, beside what jupytext needs there.

    question:           what the section answers, asked on the way to it
      zh: …
      en: …
    draft: true         it is being written (default: false); an opening may say so too

None of it goes into the notebook, so that a change here makes no notebook stale.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
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
    """The head of a section; an empty one without its file. Raises ValueError, in one line."""
    if not path.is_file():
        return Head()
    text = path.read_text(encoding="utf-8")
    if wrong := next(problems(text), None):
        raise ValueError(str(Problem(path.relative_to(root).as_posix(), *wrong)))
    content = parse(text).value or {}
    question = content.get("question")
    return Head(question and (question["zh"], question["en"]), content.get("draft", False))


def drafts(documents: Iterable[str], root: Path = ROOT) -> list[str]:
    """Those among the pages of the book that are being written."""
    return [one for one in documents if place(one) and read(root / f"{one}.md", root).draft]
