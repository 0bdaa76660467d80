"""The graph stepper: forward values in order of creation, then gradients, one step at a time.

`GraphStepper` is an anywidget around `book/web/graph-stepper.js`, the same file that the page
loads without a kernel. All numbers come from the engine's graph and are computed here; the
browser draws them. Without JavaScript a table stands in its place.

What the element reads is JSON in its attribute `graph`. Nothing in it is specific to Scalar: any
graph of numbered nodes can be shown by writing the same fields.

    nodes      oldest first: {number, label, op, value, x, y, operands}; a leaf has op ""
    operands   left, then right: {node, local, via}, or {constant} for a plain number
    steps      {kind, node, ...}, where kind is one of
        forward   the value of `node` is computed, and its local derivatives with it
        start     every grad is 0, then that of `node`, the root, becomes `grad`
        take      `node` is taken: its `grad` is complete
        flow      `grad` of `node` times the local derivative of `operands[operand]` is `flow`;
                  added to that operand's grad: `before` + `flow` = `after`. `waiting`: how many
                  edges have yet to deliver to it. `flow` is null where the local derivative is
        done      no node is left
    ready      in a backward step: the complete nodes not yet taken, newest first

`number` is an integer that tells nodes apart; the larger of two ready ones is taken first. Every
other quantity is text as the reader sees it ("0.42", "-0", "inf", "1/3"): JSON has no infinities,
and the page never computes with it. `local` is null where nothing flows. `x` (in lanes) and `y`
(in layers, root at the bottom) are the centre of a box, `via` the bends [x, y] of an edge.
"""

import json
import math
from collections import Counter
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path

import anywidget
from traitlets import Int, TraitError, Unicode, validate

LIMIT = 24  # nodes that a reader can still follow one by one
SWEEPS, ROUNDS = 12, 40  # of the layout: to order the layers, then to bring the lanes to rest
BEND = 0.4  # lanes that an edge takes where it passes a layer
SNAP = 0.6  # lanes: a chain that leans less is made upright where there is room
FIELDS = ("data", "op", "left", "dleft", "right", "dright", "number", "label")
ESM = Path(__file__).resolve().parents[2] / "book" / "web" / "graph-stepper.js"
if not ESM.is_file():
    raise ImportError(
        f"inside.graph_stepper: {ESM.name} is missing; use `inside` from a clone of the book, "
        "where it lies in book/web/"
    )


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


# ---------------------------------------------------------------- the steps
def steps_of(nodes):
    """Every step as a dict with exact floats: forward by age, then backward from grads of 0."""
    forward = [{"kind": "forward", "node": node.number} for node in nodes]
    return forward + Backward(nodes).run()


class Backward:
    """`Scalar.backward`, contribution by contribution, on grads of its own.

    It counts the edges that have yet to deliver, as torch's engine does, and takes the newest of
    the ready nodes; `Scalar` sorts beforehand and finds the same order.
    """

    def __init__(self, nodes):
        self.nodes = {node.number: node for node in nodes}
        self.grad = dict.fromkeys(self.nodes, 0.0)
        self.waiting = Counter(o.node for node in nodes for _, o in node.edges())
        self.ready = {max(self.nodes)}

    def run(self):
        root = max(self.nodes)
        self.grad[root] = 1.0
        steps = [self.step("start", root, grad=1.0)]
        while self.ready:
            number = max(self.ready)
            self.ready.remove(number)
            steps.append(self.step("take", number, grad=self.grad[number]))
            steps += [self.flow(number, *edge) for edge in self.nodes[number].edges()]
        return [*steps, self.step("done", root)]

    def flow(self, number, place, operand):
        """Send the gradient of node `number` along one edge."""
        g, to = self.grad[number], operand.node
        before = self.grad[to]
        flow = None if operand.local is None else g * operand.local
        if flow is not None:
            self.grad[to] += flow
        self.waiting[to] -= 1
        if not self.waiting[to]:
            self.ready.add(to)
        return self.step("flow", number, operand=place, grad=g, flow=flow, before=before,
                         after=self.grad[to], waiting=self.waiting[to])

    def step(self, kind, number, **more):
        return {"kind": kind, "node": number, **more, "ready": sorted(self.ready, reverse=True)}


