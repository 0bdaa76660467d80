"""Processor time of each card's proof, against the budget of what it needs.

    python -m benchmarks.proofs                every card but those for a GPU
    python -m benchmarks.proofs CARD …         only these

A proof is run one at a time. `make prove` and `make test` only end what hangs: on a busy machine
the same proof takes longer, and that is no reason to fail. Nothing is stored.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks import report
from book.pipeline.cards.book import Card, load
from book.pipeline.proofs.forks import Trials
from book.pipeline.proofs.prover import LIMITS, Prover

SHOWN = 10  # slowest proofs that are named


def measure(cards: list[Card]) -> dict[str, float]:
    """Card id -> seconds of its slowest trial; SystemExit where a proof fails."""
    with Trials() as trials:
        proofs = {card.id: Prover(trials).prove(card) for card in cards if card.needs != "cuda"}
    if problems := [problem for proof in proofs.values() for problem in proof.problems]:
        sys.exit("\n".join(map(str, problems)))
    return {name: proof.cpu for name, proof in proofs.items()}


def over(cards: list[Card], seconds: dict[str, float]) -> bool:
    """Print the slowest proofs and each class against its budget; whether one is over it."""
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[:SHOWN]:
        print(f"{seconds[name]:8.2f} s  {name}")
    found = []
    for needs, limit in LIMITS.items():
        mine = {card.id: seconds[card.id] for card in cards
                if card.needs == needs and card.id in seconds}
        budget = report.Budget(f"processor time, needs: {needs}", limit.budget, " s")
        print(*budget.lines(mine), sep="\n", end="\n" if mine else "")
        found += [name for name in mine if not budget.holds(mine[name])]
    return bool(found)


def main() -> int:
    parser = argparse.ArgumentParser(description="processor time of the cards' proofs")
    parser.add_argument("cards", nargs="*", metavar="CARD", help="ids (default: all)")
    parser.add_argument("--record", action="store_true", help="taken as by its sisters, no effect")
    options = parser.parse_args()
    book, problems = load()
    if problems:
        sys.exit(f"bench: cards cannot be read: {problems[0]}")
    cards = [card for card in book.cards if not options.cards or card.id in options.cards]
    report.warn_if_busy()
    return 1 if over(cards, measure(cards)) else 0


if __name__ == "__main__":
    sys.exit(main())
