"""Words that claim a thing of all cases, each with its sentence, for a person to check.

    python -m book.pipeline.reading.universals                    all sections and their cards
    python -m book.pipeline.reading.universals views-and-copies   one of them

A report, not a test: whether an `only` is true is for the cell, proof or source beside it to say.
Look for a counterexample; without one, keep the word and prove its edge, else weaken it. Code,
addresses and what stands in quotation marks are left out.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from book.pipeline import lint
from book.pipeline.cards import book as cards
from book.pipeline.cards.book import Card
from book.pipeline.reading.check import Section, named

WORDS = {
    "zh": re.compile(r"任何|任意|每|所有|全部|一切|凡是|只有|只能|唯一|总是|总会|永远|始终|"
                     r"从不|从来|决不|绝不|都|一律|完全|一定|必须|必然|必定|不可能|"
                     r"没有一个|谁也|(?<!为)什么也"),
    "en": re.compile(r"\b(?:any(?:one|body|thing|where)?(?! (?:more|longer))|"
                     r"every(?:one|body|thing|where)?|each|always|never|none|nothing|nobody|nowhere|"
                     r"no(?! longer)(?= \w)|only|(?<!at )all|entirely|completely|must|whenever|"
                     r"wherever|impossible)\b", re.I),
}
# What is no claim of the text: code, maths, addresses of links, words of somebody else.
APART = re.compile(r"(`+).+?\1|\$[^$]+\$|\]\([^)]*\)|“[^”]*”|\"[^\"]*\"")
SENTENCE = re.compile(r".+?(?:[。？！]+|[.?!]+(?=\s|$)|$)", re.S)


class Found(NamedTuple):
    """A sentence with the universal words in it."""

    file: str
    line: int
    lang: str
    words: list[str]
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: [{', '.join(self.words)}] {self.sentence}"


def in_line(lang: str, line: str) -> Iterator[tuple[list[str], str]]:
    """The universal words of each sentence of a line that has some."""
    masked = APART.sub(lambda part: "\0" * len(part[0]), line)
    for sentence in SENTENCE.finditer(masked):
        words = [match[0] for match in WORDS[lang].finditer(sentence[0])]
        if words:
            yield words, line[sentence.start():sentence.end()].strip()


def in_text(file: str, line: int, lang: str, text: str) -> Iterator[Found]:
    """Those of a Markdown text that begins at a line of its file; fenced code is left out."""
    is_code = False
    for number, part in enumerate(text.splitlines()):
        if part.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            for words, sentence in in_line(lang, part):
                yield Found(file, line + number, lang, words, sentence)


def in_section(one: Section) -> Iterator[Found]:
    """Those of a section: its prose, and the options of its predictions."""
    file = f"{one.document}.md"
    for cell in one.cells:
        if cell.lang in lint.LANGS:
            yield from in_text(file, cell.line, cell.lang, cell.source)
        for option in (cell.meta.get("predict") or {}).get("options", []):
            for texts in (option, option.get("why", {})):
                yield from (found for lang in lint.LANGS if lang in texts
                            for found in in_text(file, cell.line, lang, texts[lang]))


def in_card(card: Card) -> Iterator[Found]:
    """Those of a card, at the lines of its texts."""
    for place, texts in lint.mappings(card.data, ()):
        yield from (found for lang in lint.LANGS if isinstance(texts.get(lang), str)
                    for found in in_text(card.file, card.line(*place, lang), lang, texts[lang]))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m book.pipeline.reading.universals",
                                     description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", help="default: all")
    every = cards.load(schema=False)[0].cards
    for one in named(parser.parse_args(arguments).sections):
        file = f"{one.path.parent.name}/cards/{one.path.stem}.yaml"
        of_it = (card for card in every if card.file.endswith(f"/{file}"))
        found = [*in_section(one), *(row for card in of_it for row in in_card(card))]
        for lang in lint.LANGS:
            of_lang = [row for row in found if row.lang == lang]
            print(f"{one.document}: {len(of_lang)} sentences in {lang}", *of_lang, "", sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