# ---------------------------------------------------------------- where the boxes stand
class Layout:
    """Lanes and layers: an operand above its results, edges bent around the boxes between.

    A node stands one layer above the highest of its users. An edge that passes layers gets a
    bend in each. Sweeps put every layer in the order of its neighbours' means; then all layers
    move as near to their neighbours as the boxes allow, and chains that lean a little are made
    upright. Ties keep their order, so equal graphs look equal.
    """

    def __init__(self, nodes):
        self.layer = layers(nodes)
        self.bends, self.near = {}, {}
        for node in nodes:
            for place, operand in node.edges():
                self.connect(node.number, place, operand.node)
        self.rows = {}
        for item, layer in self.layer.items():
            self.rows.setdefault(layer, []).append(item)
        self.x = {}
        for row in self.rows.values():
            self.settle(row, dict.fromkeys(row, 0.0))
        self.arrange()

    def connect(self, node, place, operand):
        """A chain of neighbours from operand to result, with one bend per layer passed."""
        between = range(self.layer[operand] + 1, self.layer[node])
        bends = self.bends[node, place] = [(node, place, layer) for layer in between]
        self.layer.update((bend, bend[2]) for bend in bends)
        for one, other in pairwise([operand, *bends, node]):
            self.near.setdefault(one, []).append(other)
            self.near.setdefault(other, []).append(one)

    def arrange(self):
        """Sweep, go on from the order with the fewest crossings, bring the lanes to rest."""
        best = None
        for sweep in range(SWEEPS):
            self.sweep(up=sweep % 2 == 1)
            score = self.crossings(), self.length()
            if best is None or score < best[0]:
                best = score, dict(self.x), {layer: list(row) for layer, row in self.rows.items()}
        _, self.x, self.rows = best
        for _ in range(ROUNDS):
            for row in self.rows.values():
                self.settle(row, {item: self.mean(item, 0) for item in row})
        for layer in sorted(self.rows, reverse=True):
            row = self.rows[layer]
            self.settle(row, {item: self.upright(item) for item in row})

    def sweep(self, up):
        """Order each layer by its neighbours above, or, going up, by those below."""
        side = 1 if up else -1
        for layer in sorted(self.rows, reverse=up):
            row = self.rows[layer]
            row.sort(key=lambda item: self.mean(item, side))
            self.settle(row, {item: self.mean(item, 0) for item in row})

    def upright(self, item):
        """The lane of the nearest neighbour below that has no other one above; else its own."""
        def above(other):
            return [o for o in self.near[other] if self.layer[o] < self.layer[other]]

        x = self.x[item]
        lanes = [self.x[other] for other in self.near.get(item, ()) if above(other) == [item]]
        nearest = min(lanes, key=lambda lane: (abs(lane - x), lane), default=x)
        return nearest if abs(nearest - x) < SNAP else x

    def mean(self, item, side):
        """Mean lane of the neighbours in the layer on that side, or on both (0); else its own."""
        found = [self.x[other] for other in self.near.get(item, ())
                 if side in (0, self.layer[other] - self.layer[item])]
        return math.fsum(found) / len(found) if found else self.x.get(item, 0.0)

    def settle(self, row, wanted):
        """Put a row as near to the wanted lanes as its boxes allow, by least squares.

        Pooling adjacent violators: blocks that would overlap are joined at their mean.
        """
        at, shifts = 0.0, []
        for n, item in enumerate(row):
            at += n and (width(row[n - 1]) + width(item)) / 2
            shifts.append(at)
        blocks = []
        for item, shift in zip(row, shifts, strict=True):
            blocks.append([wanted[item] - shift])
            while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
                blocks[-2:] = [blocks[-2] + blocks[-1]]
        means = [fmean(block) for block in blocks for _ in block]
        self.x.update((i, m + s) for i, m, s in zip(row, means, shifts, strict=True))

    def pieces(self):
        """Every straight piece of an edge, from the upper item to the lower."""
        return [(one, other) for one in self.near for other in self.near[one]
                if self.layer[one] < self.layer[other]]

    def crossings(self):
        spans = [(self.layer[a], self.x[a], self.x[b]) for a, b in self.pieces()]
        return sum(p[0] == q[0] and (p[1] - q[1]) * (p[2] - q[2]) < 0
                   for n, p in enumerate(spans) for q in spans[:n])

    def length(self):
        """How far the edges lean, rounded so that no platform's last digit decides."""
        return round(math.fsum(abs(self.x[a] - self.x[b]) for a, b in self.pieces()), 6)

    def place(self, item):
        """[x, y] from the left edge of the leftmost box, to two digits."""
        left = min(x - width(i) / 2 for i, x in self.x.items())
        return [round(self.x[item] - left, 2), self.layer[item]]


def layers(nodes):
    """The layer of each node by number, 0 at the top: the root is the lowest."""
    above = {nodes[-1].number: 0}
    for node in reversed(nodes):  # newest first: all users of a node come before it
        for _, operand in node.edges():
            above[operand.node] = max(above.get(operand.node, 0), above[node.number] + 1)
    highest = max(above.values())
    return {number: highest - layer for number, layer in above.items()}


def width(item):
    """In lanes: a node has a number, a bend is a tuple."""
    return BEND if isinstance(item, tuple) else 1.0


def fmean(numbers):
    return math.fsum(numbers) / len(numbers)


# ---------------------------------------------------------------- what the element reads
def spell(value):
    """A quantity as the reader sees it: whole numbers in full, else 4 significant digits."""
    if hasattr(value, "y"):  # a derivative kept as a division, the engine's Over
        below = spell(value.y)
        return f"1/({below})" if below.startswith("-") else f"1/{below}"
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e6
    return f"{value:.{6 if whole else 4}g}"


