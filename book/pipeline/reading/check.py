"""The reading gate of sections: warning lights, minutes and predictions.

    python -m book.pipeline.reading.check               all sections
    python -m book.pipeline.reading.check views-and-copies

Per language a line of figures, `!` beside each that is outside the range where good texts lie:
these warn. A section of more than 25 minutes or 4 predictions is wrong, unless it is older than
this rule and stands in book/long-sections.yaml; exit status 1 if there is one that does not. What
only people can judge stands in the README beside this file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from book.pipeline import lint
from book.pipeline.ground.paths import ROOT, is_section
from book.pipeline.ground.problem import Problem
from book.pipeline.notebooks.notebook import read_source
from book.pipeline.reading import lights
from book.pipeline.reading.minutes import minutes
from book.pipeline.text import marked_yaml

LIST = "book/long-sections.yaml"
MINUTES, PREDICTIONS = 25, 4


@dataclass(frozen=True)
class Section:
    """A section by its source."""

    document: str  # as in chapters/01-tensors/views-and-copies
    path: Path

    @cached_property
    def cells(self) -> list[lint.Cell]:
        return list(lint.cells_of(self.path.read_text(encoding="utf-8")))

    @cached_property
    def minutes(self) -> int:
        """As the lists of the site say it."""
        return minutes(read_source(self.path))

    @property
    def predictions(self) -> int:
        return sum("predict" in cell.meta for cell in self.cells if cell.kind == "code")

    def prose(self, lang: str) -> list[str]:
        """Its cells in a language."""
        return [cell.source for cell in self.cells if cell.lang == lang]

    @property
    def excess(self) -> str:
        """What is too much for a new section; empty if nothing is."""
        over = [f"{count} {unit}, at most {most}" for count, unit, most in (
            (self.minutes, "minutes", MINUTES), (self.predictions, "predictions", PREDICTIONS))
            if count > most]
        return " and ".join(over)


def sections(root: Path = ROOT) -> list[Section]:
    """All sections, in the order of their files."""
    found = ((path.relative_to(root).with_suffix("").as_posix(), path)
             for path in sorted(root.glob("chapters/*/*.md")))
    return [Section(document, path) for document, path in found if is_section(document)]


def named(names: list[str], root: Path = ROOT) -> list[Section]:
    """Sections by file, by document or by the last part of it; all without a name."""
    every = sections(root)
    found = []
    for name in names:
        wanted = name.removesuffix(".md")
        hits = [one for one in every if f"/{one.document}".endswith(f"/{wanted}")
                or one.path.with_suffix("") == Path(wanted).resolve()]
        if not hits:
            raise SystemExit(f"reading: no section is called '{name}'")
        found += hits
    return found if names else every


def problems(root: Path = ROOT) -> Iterator[Problem]:
    """New sections that are too long, and lines of the list that are no longer needed."""
    path = root / LIST
    marked = marked_yaml.parse(path.read_text(encoding="utf-8") if path.is_file() else "[]")
    yield from (Problem(LIST, line, text) for line, text in marked.problems)
    rows = marked.value or []
    if not (isinstance(rows, list) and all(isinstance(name, str) for name in rows)):
        yield Problem(LIST, 1, "write a list of sections, as in - chapters/01-tensors/views")
        return
    old = {name: marked.line((place,)) for place, name in enumerate(rows)}
    by_name = {one.document: one for one in sections(root)}
    for document, one in by_name.items():
        if one.excess and document not in old:
            yield Problem(f"{document}.md", 1, f"{one.excess}: where a second question begins, "
                                               "begin a second section")
    for document, line in old.items():
        if document not in by_name:
            yield Problem(LIST, line, f"{document} is gone: take its line out")
        elif not by_name[document].excess:
            yield Problem(LIST, line, f"{document} is within the limits now: take its line out")


def report(one: Section) -> Iterator[str]:
    """The lines of a section."""
    yield (f"{one.document}: {one.minutes} minutes{'!' * (one.minutes > MINUTES)}, "
           f"{one.predictions} predictions{'!' * (one.predictions > PREDICTIONS)}")
    for lang, (size, unit) in lights.SIZES.items():
        cells = one.prose(lang)
        figures = [f"{light.name} {value:.1f}{'!' * light.is_lit(value)} ({light.bound})"
                   for light, value in lights.measured(lang, cells)]
        yield f"  {lang} {size(lights.plain(cells)):5} {unit}, per 1,000: {', '.join(figures)}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m book.pipeline.reading.check",
                                     description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", help="default: all")
    for one in named(parser.parse_args(arguments).sections):
        print(*report(one), sep="\n")
    wrong = list(problems())
    print(*wrong, f"{len(wrong)} errors", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
