"""Seals of self-tests: a proof whose assertions were negated once need not go through it again.

Unlike the proof itself, which CI runs on every machine, the self-test asks about the program alone:
is each assertion reached, and does its failure count? The answer changes only with the program, the
files of `code/` that it imports, the code that runs the self-test, and torch. A seal is the sha256
of these; one that is missing, old or edited by hand is no good, and the self-test runs again.
"""

from __future__ import annotations

import ast
import importlib.metadata
from functools import cache
from pathlib import Path

from book.pipeline.cards import results
from book.pipeline.cards.book import Card
from book.pipeline.ground import digests
from book.pipeline.proofs import forks, reached, trial

PROGRAMS = ("kind", "needs", "variants", "code", "fixed", "proof")


@cache
def prover() -> dict[str, str]:
    """Digests of the code that runs a self-test."""
    return {module.__name__: digests.of_file(Path(module.__file__))
            for module in (forks, reached, trial)}


def seal(card: Card) -> str:
    """The seal of a card's self-test as it would run now."""
    program = {key: card.data[key] for key in PROGRAMS if key in card.data}
    torch = importlib.metadata.version("torch").split("+")[0]
    return digests.of_value([program, results.imported(card), prover(), torch])


def is_needed(card: Card) -> bool:
    """Whether the proof has assertions that only a run can say something of."""
    return card.needs != "cuda" and bool(reached.nested(ast.parse(card.data["proof"])))
