"""The question of each section, in the head of its `.md`: there is one, and it is short.

It stands on the way to a section (next page, table of the chapter) and makes one want to read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from book.pipeline.content import heads
from book.pipeline.ground.paths import ROOT, is_section
from book.pipeline.ground.problem import Problem

LONGEST = {"zh": (30, "characters"), "en": (14, "words")}
MARKS = {"zh": "？", "en": "?"}


def problems(documents: Iterable[str], root: Path = ROOT) -> Iterator[Problem]:
    """What is wrong with the heads of all texts of chapters; `documents` are the book's pages."""
    known = set(documents)
    for path in sorted(root.glob("chapters/*/*.md")):
        document = path.relative_to(root).with_suffix("").as_posix()
        text = path.read_text(encoding="utf-8")
        for line, fault in _faults(document, text, document in known):
            yield Problem(f"{document}.md", line, fault)


def _faults(document: str, text: str, in_book: bool) -> Iterator[tuple[int, str]]:
    """Line and fault; how long the question is, is not judged where the form is wrong."""
    marked, wrong = heads.parse(text), list(heads.problems(text))
    yield from wrong
    question = marked.value.get("question") if isinstance(marked.value, dict) else None
    if not is_section(document):
        if question:
            yield marked.line(("question",)), "only a section has a question; take it out"
    elif not in_book:
        yield 1, "the section is not in _toc.yml; add it there"
    elif question is None:
        yield 1, ("the section has no question; write in its head what its opening makes one ask: "
                  "question, in zh and en")
    if question and not wrong:
        for lang, fault in too_long(question):
            yield marked.line(("question", lang)), f"question, {lang}: {fault}"


def too_long(question: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Language and fault of a question that is long, or more than one."""
    for lang, (longest, unit) in LONGEST.items():
        text = question[lang].replace("`", "")
        length = len(text) if lang == "zh" else len(text.split())
        if length > longest:
            yield lang, f"{length} {unit}; at most {longest}"
        if not text.endswith(MARKS[lang]) or text.count(MARKS[lang]) > 1:
            yield lang, f"ask one question, which ends in {MARKS[lang]}"
