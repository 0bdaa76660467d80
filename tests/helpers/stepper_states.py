"""What a stepper's graph holds after each step, replayed from what is drawn."""

import json

import pytest

from inside.widgets.graph_stepper import ESM
from inside.widgets.web_module import joined_module
from oracles.web.javascript import evaluate

QUANTITIES = ("grad", "flow", "before", "after")
EXACT = """((nodes) => m.stepsOf(nodes).map((step) => Object.fromEntries(
    Object.entries(step).map(([key, v]) => [
      key, v !== null && QUANTITIES.includes(key) ? m.numberText(v) : v]))))""".replace(
    "QUANTITIES", json.dumps(QUANTITIES))


@pytest.fixture(scope="session")
def stepper(tmp_path_factory):
    """Evaluate JavaScript over `m`, the module that a notebook gets, and `data`."""
    file = tmp_path_factory.mktemp("stepper") / "joined.mjs"
    file.write_text(joined_module(ESM), encoding="utf-8")
    return lambda expression, data=None: evaluate(file, expression, data)


def floats(steps):
    """The steps that `EXACT` gives, with their quantities as floats again."""
    return [{key: float(value) if key in QUANTITIES and value is not None else value
             for key, value in step.items()} for step in steps]


def states(graph):
    """(value, grad) of every node, as text, after every step; for what `readGraph` returns."""
    values, grads = (["–"] * len(graph["nodes"]) for _ in range(2))
    for step in graph["steps"]:
        if step["kind"] == "forward":
            values[step["node"]] = graph["nodes"][step["node"]]["value"]
        elif step["kind"] == "start":
            grads = ["–" if "engine" in graph else "0"] * len(grads)
            grads[step["node"]] = step["grad"]
        elif step["kind"] == "flow":
            operand = graph["nodes"][step["node"]]["operands"][step["operand"]]
            grads[operand["node"]] = step["after"] or "–"
        yield list(zip(values, grads, strict=True))
