"""Random graphs for mini_compile: what torch.compile could hand to a back end, with its inputs.

    one = random_graph(seed); one.module, one.inputs, one.exact, one.scale

Each graph is made together with its eager values, so an operation that does not apply is not drawn.
A value is exact if each operation before it rounds in one way only: a loop must then give eager's
bits. Functions such as exp, and sums of floats, may differ in the last places; what comes after
them is never compared with a threshold and never rounded to an integer.
"""

from __future__ import annotations

import operator
import random
from dataclasses import dataclass, field

import torch
from torch.nn import functional as F

FLOATS = (torch.float32, torch.float32, torch.float64, torch.bfloat16, torch.float16)
INTS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
SHAPES = ((), (1,), (5,), (0,), (3, 4), (1, 7), (2, 0, 3), (2, 3, 5), (4, 1, 6), (33,), (130,),
          (2, 3, 1, 5), (17, 19), (8, 40))


@dataclass
class Drawn:
    """A graph, its inputs, and how its outputs are compared."""

    seed: int
    module: torch.fx.GraphModule
    inputs: list[torch.Tensor]
    exact: list[bool]                        # for each output
    scale: float                             # the largest finite number met
    floats: set                              # the floating dtypes met
    operations: list[str] = field(default_factory=list)


# --- 1. Inputs ------------------------------------------------------------------------------------

def numbers(draw: random.Random, shape, dtype, special: bool) -> torch.Tensor:
    seeded = torch.Generator().manual_seed(draw.randrange(2**31))
    whole = torch.randint(-24, 25, shape, generator=seeded)
    if dtype == torch.bool:
        return whole > 0
    if not dtype.is_floating_point:
        low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
        found = whole.clamp(max(low, -24), 24).to(dtype)
        edges = [low, high, 0, 1, high - 1]
    else:
        found = (whole / 8).to(dtype)
        edges = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0]
    if special and found.numel():
        flat = found.view(-1)
        for edge in edges:
            flat[draw.randrange(flat.numel())] = edge
    return found


def laid_out(draw: random.Random, shape, dtype, special: bool) -> torch.Tensor:
    """A tensor of this shape: contiguous, transposed, with steps, expanded or overlapping."""
    kind = draw.choice(["plain", "plain", "plain", "turned", "steps", "expanded", "overlapping"])
    if kind == "turned" and len(shape) > 1:
        order = draw.sample(range(len(shape)), len(shape))
        turned = numbers(draw, [shape[d] for d in order], dtype, special)
        return turned.permute([order.index(d) for d in range(len(shape))])
    if kind == "steps" and shape:
        return numbers(draw, [2 * n + 1 for n in shape], dtype, special)[
            tuple(slice(1, 2 * n + 1, 2) for n in shape)]
    if kind == "expanded" and shape:
        at = draw.randrange(len(shape))
        return numbers(draw, [1 if d == at else n for d, n in enumerate(shape)], dtype,
                       special).expand(shape)
    if kind == "overlapping" and shape and 0 not in shape:
        room = numbers(draw, [sum(shape) + 2], dtype, special)
        return room.as_strided(shape, [1] * len(shape))
    return numbers(draw, shape, dtype, special)


