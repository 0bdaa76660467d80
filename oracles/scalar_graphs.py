"""Random expression graphs as programs: lists of instructions that a Scalar or a torch tensor runs.

A program is a list of `("leaf", value)` and `(operation, operands, number)`; an operand is the
index of an earlier instruction. `run` replays it on leaves made by the caller, so both engines
build the very same graph.
"""

import math
import operator
import random
import struct

import torch

UNARY = {
    "neg": operator.neg,
    **{name: operator.methodcaller(name) for name in ("relu", "tanh", "sigmoid", "exp", "log")},
}
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
          "**": operator.pow}
OPERATIONS = [*UNARY, *BINARY, *(f"x {s} c" for s in BINARY), *(f"c {s} x" for s in BINARY)]

SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e300, -1e300, 1e-300, -1e-300, math.inf, -math.inf, math.nan]
NUMBERS = [0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5, -0.0, 1e300, 1e-300, -2.5]
TAME_TRIES = 6


def apply(instruction, values):
    """The result of one operation on earlier results, in whichever engine they belong to."""
    name, operands, c = instruction
    chosen = [values[i] for i in operands]
    if name in UNARY:
        return UNARY[name](*chosen)
    if name in BINARY:
        return BINARY[name](*chosen)
    symbol = BINARY[name.split()[1]]
    return symbol(chosen[0], c) if name.startswith("x") else symbol(c, chosen[0])


def run(program, leaf):
    """Every intermediate result, in order; `leaf` turns a float into a leaf of the engine."""
    values = []
    for instruction in program:
        if instruction[0] == "leaf":
            values.append(leaf(instruction[1]))
        else:
            values.append(apply(instruction, values))
    return values


class Builder:
    """Draws a program that makes exactly `size` nodes, the last of which depends on all others.

    Wild graphs take any value that comes. Tame ones draw an operation again when its result
    is not finite or exceeds 1e6, so that most gradients are ordinary numbers.
    """

    def __init__(self, seed, size, evaluate):
        self.rng = random.Random(seed)
        self.wild = self.rng.random() < 0.35
        self.size = size
        self.evaluate = evaluate             # makes leaves of the reference engine
        self.program, self.values, self.unused = [], [], []

    def build(self):
        for _ in range(self.rng.randint(1, max(1, (self.size + 1) // 3))):
            self.add(("leaf", self.leaf_value()))
        while self.room():
            self.add_operation()
        return self.program, self.values

    def room(self):
        """How many nodes are still to be made; `c / x` makes two, a reciprocal and a product."""
        return self.size - len(self.program) - sum(name == "c / x" for name, *_ in self.program)

    def spare(self):
        """How many of them are not needed to join the open ends into one."""
        return self.room() - (len(self.unused) - 1)

    def leaf_value(self):
        if self.wild and self.rng.random() < 0.3:
            return self.rng.choice(SPECIAL)
        return self.rng.choice([self.rng.gauss(0, 1), self.rng.uniform(-4, 4), 2.0, 0.5])

    def add(self, instruction):
        leaf = instruction[0] == "leaf"
        result = self.evaluate(instruction[1]) if leaf else apply(instruction, self.values)
        if not (leaf or self.wild) and not abs(result.item()) < 1e6:
            return False
        used = () if leaf else instruction[1]
        self.unused = [i for i in self.unused if i not in used] + [len(self.program)]
        self.program.append(instruction)
        self.values.append(result)
        return True

    def add_operation(self):
        joining = self.spare() <= 0
        tries = 1 if self.wild else TAME_TRIES
        if not any(self.add(self.draw(joining)) for _ in range(tries)):
            self.add(("-", (self.unused[0], self.unused[-1]), None) if joining
                     else ("tanh", (self.unused[-1],), None))

    def draw(self, joining):
        name = self.rng.choice(list(BINARY) if joining else OPERATIONS)
        if name == "c / x" and self.spare() < 2:
            name = "x / c"
        a = self.rng.choice(self.unused)
        if name not in BINARY:
            return name, (a,), None if name in UNARY else self.number(name)
        if joining:
            b = self.rng.choice([i for i in self.unused if i != a])
        else:
            b = self.rng.randrange(len(self.program))
        return name, self.rng.choice([(a, b), (b, a)]), None

    def number(self, name):
        if not self.wild and name == "x ** c":
            return self.rng.choice([0, 1, 2, 3, -1, 0.5, 1.5])
        if self.wild or self.rng.random() < 0.3:
            return self.rng.choice(NUMBERS)
        return self.rng.uniform(-2, 2)


def shares_a_subexpression(program):
    """Whether an interior result (not a leaf) is an operand more than once."""
    uses = [i for instruction in program if instruction[0] != "leaf" for i in instruction[1]]
    return any(uses.count(i) > 1 for i in set(uses) if program[i][0] != "leaf")


def draw_size(seed):
    """1 to 200: most of the graphs by order of magnitude, the others evenly."""
    rng = random.Random(f"size {seed}")
    return int(201 ** rng.random()) if rng.random() < 0.75 else rng.randint(1, 200)


def torch_leaf(data):
    return torch.tensor(data, dtype=torch.float64, requires_grad=True)


def same(a, b):
    """Equal as numbers; nan equals nan."""
    return a == b or (a != a and b != b)


def same_bits(a, b):
    """Equal, the sign of a zero included; all nans are one."""
    return (a != a and b != b) or struct.pack("d", a) == struct.pack("d", b)


def near(ours, theirs, scale, tolerance):
    """Equal up to `tolerance` times `scale`, the sum of |contributions|."""
    return same(ours, theirs) or abs(ours - theirs) <= tolerance * scale


def flow(root):
    """For each node the sum over all paths of |product of derivatives|.

    Rounding moves a gradient by a multiple of this sum, not of the gradient, whose terms may
    cancel: for x / x it is 0. Among the subnormals rounding is absolute, hence the last term:
    1e-12 of it is 20 of their steps of 5e-324.
    """
    nodes = root.nodes()
    total = dict.fromkeys(nodes, 0.0)
    total[root] = 1.0
    for node in nodes:
        for operand, slope in ((node.left, node.dleft), (node.right, node.dright)):
            if slope is not None:
                total[operand] += abs(total[node] * slope) + 1e-310
    return total
