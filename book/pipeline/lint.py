"""Lint of everything written in two languages: sections, pages and cards.

    python -m book.pipeline.lint [FILES]     default: chapters/*/*.md, their cards and chapter.yaml,
                                             and the pages book/*.md that have language cells

Every finding is a line `FILE:LINE: what is wrong; how to mend it`; exit status 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from jupytext.myst import (
    CODE_DIRECTIVE,
    MystMetadataParsingError,
    get_parser,
    myst_to_notebook,
    read_fenced_cell,
)

from book.pipeline.cards import book as cards
from book.pipeline.cards import rules
from book.pipeline.content import heads
from book.pipeline.ground.paths import CHAPTERS, ROOT, relative
from book.pipeline.notebooks import blanks, on_device
from book.pipeline.text import marked_yaml, prose

KEYS = {"markdown": {"lang", "tags", "fold"}, "code": {"tags", "predict", "alt", "complete"}}
TAGS = {"markdown": set(),
        "code": {"pinned-torch", "cuda", "nbval-ignore-output", "raises-exception", "setup",
                 "rehearsal",
                 *on_device.REASONS}}
LANGS = ("zh", "en")
FOLDS = ("source",)
SEPARATOR = " · "
MAX_LINES, MAX_WIDTH = 15, 80  # of a code cell
OPTION_COUNT = range(2, 6)
# What a cell without lang may hold, beside headings.
NEUTRAL = {"heading_open", "paragraph_open", "inline", "table_open", "thead_open", "tbody_open",
           "tr_open", "th_open", "td_open"}
MOVE = 'move it to a pair +++ {"lang": "zh"} and +++ {"lang": "en"}'
WORDS = re.compile(rf"{prose.HAN}+|(?<![A-Za-z0-9_])[a-z]{{3,}}(?![A-Za-z0-9_])")
Finding = tuple[int, str]  # (line from 1, what; how to mend)


@dataclass
class Cell:
    kind: str
    line: int  # where its text begins, for a code cell its fence; from 1
    meta: dict[str, Any]
    source: str

    @property
    def lang(self) -> str | None:
        return self.meta.get("lang") if self.kind == "markdown" else None


# ---- files -------------------------------------------------------------------------------------

def lint_files(paths: Iterable[Path]) -> list[str]:
    """`FILE:LINE: …` for each finding in section sources, pages and files of cards."""
    return [finding for path in paths for finding in _lint_file(Path(path))]


def lint_cards(path: Path) -> list[str]:
    """Findings on each pair of texts in cards or in a chapter.yaml; the schema sees the rest."""
    document = marked_yaml.parse(path.read_text(encoding="utf-8"))
    findings = [(line, text) for line, text in document.problems]
    for place, value in mappings(document.value, ()):
        if value.keys() & set(LANGS):
            name = _yaml_name(document.value, place)
            findings += [(document.line((*place, lang) if lang else place), f"{name}: {text}")
                         for lang, _, text in _pair_of(value)]
    return _printed(path, findings)


def default_files() -> list[Path]:
    pages = [page for page in sorted((ROOT / "book").glob("*.md"))
             if re.search(r"^\+\+\+ *\{", page.read_text(encoding="utf-8"), re.M)]
    written = [file for name in ("*/*.md", "*/cards/*.yaml", "*/chapter.yaml")
               for file in sorted(CHAPTERS.glob(name))]
    return [*written, *pages]


def _lint_file(path: Path) -> list[str]:
    if path.suffix == ".yaml":
        return lint_cards(path)
    return _printed(path, lint_source(path.read_text(encoding="utf-8")))


def _printed(path: Path, findings: Iterable[Finding]) -> list[str]:
    return [f"{relative(path)}:{line}: {text}" for line, text in sorted(set(findings))]


def lint_source(text: str) -> list[Finding]:
    """Findings in the text of a section or page."""
    if problems := list(_unreadable(text)):
        return problems
    cells = list(cells_of(text))
    findings = [*_question(text), *_empty(text, cells), *_headings(cells), *_pairs(cells),
                *_blanks(cells), *_device(cells)]
    for cell in cells:
        for rule in (_metadata, _neutral, _code):
            findings += rule(cell)
    return findings


def lint_metadata(text: str) -> list[Finding]:
    """Findings in the metadata of cells alone: with them, no page can be made."""
    return list(_unreadable(text)) or [found for cell in cells_of(text)
                                       for found in _metadata(cell)]


def _question(text: str) -> Iterator[Finding]:
    """What is wrong with the pair of texts in the head; that both are there, `heads` says."""
    head = heads.parse(text)
    question = head.value.get("question") if isinstance(head.value, dict) else None
    if isinstance(question, dict):
        for lang, _, what in _pair_of(question):
            yield head.line(("question", lang) if lang else ("question",)), f"question: {what}"


# ---- cells and their lines ---------------------------------------------------------------------

def _top_tokens(text: str) -> Iterator:
    nesting = 0
    for token in get_parser().parse(text + "\n"):
        nesting += token.nesting
        if nesting == 0:
            yield token


def _unreadable(text: str) -> Iterator[Finding]:
    """Metadata that jupytext would refuse, each at its own line."""
    for token in _top_tokens(text):
        try:
            if token.type == "myst_block_break":
                meta = json.loads(token.content or "{}")
                if not isinstance(meta, dict):
                    raise ValueError
            elif token.type == "fence" and token.info.startswith(CODE_DIRECTIVE):
                meta = read_fenced_cell(token, 0, "Code")[0]
            else:
                continue
            if not isinstance(meta.get("tags", []), list):
                yield token.map[0] + 1, "tags is no list; write [tag, …]"
        except ValueError:
            yield token.map[0] + 1, 'cell metadata is not JSON; write +++ {"lang": "zh"}'
        except MystMetadataParsingError as error:
            reason = " ".join(str(error).split())
            yield token.map[0] + 1, f"options of the code cell are not YAML ({reason}); mend them"


def cells_of(text: str) -> Iterator[Cell]:
    notebook = myst_to_notebook(text, add_source_map=True)
    lines = text.splitlines()
    for cell, start in zip(notebook.cells, notebook.metadata["source_map"], strict=True):
        if cell.cell_type == "markdown":
            start = 1 + next(i for i in range(start, len(lines)) if lines[i].strip())
        yield Cell(cell.cell_type, start, dict(cell.metadata), cell.source)


def _empty(text: str, cells: list[Cell]) -> Iterator[Finding]:
    """Breaks with metadata and no text after them, which jupytext drops without a word."""
    filled = {cell.line for cell in cells if cell.kind == "markdown"}
    lines = text.splitlines()
    for token in _top_tokens(text):
        if token.type == "myst_block_break" and token.content.strip():
            rest = range(token.map[1], len(lines))
            if next((i + 1 for i in rest if lines[i].strip()), 0) not in filled:
                yield token.map[0] + 1, "empty cell with metadata; write its text or take it out"


# ---- rules for one cell ------------------------------------------------------------------------

def _metadata(cell: Cell) -> Iterator[Finding]:
    if cell.kind not in KEYS:
        yield cell.line, f"{cell.kind} cell; write a Markdown or code cell"
        return
    for key in sorted(cell.meta.keys() - KEYS[cell.kind]):
        known = ", ".join(sorted(KEYS[cell.kind]))
        yield cell.line, f"unknown key '{key}' on a {cell.kind} cell; known: {known}"
    for tag in cell.meta.get("tags", []):
        if tag == "predict":
            yield cell.line, "tag 'predict'; the key predict: {options: …} marks such a cell"
        elif tag not in TAGS[cell.kind]:
            known = ", ".join(sorted(TAGS[cell.kind])) or "none"
            yield cell.line, f"unknown tag '{tag}' on a {cell.kind} cell; known: {known}"
    if "lang" in cell.meta and cell.lang not in LANGS and cell.kind == "markdown":
        yield cell.line, f"lang is '{cell.lang}'; write zh or en"
    if "fold" in cell.meta and cell.meta["fold"] not in FOLDS:
        yield cell.line, f"fold is '{cell.meta['fold']}'; write \"source\""
    if "fold" in cell.meta and cell.lang is None:
        yield cell.line, "fold on a cell without lang; put it on both cells of a pair"


def _neutral(cell: Cell) -> Iterator[Finding]:
    """A cell without lang holds headings, images and tables without words."""
    if cell.kind != "markdown" or "lang" in cell.meta:
        return
    text = prose.read(cell.source)
    headings = {line for line, _, _ in text.headings}
    pictures = {line for line, _ in text.images}
    rows = {line for line, kind, _ in text.blocks if kind == "tr_open"}
    for line, what in prose.markup(text):
        yield cell.line + line, what
    for line, alt in text.images:
        if not alt.strip():
            yield cell.line + line, "image without alt text; say what is to be seen"
    for line, kind, _ in text.blocks:
        if kind not in NEUTRAL and kind not in prose.BLOCKS:
            yield cell.line + line, f"{kind.removesuffix('_open')} in a cell without lang; {MOVE}"
    for line, words in text.prose:
        if line not in headings | pictures and words.strip() and \
                (line not in rows or WORDS.search(words)):
            yield cell.line + line, f"prose in a cell without lang; {MOVE}"


def _code(cell: Cell) -> Iterator[Finding]:
    if cell.kind != "code":
        return
    if match := re.search(f"{prose.HAN}+", cell.source):
        line = cell.source.count("\n", 0, match.start())
        yield cell.line, (f"Chinese in code, line {line + 1} of the cell: {match[0]}; comments and "
                          f"labels are English, prose stands in language cells")
    if "setup" not in cell.meta.get("tags", []):
        yield from _size(cell)
    if "alt" in cell.meta:
        yield from ((cell.line, f"alt: {text}") for _, _, text in _pair_of(cell.meta["alt"], True))
    if "predict" in cell.meta:
        yield from ((cell.line, f"predict: {text}") for text in _predict(cell.meta["predict"]))


def _size(cell: Cell) -> Iterator[Finding]:
    """A cell is one idea, and a line of it fits the page's column."""
    lines = cell.source.splitlines()
    if len(lines) > MAX_LINES:
        yield cell.line, f"{len(lines)} lines in a code cell; split it, at most {MAX_LINES}"
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_WIDTH:
            yield cell.line, (f"line {number} of the cell has {len(line)} characters; "
                              f"wrap it at {MAX_WIDTH}")


