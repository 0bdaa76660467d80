"""The index of the search, made of the finished pages, below `_static/search/`.

    names.json      {box, first, chapters: {folder: {both, zh, en}}, texts: {zh: [name], en}}
    box.….js        what searches
    first.….json    the headings and terms of the whole book, which answer at once; how they sound
    FOLDER-….json   of a chapter: its cards and code, for both; of each language its texts
    text-….json     the texts of a page's entries, from which a result's line of context is cut

Every file but the first bears a digest in its name, so that a browser may keep it for ever. No page
knows a digest: the script of all pages asks for `names.json`, so that a changed word changes its
own page and these files only.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import yaml

from book.pipeline.finish import pinyin
from book.pipeline.finish.entries import Entry, entries
from book.pipeline.finish.manners import NOT_FOUND
from book.pipeline.ground import digests
from book.pipeline.ground.paths import ROOT, WEB

NODE = Path(sys.executable).with_name("node")
MAKE = WEB / "search" / "make-main.js"
TERMS = ROOT / "book" / "terms.yaml"
WORDS = ROOT / "book" / "search-words.yaml"
FOLDER = "search"
BOX, NAMES = "search-box.js", "names.json"  # what searches, and where search.js finds its name
LANGS = ("zh", "en")
NOTE = re.compile(r"（.*?）|，.*|`.*?`")


def write(site: Path) -> None:
    """Make the index of a site.

    Raises SystemExit, in one line, where Node cannot make it.
    """
    box, folder = site / "_static" / BOX, site / "_static" / FOLDER
    found = of_site(site)
    made = index(found, synonyms())
    folder.mkdir(exist_ok=True)
    names = {"box": named(folder, "box.js", box.read_text(encoding="utf-8")),
             "first": named(folder, "first.json", digests.canonical(made["first"])),
             "chapters": {chapter: write_chapter(folder, chapter, parts)
                          for chapter, parts in made["chapters"].items()},
             "texts": {lang: [named(folder, f"text-{lang}.json", digests.canonical(texts))
                              for texts in page_texts(found, lang, made["first"]["pages"])]
                       for lang in LANGS}}
    (folder / NAMES).write_text(digests.canonical(names), encoding="utf-8")
    box.unlink()


def of_site(site: Path) -> list[Entry]:
    """The entries of all pages."""
    return [entry for file in sorted(site.rglob("*.html")) if file.name != NOT_FOUND
            for entry in entries(file.relative_to(site).with_suffix("").as_posix(),
                                 file.read_text(encoding="utf-8"))]


def write_chapter(folder: Path, chapter: str, parts: dict[str, dict]) -> dict[str, str]:
    """Write the files of a chapter; returns their names by what they are."""
    return {part: named(folder, f"{chapter or 'root'}-{part}.json", digests.canonical(content))
            for part, content in parts.items()}


def index(found: Iterable[Entry], terms: list[list[str]]) -> dict[str, dict]:
    """The contents of the index's files; the module that makes the tokens is the page's too."""
    found = list(found)
    sounds = pinyin.table(entry.title["zh"] for entry in found if entry.kind != "card")
    given = json.dumps({"entries": [asdict(entry) for entry in found], "terms": terms,
                        "sounds": sounds})
    command = [NODE, "--max-semi-space-size=64", MAKE]  # a third of the time went to the collector
    done = subprocess.run(command, input=given, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{done.stderr}\nsite: book/web/search/make-main.js made no index")
    return json.loads(done.stdout)


def synonyms() -> list[list[str]]:
    """Words for one thing: the book's terms, and what readers type for them."""
    terms, words = (yaml.safe_load(file.read_text(encoding="utf-8")) for file in (TERMS, WORDS))
    return [*names_of(terms), *words]


def names_of(terms: list[dict]) -> list[list[str]]:
    """Names of a term: in both languages, and the forms that the book does not use."""
    groups = []
    for term in terms:
        chinese = [word.strip() for word in NOTE.sub("", term["zh"]).split("、")]
        words = dict.fromkeys(word for word in [term["en"], *chinese, *term.get("refuse", [])]
                              if word)
        if len(words) > 1:
            groups.append(list(words))
    return groups


def page_texts(found: Iterable[Entry], lang: str, pages: list[str]) -> list[dict[str, str]]:
    """For each page the texts of its entries by their anchors; the page itself is "".

    A card has none: a result that quoted its answer would spend the card.
    """
    texts: dict[str, dict[str, str]] = {page: {} for page in pages}
    for entry in found:
        if entry.kind != "card":
            texts[entry.page][entry.anchor] = entry.text[lang]
    return list(texts.values())


def named(folder: Path, name: str, content: str) -> str:
    """Write a file whose name holds its digest; returns the name."""
    stem, _, suffix = name.partition(".")
    whole = f"{stem}.{digests.of(content)[:10]}.{suffix}"
    (folder / whole).write_text(content, encoding="utf-8")
    return whole

