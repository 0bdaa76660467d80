"""The graph stepper: forward values in order of creation, then gradients, one step at a time.

`GraphStepper` is an anywidget around `book/web/graph-stepper/`, the same module that the page
loads without a kernel. It sends the engine's graph; the browser counts the steps of the backward
pass, as it does for an expression that a reader types there. `GraphStepper.of_torch` shows a graph
of torch, whose steps are recorded while torch runs it (see
inside/autograd/observe/torch_graph.py). Without JavaScript a table stands in the widget's place.

What the element reads is JSON in its attribute `graph`. Nothing in it is specific to Scalar: any
graph of numbered nodes can be shown by writing the same fields.

    nodes      oldest first: {number, label, op, value, operands}; a leaf has op ""; the last is
               the root; `number` is the place in this list
    operands   left, then right: {node, local}, or {constant} for a plain number

Every quantity is text, since JSON has no infinities: the `repr` of a float, or "1/" and one where
the engine keeps a derivative as a division. `local` is null where nothing flows. A graph that was
run elsewhere brings its own steps, and all its quantities as the reader is to see them:

    engine     "torch"
    nodes      as above, and `saved`: [name, value] of each tensor that the node keeps; `value` is
               "?" where no node keeps it; operands are {node}, without a local derivative
    steps      {kind, node, ...}, where kind is one of
        forward   `node` is recorded
        start     `node`, the root, is handed `grad`
        take      `node` runs: its `grad` is complete
        flow      it passes `flow` to its operand number `operand`, whose grad was `before` and is
                  now `after`, null as long as nothing has arrived; `flow` is null where nothing
                  flows; `waiting`: how many edges have yet to deliver to that operand
        done      no node is left
    ready      in a backward step: the complete nodes not yet taken, the next one first
"""

import json
from dataclasses import dataclass
from html import escape
from itertools import count

import anywidget
from traitlets import Int, TraitError, Unicode, validate

from inside.autograd.observe.torch_graph import record
from inside.bilingual import spans
from inside.widgets.fallback import attribute, table
from inside.widgets.quantities import bracketed, exact, spell
from inside.widgets.torch_graph import describe
from inside.widgets.web_module import WEB, joined_module

LIMIT = 24  # nodes that a reader can still follow one by one
FIELDS = ("data", "op", "left", "dleft", "right", "dright", "number", "label")
ESM = WEB / "graph-stepper" / "index.js"


# ---------------------------------------------------------------- the graph
@dataclass(frozen=True)
class Operand:
    """One operand: the number of its node and the local derivative, or a plain number.

    An incoming gradient is multiplied by `local`, a float or what knows how to be multiplied;
    None means that nothing flows.
    """

    node: int | None = None
    local: object = None
    constant: float | None = None


@dataclass(frozen=True)
class Node:
    """One node; `number` is its place in order of creation, the oldest of its graph being 0."""

    number: int
    label: str
    op: str
    value: float
    operands: tuple[Operand, ...] = ()

    def edges(self):
        """The operands that are nodes, each with its place."""
        return [(place, o) for place, o in enumerate(self.operands) if o.node is not None]


def read(root):
    """The graph below `root`, a Scalar or an object with the same fields: Nodes, oldest first.

    Raises `TypeError` for anything else, `ValueError` for more than 24 nodes or for an operand
    that is not older than its result.
    """
    missing = [name for name in FIELDS if not hasattr(root, name)]
    if missing:
        kind = type(root).__name__
        raise TypeError(f"GraphStepper: a {kind} has no `{missing[0]}`; pass a Scalar")
    made = sorted(reach(root), key=lambda scalar: scalar.number)
    place = {id(scalar): n for n, scalar in enumerate(made)}
    nodes = [
        Node(n, s.label, s.op, s.data, tuple(operands(s, place))) for n, s in enumerate(made)
    ]
    for node in nodes:
        if any(o.node >= node.number for _, o in node.edges()):
            raise ValueError(
                f"GraphStepper: an operand of `{node.op}` is not older than its result; "
                "give each node a larger number than its operands"
            )
    return nodes


def reach(root):
    """Every Scalar below `root`, itself first."""
    found, todo = [root], [root]
    while todo:
        scalar = todo.pop()
        for operand in (scalar.left, scalar.right):
            if isinstance(operand, type(root)) and not any(operand is seen for seen in found):
                found.append(operand)
                todo.append(operand)
        if len(found) > LIMIT:
            raise ValueError(
                f"GraphStepper: the graph has more than {LIMIT} nodes; "
                "step through a smaller expression"
            )
    return found


def operands(scalar, place):
    """The operands of one Scalar; `place` gives the number of each node by its id."""
    for operand, local in ((scalar.left, scalar.dleft), (scalar.right, scalar.dright)):
        if id(operand) in place:
            yield Operand(place[id(operand)], local)
        elif operand is not None:
            yield Operand(constant=operand)


