"""Run the proofs of all cards and write what they compute to cards/SECTION.json.

    python -m book.pipeline.prove                all cards; files change only if all pass
    python -m book.pipeline.prove --changed      only cards whose stored result is out of date
    python -m book.pipeline.prove --verify       write nothing; fail where a fresh run differs
    python -m book.pipeline.prove --check        run nothing (no torch): are results up to date?
    python -m book.pipeline.prove --card ID      look at one card: what it shows and prints
    python -m book.pipeline.prove --mutate       write nothing; negate each assertion: it must
                                                 turn its proof red
    python -m book.pipeline.prove --record-cuda  run the cards that need a GPU, store the evidence
"""

from __future__ import annotations

import argparse
import datetime
import difflib
import importlib.metadata
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from book.pipeline import sources
from book.pipeline.cards import results
from book.pipeline.cards.book import Book, Card, Section, load
from book.pipeline.ground.paths import ROOT, write_atomic
from book.pipeline.ground.problem import Problem
from book.pipeline.proofs.forks import Trials, TrialsError
from book.pipeline.proofs.prover import LIMITS, Proof, Prover
from book.pipeline.proofs.reached import self_test

Resolve = Callable[[str], str]
LANES = 2  # proofs that run at a time
SLOWEST = 5  # proofs that are named at the end, with their processor time


def resolve_all(cards: Iterable[Card], resolve: Resolve) -> tuple[dict[str, str], list[Problem]]:
    """Addresses of all source references of the cards, each target looked up once."""
    urls: dict[str, str] = {}
    errors: dict[str, str] = {}
    problems = []
    for card in cards:
        for i, target in enumerate(card.data["sources"]):
            if target not in urls and target not in errors:
                try:
                    urls[target] = resolve(target)
                except sources.SourceError as error:
                    errors[target] = f"source {' '.join(str(error).split())}"
            if target in errors:
                problems.append(card.problem(errors[target], card.line("sources", i)))
    return urls, problems


def versions() -> dict[str, str]:
    """What results depend on: torch's release and Python's minor version."""
    torch = importlib.metadata.version("torch").split("+")[0]
    return {"torch": torch, "python": f"{sys.version_info.major}.{sys.version_info.minor}"}


