"""Random models as a reader types them, most of which fit; torch says which do."""

import random
from dataclasses import asdict

import torch

from inside.widgets.module_inspector import TypedError, made
from inside.widgets.typed_model import build

PLAIN = ["ReLU()", "ReLU(inplace=True)", "SiLU()", "GELU()", "Tanh()", "Sigmoid()", "Identity()",
         "Dropout(0.5)", "Dropout(p=1)", "Dropout(0.2, True)"]


class Typist:
    """Writes one model; `shape` is what the layers written so far make of the input."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.names, self.parts = [], []
        r, n = self.rng, self.rng.randint
        self.input = r.choice([
            (n(1, 3), n(1, 6)), (n(1, 3), n(1, 4), n(1, 6)), (n(1, 2), n(1, 4), n(3, 9), n(3, 9)),
            (n(1, 3), n(4, 9), n(4, 9)), (n(2, 5), n(1, 5)), (n(1, 6),), ()])
        self.shape, self.ints = self.input, False

    def program(self):
        """(text, shape of the input)."""
        layers = []
        if self.rng.random() < 0.2:
            layers.append(self.take(f"Embedding({self.rng.randint(1, 9)}, {self.size()})", True))
        for _ in range(self.rng.randint(0, 5)):
            if self.shape is not None:
                layers += self.part()
        text = f"Sequential({', '.join(layers)})" if len(layers) != 1 else layers[0]
        return "; ".join([*self.names, text]), self.input

    def part(self):
        """The next layers: one, a nested Sequential, or one that is used twice."""
        choice = self.rng.random()
        if choice < 0.12:
            inner = [layer for _ in range(self.rng.randint(0, 2)) if self.shape is not None
                     for layer in [self.take(self.layer())]]
            return [f"Sequential({', '.join(inner)})"]
        if choice < 0.27 and self.shape:
            name = f"a{len(self.names)}"
            layer = self.rng.choice([
                f"Linear({self.shape[-1]}, {self.shape[-1]})", f"LayerNorm({self.shape[-1]})",
                f"Sequential(Linear({self.shape[-1]}, {self.shape[-1]}), BatchNorm1d(3))"])
            self.names.append(f"{name} = {layer}")
            self.take(layer)
            return [name, *self.rng.choice([[], ["ReLU()"]]), name]
        return [self.take(self.layer())]

    def take(self, layer, ints=False):
        """Let torch say what the layer makes of the shape; None where it refuses."""
        try:
            given = torch.zeros(self.shape, dtype=torch.int64 if ints else None)
            with torch.random.fork_rng(devices=[]), torch.no_grad():
                self.shape = tuple(build(layer)(given).shape)
        except (RuntimeError, ValueError, IndexError):
            self.shape = None
        return layer

    def size(self):
        return self.rng.choice([1, 2, 3, 4, 6, 8])

    def fits(self, dim):
        """The size of a dimension, now and then another one."""
        there = -len(self.shape) <= dim < len(self.shape)
        return self.shape[dim] if there and self.rng.random() < 0.95 else self.size()

    def layer(self):
        r, dims = self.rng, len(self.shape)
        kinds = ["linear", "plain", "plain", "norm", "flatten", "batch1"]
        kinds += ["conv", "conv", "pool", "batch2"] * (dims in (3, 4))
        kinds = kinds if r.random() < 0.93 else ["conv", "pool", "batch2", "embedding", "wrong"]
        return getattr(self, r.choice(kinds))()

    def linear(self):
        bias = self.rng.choice(["", ", bias=False", ", True"])
        return f"{self.rng.choice(['', '', 'nn.'])}Linear({self.fits(-1)}, {self.size()}{bias})"

    def plain(self):
        return self.rng.choice(PLAIN)

    def norm(self):
        tail = [self.fits(-1)]
        if self.rng.random() < 0.4:
            tail.insert(0, self.fits(-2))
        shape = tail[0] if len(tail) == 1 and self.rng.random() < 0.5 else tuple(tail)
        more = self.rng.choice(["", "", ", 1e-6", ", elementwise_affine=False", ", bias=False"])
        return f"LayerNorm({shape}{more})"

    def flatten(self):
        r = self.rng
        return r.choice(["Flatten()", "Flatten()", f"Flatten({r.randint(-3, 3)})",
                         f"Flatten({r.randint(-4, 2)}, end_dim={r.randint(-4, 3)})"])

    def batch(self, kind):
        more = self.rng.choice(["", "", "", ", affine=False", ", track_running_stats=False",
                                ", 1e-5, 0.1, False, False"])
        return f"{kind}({self.fits(1)}{more})"

    def batch1(self):
        return self.batch("BatchNorm1d")

    def batch2(self):
        return self.batch("BatchNorm2d")

    def conv(self):
        r, i, o = self.rng, self.fits(-3), self.size()
        more = r.choice(["", ", padding=1", ", stride=2, padding=(0, 1)", ", 2", ", dilation=2",
                         f", groups={r.choice([1, 2, i])}", ", bias=False"])
        return f"Conv2d({i}, {o}, {r.choice([1, 2, 3, 3, (3, 1), 5])}{more})"

    def pool(self):
        window = self.rng.choice(["2", "3", "2, 1", "3, padding=1", "(1, 2)", "2, 2, 2"])
        return f"MaxPool2d({window})"

    def embedding(self):
        return f"Embedding({self.size()}, {self.size()})"

    def wrong(self):
        return self.rng.choice([
            "Linear(4)", "Linear(2, 3, True, None, None, 1)", "Linear(2, 3, size=4)",
            "Dropout(1.5)", "Dropout(-0.1)", "Conv2d(3, 4, 3, groups=2)", "Embedding(3, 2, 5)"])


def in_torch(text, shape):
    """{model} or {call} in which torch refused, or {} where it does not build the model."""
    try:
        return {"model": made({"text": text, "shape": list(shape)})[1]}
    except TypedError as error:
        call = getattr(error.__cause__, "call", None)
        return {"call": asdict(call)} if call else {}
