"""Random programs that use an autograd engine as people do: hooks, in place, retained and second
gradients. A program is a list of steps, (name, operands, number); an operand is an index, taken
modulo the values that exist when the step runs.
"""

import math
import operator

import torch

from oracles.scalar_graphs import torch_leaf
from variable import Variable, grad, grad_mode

PLAIN = ["neg", "relu", "tanh", "sigmoid", "exp"]
PAIRS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv}
STEPS = [*PLAIN, *PAIRS, *PAIRS, "number over", "power", "mul_", "add_", "exp_", "tanh_",
         "add_ number", "detach", "retain", "watch", "scale", "scale in place", "remove",
         "after", "forget grad", "take grad", "unrecorded mul_", "backward", "keeping backward",
         "recorded backward", "grad", "keeping grad", "recorded grad", "recorded grad"]


class OfTorch:
    leaf, grad = staticmethod(torch_leaf), staticmethod(torch.autograd.grad)
    grad_mode = staticmethod(torch.set_grad_enabled)

    @staticmethod
    def remover(handle):
        return handle.remove


class OfBook:
    leaf, grad = staticmethod(lambda value: Variable(value, True)), staticmethod(grad)
    grad_mode, remover = staticmethod(grad_mode), staticmethod(lambda remove: remove)


def draw(rng):
    """A program of 3 to 16 steps, which ends with a backward pass."""
    steps = [(rng.choice(STEPS), [rng.randrange(1000) for _ in range(3)],
              rng.choice([0.0, 1.0, 2.0, -0.5, 1.5, 3.0])) for _ in range(rng.randint(3, 16))]
    return [*steps, ("backward", [-1], 0.0)]


class Machine:
    """Runs a program in one engine; `state` is all that the program can have seen."""

    def __init__(self, engine, leaves):
        self.engine, self.seen, self.removers = engine, [], []
        self.values = [engine.leaf(value) for value in leaves]

    def step(self, name, operands, c):
        """Whether the engine took the step; False where it refused."""
        chosen = [self.values[i % len(self.values)] for i in operands]
        x, y = chosen[0], chosen[-1]
        try:
            if name in PLAIN:
                self.values.append(operator.neg(x) if name == "neg" else getattr(x, name)())
            elif name in PAIRS:
                self.values.append(PAIRS[name](x, y))
            elif "backward" in name or "grad" in name:
                self.differentiate(name, chosen)
            else:
                self.handle(name, x, y, c)
        except RuntimeError:
            return False
        return True

    def handle(self, name, x, y, c):
        add = self.values.append
        if name == "number over":
            add(c / x)
        elif name == "power":
            add(x ** c)
        elif name == "detach":
            add(x.detach())
        elif name == "unrecorded mul_":
            with self.engine.grad_mode(False):
                x.mul_(c)
        elif name == "remove":
            if self.removers:
                self.removers.pop()()
        elif name.endswith("_") or name == "add_ number":
            {"mul_": lambda: x.mul_(y), "add_": lambda: x.add_(y), "exp_": x.exp_,
             "tanh_": x.tanh_, "add_ number": lambda: x.add_(c)}[name]()
        else:
            self.hook(name, x, c)

    def hook(self, name, x, c):
        hooks = {"watch": lambda g: self.seen.append(number(g)), "scale": lambda g: g * c,
                 "scale in place": lambda g: g.mul_(c), "after": self.after}
        if name == "retain":
            x.retain_grad()
        elif name == "after":
            self.removers.append(self.engine.remover(x.register_post_accumulate_grad_hook(
                hooks[name])))
        else:
            self.removers.append(self.engine.remover(x.register_hook(hooks[name])))

    def after(self, leaf):
        self.seen.append(number(leaf.grad))

    def differentiate(self, name, chosen):
        x, *inputs = chosen
        options = {"retain_graph": "keeping" in name or "recorded" in name,
                   "create_graph": "recorded" in name}
        if name == "forget grad":
            x.grad = None
        elif name == "take grad":
            if x.grad is not None:
                self.values.append(x.grad)
        elif "backward" in name:
            x.backward(**options)
        else:
            found = self.engine.grad(x, inputs, allow_unused=True, **options)
            self.values += [g for g in found if g is not None]

    def state(self):
        grads = [v.grad for v in self.values]
        everything = [*self.values, *(g for g in grads if g is not None)]
        return {"seen": self.seen, "values": [number(v) for v in self.values],
                "grads": [number(g) for g in grads],
                "requires": [v.requires_grad for v in everything],
                "leaves": [v.is_leaf for v in everything],
                "one object": [[a is b for b in everything] for a in everything]}


def number(value):
    return None if value is None else float(value.data)


def near(a, b):
    """Equal up to rounding, through lists; nan equals nan."""
    if isinstance(a, list):
        return len(a) == len(b) and all(map(near, a, b))
    if not isinstance(a, float) or not isinstance(b, float):
        return a == b
    return a == b or (a != a and b != b) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def difference(program, leaves, ran):
    """What differs between the engines, the first thing, or None; and the steps that ran.

    `ran` counts each step that both engines took, and "refused" for those that both refused.
    """
    ours, theirs = Machine(OfBook, leaves), Machine(OfTorch, leaves)
    for count, step in enumerate(program):
        taken = ours.step(*step), theirs.step(*step)
        if taken[0] != taken[1]:
            return (count, step[0], f"taken by Variable, by torch: {taken}"), count
        ran[step[0] if taken[0] else "refused"] += 1
        if not taken[0] and "backward" in step[0]:
            return None, count                                 # a pass broken off: order is free
        a, b = ours.state(), theirs.state()
        for key in a:
            if not near(a[key], b[key]):
                return (count, step[0], key, a[key], b[key]), count
    return None, len(program)
