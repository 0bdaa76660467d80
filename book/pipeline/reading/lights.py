"""Warning lights: how a text joins its thoughts, in numbers. They warn; an editor decides.

Measured is the prose of one language, its lists and tables included, without headings, options of
predictions and code; the items of lists count for all but English colons. Code inside a line is
one word in English and nothing in Chinese. A text that has a comma put where its colon was, or
connectives sprinkled in, has got worse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from book.pipeline.text import prose

HAN = re.compile(r"[\u4e00-\u9fff]")
CONNECTIVES = (
    "因为", "所以", "因此", "但是", "然而", "不过", "例如", "比如", "也就是说", "换句话说", "如果",
    "虽然", "而且", "此外", "同时", "首先", "由于", "由此", "即使", "只要", "除非", "于是")
CLAUSE_ENDS = re.compile(r"[。？！，；：\n]")
WORD = re.compile(rf"[A-Za-z0-9{prose.CODE}{prose.MATHS}]+(?:[-.'’][A-Za-z0-9]+)*")
REASONS = re.compile(r"\b(?:because|since|otherwise|that is why|that['’]s why)\b", re.I)
EXAMPLES = re.compile(r"\b(?:for example|for instance|imagine)\b|\bsay,|, say\b|(?:^|[.?!] )Say\b",
                      re.I | re.M)


def size_zh(text: str) -> int:
    return len(HAN.findall(text))


def size_en(text: str) -> int:
    return len(WORD.findall(text))


def clause(text: str) -> float:
    """Mean length of what stands between two marks, in characters."""
    lengths = [size for part in CLAUSE_ENDS.split(text) if (size := size_zh(part))]
    return sum(lengths) / len(lengths) if lengths else 0.0


def connectives(text: str) -> int:
    return sum(text.count(word) for word in CONNECTIVES)


def per_thousand(count: Callable[[str], int], size: Callable[[str], int]) -> Callable[[str], float]:
    return lambda text: count(text) * 1000 / size(text) if size(text) else 0.0


@dataclass(frozen=True)
class Light:
    """A figure of a text, and where good texts of the field lie."""

    name: str
    measure: Callable[[str], float]
    most: float | None = None
    least: float | None = None
    lists: bool = True  # whether the items of lists are measured

    def is_lit(self, value: float) -> bool:
        """Whether a figure, as it is printed, lies outside."""
        value = round(value, 1)
        return (self.most is not None and value > self.most) \
            or (self.least is not None and value < self.least)

    @property
    def bound(self) -> str:
        return f"≤{self.most:g}" if self.most is not None else f"≥{self.least:g}"


LIGHTS = {
    "zh": (Light("colons", per_thousand(lambda text: text.count("："), size_zh), most=8),
           Light("semicolons", per_thousand(lambda text: text.count("；"), size_zh), most=4),
           Light("connectives", per_thousand(connectives, size_zh), least=8),
           Light("characters a clause", clause, least=8.5)),
    "en": (Light("colons", per_thousand(lambda text: text.count(":"), size_en), most=6,
                 lists=False),
           Light("semicolons", per_thousand(lambda text: text.count(";"), size_en), most=2),
           Light("reasons", per_thousand(lambda text: len(REASONS.findall(text)), size_en),
                 least=3),
           Light("examples", per_thousand(lambda text: len(EXAMPLES.findall(text)), size_en),
                 least=1)),
}
SIZES = {"zh": (size_zh, "characters"), "en": (size_en, "words")}


def plain(cells: Iterable[str], lists: bool = True) -> str:
    """The prose of these cells, each part of a line that is no text as one character."""
    lines = []
    for cell in map(prose.read, cells):
        items = set() if lists else {line for line, kind, _ in cell.blocks
                                     if kind == "list_item_open"}
        lines += [text for line, text in cell.prose if line not in items]
    return "\n".join(lines)


def measured(lang: str, cells: Sequence[str]) -> list[tuple[Light, float]]:
    """Each light of a language with its figure for these cells."""
    return [(light, light.measure(plain(cells, light.lists))) for light in LIGHTS[lang]]
