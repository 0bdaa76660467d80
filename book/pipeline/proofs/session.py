"""One call of the prover: which cards it runs, what it finds, and the files it may write."""

from __future__ import annotations

import datetime
import importlib.metadata
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from book.pipeline import sources
from book.pipeline.cards import results
from book.pipeline.cards.book import Book, Card, Section
from book.pipeline.ground.paths import write_atomic
from book.pipeline.ground.problem import Problem
from book.pipeline.proofs import pace, seals
from book.pipeline.proofs.forks import Trials, TrialsError
from book.pipeline.proofs.prover import LIMITS, Proof, Prover
from book.pipeline.proofs.reached import SelfTest

Resolve = Callable[[str], str]
SELF_TESTS = ("unsealed", "all", "none")  # which self-tests run


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

    def __init__(self, book: Book, trials: Trials, resolve: Resolve,
                 self_tests: str = SELF_TESTS[0]) -> None:
        self.book = book
        self.trials = trials
        self.resolve = resolve
        self.self_tests = self_tests
        self.slow = 1.0  # this machine, now, against the one the budgets are of
        self.problems: list[Problem] = []
        self.proofs: dict[str, Proof] = {}
        self.fresh: dict[str, results.Entry] = {}
        self.tested: dict[str, str] = {}  # card id -> seal of a self-test that passed now
        self._evidence = results.read_evidence(book.root)
        self._files = {s.path: results.read_file(s.results) for s in book.sections}
        self._seals = {name: seal for content in self._files.values()
                       for name, seal in results.seals(content).items()}
        self._versions = versions()

    def is_tested(self, card: Card) -> bool:
        """Whether the self-test of a card has nothing to say, or has passed on it as it is."""
        return not seals.is_needed(card) or self._seals.get(card.id) == seals.seal(card)

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
            and not (changed and self.current(section, card) and self.is_tested(card))
        ]

    def run(self, cards: list[Card], resolve: bool = True) -> None:
        """Prove the cards (those for a GPU take their recorded evidence) and make their entries."""
        pool = ThreadPoolExecutor(self.trials.lanes)
        try:
            before = pace.seconds(self.trials)
            for proof, card in zip(pool.map(self._prove, cards), cards, strict=True):
                self.proofs[card.id] = proof
                self.problems += proof.problems
            self.slow = pace.slowdown(before, pace.seconds(self.trials))
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

    def _prove(self, card: Card) -> Proof:
        if card.needs == "cuda":
            return Proof()
        proof = Prover(self.trials).prove(card)
        due = self.self_tests == "all" or not self.is_tested(card)
        if seals.is_needed(card) and due and self.self_tests != "none" and not proof.problems:
            proof.problems += SelfTest(card, self.trials, LIMITS[card.needs].clock).problems()
            if not proof.problems:
                self.tested[card.id] = seals.seal(card)
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
            sealed = {c.id: seals.seal(c) for c in section.cards
                      if c.id in self.tested or (seals.is_needed(c) and self.is_tested(c))}
            files[section.results] = results.file_text(rows, self._versions, sealed)
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