def contract(nodes, steps):
    """The dict that the element reads, as described at the top of this file."""
    layout = Layout(nodes)
    return {
        "nodes": [node_fields(node, layout) for node in nodes],
        "steps": [
            {key: spell(value) if isinstance(value, float) else value
             for key, value in step.items()}
            for step in steps
        ],
    }


def node_fields(node, layout):
    x, y = layout.place(node.number)
    fields = [operand_fields(node, place, layout) for place in range(len(node.operands))]
    return {"number": node.number, "label": node.label, "op": node.op,
            "value": spell(node.value), "x": x, "y": y, "operands": fields}


def operand_fields(node, place, layout):
    operand = node.operands[place]
    if operand.node is None:
        return {"constant": spell(operand.constant)}
    local = None if operand.local is None else spell(operand.local)
    via = [layout.place(bend) for bend in layout.bends[node.number, place]]
    return {"node": operand.node, "local": local, "via": via}


# ---------------------------------------------------------------- the table without JavaScript
def both(zh, en):
    zh, en = f'class="lang-zh" lang="zh-Hans">{zh}', f'class="lang-en" lang="en">{en}'
    return f"<span {zh}</span> <span {en}</span>"


HEAD = [both("节点", "node"), both("名字", "label"), both("运算", "op"),
        both("操作数 × 局部导数", "operand × local derivative"), both("值", "value"), "grad"]
CAPTION = both("计算图：值与反向之后的梯度", "The graph: values, and gradients after backward")


def fallback(graph, step):
    """The custom element with the final table inside, for pages without JavaScript."""
    data = json.dumps(graph, ensure_ascii=False, separators=(",", ":"))
    quoted = escape(data, quote=False).replace("'", "&#39;")
    return f"<graph-stepper step=\"{step}\" graph='{quoted}'>\n{table(graph)}\n</graph-stepper>"


def table(graph):
    """One row per node, oldest first, with the gradient it ends with."""
    grads = final_grads(graph)
    head = "".join(f'<th scope="col">{words}</th>' for words in HEAD)
    rows = [table_row(node, grads[node["number"]]) for node in graph["nodes"]]
    top = f"<table><caption>{CAPTION}</caption>\n<tr>{head}</tr>"
    return "\n".join([top, *rows, "</table>"])


def final_grads(graph):
    """The last grad of each node, as text."""
    grads = {node["number"]: "0" for node in graph["nodes"]}
    operands = {node["number"]: node["operands"] for node in graph["nodes"]}
    for step in graph["steps"]:
        if step["kind"] == "start":
            grads[step["node"]] = step["grad"]
        elif step["kind"] == "flow":
            grads[operands[step["node"]][step["operand"]]["node"]] = step["after"]
    return grads


def table_row(node, grad):
    op = f"<code>{escape(node['op'])}</code>" if node["op"] else both("叶子", "leaf")
    operands = ", ".join(map(operand_words, node["operands"]))
    cells = "".join(
        f"<td>{cell}</td>" for cell in (escape(node["label"]), op, operands, node["value"], grad)
    )
    return f'<tr><th scope="row">#{node["number"]}</th>{cells}</tr>'


def operand_words(operand):
    if "constant" in operand:
        return operand["constant"]
    if operand["local"] is None:
        return f"#{operand['node']} × None"
    return f"#{operand['node']} × {bracketed(operand['local'])}"


def bracketed(text):
    return f"({text})" if text.startswith("-") else text


# ---------------------------------------------------------------- the widget
class StepError(ValueError, TraitError):
    """A step the graph does not have; as a TraitError it rolls a change back."""


class GraphStepper(anywidget.AnyWidget):
    """Widget that steps through the graph below `root`, a Scalar; `step` counts from 0.

    It reads the graph and changes nothing: gradients are counted from 0 on its own books, what
    the nodes hold stays. `nodes` and `steps` are what it shows, with exact floats. Raises
    `TypeError` for what is no Scalar, `ValueError` above 24 nodes or for a step out of range.
    """

    _esm = ESM
    graph = Unicode().tag(sync=True)
    step = Int().tag(sync=True)

    def __init__(self, root, step=0):
        self.nodes = read(root)
        self.steps = steps_of(self.nodes)
        self._contract = contract(self.nodes, self.steps)
        self._check(step)
        super().__init__(graph=json.dumps(self._contract, ensure_ascii=False), step=step)

    @validate("step")
    def _accept(self, proposal):
        self._check(proposal["value"])
        return proposal["value"]

    def _check(self, step):
        if not 0 <= step < len(self.steps):
            raise StepError(f"step {step}: this graph has the steps 0 to {len(self.steps) - 1}")

    def __repr__(self):
        return f"GraphStepper({len(self.nodes)} nodes, step {self.step} of {len(self.steps) - 1})"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": fallback(self._contract, self.step)}, metadata
