"""book/moved.yaml: addresses that were published, and where what stood there is now.

    chapters/02-autograd/old-page:              a page that is gone
      to: chapters/02-autograd/new-page         where its readers are sent
      anchors:                                  what stands elsewhere, or under another name
        an-anchor: chapters/02-autograd/other-page
        old-name: chapters/02-autograd/new-page#new-name
    chapters/02-autograd/still-a-page:          a page that has given anchors away: no `to`
      anchors:
        an-anchor: chapters/02-autograd/other-page

An anchor that is not named keeps its name on the page that `to` says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from book.pipeline.ground.paths import ROOT
from book.pipeline.ground.problem import Problem
from book.pipeline.text import marked_yaml
from book.pipeline.text.marked_yaml import Marked

FILE = "book/moved.yaml"
SEPARATOR = " · "
PAGE = re.compile(r"[a-z0-9-]+(?:/[a-z0-9-]+)+")
ANCHOR = re.compile(r"[a-z0-9-]+")


class Target(NamedTuple):
    """A page of the book and an element of it; no anchor is the page as a whole."""

    page: str
    anchor: str = ""

    def address(self, at: str) -> str:
        """Its address on a page of the same site, both as in `chapters/01-tensors/views`."""
        up = "../" * at.count("/")
        return f"{up}{self.page}.html{self.anchor and '#' + self.anchor}"


@dataclass(frozen=True)
class Moved:
    """An old page: `to` is the page in its place, None where it is still there itself."""

    page: str
    to: str | None = None
    anchors: dict[str, Target] = field(default_factory=dict)

    @property
    def pages(self) -> list[str]:
        """Every page that holds a part of it now, that of `to` first."""
        found = [self.to] if self.to else []
        return list(dict.fromkeys([*found, *(target.page for target in self.anchors.values())]))


def read(root: Path = ROOT) -> list[Moved]:
    """What the file says, in its order; nothing without a file. Raises ValueError, in one line."""
    marked = _parsed(root)
    if wrong := next(_form(marked), None):
        raise ValueError(str(wrong))
    return [Moved(page, row.get("to"), {name: target(name, text) for name, text
                                        in (row.get("anchors") or {}).items()})
            for page, row in (marked.value or {}).items()]


def target(anchor: str, text: str) -> Target:
    """`page` keeps the anchor's name, `page#name` gives another."""
    page, _, name = text.partition("#")
    return Target(page, name or anchor)


def problems(documents: Collection[str], root: Path = ROOT) -> Iterator[Problem]:
    """What is wrong with the file, for a book of these pages; anchors are seen on built pages."""
    marked = _parsed(root)
    if wrong := list(_form(marked)):
        yield from wrong
        return
    everything = read(root)
    given = {Target(one.page, name) for one in everything for name in one.anchors}
    for one in everything:
        at = marked.line((one.page,))
        if one.page in documents and one.to:
            yield Problem(FILE, at, f"{one.page} is a page again: take `to` out, or the page")
        elif one.page not in documents and not one.to:
            yield Problem(FILE, at, f"{one.page} is no page: say in `to` which took its place")
        for place, page in _targets(one):
            if page not in documents:
                yield Problem(FILE, marked.line(place), f"{page} is no page of _toc.yml")
        for name, to in one.anchors.items():
            if to == Target(one.page, name):
                yield Problem(FILE, marked.line((one.page, "anchors", name)),
                              f"#{name} moves to where it is: take it out")
            elif to in given:
                yield Problem(FILE, marked.line((one.page, "anchors", name)),
                              f"{to.page}#{to.anchor} has moved on: name its new place")


def _targets(one: Moved) -> Iterator[tuple[tuple[str, ...], str]]:
    if one.to:
        yield (one.page, "to"), one.to
    for name, to in one.anchors.items():
        yield (one.page, "anchors", name), to.page


def _parsed(root: Path) -> Marked:
    path = root / FILE
    try:
        return marked_yaml.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
    except UnicodeDecodeError:
        return Marked(problems=[(1, "is not UTF-8: save it as that")])


def _form(marked: Marked) -> Iterator[Problem]:
    for line, text in marked.problems:
        yield Problem(FILE, line, text)
    if marked.problems or marked.value is None:
        return
    if not isinstance(marked.value, dict):
        yield Problem(FILE, 1, "write a mapping: old page, then `to` and `anchors`")
        return
    for page, row in marked.value.items():
        for place, text in _row(page, row):
            yield Problem(FILE, marked.line(place), text)


def _row(page: str, row: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    if not PAGE.fullmatch(page):
        yield (page,), f"'{page}' is no page: write it as in chapters/01-tensors/views"
    if not isinstance(row, dict) or not row or row.keys() - {"to", "anchors"}:
        yield (page,), f"{page}: write `to`, `anchors` or both, and nothing else"
        return
    if "to" in row and not (isinstance(row["to"], str) and PAGE.fullmatch(row["to"])):
        yield (page, "to"), f"to is {row['to']!r}: write a page, without an anchor"
    anchors = row.get("anchors", {})
    if not isinstance(anchors, dict):
        yield (page, "anchors"), "anchors: write a mapping of old anchors to pages"
        return
    for name, text in anchors.items():
        parts = text.split("#") if isinstance(text, str) else []
        if not (ANCHOR.fullmatch(name) and len(parts) in (1, 2) and PAGE.fullmatch(parts[0])
                and all(ANCHOR.fullmatch(part) for part in parts[1:])):
            yield ((page, "anchors", name),
                   f"{name}: {text!r}: write anchor: page, or anchor: page#its-new-name")


def title(root: Path, page: str) -> tuple[str, str]:
    """Both halves of a page's title, without marks of code. Raises ValueError where it is none."""
    notebook, source = root / f"{page}.ipynb", root / f"{page}.md"
    if notebook.is_file():
        cell = json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]
        text = "".join(cell["source"])
    elif source.is_file():
        text = source.read_text(encoding="utf-8")
    else:
        raise ValueError(f"{FILE}: {page} is no page of the book: name one that is")
    zh, en = re.search(r"^# (.+)$", text, re.M)[1].replace("`", "").split(SEPARATOR)
    return zh, en