def _predict(predict: Any) -> Iterator[str]:
    options = predict.get("options") if isinstance(predict, dict) else None
    if not isinstance(options, list) or set(predict) != {"options"}:
        yield "must hold exactly `options`, a list"
        return
    if len(options) not in OPTION_COUNT:
        yield f"{len(options)} options; give {OPTION_COUNT[0]} to {OPTION_COUNT[-1]}"
    for number, option in enumerate(options, 1):
        yield from (f"option {number}: {what}" for what in _option(option))
    matches = [str(option.get("match")) for option in options if isinstance(option, dict)]
    if len(set(matches)) < len(matches):
        yield "two options have the same match; each must be a text of its own"
    if sum("why" not in option for option in options if isinstance(option, dict)) > 1:
        yield "more than one option has no why; each wrong one needs its line of feedback"


def _option(option: Any) -> Iterator[str]:
    if not isinstance(option, dict):
        yield "not a mapping; give match, zh, en and why"
        return
    for key in sorted(option.keys() - {"match", "zh", "en", "why"}):
        yield f"unknown key '{key}'; known: match, zh, en, why"
    match = option.get("match")
    if not isinstance(match, str) or not match.strip():
        yield f"match is {match!r}; give the expected output as text in quotes"
    yield from (text for _, _, text in _pair_of({k: option.get(k) for k in LANGS}))
    if "why" in option:
        yield from (f"why: {text}" for _, _, text in _pair_of(option["why"], True))