class Session:
    """One call of the prover: which cards it runs, what it found, what it may write."""

    def __init__(self, book: Book, trials: Trials, resolve: Resolve) -> None:
        self.book = book
        self.trials = trials
        self.resolve = resolve
        self.problems: list[Problem] = []
        self.proofs: dict[str, Proof] = {}
        self.fresh: dict[str, results.Entry] = {}
        self._evidence = results.read_evidence(book.root)
        self._files = {s.path: results.read_file(s.results) for s in book.sections}
        self._versions = versions()

    def current(self, section: Section, card: Card) -> results.Entry | None:
        """The stored entry of a card if a run now would leave it as it is."""
        entry = results.entries(self._files[section.path]).get(card.id)
        same = self.has_our_versions(section)
        return entry if same and not results.why_stale(card, entry, self._evidence) else None

    def has_our_versions(self, section: Section) -> bool:
        """Whether the stored results were made with this torch and Python."""
        content = self._files[section.path]
        return all(content.get(key) == value for key, value in self._versions.items())

    def choose(self, needs: str = "all", ids: Iterable[str] = (),
               changed: bool = False) -> list[Card]:
        """Cards to run, in the book's order."""
        return [
            card
            for section in self.book.sections
            for card in section.cards
            if needs in ("all", card.needs)
            and (not ids or card.id in ids)
            and not (changed and self.current(section, card))
        ]

    def run(self, cards: list[Card], mutate: bool = False, resolve: bool = True) -> None:
        """Prove the cards (those for a GPU take their recorded evidence) and make their entries."""
        pool = ThreadPoolExecutor(self.trials.lanes)
        try:
            for proof, card in zip(pool.map(lambda c: self._prove(c, mutate), cards), cards,
                                   strict=True):
                self.proofs[card.id] = proof
                self.problems += proof.problems
        finally:
            pool.shutdown(cancel_futures=True)  # Ctrl-C waits for two proofs, not for all
        urls, problems = resolve_all(cards, self.resolve) if resolve else ({}, [])
        self.problems += problems
        for card in cards:
            record = results.recorded(card, self._evidence)
            shown = self.proofs[card.id].shown
            if record:
                shown = {key: record[key] for key in results.SHOWN if key in record}
            self.fresh[card.id] = results.make_entry(card, urls, shown, record)

    def _prove(self, card: Card, mutate: bool) -> Proof:
        if card.needs == "cuda":
            return Proof()
        proof = Prover(self.trials).prove(card)
        if mutate and not proof.problems:
            proof.problems += self_test(card, self.trials, LIMITS[card.needs].clock)
        return proof

    def red(self) -> set[str]:
        """Ids of the cards that were run and have a problem."""
        return {problem.card for problem in self.problems} & self.proofs.keys()

    def verify(self) -> None:
        """Stored results must be current and, under the same torch and Python, come out again."""
        stale = list(results.stale(self.book))
        self.problems += stale
        for section in filter(self.has_our_versions, self.book.sections):
            stored = results.entries(self._files[section.path])
            for card in section.cards:
                known = card.id in self.fresh and card.id not in {p.card for p in stale}
                if known and (keys := _differing(self.fresh[card.id], stored[card.id])):
                    text = (f"a fresh run differs from {section.results.name} in {keys}: "
                            f"{results.MEND}")
                    self.problems.append(card.problem(text))

    def texts(self) -> dict[Path, str]:
        """Contents of the files to write; needs a current result for every card."""
        files = {}
        for section in self.book.sections:
            rows = {c.id: self.fresh.get(c.id) or self.current(section, c) for c in section.cards}
            for card in section.cards:
                if rows[card.id] is None:
                    text = f"was not run now and has no current result: {results.MEND}"
                    self.problems.append(card.problem(text))
            files[section.results] = results.file_text(rows, self._versions)
        return files

    def write(self) -> list[Path]:
        """Write the files that changed, or none if there is any problem."""
        files = self.texts()
        if self.problems:
            return []
        changed = [path for path, text in files.items() if _differs(path, text)]
        for path in changed:
            write_atomic(path, files[path])
        return changed

    def not_recorded(self) -> list[str]:
        """Cards for a GPU without evidence of their present content."""
        cuda = [card for card in self.book.cards if card.needs == "cuda"]
        return [card.id for card in cuda if not results.recorded(card, self._evidence)]

    def record_cuda(self) -> Path | None:
        """Run the cards for a GPU here and store the evidence; None if there is a problem."""
        question = "import torch\nprint(torch.cuda.is_available() and torch.cuda.get_device_name())"
        gpu = self.trials.run(code=question, limit=LIMITS["cuda"].clock).shown
        if gpu in ("", "False"):
            raise TrialsError("torch finds no GPU here: run --record-cuda on a machine with one")
        facts = {"gpu": gpu, "torch": importlib.metadata.version("torch"),
                 "date": datetime.datetime.now(datetime.UTC).date().isoformat()}
        records = {}
        for card in self.choose("cuda"):
            proof = Prover(self.trials).prove(card)
            self.problems += proof.problems
            digest = results.digest(results.as_run(card))
            records[card.id] = {"digest": digest, **facts, **proof.shown}
        if self.problems:
            return None
        path = self.book.root / results.EVIDENCE
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, results.canonical(records) + "\n")
        return path


def _differing(fresh: Mapping[str, Any], stored: Mapping[str, Any]) -> str:
    keys = sorted((fresh.keys() | stored.keys()) - {"digest"})
    return ", ".join(key for key in keys if fresh.get(key) != stored.get(key))


def _differs(path: Path, text: str) -> bool:
    return not path.is_file() or path.read_text(encoding="utf-8") != text


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
            return _work(args, Session(book, ground, resolve))
    except TrialsError as error:
        return _complain([f"prove: {error}"])


def _work(args: argparse.Namespace, session: Session) -> int:
    start = time.monotonic()
    if args.record_cuda:
        path = session.record_cuda()
        return _complain(session.problems) or _say(f"wrote {path}")
    cards = session.choose(args.needs, args.card, args.changed)
    foreign = [s for s in session.book.sections if not session.has_our_versions(s)]
    session.run(cards, args.mutate, resolve=not (args.verify and foreign))
    if args.card:
        _show(session, cards)
    elif args.verify:
        session.verify()
    written = [] if args.card or args.verify or args.mutate else session.write()
    proved = len(cards) - len(session.red())
    _say(f"{proved} of {len(session.book.cards)} cards proved in {time.monotonic() - start:.1f} s")
    if slowest := _slowest(session):
        _say(f"most processor time: {slowest}")
    if session.problems:
        return _complain(session.problems)
    for path in written:
        _say(f"wrote {path.relative_to(session.book.root)}")
    if names := session.not_recorded():
        _say(f"not recorded yet on a GPU: {', '.join(names)}")
    return 0


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
    parser.add_argument("--changed", action="store_true", help="only what is out of date")
    parser.add_argument("--mutate", action="store_true", help="negate each assertion in turn")
    parser.add_argument("--no-fork", action="store_true", help="a fresh interpreter per trial")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
