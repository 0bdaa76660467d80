"""How long a section takes: to the minute for readers, in steps of five for the reading gate."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from nbformat import NotebookNode

from book.pipeline.notebooks.notebook import code_cells

HANDS_ON = {"predict": 1.5, "complete": 4.0}  # minutes for a cell in which the reader acts
WORDS = 180  # English words read in a minute, of a text that wants thought
LINES = 20  # lines of code read in a minute
CHARACTERS = 300  # Chinese characters read in a minute; words of Latin letters count as WORDS
HAN = re.compile(r"[\u3400-\u9fff]")


class Estimate(NamedTuple):
    """Minutes: to read alone in each language, and more for what the reader does on the way."""

    zh: int
    en: int
    acting: int

    def whole(self, lang: str) -> int:
        return getattr(self, lang) + self.acting


def estimate(book: NotebookNode) -> Estimate:
    """To the minute, so that sections differ: a limit of 25 fills many of them to 25."""
    code = _lines(book) / LINES
    zh, en = (" ".join(cell.source for cell in book.cells if cell.metadata.get("lang") == lang)
              for lang in ("zh", "en"))
    latin = len(re.findall(r"[^\s\u3000-\u9fff\uff00-\uffef]+", zh))
    return Estimate(_whole(len(HAN.findall(zh)) / CHARACTERS + latin / WORDS + code),
                    _whole(len(en.split()) / WORDS + code), round(_acts(book)))


def minutes(book: NotebookNode) -> int:
    """Reading time in steps of five: English words, code, and the cells where the reader acts.

    The time is counted on the English text; the Chinese says the same. A cell that sets up is not
    counted: no page shows it.
    """
    words = sum(len(cell.source.split()) for cell in book.cells
                if cell.metadata.get("lang") == "en")
    return 5 * max(1, math.ceil((words / WORDS + _lines(book) / LINES + _acts(book)) / 5))


def _lines(book: NotebookNode) -> int:
    return sum(len(cell.source.splitlines()) for cell in code_cells(book)
               if "setup" not in cell.metadata.get("tags", []))


def _acts(book: NotebookNode) -> float:
    return sum(spent for cell in code_cells(book) for kind, spent in HANDS_ON.items()
               if kind in cell.metadata)


def _whole(time: float) -> int:
    return max(1, round(time))
