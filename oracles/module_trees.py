"""Random module trees, built twice: of mini_module and of torch.nn. What one does, the other does.

A tree is drawn from a seed, then changed by random steps, and after each step all that can be seen
of the two is compared. `Tree(seed).run()` raises Disagreement, or counts what occurred.
"""

import random
from collections import Counter, OrderedDict
from types import SimpleNamespace

import torch
from torch import nn

import mini_module
import mini_module_layers
from oracles.module_steps import STEPS, WIDTH, assign, attempt, called
from oracles.module_views import Disagreement, same, seen


def engine(*sources):
    """The names of one side, with a Box: a module that uses whatever it owns, in order."""
    found = SimpleNamespace()
    for source in reversed(sources):
        vars(found).update({name: getattr(source, name) for name in dir(source)})

    class Box(found.Module):
        def forward(self, x):
            for param in self._parameters.values():
                x = x if param is None else x * param
            for buffer in self._buffers.values():
                x = x if buffer is None else x + buffer
            for child in self._modules.values():
                x = through(found, child, x)
            return x

    Box.__qualname__ = "Box"
    found.Box = Box
    return found


def through(side, child, x):
    """x behind a child; a container that has no forward passes it through what it holds."""
    if child is None:
        return x
    if not isinstance(child, side.ModuleList | side.ModuleDict):
        return child(x)
    for module in child.values() if isinstance(child, side.ModuleDict) else child:
        x = through(side, module, x)
    return x


ENGINES = engine(mini_module, mini_module_layers), engine(nn)


# ---- drawing a tree ------------------------------------------------------------------------------

class Builder:
    """A tree of one side. The same seed draws the same choices on either side."""

    def __init__(self, side, seed):
        self.nn, self.rng = side, random.Random(seed)
        self.numbers = torch.Generator().manual_seed(seed)
        self.modules, self.params, self.seen, self.refused = [], [], Counter(), []
        self.inside = []
        self.root = self.make_box(depth=3)

    def tensor(self, shape=(WIDTH,)):
        return torch.rand(shape, generator=self.numbers) + 0.5

    def make_box(self, depth):
        box = self.nn.Box()
        for _ in range(self.rng.randint(2, 6)):
            self.refused.append(attempt(lambda side: assign(side, box, depth), self))
        return box

    def module(self, depth, inside=None):
        """A layer, a container or a box; sometimes one that the tree has already.

        None that holds `inside`, where it is to go: a tree has no circle.
        """
        self.inside.append(inside)                     # also for what is made below
        try:
            known = [module for module in self.modules
                     if not set(self.inside) & set(module.modules())]
            if known and self.rng.random() < 0.2:
                self.seen["shared module"] += 1
                return self.rng.choice(known)
            kind = self.rng.choice(["layer"] * 2 + ["box", "seq", "list", "dict"] * (depth > 0))
            made = getattr(self, f"make_{kind}")(depth - 1)
        finally:
            self.inside.pop()
        self.modules.append(made)
        return made

    def make_layer(self, _depth):
        kind = self.rng.choice(["Linear", "Linear", "BatchNorm1d", "ReLU", "Dropout"])
        self.seen[kind] += 1
        if kind == "Linear":
            layer = self.nn.Linear(WIDTH, WIDTH, bias=self.rng.random() < 0.7)
        else:
            layer = {"BatchNorm1d": lambda: self.nn.BatchNorm1d(WIDTH), "ReLU": self.nn.ReLU,
                     "Dropout": lambda: self.nn.Dropout(0.25)}[kind]()
        with torch.no_grad():                          # the same numbers on either side
            for tensor in (*layer.parameters(), *layer.buffers()):
                tensor.copy_(self.tensor(tensor.shape))
        self.params += layer.parameters()
        return layer

    def some(self, depth):
        return [self.module(depth) for _ in range(self.rng.randint(0, 3))]

    def make_seq(self, depth):
        self.seen["Sequential"] += 1
        modules = self.some(depth)
        if self.rng.random() < 0.3:
            return self.nn.Sequential(OrderedDict(zip("xyz", modules, strict=False)))
        return self.nn.Sequential(*modules)

    def make_list(self, depth):
        self.seen["ModuleList"] += 1
        return self.nn.ModuleList(self.some(depth))

    def make_dict(self, depth):
        self.seen["ModuleDict"] += 1
        pairs = list(zip("uvw", self.some(depth), strict=False))
        return self.nn.ModuleDict(pairs if self.rng.random() < 0.5 else dict(pairs))


# ---- one case ------------------------------------------------------------------------------------

class Tree:
    """The same random tree of mini_module and of torch.nn, and steps that change both."""

    def __init__(self, seed):
        self.seen = Counter(trees=1)
        self.sides = [Builder(side, seed) for side in ENGINES]

    def run(self):
        ours, theirs = self.sides
        self.compare("built", ours.refused, theirs.refused)
        for _ in range(6):
            name = ours.rng.choice(list(STEPS))
            assert theirs.rng.choice(list(STEPS)) == name
            results = [attempt(STEPS[name], side) for side in self.sides]
            self.seen[name] += 1
            self.seen[f"refused {name}"] += type(results[1]) is tuple
            self.compare(name, *results)
        self.exchange_and_call()
        self.seen.update({f"at the end {kind}": 1 for kind in seen(theirs.root)["layers"]})
        for kind, count in theirs.seen.items():
            self.seen[kind] += bool(count)
        return self.seen

    def compare(self, what, ours, theirs):
        if ours != theirs or repr(ours) != repr(theirs).replace("_Incomp", "Incomp"):
            raise Disagreement(f"{what}: ours {ours}; torch {theirs}")
        same(what, seen(self.sides[0].root), seen(self.sides[1].root))

    def exchange_and_call(self):
        """Either side loads the state of the other, and both compute the same."""
        for source, target in (self.sides, self.sides[::-1]):
            with torch.no_grad():
                for tensor in source.root.parameters():
                    tensor.add_(0.125)
            result = target.root.load_state_dict(source.root.state_dict())
            if any(result):
                raise Disagreement(f"exchange: {result}")
            self.compare("exchange", None, None)
        found = [called(side) for side in self.sides]
        same("call", *found)
        self.seen["call refused"] += "refused" in found[1]
        self.seen["hooks called"] += bool(found[1]["hooks"])
        self.compare("after the call", None, None)
