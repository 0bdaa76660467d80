"""What each chapter says of itself in `chapters/NN-slug/chapter.yaml`; its number is the folder's.

    name: {zh: 自动求导, en: Autograd}
    complete: true            every card that its cards name is written (default: false)
    machine:                  for one of the five of the front page
      line: loss.backward()   the line of the training step that it stands behind
      in_step: true           part of the step that gets compiled (default: false)
      job: {zh: …, en: …}

A folder that holds nothing else is a chapter that is being written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from book.pipeline.cards import rules
from book.pipeline.ground.paths import ROOT
from book.pipeline.ground.problem import Problem
from book.pipeline.text import marked_yaml

NAME = "chapter.yaml"
FOLDER = re.compile(r"\d\d-[a-z][a-z0-9]*(-[a-z0-9]+)*")
Texts = tuple[str, str]  # zh, en


class Machine(NamedTuple):
    """One of the five: the line of the training step it stands behind, what it does there."""

    line: str
    in_step: bool
    job: Texts


class Chapter(NamedTuple):
    """A folder of `chapters/` and what it says of itself."""

    folder: str
    name: Texts
    complete: bool
    machine: Machine | None

    @property
    def number(self) -> int:
        return int(self.folder.split("-")[0])

    @property
    def slug(self) -> str:
        return self.folder.split("-", 1)[1]


def read(root: Path = ROOT) -> dict[str, Chapter]:
    """Folder -> its chapter, in the order of their numbers. Raises ValueError, in one line."""
    if wrong := next(problems(root), None):
        raise ValueError(str(wrong))
    return {folder.name: _chapter(folder) for folder in folders(root)}


def folders(root: Path) -> list[Path]:
    """The folders of chapters; others may lie beside them, but without a chapter.yaml."""
    return sorted(folder for folder in root.glob("chapters/*")
                  if folder.is_dir() and FOLDER.fullmatch(folder.name))


def problems(root: Path = ROOT, schema: bool = True) -> Iterator[Problem]:
    """What is wrong in these files; without `schema`, which needs jsonschema, only missing ones."""
    known = folders(root)
    for folder in known:
        file = f"chapters/{folder.name}/{NAME}"
        if not (folder / NAME).is_file():
            yield Problem(file, 1, "the file is missing: write the chapter's name, as in name: "
                                   "{zh: 张量, en: Tensors}")
        elif schema:
            yield from _breaches(folder / NAME, file)
    for path in sorted(set(root.glob(f"chapters/*/{NAME}")) - {f / NAME for f in known}):
        text = "rename the folder to two digits and a slug, as in 06-memory"
        yield Problem(path.relative_to(root).as_posix(), 1, text)


def _breaches(path: Path, file: str) -> Iterator[Problem]:
    marked = marked_yaml.parse(path.read_text(encoding="utf-8"))
    yield from (Problem(file, line, text) for line, text in marked.problems)
    if not marked.problems:
        for place, text in rules.schema_errors(marked.value, "chapter"):
            name = rules.field_name(place) or "the file"
            yield Problem(file, marked.line(place), text.format(name=name))


def complete(folder: Path) -> bool:
    """Whether every card of the chapter is written; False where the file does not say so."""
    return _content(folder).get("complete") is True


def _content(folder: Path) -> dict[str, Any]:
    path = folder / NAME
    content = marked_yaml.parse(path.read_text(encoding="utf-8")).value if path.is_file() else {}
    return content if isinstance(content, dict) else {}


def _chapter(folder: Path) -> Chapter:
    content = _content(folder)
    machine = content.get("machine")
    return Chapter(folder.name, _texts(content["name"]), complete(folder), machine and Machine(
        machine["line"], machine.get("in_step", False), _texts(machine["job"])))


def _texts(value: dict[str, str]) -> Texts:
    return value["zh"], value["en"]
