"""Step 3, trace and generate: the graph of one sample becomes one straight-line Python function.

A recorded graph is a program: each node is an assignment, and so is each gradient. Written out
once and looped over a batch, it records nothing any more. What depended on values while the graph
was recorded (an `if`, the length of a list) stays as it was, as in torch.jit.trace.
"""
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytorch_deep_dive
import scalar_mlp
from pytorch_deep_dive import Scalar

LONGEST = 40                      # operations that are written into one expression

# ---- 1. What each operation computes, and what flows back to its operands ---------------------

# {a}, {b} are the operands, {y} is the value of the operation, {g} the incoming gradient.
FORWARD = {
    "+": "{a} + {b}", "-": "{a} - {b}", "*": "{a} * {b}", "/": "divide({a}, {b})",
    "**": "power({a}, {b})", "** number": "power_by_number({a}, {b})",
    "neg": "-{a}", "reciprocal": "divide(1.0, {a})", "relu": "0.0 if {a} < 0 else {a}",
    "tanh": "tanh({a})", "sigmoid": "sigmoid({a})", "exp": "exp({a})", "log": "log({a})",
}
BACKWARD = {
    "+": ("{g}", "{g}"),
    "-": ("{g}", "-{g}"),
    "*": ("{g} * {b}", "{g} * {a}"),
    "/": ("divide({g}, {b})", "{g} * -divide({y}, {b})"),
    "**": ("{g} * ({b} * power({a}, {b} - 1)) if {b} != 0 else 0.0",
           "{g} * (0.0 if {a} == 0 and {b} >= 0 else {y} * log({a}))"),
    "** number": ("{g} * ({b} * power_by_number({a}, {b} - 1)) if {b} != 0 else 0.0",),
    "neg": ("-{g}",),
    "reciprocal": ("{g} * -({y} * {y})",),
    "relu": ("0.0 if {y} <= 0 else {g}",),
    "tanh": ("{g} * ((1 - {y}) * (1 + {y}))",),
    "sigmoid": ("{g} * ((1 - {y}) * {y})",),
    "exp": ("{g} * {y}",),
    "log": ("divide({g}, {a})",),
}
NAMES = {name: getattr(pytorch_deep_dive, name)
         for name in ("divide", "exp", "log", "power", "power_by_number", "sigmoid")}
NAMES |= {"tanh": math.tanh, "inf": math.inf, "nan": math.nan}


@dataclass(frozen=True)
class Language:
    """How to write the two tables above, and the j-th parameter and its gradient."""

    forward: dict[str, str]
    backward: dict[str, tuple[str, ...]]
    parameter: str
    gradient: str


PYTHON = Language(FORWARD, BACKWARD, "p{}", "d{}")


# ---- 2. From a graph to assignments -----------------------------------------------------------

class Program:
    """The assignments of one recorded graph: `forward`, then `backward`.

    `output` is the Scalar that was computed from the leaves `parameters`, which get gradients,
    and `inputs`, which get new values in each round. Other leaves are constants.
    """

    def __init__(self, output, parameters, inputs, language=PYTHON):
        self.language = language
        self.order = output.nodes()[::-1]                      # oldest first
        self.place = {node: i for i, node in enumerate(self.order)}
        self.text = {x: f"x{j}" for j, x in enumerate(inputs)}  # how a node's value is read
        self.text |= {p: language.parameter.format(j) for j, p in enumerate(parameters)}
        self.shares = {p: [] for p in parameters}              # of each gradient, where one flows
        for node in self.order:
            if any(operand in self.shares for operand in operands(node)):
                self.shares[node] = []
        self.forward = list(self.values({output, *self.saved()}))
        self.output = self.text[output]
        self.shares.setdefault(output, []).append("seed")
        self.backward = list(self.gradients(parameters))

    def rules(self, node):
        """(operand, what flows to it) for each operand that a gradient flows to."""
        rules = self.language.backward[kind(node)] if node.op else ()
        pairs = zip((node.left, node.right), rules, strict=False)
        return [(operand, rule) for operand, rule in pairs if operand in self.shares]

    def saved(self):
        """The nodes whose values the backward assignments read."""
        for node in self.order:
            for _, rule in self.rules(node):
                yield from mentioned(rule, node)

    def values(self, named) -> Iterator[tuple[str, str]]:
        """(name, expression) of each value; used once and not in `named`, it stands in its user."""
        rules = {node: self.language.forward[kind(node)] for node in self.order if node.op}
        uses = Counter(used for node, rule in rules.items() for used in mentioned(rule, node))
        length = Counter()
        for node in self.order:
            if not node.op:
                self.text.setdefault(node, literal(node.data))
                continue
            expression = self.write(rules[node], node)
            length[node] = 1 + sum(length[operand] for operand in operands(node))
            if uses[node] == 1 and node not in named and length[node] < LONGEST:
                self.text[node] = f"({expression})"
            else:
                self.text[node], length[node] = f"v{self.place[node]}", 0
                yield self.text[node], expression

    def gradients(self, parameters) -> Iterator[tuple[str, str, str]]:
        """(name, "=" or "+=", expression), newest node first; a parameter gets its shares last."""
        for node in reversed(self.order):
            if node.op and (shares := self.shares.get(node)):
                g = shares[0]
                if len(shares) > 1 or not g.isidentifier():
                    g = f"g{self.place[node]}"
                    yield g, "=", " + ".join(f"({share})" for share in shares)
                for operand, rule in self.rules(node):
                    self.shares[operand].append(self.write(rule, node, g))
        for j, p in enumerate(parameters):
            for share in self.shares[p]:
                yield self.language.gradient.format(j), "+=", share

    def write(self, rule, node, g=""):
        return rule.format(a=self.read(node.left), b=self.read(node.right), g=g,
                           y=self.text.get(node))

    def read(self, operand):
        return self.text[operand] if isinstance(operand, Scalar) else literal(operand)


