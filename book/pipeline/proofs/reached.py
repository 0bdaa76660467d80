"""The prover's self-test: each assertion of a proof, negated, must turn the proof red.

An assertion that is never reached, or whose failure is swallowed, proves nothing.
"""

from __future__ import annotations

import ast

from book.pipeline.cards.book import Card, Problem
from book.pipeline.proofs.forks import Trials
from book.pipeline.proofs.trial import REACHED


def assertions(tree: ast.Module) -> list[ast.Assert]:
    """The assert statements of a program, from top to bottom."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def negated(proof: str, number: int) -> str:
    """The proof with its assertion `number` negated and marked as reached when evaluated."""
    tree = ast.parse(proof)
    target = assertions(tree)[number]
    marked = ast.Call(ast.Name(REACHED, ast.Load()), [target.test], [])
    target.test = ast.UnaryOp(ast.Not(), marked)
    return ast.unparse(ast.fix_missing_locations(tree))


def self_test(card: Card, trials: Trials, limit: float) -> list[Problem]:
    """Problems of the assertions of a proof that passes; of a `bug` card, on `fixed`."""
    proof = card.data["proof"]
    problems = []
    for number, node in enumerate(assertions(ast.parse(proof))):
        if text := _weakness(card, trials, negated(proof, number), limit):
            text = f"assert on line {node.lineno} of the proof {text}"
            problems.append(card.problem(text, card.line_within("proof", node.lineno)))
    return problems


def _weakness(card: Card, trials: Trials, mutant: str, limit: float) -> str:
    """What is wrong with the negated assertion; empty if it fails the proof in some variant."""
    program = card.data.get("fixed") or card.data.get("code", "")
    reached = False
    for variant in card.variants:
        outcome = trials.run(mutant, program, variant, limit=limit)
        if outcome.failure:
            return ""
        reached |= outcome.reached
    if reached:
        return "does not count: negated, it leaves the proof green; let its failure through"
    return "is never reached: move it to where it runs or take it out"
