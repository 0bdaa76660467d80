"""How Chinese titles are typed on a keyboard of Latin letters: 计算图 is jisuantu.

A table of syllables, each with its characters, goes into the search's first file, and the page
spells the book's words by it (book/web/search/pinyin.js). A character that can be read in several
ways has them all, unless a dictionary knows the word that it stands in: none knows that 步长 is
buchang.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pypinyin import Style, pinyin

HAN = re.compile(r"[\u3400-\u9fff]{2,}")  # one character alone is looked up by no sound


def table(texts: Iterable[str]) -> str:
    """`ban版半 ben本`: for each syllable, without its tone, the characters that are read so in
    these texts; ü is v, as it is typed."""
    found: dict[str, set[str]] = {}
    for run in {run for text in texts for run in HAN.findall(text)}:
        for character, sounds in zip(run, pinyin(run, Style.NORMAL, heteronym=True), strict=True):
            for sound in filter(str.isascii, sounds):
                found.setdefault(sound, set()).add(character)
    return " ".join(f"{sound}{''.join(sorted(found[sound]))}" for sound in sorted(found))