def kind(node):
    return "** number" if node.op == "**" and not isinstance(node.right, Scalar) else node.op


def operands(node):
    return [operand for operand in (node.left, node.right) if isinstance(operand, Scalar)]


def mentioned(rule, node):
    """The Scalars that a rule reads at this node, one for each time."""
    fields = {"{a}": node.left, "{b}": node.right, "{y}": node}
    return [value for field, value in fields.items() for _ in range(rule.count(field))
            if isinstance(value, Scalar)]


def literal(number):
    """A number, or None, as source that reads back as the same number."""
    text = repr(number)
    return f"({text})" if text.startswith("-") else text


# ---- 3. From assignments to a Python function -------------------------------------------------

def python_source(program, parameters, inputs):
    """The function `run(parameters, batch, seed)` as source."""
    names = [f"x{j}" for j in range(inputs)]
    gradients = [f"d{j}" for j in range(parameters)]
    lines = ["def run(parameters, batch, seed=1.0):", "    total = 0.0"]
    if parameters:
        lines.append("    " + ", ".join(f"p{j}" for j in range(parameters)) + ", = parameters")
        lines.append("    " + " = ".join(gradients) + " = 0.0")
    lines.append(f"    for {', '.join(names)}, in batch:" if inputs else "    for _ in batch:")
    lines += [f"        {name} = {value}" for name, value in program.forward]
    lines.append(f"        total += {program.output}")
    lines += [f"        {name} {sign} {value}" for name, sign, value in program.backward]
    return "\n".join([*lines, f"    return total, [{', '.join(gradients)}]", ""])


def to_python(output, parameters, inputs=()):
    """The graph of `output` as a function of a batch.

    `run(parameters, batch, seed=1.0)` takes the parameters' values and, for each sample, a
    sequence with the values of `inputs`. It returns the sum of the outputs and, for each
    parameter, `seed` times the sum of its derivatives. Its source is `run.source`.
    """
    program = Program(output, parameters, inputs)
    source = python_source(program, len(parameters), len(inputs))
    scope = dict(NAMES)
    exec(compile(source, "<traced>", "exec"), scope)             # our own text, from the tables
    scope["run"].source = source
    return scope["run"]


# ---- 4. Training with it ----------------------------------------------------------------------

def steps(model, rows, labels):
    """Train on the demo of scalar_mlp.py; yields the loss of each step, computed before it.

    The margin is traced for one sample, the penalty once. The new parameters are written back
    into the model's Scalars.
    """
    parameters, x, label = model.parameters(), [Scalar(v) for v in rows[0]], Scalar(1.0)
    margin = to_python(scalar_mlp.margin(model, x, label), parameters, [*x, label])
    penalty = to_python(scalar_mlp.penalty(parameters), parameters)
    batch = [(*row, label) for row, label in zip(rows, labels, strict=True)]
    scale, values = 1.0 / len(batch), [p.data for p in parameters]
    for step in itertools.count():
        total, share = margin(values, batch, scale)
        extra, decay = penalty(values, [()])
        rate = scalar_mlp.learning_rate(step)
        values = [p - rate * (g + d) for p, g, d in zip(values, share, decay, strict=True)]
        for p, value in zip(parameters, values, strict=True):
            p.data = value
        yield total * scale + extra
