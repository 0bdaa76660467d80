"""The prover's self-test: each assertion of a proof, negated, must turn the proof red.

An assertion that is never reached, or whose failure is swallowed, proves nothing. One that is a
statement of the module needs no run: it was evaluated and held, if the proof passed, since a module
has no `return`, `break` or handler of its own, so it comes to its end by passing every statement,
or it raises. Negated, the same assertion stands at the same place and fails, and nothing is around
it that could catch that. What would break the argument keeps the proof from passing instead:

    an error before it, `raise SystemExit`, `sys.exit()`    `trial` counts every BaseException
    an endless loop, `os._exit`, a crash                    the trial has no result
    python -O, which leaves assertions out                  `trial` compiles programs without it
    a child process that goes on with the proof             only the first process has a result

Inside a `for`, `while` or `if` of the module it may not be reached, and that is all: one run with
the assertions marked says for all of them which were. The others (in `with`, `try`, `def`, a class
body) are negated and run one by one. Programs in strings (`exec`, `python -c`) hold no assertion of
the proof.
"""

from __future__ import annotations

import ast

from book.pipeline.cards.book import Card, Problem
from book.pipeline.proofs.forks import Trials
from book.pipeline.proofs.trial import REACHED

OPEN = (ast.For, ast.While, ast.If)  # statements through which a failure gets out


def assertions(tree: ast.Module) -> list[ast.Assert]:
    """The assert statements of a program, from top to bottom."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))


def nested(tree: ast.Module) -> list[ast.Assert]:
    """The assertions that a passing proof may have gone round, or whose failure it may hide."""
    return [node for node in assertions(tree) if node not in tree.body]


def in_the_open(tree: ast.AST) -> set[ast.Assert]:
    """The assertions whose failure nothing can catch, if they are evaluated in this process."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assert):
            found.add(node)
        elif isinstance(node, OPEN):
            found |= in_the_open(node)
    return found


def _marked(node: ast.Assert, number: int) -> ast.Call:
    return ast.Call(ast.Name(REACHED, ast.Load()), [ast.Constant(number), node.test], [])


def negated(proof: str, number: int) -> str:
    """The proof with its assertion `number` negated and marked as reached when evaluated."""
    tree = ast.parse(proof)
    target = assertions(tree)[number]
    target.test = ast.UnaryOp(ast.Not(), _marked(target, number))
    return ast.unparse(ast.fix_missing_locations(tree))


def control(proof: str) -> str:
    """The proof with its nested assertions marked and not negated: it must stay green."""
    tree = ast.parse(proof)
    inner = set(nested(tree))
    for number, node in enumerate(assertions(tree)):
        if node in inner:
            node.test = _marked(node, number)
    return ast.unparse(ast.fix_missing_locations(tree))


class SelfTest:
    """The self-test of one card's proof, which passes; of a `bug` card, on `fixed`."""

    def __init__(self, card: Card, trials: Trials, limit: float) -> None:
        self.card, self.trials, self.limit = card, trials, limit
        self.proof = card.data["proof"]
        self.tree = ast.parse(self.proof)

    def problems(self, each: bool = False) -> list[Problem]:
        """What is wrong with its assertions; `each` is negated and run, also where none need be."""
        if not nested(self.tree) and not each:
            return []
        reached, failure = self._run(control(self.proof))
        if failure:
            return [self.card.problem(
                "the proof looks at its own text, so that no negated assertion says anything: "
                f"{failure['type']} on line {failure['line']} once the same program is written in "
                "another way", self.card.line_within("proof", 1))]
        certain = {node for number, node in enumerate(assertions(self.tree))
                   if number in reached and node in in_the_open(self.tree)} | set(self.tree.body)
        return [self.card.problem(f"assert on line {node.lineno} of the proof {text}",
                                  self.card.line_within("proof", node.lineno))
                for number, node in enumerate(assertions(self.tree))
                if (each or node not in certain) and (text := self._weakness(number))]

    def _weakness(self, number: int) -> str:
        """What is wrong with an assertion; empty if, negated, it fails the proof in a variant."""
        reached, failure = self._run(negated(self.proof, number))
        if failure:
            return ""
        if reached:
            return "does not count: negated, it leaves the proof green; let its failure through"
        return "is never reached: move it to where it runs or take it out"

    def _run(self, proof: str) -> tuple[set[int], dict | None]:
        """Numbers of marked assertions that some variant evaluates, and the first failure."""
        program = self.card.data.get("fixed") or self.card.data.get("code", "")
        reached: set[int] = set()
        for variant in self.card.variants:
            outcome = self.trials.run(proof, program, variant, limit=self.limit)
            if outcome.failure:
                return reached, outcome.failure
            reached.update(outcome.reached)
        return reached, None
