"""Begin a chapter or a section: everything that the book wants of it, but for its text.

    python -m book.pipeline.new chapter 06-memory
    python -m book.pipeline.new section 06-memory/allocator

A section gets its `.md` with a question in its head, a file for its cards, its notebook, its line
in _toc.yml, and in both languages its line below `You can now` of the opening. All of it passes
`python -m book.pipeline.desk`. What stands there is a place for words, so section and opening are
drafts: the site says so, and search leaves them out. Write them, then take `draft: true` out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from book.pipeline import sync
from book.pipeline.cards import results
from book.pipeline.content import chapters
from book.pipeline.ground.paths import CHAPTERS, OPENING, ROOT, SHEET, write_atomic
from book.pipeline.notebooks.notebook import SETUP
from book.pipeline.proofs.session import versions

SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
TOC = "_toc.yml"
CAN_DO = re.compile(r"^## .* · You can now$", re.M)
NO_TEXT = {"zh": "待写。", "en": "To be written."}
TITLE = "待写"  # the Chinese half of a title, until somebody thinks of one

FRONT_MATTER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
"""
HEAD = FRONT_MATTER + """{own}draft: true
---

# {zh} · {en}

{text}
```{{code-cell}} python
:tags: [setup]
{setup}
from inside import use_device; use_device()
```
"""
QUESTION = """question:
  zh: "这一节回答什么问题？"
  en: "Which question does this section answer?"
"""
HEADINGS = (("学完本章，你能……", "You can now"), ("五分钟自测", "A five-minute self-test"),
            ("本章各节", "Sections of this chapter"))
PART = """  - caption: 周围的系统 · The system around them
    chapters:
"""


class NewError(Exception):
    """Why nothing was begun, in one line."""


Texts = dict[Path, str]  # what is to stand in each file


def section(root: Path, name: str) -> Texts:
    """The files of a new section, as in `06-memory/allocator`, and those that name it."""
    folder, _, slug = name.partition("/")
    place = root / CHAPTERS.name / folder
    if not SLUG.fullmatch(slug) or slug in (OPENING, SHEET):
        raise NewError(f"'{name}' is no name of a section: write it as in 06-memory/allocator")
    if not (place / chapters.NAME).is_file():
        raise NewError(f"there is no chapter {folder}: begin with python -m book.pipeline.new "
                       f"chapter {folder}")
    english = titled(slug)
    toc, opening = root / TOC, place / f"{OPENING}.md"
    return fresh(root, {
        place / f"{slug}.md": source(TITLE, english, QUESTION),
        place / "cards" / f"{slug}.yaml": "[]  # chapters/README.md says what stands on a card\n",
        place / "cards" / f"{slug}.json": results.file_text({}, versions()),
    }) | {toc: listed(read(root, toc), folder, slug),
          opening: with_can_do(read(root, opening), f"{relative(root, opening)}", slug, english)}


def chapter(root: Path, name: str) -> Texts:
    """The files of a new chapter, as in `06-memory`, and the contents, which name it."""
    if not chapters.FOLDER.fullmatch(name):
        raise NewError(f"'{name}' is no name of a chapter: write two digits and a slug, as in "
                       "06-memory")
    if taken := [one.name for one in chapters.folders(root)
                 if one.name != name and one.name[:2] == name[:2]]:
        raise NewError(f"the number {name[:2]} is taken by {taken[0]}")
    english, place, toc = titled(name[3:]), root / CHAPTERS.name / name, root / TOC
    parts = "".join(f"\n+++\n\n## {zh} · {en}\n\n{pair(NO_TEXT)}" for zh, en in HEADINGS)
    return fresh(root, {
        place / chapters.NAME: f"name: {{zh: {TITLE}, en: {english}}}\n",
        place / f"{OPENING}.md": source(TITLE, english) + parts,
    }) | {toc: with_chapter(read(root, toc), name, last_machine(root))}


def last_machine(root: Path) -> str | None:
    """The chapter of the last machine of the front page, beside which no other chapter stands."""
    return max((one.folder for one in chapters.read(root).values() if one.machine), default=None)


# ---- texts -------------------------------------------------------------------------------------

def titled(slug: str) -> str:
    return slug.replace("-", " ").capitalize()


def pair(texts: Mapping[str, str]) -> str:
    return "\n".join(f'+++ {{"lang": "{lang}"}}\n\n{text}\n' for lang, text in texts.items())


def source(zh: str, en: str, own: str = "") -> str:
    return HEAD.format(own=own, zh=zh, en=en, text=pair(NO_TEXT), setup=SETUP)


