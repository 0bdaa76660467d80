"""The prover's self-test: each assertion of a proof, negated, must turn the proof red.

An assertion that is never reached, or whose failure is swallowed, proves nothing.

Only an assertion inside another statement (`for`, `if`, `with`, `try`, `def`, …) needs a run. One
that is itself a statement of the module was evaluated and held, if the proof passed: a module has
no `return`, `break` or handler of its own, so it comes to its end by passing every statement, or it
raises. Negated, the same assertion stands at the same place and fails, and nothing is around it
that could catch that. What would break the argument keeps the proof from passing instead:

    an error before it, `raise SystemExit`, `sys.exit()`    `trial` counts every BaseException
    an endless loop, `os._exit`, a crash                    the trial has no result
    python -O, which leaves assertions out                  `trial` compiles programs without it
    a child process that goes on with the proof             only the first process has a result

`try:` at the top, `if TYPE_CHECKING:`, a class body are statements around their assertions, which
are run. Programs in strings (`exec`, `python -c`) hold no assertion of the proof.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from book.pipeline.cards.book import Card, Problem
from book.pipeline.proofs.forks import Trials
from book.pipeline.proofs.trial import REACHED


def assertions(tree: ast.Module) -> list[ast.Assert]:
    """The assert statements of a program, from top to bottom."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def nested(tree: ast.Module) -> list[ast.Assert]:
    """The assertions that a passing proof may have gone round, or whose failure it may hide."""
    return [node for node in assertions(tree) if node not in tree.body]


def negated(proof: str, number: int) -> str:
    """The proof with its assertion `number` negated and marked as reached when evaluated."""
    tree = ast.parse(proof)
    target = assertions(tree)[number]
    marked = ast.Call(ast.Name(REACHED, ast.Load()), [target.test], [])
    target.test = ast.UnaryOp(ast.Not(), marked)
    return ast.unparse(ast.fix_missing_locations(tree))


def control(proof: str) -> str:
    """The proof with its nested assertions marked and not negated: it must stay green."""
    tree = ast.parse(proof)
    for node in nested(tree):
        node.test = ast.Call(ast.Name(REACHED, ast.Load()), [node.test], [])
    return ast.unparse(ast.fix_missing_locations(tree))


def self_test(card: Card, trials: Trials, limit: float,
              which: Callable[[ast.Module], list[ast.Assert]] = nested) -> list[Problem]:
    """Problems of `which` assertions of a proof that passes; of a `bug` card, on `fixed`."""
    proof = card.data["proof"]
    tree = ast.parse(proof)
    chosen, problems = which(tree), []
    if chosen and (failure := _first_failure(card, trials, control(proof), limit)):
        return [card.problem("the proof looks at its own text, so that no negated assertion says "
                             f"anything: {failure['type']} on line {failure['line']} once the "
                             "same program is written in another way",
                             card.line_within("proof", 1))]
    for number, node in enumerate(assertions(tree)):
        if node in chosen and (text := _weakness(card, trials, negated(proof, number), limit)):
            text = f"assert on line {node.lineno} of the proof {text}"
            problems.append(card.problem(text, card.line_within("proof", node.lineno)))
    return problems


def _first_failure(card: Card, trials: Trials, proof: str, limit: float) -> dict | None:
    program = card.data.get("fixed") or card.data.get("code", "")
    outcomes = (trials.run(proof, program, variant, limit=limit) for variant in card.variants)
    return next((outcome.failure for outcome in outcomes if outcome.failure), None)


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
