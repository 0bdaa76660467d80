"""The question of each section, in its chapter.yaml: there is one, and it is short.

It stands on the way to a section (next page, table of the chapter) and makes one want to read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from book.pipeline.content import chapters
from book.pipeline.ground.paths import ROOT, is_section, place
from book.pipeline.ground.problem import Problem
from book.pipeline.text import marked_yaml

LONGEST = {"zh": (30, "characters"), "en": (14, "words")}
MARKS = {"zh": "？", "en": "?"}


def problems(documents: Iterable[str], root: Path = ROOT) -> Iterator[Problem]:
    """What is wrong with the questions of the sections among these pages of the book."""
    named: dict[str, set[str]] = {}
    for chapter, section in (place(one) for one in documents if is_section(one)):
        named.setdefault(chapter, set()).add(section)
    for folder in chapters.folders(root):
        yield from _of_chapter(folder, named.get(folder.name, set()))


def _of_chapter(folder: Path, sections: set[str]) -> Iterator[Problem]:
    file = f"chapters/{folder.name}/{chapters.NAME}"
    if not (folder / chapters.NAME).is_file():
        return  # said by chapters.problems
    marked = marked_yaml.parse((folder / chapters.NAME).read_text(encoding="utf-8"))
    questions = marked.value.get("questions", {}) if isinstance(marked.value, dict) else {}
    for name in sorted(sections - questions.keys()):
        yield Problem(file, marked.line(()), f"section '{name}' has no question; write under "
                      "questions what its opening makes one ask, in zh and en")
    for name in sorted(questions.keys() - sections):
        yield Problem(file, marked.line(("questions", name)),
                      f"'{name}' is no section of the book; take its question out")
    for name in sections & questions.keys():
        for lang, text in _faults(questions[name]):
            yield Problem(file, marked.line(("questions", name, lang)),
                          f"question of '{name}', {lang}: {text}")


def _faults(question: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Language and fault; what the schema says (both languages, texts) is not said again."""
    for lang, (longest, unit) in LONGEST.items():
        text = question.get(lang, "").replace("`", "")
        length = len(text) if lang == "zh" else len(text.split())
        if length > longest:
            yield lang, f"{length} {unit}; at most {longest}"
        if not text.endswith(MARKS[lang]) or text.count(MARKS[lang]) > 1:
            yield lang, f"ask one question, which ends in {MARKS[lang]}"
