"""book/glossary.yaml: the terms of the book, each with its definition and where it is explained.

The names come from book/terms.yaml, so that a pair stands in one place; see the head of the file.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from book.pipeline.ground.paths import ROOT
from book.pipeline.text.marked_yaml import Loader

FILE, NAMES = "book/glossary.yaml", "book/terms.yaml"
PAGE = "book/glossary"
LANGS = ("zh", "en")
SEPARATOR = " · "
MOST = {"zh": 70, "en": 45}  # Chinese characters and Latin words; words
# The first character of GB 2312 with each initial; none begins with i, u or v.
PINYIN = tuple(zip("啊芭擦搭蛾发噶哈击喀垃妈拿哦啪期然撒塌挖昔压匝", "ABCDEFGHJKLMNOPQRSTWXYZ",
                   strict=True))
LATIN = "A–Z"
KEYS = {"id", "term", "section", "define"}
OPTIONAL = {"in_zh", "in_en", "only", "unless", "sort"}
UNIT = {"zh": re.compile(r"[\u3400-\u9fff]|[A-Za-z0-9_.+-]+"), "en": re.compile(r"\S+")}


@dataclass(frozen=True, eq=False)
class Term:
    """A term: `name` and `define` by language, `forms` by which a text is known to mention it."""

    id: str
    name: dict[str, str]
    define: dict[str, str]
    page: str
    anchor: str
    forms: dict[str, tuple[str, ...]]
    only: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    sort: str = ""

    def marked_on(self, page: str) -> bool:
        """Whether a page may mark it: not the one that explains it, nor one it is not meant for."""
        chosen = not self.only or any(page.startswith(f"chapters/{start}") for start in self.only)
        return page != self.page and chosen


def read(root: Path = ROOT) -> list[Term]:
    """The terms in the order of the file, none without one. Raises ValueError, in one line."""
    path = root / FILE
    if not path.is_file():
        return []
    return list(_terms((root / NAMES).read_text(encoding="utf-8"),
                       path.read_text(encoding="utf-8")))


@cache  # every page asks for them
def _terms(pairs: str, rows: str) -> tuple[Term, ...]:
    names = {row["en"]: {"en": row["en"], "zh": row["zh"]} for row in yaml.load(pairs, Loader)}
    return tuple(_term(row, names) for row in yaml.load(rows, Loader))


def _term(row: dict, names: dict[str, dict[str, str]]) -> Term:
    who = f"{FILE}: '{row.get('id', 'without id')}'"
    if missing := KEYS - row.keys():
        raise ValueError(f"{who}: {', '.join(sorted(missing))} is missing")
    if unknown := row.keys() - KEYS - OPTIONAL:
        raise ValueError(f"{who}: unknown key {', '.join(sorted(unknown))}")
    if row["term"] not in names:
        raise ValueError(f"{who}: {NAMES} has no term '{row['term']}'; give it its pair there")
    page, _, anchor = row["section"].partition("#")
    if not anchor:
        raise ValueError(f"{who}: section is '{row['section']}'; write page#heading")
    name = names[row["term"]]
    return Term(row["id"], name, row["define"], page, anchor,
                {lang: tuple(row.get(f"in_{lang}", _forms(lang, name[lang]))) for lang in LANGS},
                tuple(row.get("only", ())), tuple(row.get("unless", ())), row.get("sort", ""))


def _forms(lang: str, name: str) -> list[str]:
    """The name as it is, in English with a plural; what stands in brackets is left out."""
    plain = re.sub(r"（.*?）", "", name)
    return [plain] if lang == "zh" else [plain, f"{plain}s"]


def length(lang: str, text: str) -> int:
    """Chinese characters, with a word of code or Latin as one; English words."""
    return len(UNIT[lang].findall(text))


def by_pinyin(term: Term) -> tuple[bool, bytes]:
    """Latin names first; GB 2312 has its common characters in the order of their pinyin."""
    name = term.sort or term.name["zh"]
    return not name[0].isascii(), name.lower().encode("gb18030")


def initial(term: Term) -> str:
    """First letter of the Chinese name's pinyin; Latin names stand together before them."""
    name = (term.sort or term.name["zh"])[0]
    code = name.encode("gb18030")
    return next((letter for start, letter in reversed(PINYIN) if code >= start.encode("gb18030")),
                LATIN)


def by_english(term: Term) -> str:
    return term.name["en"].lower()


# ---- headings and how often a term occurs -------------------------------------------------------

@cache
def markdown(root: Path, page: str) -> str:
    """The Markdown of a page of the book, code cells left out; empty if it is none."""
    notebook, source = root / f"{page}.ipynb", root / f"{page}.md"
    if notebook.is_file():
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        return "\n\n".join("".join(cell["source"]) for cell in cells
                           if cell["cell_type"] == "markdown")
    return source.read_text(encoding="utf-8") if source.is_file() else ""


def headings(root: Path, page: str) -> dict[str, tuple[str, str]]:
    """Anchor -> both halves of each heading of a page, Markdown as written."""
    found = {}
    for line in re.findall(r"^#{1,4} (.+)$", markdown(root, page), re.M):
        if SEPARATOR in line:
            zh, en = line.split(SEPARATOR, 1)
            found[re.sub(r"[^a-z0-9]+", "-", en.lower()).strip("-")] = (zh, en)
    return found


def problems(terms: list[Term], root: Path = ROOT) -> list[str]:
    """What no reader of the file sees: ids twice, long definitions, headings that do not exist."""
    found, seen = [], set()
    for term in terms:
        who = f"{FILE}: '{term.id}'"
        if term.id in seen or not re.fullmatch(r"[a-z0-9-]+", term.id):
            found.append(f"{who}: give it an id of its own, of a-z, 0-9 and -")
        seen.add(term.id)
        if term.anchor not in headings(root, term.page):
            found.append(f"{who}: {term.page} has no heading #{term.anchor}")
        for lang, most in MOST.items():
            if not 0 < (long := length(lang, term.define.get(lang) or "")) <= most:
                found.append(f"{who}: {lang} is {long} long; say it in 1 to {most}")
    return found
