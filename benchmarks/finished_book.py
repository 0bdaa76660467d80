"""A copy of the book at the size of the finished one, to see what the suite takes by then.

    python -m benchmarks.finished_book FOLDER                      140 sections, 1,000 cards
    python -m benchmarks.finished_book FOLDER --sections 90 --cards 600

FOLDER gets the book, in a repository of its own, with `.venv` and `node_modules` linked, and in it
chapters 06 to 10 made of the real ones; `make test` runs there as it does here. A made section has
the headings, the code and the outputs of a real one, and paragraphs of others: pairs of the two
languages are dealt anew over the whole book, so that no page repeats another and the search has
the words to hold that it will have. Its cards are those of the real section under new ids, with
their proofs; where that is too few, some stand twice. Nothing is executed: outputs and results
belong to the same programs as before, and only what seals them is written anew. Sections that a
reader completes with the help of a file of their chapter are not taken.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from book.pipeline import sync
from book.pipeline.cards import book as cards
from book.pipeline.cards import results
from book.pipeline.ground.paths import CHAPTERS, NPM, ROOT, is_section
from book.pipeline.new import FRONT_MATTER
from book.pipeline.notebooks import notebook as nb
from book.pipeline.reading import check as gate

SECTIONS, CARDS, FIRST, LAST, SEED, NEAR = 140, 1000, 6, 10, 20, 30
LINKED = (".venv", NPM.name)
PAIR = re.compile(r'\+\+\+ \{"lang": "zh"\}\n(?P<zh>.*?)\n\+\+\+ \{"lang": "en"\}\n(?P<en>.*?)'
                  r"(?=^\+\+\+|^```|^#|\Z)", re.M | re.S)
STRUCTURE = re.compile(r"^(?:[-*>|:`#!\d]|\s)|\]\(#", re.M)  # lists, tables, links into the page
NEIGHBOUR = re.compile(r"(\]\()([a-z0-9-]+\.ipynb)")
TITLE = re.compile(r"^# (.+) · (.+)$", re.M)
CARD = re.compile(r"^- id: (\S+)$", re.M)
MADE = re.compile(r"^made-\d+-(.*)-\d[bc]?$")  # a card that is made, and the one it is made of
HELPER = re.compile(r"\bcheck_[a-z_]+\b")  # a file of the chapter
USES_DEVICE = "from inside import use_device; use_device()"
PAIR_TEXT = '+++ {{"lang": "zh"}}\n\n{}\n\n+++ {{"lang": "en"}}\n\n{}\n\n'


class Made(NamedTuple):
    """A section to be made: its name and chapter, and the real one that it is made of."""

    source: Path
    chapter: str
    name: str

    @property
    def file(self) -> Path:
        return CHAPTERS.relative_to(ROOT) / self.chapter / f"{self.name}.md"


def plan(sources: Sequence[Path], number: int) -> list[Made]:
    """As many sections as are wanted, of all sources in turn, over the new chapters."""
    made = []
    for place, source in enumerate(islice(cycle(sources), number)):
        chapter = FIRST + place * (LAST - FIRST + 1) // number
        made.append(Made(source, f"{chapter:02}-made-{chapter}",
                         f"{source.stem}-{2 + place // len(sources)}"))
    return made


def sections() -> list[Path]:
    """The sources of all real sections."""
    return [file for file in sorted(CHAPTERS.glob("*/*.md"))
            if is_section(file.relative_to(ROOT).with_suffix("").as_posix())]


def can_be_taken(source: Path) -> bool:
    return not HELPER.search(source.read_text(encoding="utf-8"))


# ---- texts -------------------------------------------------------------------------------------

def paragraphs(text: str) -> Iterator[re.Match]:
    """The pairs of plain paragraphs, those that may stand anywhere."""
    yield from (pair for pair in PAIR.finditer(text)
                if not STRUCTURE.search(f"{pair['zh'].strip()}\n{pair['en'].strip()}"
                                        .replace("\n\n", "\n")))


class Pool:
    """The plain pairs of the whole book, with links that hold in any chapter, to be dealt anew."""

    def __init__(self, sources: Sequence[Path]) -> None:
        self.random = random.Random(SEED)
        self.pairs = sorted(((away(pair["zh"], source), away(pair["en"], source))
                             for source in sources
                             for pair in paragraphs(source.read_text(encoding="utf-8"))),
                            key=lambda pair: len(pair[0]))
        self.lengths = [len(zh) for zh, _ in self.pairs]

    def like(self, length: int) -> tuple[str, str]:
        """Some pair about as long, so that a section stays as long as it was."""
        place = bisect(self.lengths, length) + self.random.randint(-NEAR, NEAR)
        return self.pairs[max(0, min(place, len(self.pairs) - 1))]


def away(text: str, source: Path) -> str:
    """A text with links from another chapter to what stands beside its source."""
    return NEIGHBOUR.sub(rf"\1../{source.parent.name}/\2", text)


def text_of(made: Made, pool: Pool) -> str:
    """The source of a section: headings and code as they were, plain paragraphs of others."""
    text, place, parts = made.source.read_text(encoding="utf-8"), 0, []
    for pair in paragraphs(text):
        zh, en = pool.like(len(pair["zh"]))
        parts += [away(text[place:pair.start()], made.source),
                  PAIR_TEXT.format(zh.strip(), en.strip())]
        place = pair.end()
    number = made.name.rpartition("-")[2]
    whole = "".join([*parts, away(text[place:], made.source)])
    return TITLE.sub(rf"# \1 {number} · \2 {number}", whole, count=1)


def opening(chapter: str, made: Sequence[Made]) -> str:
    """The opening of a chapter: a line for each section, as every opening has them."""
    number = int(chapter[:2])
    names = [(one.name, *TITLE.search(one.source.read_text(encoding="utf-8")).groups())
             for one in made]
    setup = re.search(r"^import pathlib, sys;.*$", made[0].source.read_text("utf-8"), re.M)[0]
    zh = "\n".join(f"- 说出这一节讲了什么。[{title}]({name}.ipynb)" for name, title, _ in names)
    en = "\n".join(f"- Say what the section is about. [{title}]({name}.ipynb)"
                   for name, _, title in names)
    return (f"{FRONT_MATTER}---\n\n# 第 {number} 章的样子 · A chapter like {number}\n\n"
            + PAIR_TEXT.format("这一章用来量时间。", "This chapter is there to be timed.")
            + f"```{{code-cell}} python\n:tags: [setup]\n{setup}\n{USES_DEVICE}\n```\n\n"
            + "## 学完本章，你能…… · You can now\n\n" + PAIR_TEXT.format(zh, en)
            + "+++\n\n## 本章各节 · Sections of this chapter\n\n"
            + PAIR_TEXT.format("按顺序读。", "Read them in order."))


# ---- cards -------------------------------------------------------------------------------------

def copied(text: str, one: Made, again: str, most: int) -> str:
    """The first `most` cards of a file for another section, under ids of their own."""
    starts = [*(found.start() for found in CARD.finditer(text)), len(text)]
    part = text[starts[0]:starts[min(most, len(starts) - 1)]]
    before, after = one.chapter.partition("-")[2], one.name.rpartition("-")[2] + again
    for name in CARD.findall(part):
        part = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", f"{before}-{name}-{after}", part)
    return re.sub(r"^  section: .*$", f"  section: {one.name}", part, flags=re.M)


def deal_cards(root: Path, made: Sequence[Made], total: int) -> None:
    """Write the cards of all made sections until the book has as many as are wanted."""
    left = total - sum(len(CARD.findall(file.read_text(encoding="utf-8")))
                       for file in root.glob("chapters/*/cards/*.yaml"))
    for again in ("", "b", "c"):
        for one in made:
            source = one.source.parent / "cards" / f"{one.source.stem}.yaml"
            if left > 0 and source.is_file():
                text = copied(source.read_text(encoding="utf-8"), one, again, left)
                left -= len(CARD.findall(text))
                target = root / one.file.parent / "cards" / f"{one.name}.yaml"
                target.parent.mkdir(exist_ok=True)
                with target.open("a", encoding="utf-8") as file:
                    file.write(text)


# ---- the folder --------------------------------------------------------------------------------

def copy_book(root: Path) -> None:
    """All files of the repository, the new ones included, and what was installed for it."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and name not in LINKED:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)
    for name in LINKED:
        if (ROOT / name).exists():
            (root / name).symlink_to((ROOT / name).resolve())


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True,
                          text=True).stdout


