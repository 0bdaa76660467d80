"""How fast this machine is just now, so that budgets of proofs mean the same on every machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import mean

from book.pipeline.cards.book import Card
from book.pipeline.proofs.forks import Trials
from book.pipeline.proofs.prover import LIMITS, Proof

WORK = "assert sum(n * n for n in range(2_000_000))"
USUAL = 0.16  # seconds of processor time that WORK takes where the budgets were set


def seconds(trials: Trials) -> float:
    """Processor time of the reference work, in a trial of its own."""
    return trials.run(WORK, limit=LIMITS["cpu"].clock).cpu


def slowdown(*measured: float) -> float:
    """How many times as long as usual the reference work took on average; never 0."""
    return max(mean(measured), 0.001) / USUAL


def over(cards: Iterable[Card], proofs: dict[str, Proof], slow: float) -> Iterator[str]:
    """A line for each proof that takes longer than its class may, the longest first.

    Times are given as they would be where the budgets were set.
    """
    for card in sorted(cards, key=lambda card: proofs[card.id].cpu, reverse=True):
        took, budget = proofs[card.id].cpu / slow, LIMITS[card.needs].budget
        if took > budget:
            yield f"{card.id} {took:.1f} s ({card.needs}: {budget:g} s)"