def listed(toc: str, folder: str, slug: str) -> str:
    """The contents with a section at the end of its chapter, before the cheat sheet."""
    line = f"- file: {CHAPTERS.name}/{folder}/"
    head = re.search(rf"^( *){line}{OPENING}\n(?P<sections>(?:\1 +.*\n)*)", toc, re.M)
    if head is None:
        raise NewError(f"{TOC}: the chapter {folder} has no line `{line}{OPENING}`; add it")
    indent, sections = head[1], head["sections"] or f"{head[1]}  sections:\n"
    row = f"{indent}    {line}{slug}\n"
    before, sheet, after = sections.partition(f"{indent}    {line}{SHEET}\n")
    new = f"{head[1]}{line}{OPENING}\n{before}{row}{sheet}{after}"
    return toc[:head.start()] + new + toc[head.end():]


def with_chapter(toc: str, name: str, after_machines: str | None = None) -> str:
    """The contents with a chapter after those of lower numbers; a part of its own begins after
    the last of the machines."""
    row = re.compile(rf"^( *)- file: {CHAPTERS.name}/([^/\n]+)/{OPENING}\n(?:\1 +.*\n)*", re.M)
    before = [one for one in row.finditer(toc) if one[2] < name]
    if not before:
        raise NewError(f"{TOC}: no chapter stands before {name}; write its line yourself, as in "
                       f"- file: {CHAPTERS.name}/{name}/{OPENING}")
    last = before[-1]
    part = "" if after_machines is None or last[2] != after_machines else PART
    new = part + f"{last[1]}- file: {CHAPTERS.name}/{name}/{OPENING}\n"
    return toc[:last.end()] + new + toc[last.end():]


def with_can_do(text: str, file: str, slug: str, english: str) -> str:
    """An opening with a line for the section at the end of each language's list."""
    heading = CAN_DO.search(text)
    rest = text[heading.end():] if heading else ""
    cells = re.match(r'\s*\+\+\+ \{"lang": "zh"\}\n(?P<zh>.*?)^\+\+\+ \{"lang": "en"\}\n'
                     r"(?P<en>.*?)(?=^\+\+\+|^#|^```|\Z)", rest, re.M | re.S)
    if heading is None or cells is None:
        raise NewError(f"{file}: below a heading `## 中文 · You can now` there must be a cell "
                       "in zh and one in en")
    new = rest
    for lang, line in (("en", f"- To be written. [{english}]({slug}.ipynb)\n"),
                       ("zh", f"- 待写。[{TITLE}]({slug}.ipynb)\n")):
        kept = cells[lang].rstrip("\n")
        gap = "\n" if kept.rpartition("\n")[2].startswith("- ") else "\n\n"
        before, after = new[:cells.start(lang)], new[cells.end(lang):]
        new = f"{before}{kept}{gap}{line}\n{after}"
    return text[:heading.end()] + new


# ---- files -------------------------------------------------------------------------------------

def relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def read(root: Path, path: Path) -> str:
    if not path.is_file():
        raise NewError(f"{relative(root, path)} is missing")
    return path.read_text(encoding="utf-8")


def fresh(root: Path, texts: Texts) -> Texts:
    """The same, if none of these files is there."""
    for path in texts:
        if path.exists():
            raise NewError(f"{relative(root, path)} is there already; nothing was written")
    return texts


def write(texts: Texts) -> None:
    """Write the files and the notebooks of those that have one; all of them, or none."""
    touched = [*texts, *(path.with_suffix(".ipynb") for path in texts if path.suffix == ".md")]
    before = {path: path.read_bytes() if path.exists() else None for path in touched}
    made = list(new_folders(texts))
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, text)
        for path in texts:
            if path.suffix == ".md":
                sync.sync(path)
    except BaseException:
        for path, content in before.items():
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content)
        for folder in made:
            folder.rmdir()
        raise


def new_folders(texts: Texts) -> Iterator[Path]:
    """The folders that are not there yet, the innermost first."""
    wanted = {parent for path in texts for parent in path.parents if not parent.exists()}
    yield from sorted(wanted, reverse=True)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="python -m book.pipeline.new", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("chapter", "section"))
    parser.add_argument("name", help="06-memory, or 06-memory/allocator")
    options = parser.parse_args(arguments)
    try:
        texts = {"chapter": chapter, "section": section}[options.what](root, options.name)
        write(texts)
    except (NewError, sync.SyncError) as error:
        print(f"new: {str(error).splitlines()[0]}", file=sys.stderr)
        return 1
    print(*(f"written: {relative(root, path)}" for path in texts), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