def _pair_of(value: Any, exactly: bool = False) -> Iterator[prose.Finding]:
    """Findings on a mapping that holds a text under zh and under en."""
    if not isinstance(value, dict) or (exactly and set(value) != set(LANGS)):
        yield "", 0, "must hold exactly zh and en"
        return
    missing = [lang for lang in LANGS
               if not isinstance(value.get(lang), str) or not value[lang].strip()]
    for lang in missing:
        yield "", 0, f"{lang} is missing or no text; say the same in both languages, in quotes"
    if not missing:
        yield from prose.pair(value["zh"], value["en"])
        if any(prose.read(value[lang]).parts["maths"] for lang in LANGS):
            yield "", 0, "$maths$ is set in prose cells only; write it as plain text or code"


# ---- rules for neighbours ----------------------------------------------------------------------

def _pairs(cells: list[Cell]) -> Iterator[Finding]:
    before: Cell | None = None
    for cell, after in zip(cells, [*cells[1:], None], strict=True):
        if cell.lang == "zh" and (after is None or after.lang != "en"):
            yield cell.line, "zh cell without an en cell right after it; write its twin"
        elif cell.lang == "en" and (before is None or before.lang != "zh"):
            yield cell.line, "en cell without a zh cell right before it; zh comes first"
        elif cell.lang == "en":
            yield from _pair(before, cell)
        before = cell


