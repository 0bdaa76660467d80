"""Random expressions as a reader types them, and what they make in Python."""

import operator
import random
import re

from oracles.scalar_graphs import UNARY
from pytorch_deep_dive import Scalar

FUNCTIONS = {name: operator.methodcaller(name) for name in (*UNARY, "reciprocal") if name != "neg"}
NUMBERS = ["0", "1", "2", "3", "0.5", "1.5", ".25", "4.", "1e3", "2.5e-1", "0.1", "7"]
LEAVES = [*NUMBERS, "-1", "-0.0", "-2.5", "1e300", "-1e-300", "inf", "nan", "-inf"]
WHOLE = re.compile(r"(?<![\w.])(?<!e-)(\d+)(?![\w.])")  # on the page every number is a float
SIGNS = ["+", "-", "*", "/", "**"]


class Typist:
    """Types statements at random: leaves, named results, at last the root."""

    def __init__(self, seed):
        self.rng = random.Random(f"typed {seed}")
        self.names = []

    def program(self):
        wild, pick = self.rng.random() < 0.3, self.rng.choice
        lines = [f"{self.name(c)} = {pick(LEAVES if wild else NUMBERS[1:])}"
                 for c in "xyz"[:self.rng.randint(1, 3)]]
        for c in "uv"[:self.rng.randint(0, 2)]:
            line = self.expression(self.rng.randint(1, 2))
            lines.append(f"{self.name(c)} = {line}")
        return [*lines, self.expression(self.rng.randint(1, 3))]

    def name(self, name):
        self.names.append(name)
        return name

    def expression(self, depth):
        """Brackets stand at random: what binds tighter must come out as in Python."""
        if depth == 0:
            return self.rng.choice(self.names if self.rng.random() < 0.75 else NUMBERS)
        kind = self.rng.random()
        if kind < 0.15:
            return f"-{self.part(depth)}"
        if kind < 0.4:
            return self.called(self.rng.choice(list(FUNCTIONS)), depth)
        sign = self.rng.choice(SIGNS)
        return f"{self.part(depth)} {sign} {self.part(depth)}"

    def part(self, depth):
        text = self.expression(depth - self.rng.randint(1, depth))
        return f"({text})" if self.rng.random() < 0.4 else text

    def called(self, name, depth):
        """`name(…)` or `(…).name()`, of what is certainly no plain number."""
        text = self.rng.choice(self.names)
        if depth > 1:
            text += f" {self.rng.choice('+*')} {self.part(depth - 1)}"
        return f"{name}({text})" if self.rng.random() < 0.5 else f"({text}).{name}()"


def in_python(lines):
    """The root that Python makes of the statements, or None where Python refuses its numbers."""
    scope = {"inf": float("inf"), "nan": float("nan"), "__builtins__": {}}
    for line in lines:
        name, _, text = line.rpartition(" = ")
        try:
            value = eval(WHOLE.sub(r"\1.0", text), scope | FUNCTIONS)
        except (ZeroDivisionError, OverflowError, TypeError):  # 1 / 0; (-1) ** 0.5 is complex
            return None
        if name:
            if not isinstance(value, Scalar):
                value = Scalar(value)
            value.label = value.label or name
            scope[name] = value
    return value if isinstance(value, Scalar) else None
