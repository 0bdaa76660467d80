"""Proves one card: its programs and its proof run together, and the rules each kind must keep.

`code` runs, then the proof in the same namespace, once per variant. The proof of a `bug` card
must fail on `code` and pass on `fixed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

from book.pipeline.cards.book import Card, Problem
from book.pipeline.proofs.forks import Outcome, Trials


class Limit(NamedTuple):
    """Seconds: on the clock, when a trial is ended; of processor time, which is a proof's budget.

    The first guards against a hang, and is so far away that half a core beside ten busy programs
    does not come near it. The budget is kept by `make bench`; `make prove` names who is over it.
    """

    clock: float
    budget: float


LIMITS = {
    "cpu": Limit(600, 0.5),
    "loader": Limit(1200, 20),
    "inductor": Limit(3600, 60),
    "gloo2": Limit(1200, 20),
    "cuda": Limit(600, 30),
}


@dataclass
class Proof:
    """What running a card gave: results by variant, problems, stderr, processor time."""

    shown: dict[str, list[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    stderr: str = ""
    cpu: float = 0.0  # seconds of processor time that the slowest of its trials took


class Prover:
    """Runs the proofs of cards, one trial per variant and program."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials

    def prove(self, card: Card) -> Proof:
        """Run a card; nothing is raised, all is in the result."""
        proof = Proof()
        for variant in card.variants:
            check = self._bug if card.data["kind"] == "bug" else self._plain
            proof.problems += check(card, variant, proof)
        return proof

    def _plain(self, card: Card, variant: dict[str, Any], proof: Proof) -> Iterator[Problem]:
        outcome = self._run(card, "code", variant, proof)
        if outcome.failure:
            yield _failed(card, "code", outcome.failure, variant)
        yield from self._steady(card, "code", variant, outcome)

    def _bug(self, card: Card, variant: dict[str, Any], proof: Proof) -> Iterator[Problem]:
        wrong = self._run(card, "code", variant, proof)
        right = self._run(card, "fixed", variant, proof)
        if not wrong.failure:
            text = "the proof passes on `code`: it must fail there and pass on `fixed`"
            yield card.problem(text + _with(variant), card.line("proof"))
        elif wrong.failure["type"] not in _honest_failures(wrong):
            yield _failed(card, "code", wrong.failure, variant,
                          "on `code` the proof must fail by an assertion or by the error of `code`")
        if right.raised:
            yield _failed(card, "fixed", right.raised, variant, "`fixed` must not raise")
        elif right.failure:
            yield _failed(card, "fixed", right.failure, variant, "the proof must pass on `fixed`")
        yield from self._steady(card, "code", variant, wrong)
        yield from self._steady(card, "fixed", variant, right)

    def _run(self, card: Card, program: str, variant: dict[str, Any], proof: Proof) -> Outcome:
        outcome = self.trials.run(card.data["proof"], card.data.get(program, ""), variant,
                                  limit=LIMITS[card.needs].clock)
        proof.stderr += outcome.stderr
        if program in card.data:
            key = "shown" if program == "code" else "shown_fixed"
            proof.shown.setdefault(key, []).append(outcome.shown)
        proof.cpu = max(proof.cpu, outcome.cpu)
        return outcome

    def _steady(self, card: Card, program: str, variant: dict[str, Any],
                first: Outcome) -> Iterator[Problem]:
        """A shown result must come out the same again: no address, time, unseeded number or set."""
        crashed = first.failure and not first.failure["type"]
        if program not in card.data or crashed:
            return
        source = card.data[program]
        again = self.trials.run("", source, variant, limit=LIMITS[card.needs].clock,
                               elsewhere=True)
        if again.shown != first.shown:
            text = f"{program} shows something else each time ({_difference(first, again)})"
            yield card.problem(f"{text}: make it steady{_with(variant)}", card.line(program))


def _difference(first: Outcome, again: Outcome) -> str:
    pairs = zip_longest(first.shown.splitlines(), again.shown.splitlines(), fillvalue="")
    changed = [f"'{one}', then '{two}'" for one, two in pairs if one != two]
    return changed[0] if changed else "line ends differ"


def _honest_failures(outcome: Outcome) -> set[str]:
    """Errors by which the proof of a bug may fail on the buggy code.

    An assertion; or, where `code` itself raised, that error again or a name it did not get to.
    """
    return {"AssertionError"} | ({outcome.raised["type"], "NameError"} if outcome.raised else set())


def _failed(card: Card, program: str, failure: Mapping[str, Any], variant: Mapping[str, Any],
            rule: str = "") -> Problem:
    stage = program if failure["stage"] == "code" else "proof"
    place = f"{stage} line {failure['line']}" if failure["line"] else stage
    source = f" (`{failure['text']}`)" if failure["text"] else ""
    error = ": ".join(part for part in (failure["type"], failure["message"]) if part)
    line = card.line_within(stage, failure["line"]) if failure["line"] else card.line(stage)
    ending = f"; {rule}" if rule else ""
    return card.problem(f"{place}{source}: {error}{_with(variant)}{ending}", line)


def _with(variant: Mapping[str, Any]) -> str:
    return " with " + ", ".join(f"{k} = {v!r}" for k, v in variant.items()) if variant else ""