def write_sources(root: Path, made: Sequence[Made]) -> None:
    """Sections, with the notebooks of their programs beside them, openings, contents."""
    pool = Pool(sections())
    for one in made:
        (root / one.file).parent.mkdir(parents=True, exist_ok=True)
        (root / one.file).write_text(text_of(one, pool), encoding="utf-8")
        shutil.copy(one.source.with_suffix(".ipynb"), (root / one.file).with_suffix(".ipynb"))
    by_chapter: dict[str, list[Made]] = {}
    for one in made:
        by_chapter.setdefault(one.chapter, []).append(one)
    for chapter, ones in by_chapter.items():
        folder = root / "chapters" / chapter
        (folder / "index.md").write_text(opening(chapter, ones), encoding="utf-8")
        number = int(chapter[:2])
        (folder / "chapter.yaml").write_text(
            f"name: {{zh: 第 {number} 章的样子, en: A chapter like {number}}}\n", encoding="utf-8")
    write_contents(root, by_chapter)


def write_contents(root: Path, by_chapter: dict[str, list[Made]]) -> None:
    """The new chapters in the contents."""
    toc = root / "_toc.yml"
    rows = "".join(f"      - file: chapters/{chapter}/index\n        sections:\n" + "".join(
        f"          - file: {one.file.with_suffix('').as_posix()}\n" for one in ones)
        for chapter, ones in by_chapter.items())
    before, drill = toc.read_text(encoding="utf-8").split("  - caption: 练习", 1)
    toc.write_text(f"{before}{rows}  - caption: 练习{drill}", encoding="utf-8")