# ---------------------------------------------------------------- what the element reads
def contract(nodes):
    """The dict that the element reads, as described at the top of this file."""
    return {"nodes": [
        {"number": node.number, "label": node.label, "op": node.op, "value": exact(node.value),
         "operands": list(map(operand_fields, node.operands))}
        for node in nodes
    ]}


def operand_fields(operand):
    if operand.node is None:
        return {"constant": exact(operand.constant)}
    return {"node": operand.node, "local": None if operand.local is None else exact(operand.local)}


def count_steps(nodes):
    """Forward, start, each node once more, each edge, done."""
    return 2 * len(nodes) + sum(len(node.edges()) for node in nodes) + 2


# ---------------------------------------------------------------- the table without JavaScript
def final_grads(nodes):
    """The gradients after the backward pass, on books of their own; newest first, as Scalar."""
    grads = [0.0] * len(nodes)
    grads[-1] = 1.0
    for node in reversed(nodes):
        for _, operand in node.edges():
            if operand.local is not None:
                grads[operand.node] += grads[node.number] * operand.local
    return grads


def rows_of(nodes):
    """A row of texts per node: label, op, operands, value, grad."""
    return [
        (node.label, node.op, ", ".join(map(operand_words, node.operands)), spell(node.value),
         spell(grad))
        for node, grad in zip(nodes, final_grads(nodes), strict=True)
    ]


def operand_words(operand):
    if operand.node is None:
        return spell(operand.constant)
    return f"#{operand.node} × {'None' if operand.local is None else bracketed(operand.local)}"


HEAD = [spans("节点", "node"), spans("名字", "label"), spans("运算", "op"),
        spans("操作数 × 局部导数", "operand × local derivative"), spans("值", "value"), "grad"]
OPERANDS = spans("操作数", "operands")
CAPTION = spans("计算图：值与反向之后的梯度", "The graph: values, and gradients after backward")


def fallback(graph, step, rows):
    """The custom element with the final table inside, for pages without JavaScript."""
    head = HEAD if "engine" not in graph else [*HEAD[:3], OPERANDS, *HEAD[4:]]
    return (f"<graph-stepper step=\"{step}\" graph='{attribute(graph)}'>\n"
            f"{table(CAPTION, head, map(cells_of, count(), rows))}\n</graph-stepper>")


def cells_of(number, row):
    label, op, *rest = map(escape, row)
    return [f"#{number}", label, f"<code>{op}</code>" if op else spans("叶子", "leaf"), *rest]


# ---------------------------------------------------------------- the widget
class StepError(ValueError, TraitError):
    """A step the graph does not have; as a TraitError it rolls a change back."""


class GraphStepper(anywidget.AnyWidget):
    """Widget that steps through the graph below `root`, a Scalar; `step` counts from 0.

    It reads the graph and changes nothing: gradients are counted from 0 on its own books, what
    the nodes hold stays. A reader may type another expression into it, which stays in the browser.
    Raises `TypeError` for what is no Scalar, `ValueError` above 24 nodes or for a step out of
    range.
    """

    _esm = joined_module(ESM)
    graph = Unicode().tag(sync=True)
    step = Int().tag(sync=True)

    def __init__(self, root, step=0):
        nodes = read(root)
        self._show(contract(nodes), count_steps(nodes), rows_of(nodes), step)

    def _show(self, graph, steps, rows, step):
        self._contract, self._steps, self._rows = graph, steps, rows
        self._check(step)
        super().__init__(graph=json.dumps(graph, ensure_ascii=False), step=step)

    @classmethod
    def of_torch(cls, tensor, names=None, step=0):
        """The stepper of a graph that torch recorded and runs once: `tensor` is its result.

        `tensor` has one element and is not yet freed by `backward()`. `names` gives tensors of the
        graph, leaves or not, by name. The backward pass is the real one, observed by hooks; the
        graph is kept (`retain_graph=True`) and each leaf's `.grad` is put back. Raises `TypeError`
        for what is no tensor, `ValueError` where there is no such graph, it has more than 24 nodes
        or one of its operations has several results.
        """
        graph = describe(record(tensor, names or {}, LIMIT))
        stepper = cls.__new__(cls)
        stepper._show(graph, len(graph["steps"]), graph_rows(graph), step)
        return stepper

    @validate("step")
    def _accept(self, proposal):
        self._check(proposal["value"])
        return proposal["value"]

    def _check(self, step):
        if not 0 <= step < self._steps:
            raise StepError(f"step {step}: this graph has the steps 0 to {self._steps - 1}")

    def __repr__(self):
        size = len(self._contract["nodes"])
        return f"GraphStepper({size} nodes, step {self.step} of {self._steps - 1})"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": fallback(self._contract, self.step, self._rows)}, metadata


def graph_rows(graph):
    """The rows of the table for a graph that brings its steps."""
    grads = {}
    for step in graph["steps"]:
        if step["kind"] == "take":
            grads[step["node"]] = step["grad"]
    return [
        (node["label"], node["op"],
         ", ".join(o["constant"] if "constant" in o else f"#{o['node']}"
                   for o in node["operands"]),
         node["value"], grads.get(node["number"], "None"))
        for node in graph["nodes"]
    ]
