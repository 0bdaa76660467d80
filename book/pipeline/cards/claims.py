"""The false claims of book/errata.yaml, as readers see them beside the cards that refute them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from book.pipeline.cards.book import Book, Problem
from book.pipeline.cards.layers import spoken_length
from book.pipeline.cards.rules import refuted_ids
from book.pipeline.ground.paths import ROOT
from book.pipeline.text import marked_yaml, prose

FILE = "book/errata.yaml"
LONGEST = {"zh": (60, "characters"), "en": (25, "words")}
Claim = Mapping[str, Any]


def read(root: Path = ROOT) -> dict[str, Claim]:
    """Errata id -> {kind, chapter}, with the claim itself as {zh, en} once a card refutes it."""
    groups = marked_yaml.parse((root / FILE).read_text(encoding="utf-8")).value
    return {name: claim for rows in groups.values() for name, claim in rows.items()}


def refuted_by(card: Mapping[str, Any], claims: Mapping[str, Claim]) -> list[Claim]:
    """The claims that a card or a distractor of it corrects, by id; each must have its texts."""
    found = [(name, claims[name]) for name in refuted_ids(card)]
    for name, claim in found:
        if not is_stated(claim):
            raise ValueError(f"{FILE}: {name} has no zh or no en, and card '{card['id']}' refutes "
                             f"it: say what the claim is")
    return [claim for _, claim in found]


def is_stated(claim: Claim) -> bool:
    return all(claim.get(lang) for lang in LONGEST)


def problems(book: Book) -> Iterator[Problem]:
    """What is missing or wrong in the texts of claims; one that no card refutes may have none."""
    refuting = {name: card.id for card in book.cards for name in refuted_ids(card.data)}
    marked = marked_yaml.parse((book.root / FILE).read_text(encoding="utf-8"))
    for group, rows in marked.value.items():
        for name, claim in rows.items():
            for field, text in _faults(claim, refuting.get(name)):
                line = marked.line((group, name, field))
                yield Problem(FILE, line, f"{name}.{field}{text}")


def _faults(claim: Claim, card: str | None) -> Iterator[tuple[str, str]]:
    if card or any(lang in claim for lang in LONGEST):
        because = f"card '{card}' refutes it" if card else "the other language has it"
        yield from ((lang, f" is missing: {because}, so say what the claim is")
                    for lang in LONGEST if not claim.get(lang))
    if is_stated(claim):
        for lang in LONGEST:
            yield from ((lang, text) for text in _form(lang, claim[lang]))
        yield from ((lang, f": {text}") for lang, _, text in prose.pair(claim["zh"], claim["en"]))


def _form(lang: str, text: str) -> Iterator[str]:
    limit, unit = LONGEST[lang]
    if (size := spoken_length(text)) > limit:
        yield f" has {size} {unit}, {limit} are allowed: shorten it"
    if re.search(r"[。.]$|\n", text):
        yield " ends in a full stop or has several lines: write one line without"