def narrower(draw: random.Random, shape):
    """A shape that broadcasts to this one."""
    chosen = [1 if draw.random() < 0.3 else n for n in shape]
    return tuple(chosen[draw.choice([0, 0, 0, len(chosen) // 2, len(chosen)]):])


# --- 2. Operations --------------------------------------------------------------------------------
# name: (function of the values, needs: what the first value has to be, does the result stay exact)

EXACT_FLOAT = {
    "neg": operator.neg, "abs": torch.abs, "relu": torch.relu, "half": lambda x: x * 0.5,
    "plus": lambda x: x + 1.25, "minus": lambda x: 2 - x, "clamp": lambda x: x.clamp(-1.5, 2),
    "min": lambda x: x.clamp(max=1), "square": lambda x: x.clamp(-8, 8) ** 2,
    "reciprocal": lambda x: 1 / (x.abs() + 1), "leaky": lambda x: F.leaky_relu(x, 0.5),
    "masked": lambda x: x.masked_fill(x != x, 3.0),
}
STEPS_FLOAT = {                                      # with thresholds: only after exact values
    "floor": torch.floor, "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc,
    "sign": torch.sign, "positive": lambda x: x > 0, "isnan": torch.isnan, "isinf": torch.isinf,
    "remainder": lambda x: torch.remainder(x.clamp(-100, 100), 0.75),
    "fmod": lambda x: torch.fmod(x.clamp(-100, 100), -0.75),
    "floor_divide": lambda x: x.detach().clamp(-100, 100) // 0.75, "to_int": lambda x: x.nan_to_num(
        0).clamp(-100, 100).to(torch.int64), "to_bool": lambda x: x.to(torch.bool),
    "to_byte": lambda x: x.nan_to_num(0).clamp(0, 100).to(torch.uint8),
    "not": torch.logical_not,
}
FUNCTIONS = {                                        # not exact: 4 units in the last place
    "exp": lambda x: x.clamp(-4, 3).exp(), "tanh": torch.tanh, "sigmoid": torch.sigmoid,
    "log": lambda x: (x.abs() + 0.5).log(), "erf": torch.erf, "sin": lambda x: x.clamp(-9, 9).sin(),
    "gelu": F.gelu, "silu": F.silu, "log1p": lambda x: x.abs().log1p(),
    "expm1": lambda x: x.clamp(-4, 2).expm1(), "pow": lambda x: (x.abs() + 0.5) ** 1.5,
    "atan": torch.atan, "softplus": lambda x: F.softplus(x.clamp(-5, 5)), "elu": F.elu,
    "sqrt": lambda x: (x.abs() + 0.125).sqrt(), "rsqrt": lambda x: (x.abs() + 1).rsqrt(),
}
OF_INT = {
    "wraps": lambda x: x * 7 + 3, "negative": operator.neg, "divided": lambda x: x // 5,
    "divided_trunc": lambda x: torch.div(x, -3, rounding_mode="trunc"), "rest": lambda x: x % -7,
    "fmod_int": lambda x: torch.fmod(x, 4), "true_divide": lambda x: x / 8,
    "larger": lambda x: x > 2.5, "and": lambda x: x & 6, "invert": operator.invert,
    "clamp_int": lambda x: x.clamp(-3, 5), "square_int": lambda x: x ** 2, "sign_int": torch.sign,
    "to_float": lambda x: x.to(torch.float32), "abs_int": torch.abs, "not_int": torch.logical_not,
}
OF_BOOL = {
    "not_bool": torch.logical_not, "flip": operator.invert, "and_true": lambda x: x & True,
    "as_float": lambda x: x.to(torch.float32), "as_int": lambda x: x.to(torch.int32),
    "plus_one": lambda x: x + 1, "times": lambda x: x * x,
}
PAIRS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "maximum": torch.maximum,
    "minimum": torch.minimum, "scaled": lambda a, b: torch.add(a, b, alpha=2),
    "ratio": lambda a, b: a / (b.abs() + 1), "lerp_like": lambda a, b: a + 0.25 * (b - a),
}
COMPARE = {"lt": operator.lt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne}
VIEWS = {
    "unsqueeze": lambda x: x.unsqueeze(-1), "front": lambda x: x.unsqueeze(0),
    "flatten": lambda x: x.reshape(-1), "transpose": lambda x: x.transpose(0, -1),
    "first": lambda x: x[:1], "squeeze": lambda x: x.squeeze(-1), "copy": lambda x: x.clone(),
    "dense": lambda x: x.contiguous(), "detached": lambda x: x.detach(),
    "last": lambda x: x[..., -1], "every_second": lambda x: x[..., ::2],
}
REDUCE = {
    "sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin,
    "any": torch.any, "all": torch.all, "var": torch.var, "logsumexp": torch.logsumexp,
}
ROWS = {
    "softmax": lambda x: F.softmax(x, -1), "log_softmax": lambda x: F.log_softmax(x, -1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]),
    "centred": lambda x: x - x.mean(-1, keepdim=True),
    "normed": lambda x: x / (x.abs().amax(-1, keepdim=True) + 1),
    "rms": lambda x: x * (x.pow(2).mean(-1, keepdim=True) + 1).rsqrt(),
}
ALONE = {                                            # operators without a rule
    "cumsum": lambda x: x.cumsum(0), "flip": lambda x: x.flip(0), "sort": lambda x: x.sort(0)[0],
    "cat": lambda x: torch.cat([x, x]), "tril": lambda x: x.tril(), "roll": lambda x: x.roll(1),
}


class Maker:
    """Draws a graph, node by node, with the eager value of each."""

    def __init__(self, seed: int, gradient: bool):
        self.draw, self.gradient = random.Random(seed), gradient
        self.graph, self.values, self.exact, self.names = torch.fx.Graph(), {}, {}, []
        self.shape = self.draw.choice(SHAPES)
        special = not gradient and self.draw.random() < 0.25
        self.inputs = [self.input(k, special) for k in range(self.draw.randrange(1, 5))]
        self.scale = 1.0

    def input(self, k: int, special: bool) -> torch.Tensor:
        kinds = FLOATS if self.gradient or self.draw.random() < 0.7 else (*INTS, torch.bool)
        shape = self.shape if k == 0 else narrower(self.draw, self.shape)
        value = laid_out(self.draw, shape, self.draw.choice(kinds), special)
        if self.gradient:
            value = value.detach().requires_grad_()
        node = self.graph.placeholder(f"x{k}")
        self.values[node], self.exact[node] = value, True
        return value

    def some(self):
        """A value, with a liking for the newest."""
        nodes = list(self.values)
        return nodes[-1] if self.draw.random() < 0.5 else self.draw.choice(nodes)

    def add(self, name: str, function, *nodes, exact: bool = True) -> bool:
        """Add a call; False if it does not apply to these values."""
        try:
            value = function(*[self.values[n] if isinstance(n, torch.fx.Node) else n
                               for n in nodes])
        except (RuntimeError, IndexError, TypeError, NotImplementedError):
            return False
        if value.numel() > 20000 or value.dtype.is_complex:
            return False
        node = self.graph.call_function(function, nodes)
        self.values[node] = value
        self.exact[node] = exact and all(self.exact[n] for n in nodes
                                         if isinstance(n, torch.fx.Node))
        finite = value.detach().double().nan_to_num(0, 0, 0).abs()
        self.scale = max(self.scale, finite.max().item() if value.numel() else 0.0)
        self.names.append(name)
        return True

    def step(self) -> bool:
        first = self.some()
        value, kind = self.values[first], self.draw.random()
        if kind < 0.45:
            return self.unary(first, value)
        if kind < 0.65:
            return self.pair(first)
        if kind < 0.75:
            return self.reduce(first, value)
        if kind < 0.80 and value.is_floating_point() and value.dim():
            return self.add(*self.pick(ROWS), first, exact=False)
        if kind < 0.93:
            return self.add(*self.pick(VIEWS), first)
        return self.add(*self.pick(ALONE), first, exact=False)

    def pick(self, table):
        return self.draw.choice(list(table.items()))

    def unary(self, first, value) -> bool:
        if value.dtype == torch.bool:
            return self.add(*self.pick(OF_BOOL), first)
        if not value.is_floating_point():
            return self.add(*self.pick(OF_INT), first)
        if self.exact[first] and self.draw.random() < 0.3:
            return self.add(*self.pick(STEPS_FLOAT), first)
        if self.draw.random() < 0.4:
            return self.add(*self.pick(FUNCTIONS), first, exact=False)
        return self.add(*self.pick(EXACT_FLOAT), first)

    def pair(self, first) -> bool:
        second = self.some()
        if self.draw.random() < 0.25 and self.exact[first] and self.exact[second]:
            return self.add(*self.pick(COMPARE), first, second)
        if self.draw.random() < 0.2 and self.exact[first]:
            third = self.some()
            return self.add("where", lambda c, a, b: torch.where(c != 0, a, b), first, second,
                            third)
        name, function = self.pick(PAIRS)
        return self.add(name, function, first, second, exact=name != "scaled")

    def reduce(self, first, value) -> bool:
        name, function = self.pick(REDUCE)
        if name in ("any", "all") and not self.exact[first]:
            return False
        how = self.draw.choice(["all", "last", "kept", "first", "two"])
        dims = {"all": None, "last": -1, "kept": -1, "first": 0, "two": (-2, -1)}[how]
        keep = self.draw.random() < 0.5 or how == "kept"
        if dims is None:
            return name not in ("amax", "amin", "logsumexp") and self.add(
                name, function, first, exact=name in ("any", "all"))
        if name == "var" and value.numel() == 0:
            return False
        return self.add(name, lambda x: function(x, dim=dims, keepdim=keep), first,
                        exact=name in ("amax", "amin", "any", "all")
                        or (name == "sum" and not value.is_floating_point()))


def random_graph(seed: int, gradient: bool = False, length: int = 12) -> Drawn:
    """A graph of at most `length` operations for one seed; gradient: inputs require gradients."""
    maker = Maker(seed, gradient)
    for _ in range(maker.draw.randrange(1, length + 1)):
        maker.step()
    nodes = list(maker.values)
    count = min(len(nodes), maker.draw.randrange(1, 4))
    chosen = [nodes[-1], *maker.draw.sample(nodes, count - 1)]
    maker.graph.output(tuple(chosen))
    module = torch.fx.GraphModule(torch.nn.Module(), maker.graph)
    floats = {v.dtype for v in maker.values.values() if v.is_floating_point()} | {torch.float64}
    return Drawn(seed, module, maker.inputs, [maker.exact[n] for n in chosen], maker.scale,
                 floats, maker.names)
