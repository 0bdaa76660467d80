"""Random programs: valid Python from a small grammar, the same for the same seed.

`source(seed)` is the text, `program(text)` a case that runs it three times with other arguments.
"""

import linecache
import random
import re

from oracles.dynamo_cases import Case, neg, pos, t
from oracles.dynamo_grammar import DATA, FLOATS, HEAD, INTS, PLAIN, SIMPLE, TENSORS

HOLE = re.compile("<([tifcTIF])>")
BREAKING = "print", "item", "loud", "by_data", "int(<t>", "assert"


class Writer:
    """Writes one program; names are added as they are bound where every path binds them."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines, self.made = [], 0
        self.tensors, self.ints, self.floats = ["x", "y"], ["n"], ["s"]
        self.breaks = self.rng.random() < 0.6            # else one graph may hold the program

    def text(self, form, depth=2):
        """A form with its holes filled."""
        return HOLE.sub(lambda found: self.hole(found[1], depth), form)

    def hole(self, kind, depth):
        if kind in "TIF":
            names = {"T": self.tensors, "I": self.ints, "F": self.floats}[kind]
            return self.rng.choice(names)
        if kind == "c":
            return self.condition(depth)
        names = {"t": self.tensors, "i": self.ints, "f": self.floats}[kind]
        if depth <= 0 or self.rng.random() < 0.5:
            return str(self.rng.randint(0, 4)) if kind == "i" and self.rng.random() < 0.4 \
                else self.rng.choice(names)
        return f"({self.text(self.pick({'t': TENSORS, 'i': INTS, 'f': FLOATS}[kind]), depth - 1)})"

    def pick(self, forms):
        """A form; those that break a graph only in a program that may."""
        while True:
            form = self.rng.choice(forms)
            if self.breaks or not any(word in form for word in BREAKING):
                return form

    def condition(self, depth=1):
        data = self.breaks and self.rng.random() < 0.2
        return self.text(self.rng.choice(DATA if data else PLAIN), depth - 1)

    def put(self, indent, line):
        self.lines.append("    " * indent + line)

    def fresh(self, kind):
        self.made += 1
        return f"{kind}{self.made}"

    def block(self, indent, depth, least=1, most=3):
        """Some statements; names bound inside are not known after."""
        before = list(self.tensors), list(self.ints), list(self.floats)
        for _ in range(self.rng.randint(least, most)):
            self.statement(indent, depth)
        self.tensors, self.ints, self.floats = before

    def statement(self, indent, depth):
        roll = self.rng.random()
        if roll < 0.12:
            self.bind(indent)
        elif depth > 0 and roll < 0.5:
            self.rng.choice([self.branch, self.branch, self.over_range, self.over_list, self.loop,
                             self.attempt, self.quiet, self.inner, self.leave, self.match])(
                indent, depth - 1)
        else:
            self.put(indent, self.text(self.pick(SIMPLE)))

    def bind(self, indent):
        kind, form = self.rng.choice([("t", "<t>"), ("i", "<i>"), ("f", "<f>")])
        text, name = self.text(form), self.fresh(kind)
        self.put(indent, f"{name} = {text}")
        {"t": self.tensors, "i": self.ints, "f": self.floats}[kind].append(name)

    def branch(self, indent, depth):
        self.put(indent, f"if {self.condition()}:")
        self.block(indent + 1, depth)
        if self.rng.random() < 0.3:
            self.put(indent, f"elif {self.condition()}:")
            self.block(indent + 1, depth)
        if self.rng.random() < 0.5:
            self.put(indent, "else:")
            self.block(indent + 1, depth)

    def jump(self, indent):
        if self.rng.random() < 0.4:
            self.put(indent, f"if {self.condition()}:")
            self.put(indent + 1, self.rng.choice(["break", "continue"]))

    def over_range(self, indent, depth):
        name = self.fresh("j")
        self.put(indent, f"for {name} in range({self.rng.choice(['2', '3', 'n % 4', '1, 6, 2'])}):")
        self.jump(indent + 1)
        self.ints.append(name)
        self.block(indent + 1, depth)
        self.ints.remove(name)
        if self.rng.random() < 0.2:
            self.put(indent, "else:")
            self.block(indent + 1, 0)

    def over_list(self, indent, depth):
        name = self.fresh("e")
        over = self.rng.choice(["list(xs)", "[x, y]", "(x * j for j in range(2))", "tuple(xs[:2])"])
        self.put(indent, f"for {name} in {over}:")
        self.tensors.append(name)
        self.block(indent + 1, depth)
        self.tensors.remove(name)

    def loop(self, indent, depth):
        name = self.fresh("w")
        self.put(indent, f"{name} = {self.rng.randint(1, 3)}")
        self.put(indent, f"while {name}:")
        self.put(indent + 1, f"{name} -= 1")
        self.jump(indent + 1)
        self.block(indent + 1, depth)

    def attempt(self, indent, depth):
        self.put(indent, "try:")
        self.block(indent + 1, depth)
        if self.rng.random() < 0.6:
            self.put(indent + 1, f"if {self.condition()}:")
            self.put(indent + 2, f"raise {self.rng.choice(['ValueError', 'KeyError'])}('r')")
        kind = self.rng.choice(["ValueError", "(ValueError, KeyError)", "Exception", "LookupError"])
        self.put(indent, f"except {kind} as error:")
        self.put(indent + 1, "LOG.append(str(error))")
        self.block(indent + 1, depth)
        if self.rng.random() < 0.3:
            self.put(indent, "finally:")
            self.block(indent + 1, 0)

    def quiet(self, indent, depth):
        mode = self.rng.choice(["torch.no_grad()", "torch.set_grad_enabled(flag)",
                                "torch.enable_grad()"])
        self.put(indent, f"with {mode}:")
        self.block(indent + 1, depth)

    def inner(self, indent, depth):
        name, kept, count = self.fresh("f"), self.rng.choice(self.tensors), self.fresh("c")
        self.put(indent, f"{count} = {self.rng.randint(0, 2)}")
        self.put(indent, f"def {name}(z, k={self.rng.randint(1, 3)}):")
        self.put(indent + 1, f"nonlocal {count}")
        self.put(indent + 1, f"{count} += k")
        if self.breaks and self.rng.random() < 0.3:
            self.put(indent + 1, f"print('in {name}', {count})")
        self.put(indent + 1, f"return z * {count} + {kept}")
        target = self.rng.choice(self.tensors)
        self.put(indent, f"{target} = {name}({self.text('<t>')}) - {name}({target}, 2)")
        self.put(indent, f"LOG.append({count})")

    def match(self, indent, depth):
        self.put(indent, f"match {self.text('<i>')}:")
        for what in ("0", "1 | 2", "_"):
            self.put(indent + 1, f"case {what}:")
            self.block(indent + 2, 0, 1, 1)

    def leave(self, indent, depth):
        self.put(indent, f"if {self.condition()}:")
        self.put(indent + 1, f"return {self.text('<t>')}, {self.text('<i>')}")

    def program(self):
        self.put(0, "def program(x, y, n, s, flag, xs, d, box):")
        self.put(1, "global COUNT")
        for _ in range(self.rng.randint(4, 11)):
            self.statement(1, 2)
        names = [*self.tensors, *self.ints, *self.floats, "xs"]
        self.rng.shuffle(names)
        self.put(1, f"return {', '.join(names)}")
        return "\n".join(self.lines) + "\n"


def source(seed):
    """The program of a seed, without its HEAD."""
    return Writer(seed).program()


def program(text, name="program"):
    """A case: the program, three sets of arguments, and all that they reach."""
    home = {"__name__": __name__}
    whole, file = HEAD + text, f"<{name}>"
    linecache.cache[file] = (len(whole), None, whole.splitlines(keepends=True), file)
    code = compile(whole, file, "exec")

    def arguments(x, y, n, flag, size):
        leaf = t(3, grad=True)
        box = home["Box"](n)
        box.leaf = leaf
        y = x if y is None else leaf * 1.0 if y == "leaf" else y
        return x, y, n, 0.5, flag, [x * k for k in range(1, size)], {"a": y + 1, "k": n}, box

    def make():
        exec(code, home)
        calls = [lambda: arguments(pos(3), neg(3), 2, True, 3),
                 lambda: arguments(neg(3), "leaf", 0, False, 3),
                 lambda: arguments(t(3), None, 3, True, 4)]
        return home["program"], calls, (home["LOG"], home["REPLACED"])
    return Case("random programs", name, make, home, {"COUNT": 0, "LOG": [], "REPLACED": None})
