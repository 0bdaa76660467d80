"""Run the proofs of all cards and write what they compute to cards/SECTION.json.

    python -m book.pipeline.prove                cards that changed; files change only if all pass
    python -m book.pipeline.prove --all          all cards
    python -m book.pipeline.prove --verify       all; write nothing; fail where a fresh run differs
    python -m book.pipeline.prove --check        run nothing (no torch): are results up to date?
    python -m book.pipeline.prove --card ID      look at one card: what it shows and prints
    python -m book.pipeline.prove --record-cuda  run the cards that need a GPU, store the evidence

A proof also goes through a self-test: each of its assertions, negated, must turn it red. Where that
has passed, the result has a seal (proofs/seals.py), and the self-test is left out until the program
changes; with --self-test all, or FRESH=1, none is left out.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from book.pipeline import sources
from book.pipeline.cards import results
from book.pipeline.cards.book import Book, Card, load
from book.pipeline.ground.paths import ROOT
from book.pipeline.proofs import pace
from book.pipeline.proofs.forks import Trials, TrialsError
from book.pipeline.proofs.prover import LIMITS
from book.pipeline.proofs.session import SELF_TESTS, Resolve, Session

LANES = 2  # proofs that run at a time
SLOWEST = 5  # proofs that are named at the end, with their processor time


def main(argv: list[str] | None = None, resolve: Resolve = sources.resolve,
         trials: Trials | None = None) -> int:
    """Command line; returns the exit status. `trials` are left open when given."""
    args = _parser().parse_args(argv)
    book, problems = load(args.root)
    if problems:
        return _complain(problems)
    if unknown := [name for name in args.card if name not in {card.id for card in book.cards}]:
        return _complain([_no_such_card(book, name) for name in unknown])
    if args.check:
        return _complain(list(results.stale(book))) or _say(f"{len(book.cards)} cards up to date")
    try:
        with nullcontext(trials) if trials else Trials(not args.no_fork, LANES) as ground:
            return _work(args, Session(book, ground, resolve, args.self_test))
    except TrialsError as error:
        return _complain([f"prove: {error}"])


def _work(args: argparse.Namespace, session: Session) -> int:
    start = time.monotonic()
    if args.record_cuda:
        path = session.record_cuda()
        return _complain(session.problems) or _say(f"wrote {path}")
    changed = not (args.all or args.verify or args.card)
    cards = session.choose(args.needs, args.card, changed)
    foreign = [s for s in session.book.sections if not session.has_our_versions(s)]
    session.run(cards, resolve=not (args.verify and foreign))
    if args.card:
        _show(session, cards)
    elif args.verify:
        session.verify()
    written = [] if args.card or args.verify else session.write()
    _sum_up(session, cards, time.monotonic() - start)
    if session.problems:
        return _complain(session.problems)
    for path in written:
        _say(f"wrote {path.relative_to(session.book.root)}")
    if names := session.not_recorded():
        _say(f"not recorded yet on a GPU: {', '.join(names)}")
    return 0


def _sum_up(session: Session, cards: list[Card], seconds: float) -> None:
    total, proved = len(session.book.cards), len(cards) - len(session.red())
    left_out = f", {total - len(cards)} left out" if len(cards) < total else ""
    _say(f"{proved} of {total} cards proved{left_out} in {seconds:.1f} s, "
         f"{len(session.tested)} self-tests")
    if slowest := _slowest(session):
        _say(f"most processor time: {slowest}")
    if over := [*pace.over(cards, session.proofs, session.slow)]:
        _say(f"warning: over the budget of their class, on a machine that is {session.slow:.1f} "
             f"times as slow as the one it was set on: {', '.join(over)}")


def _slowest(session: Session) -> str:
    took = {name: proof.cpu for name, proof in session.proofs.items() if proof.cpu >= 0.1}
    names = sorted(took, key=took.__getitem__, reverse=True)[:SLOWEST]
    return ", ".join(f"{name} {took[name]:.1f} s" for name in names)


def _show(session: Session, cards: list[Card]) -> None:
    """What the author of a card wants to see."""
    for card in cards:
        proof = session.proofs[card.id]
        entry = results.whole(card.data, session.fresh[card.id])
        for key, name in (("shown", "snippets"), ("shown_fixed", "snippets_fixed")):
            for program, shown in zip(entry.get(name, []), entry.get(key, []), strict=False):
                print(f"--- {card.id}: {key}\n{program}\n>>>\n{shown}")
        if proof.stderr:
            print(f"--- {card.id}: stderr\n{proof.stderr.rstrip()}")


def _no_such_card(book: Book, name: str) -> str:
    close = difflib.get_close_matches(name, [card.id for card in book.cards], n=1)
    return f"prove: there is no card '{name}'" + (f": did you mean '{close[0]}'?" if close else "")


def _complain(problems: list[Any]) -> int:
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def _say(text: str) -> int:
    print(text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m book.pipeline.prove", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--check", action="store_true", help="run nothing; are results current?")
    mode.add_argument("--verify", action="store_true", help="write nothing; compare results")
    mode.add_argument("--record-cuda", action="store_true", help="store evidence from this GPU")
    parser.add_argument("--needs", default="all", choices=["all", *LIMITS], help="only this class")
    parser.add_argument("--card", action="append", default=[], metavar="ID", help="look at a card")
    parser.add_argument("--all", action="store_true", help="also what is up to date")
    parser.add_argument("--self-test", choices=SELF_TESTS, help="which assertions to negate",
                        default=SELF_TESTS[bool(os.environ.get("FRESH"))])
    parser.add_argument("--no-fork", action="store_true", help="a fresh interpreter per trial")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