def list_long() -> None:
    """In the made book: the sections that the reading gate finds too long join the list."""
    with (ROOT / "book" / "long-sections.yaml").open("a", encoding="utf-8") as file:
        for name in sorted({found.file for found in gate.problems()}):
            file.write(f"- {name.removesuffix('.md')}\n")


def seal() -> None:
    """In the made book: notebooks and results of cards are sealed as what they are now."""
    for source in sorted(CHAPTERS.glob("*-made-*/*.md")):
        if not source.with_suffix(".ipynb").exists():
            store_silent(source)
        sync.sync(source)  # executes nothing: the program is the one beside it
    book, problems = cards.load()
    if problems:
        sys.exit(f"finished_book: {problems[0]}")
    known = {name: entry for file in CHAPTERS.glob("*/cards/*.json")
             for name, entry in results.entries(results.read_file(file)).items()}
    versions = results.read_file(next(CHAPTERS.glob("*/cards/*.json")))
    for chapter in book.chapters:
        for section in chapter.sections:
            if "-made-" in section.results.as_posix():
                rows = {card.id: sealed(card, known[MADE.sub(r"\1", card.id)])
                        for card in section.cards}
                section.results.write_text(results.file_text(rows, {
                    key: versions[key] for key in ("torch", "python")}), encoding="utf-8")


def store_silent(source: Path) -> None:
    """The notebook of a source whose cells print nothing, as if it had been executed."""
    notebook = nb.read_source(source)
    for count, cell in enumerate(nb.code_cells(notebook), 1):
        cell.execution_count = count
    notebook.metadata["book"] = {"program": nb.program_digest(notebook),
                                 "golden": nb.golden_digest(notebook)}
    source.with_suffix(".ipynb").write_text(nb.write_text(notebook), encoding="utf-8")


def sealed(card: cards.Card, entry: results.Entry) -> results.Entry:
    """The results of a program as those of another card with the same program."""
    own = {key: value for key, value in entry.items() if key != "digest"}
    return {**own, "digest": results.digest(results.whole(card.data, own))}


def write(root: Path, number: int, total: int) -> None:
    """The whole folder; what it must not hold yet is checked by the caller."""
    real = sections()
    made = plan(list(filter(can_be_taken, real)), number - len(real))
    copy_book(root)
    write_sources(root, made)
    deal_cards(root, made, total)
    subprocess.run([sys.executable, "-m", "benchmarks.finished_book", str(root), "--seal"],
                   cwd=root, check=True)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "-c", "user.name=book", "-c", "user.email=book@localhost", "commit", "--quiet",
        "--message", "The book at its finished size")


def main() -> int:
    parser = argparse.ArgumentParser(description="the book at its finished size")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sections", type=int, default=SECTIONS)
    parser.add_argument("--cards", type=int, default=CARDS)
    parser.add_argument("--seal", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.seal:
        seal()
        list_long()
        return 0
    if chosen.folder.exists() and any(chosen.folder.iterdir()):
        sys.exit(f"finished_book: {chosen.folder} is not empty; name a new folder")
    chosen.folder.mkdir(parents=True, exist_ok=True)
    write(chosen.folder.resolve(), chosen.sections, chosen.cards)
    print(f"finished_book: {chosen.sections} sections and {chosen.cards} cards in {chosen.folder}; "
          "run `make test` there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