def _pair(zh: Cell, en: Cell) -> Iterator[Finding]:
    if zh.meta.get("fold") != en.meta.get("fold"):
        yield zh.line, "fold on one cell of a pair; put it on both"
    for lang, line, text in prose.pair(zh.source, en.source):
        yield (zh if lang == "zh" else en).line + line, text


def _blanks(cells: list[Cell]) -> Iterator[Finding]:
    """What a reader is to write; the next code cell checks it."""
    code = [cell for cell in cells if cell.kind == "code"]
    for cell, after in pairwise([*code, None]):
        texts = blanks.problems(cell.source, cell.meta, after and after.source)
        yield from ((cell.line, text) for text in texts)


def _device(cells: list[Cell]) -> Iterator[Finding]:
    """The first code cell of a section says where the tensors of the notebook live."""
    first = next((cell for cell in cells if cell.kind == "code"), None)
    tags = first.meta.get("tags", []) if first else []
    if "setup" in tags and (text := on_device.problem(first.source, tags)):
        yield first.line, text


def _headings(cells: list[Cell]) -> Iterator[Finding]:
    """Form of each heading, levels in order, one title, ids that differ."""
    found = [(cell.line + line, level, text) for cell in cells
             if cell.kind == "markdown" and cell.lang is None
             for line, level, text in prose.read(cell.source).headings]
    first = cells[0].line if cells else 1
    if not found or found[0][:2] != (first, 1):
        yield first, "no page title at the top; begin with # 中文 · English"
    seen, previous = set(), 0
    for line, level, text in found:
        if level == 1 and previous:
            yield line, "a second # heading; a page has one title, use ##"
        if level > previous + 1 and previous:
            yield line, f"level {level} after level {previous}; skip no level"
        previous = level
        yield from ((line, what) for what in _heading(text))
        if (english := text.rpartition(SEPARATOR)[2].casefold()) in seen:
            yield line, "the English half stands in another heading too: same address; vary it"
        seen.add(english)


def _heading(text: str) -> Iterator[str]:
    halves = text.split(SEPARATOR)
    if len(halves) != 2:
        yield f"heading '{text}'; write 中文 · English with exactly one ' · '"
    elif halves[0].strip() == halves[1].strip():
        yield f"heading '{text}' has the same half twice; write it in both languages"
    elif not re.search(prose.HAN, halves[0]):
        yield f"heading '{text}': no Chinese before ' · '; write 中文 · English"
    else:
        yield from (f"heading: {found}" for _, _, found in prose.pair(*halves))


# ---- cards -------------------------------------------------------------------------------------

def mappings(value: Any, place: marked_yaml.Place) -> Iterator[tuple[marked_yaml.Place, dict]]:
    if isinstance(value, dict):
        yield place, value
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from mappings(item, (*place, key))


def _yaml_name(document: list | dict, place: marked_yaml.Place) -> str:
    """`card 'tensors-one': points[0]` in a list of cards, `machine.job` in a chapter.yaml."""
    if isinstance(document, dict):
        return rules.field_name(place)
    card = document[place[0]]
    identity = card.get("id", "without id") if isinstance(card, dict) else "without id"
    return f"card '{identity}': {rules.field_name(place[1:])}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="lint the texts of the book")
    parser.add_argument("files", nargs="*", type=Path, help="default: all sections, cards, pages")
    files = parser.parse_args(arguments).files
    findings = lint_files(files or default_files())
    if not files:
        findings += [str(problem) for problem in cards.load()[1]]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
