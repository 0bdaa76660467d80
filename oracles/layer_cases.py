"""Random calls of the layers in mini_layers, each run beside torch's: results, gradients, writes.

A case draws shapes, dtype and arguments from a seed. `disagreement` runs it on a module that holds
the layers (the companion, or one in which a rule was broken) and on torch.nn.functional.
"""

import random
import warnings
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

import torch
from torch.nn import functional

# dtype -> (relative, absolute) tolerance; bfloat16 has 8 bits, and both sides round several times.
CLOSE = {torch.float64: (1e-9, 1e-9), torch.float32: (1e-3, 1e-4), torch.bfloat16: (0.05, 0.05)}


@dataclass
class Case:
    """A call: leaves are what gradients are taken for, written what the call changes in place."""

    name: str
    leaves: list
    rest: list = field(default_factory=list)     # positional arguments between leaves and options
    options: dict = field(default_factory=dict)
    written: dict = field(default_factory=dict)  # name of an argument -> tensor
    order: object = None                         # (leaves, rest) -> positional arguments
    theirs: str = ""                             # torch's name, if it differs


class Draw:
    """Numbers, shapes and tensors from one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.dtype = self.random.choices(list(CLOSE), [6, 3, 2])[0]

    def tensor(self, *shape, scale=1.0):
        values = torch.randn(*shape, generator=self.generator, dtype=torch.float64) * scale
        return values.to(self.dtype)

    def integers(self, high, *shape):
        return torch.randint(high, shape, generator=self.generator)

    def size(self, low=0, high=5):
        return self.random.randint(low, high)

    def shape(self, low=1, high=3):
        return [self.size() for _ in range(self.random.randint(low, high))]

    def eps(self):
        """A small one only in float64: it multiplies rounding errors by up to 1 / sqrt(eps)."""
        return self.random.choice([1e-5, 0.1]) if self.dtype == torch.float64 else 0.1

    def maybe(self, value, chance=0.5):
        return value if self.random.random() < chance else None


def present(values):
    return [value for value in values if value is not None]


def linear(draw):
    size, out = draw.size(1), draw.size(1)
    leaves = [draw.tensor(*draw.shape(0), size), draw.tensor(out, size)]
    return Case("linear", [*leaves, *present([draw.maybe(draw.tensor(out))])])


def embedding(draw):
    rows = draw.size(1)
    padding = draw.maybe(draw.random.randrange(-rows, rows))
    return Case("embedding", [draw.tensor(rows, draw.size(1))],
                [draw.integers(rows, *draw.shape())], {"padding_idx": padding},
                order=lambda leaves, rest: [*rest, *leaves])


def norm_input(draw, *shape):
    """Numbers of any size, sometimes all equal (no variance), sometimes far from 0."""
    small = [1e-3] if draw.dtype == torch.float64 else []
    x = draw.tensor(*shape, scale=draw.random.choice([*small, 1.0, 30.0]))
    kind = draw.random.random()
    if kind < 0.15:
        return torch.full_like(x, 0.5)
    return x + 100 if kind < 0.3 and draw.dtype == torch.float64 else x


def batch_norm(draw):
    channels, training = draw.size(1, 4), draw.random.random() < 0.7
    shape = [draw.size(0, 4), channels, *[draw.size(1, 3) for _ in range(draw.size(0, 2))]]
    x = norm_input(draw, *shape)
    if training and x.numel() == channels:
        x = torch.cat([x, x + 1])
    wide = torch.float32 if draw.dtype == torch.bfloat16 else draw.dtype
    written = {"running_mean": draw.tensor(channels).to(wide),
               "running_var": draw.tensor(channels).to(wide).abs() + 0.1}
    if training and x.numel() and draw.random.random() < 0.2:
        written = {}
    leaves = [x]
    names = []
    for name in ("weight", "bias"):
        if draw.random.random() < 0.6 and (name == "weight" or names):
            leaves.append(draw.tensor(channels).to(wide))
            names.append(name)
    options = {"training": training, "momentum": draw.random.choice([0.0, 0.1, 0.7, 1.0]),
               "eps": draw.eps()}
    return Case("batch_norm", leaves, names, options, written, order=lambda leaves, rest: leaves)


def layer_norm(draw):
    normal = [draw.size(1) for _ in range(draw.random.randint(1, 2))]
    weights = [draw.tensor(*normal) for _ in range(draw.random.randint(0, 2))]
    return Case("layer_norm", [norm_input(draw, *draw.shape(0), *normal), *weights], [normal],
                {"eps": draw.eps()}, order=lambda leaves, rest: [leaves[0], *rest, *leaves[1:]])


def rms_norm(draw):
    normal = [draw.size(1) for _ in range(draw.random.randint(1, 2))]
    weights = present([draw.maybe(draw.tensor(*normal))])
    return Case("rms_norm", [norm_input(draw, *draw.shape(0), *normal), *weights], [normal],
                {"eps": draw.random.choice([None, 1e-5, 0.1])},
                order=lambda leaves, rest: [leaves[0], *rest, *leaves[1:]])


def conv2d(draw):
    channels, out = draw.size(1, 3), draw.size(1, 3)
    kernel, dilation, stride, padding = ((draw.size(low, high), draw.size(low, high))
                                         for low, high in ((1, 3), (1, 2), (1, 3), (0, 2)))
    sizes = [max(1, d * (k - 1) + 1 - 2 * p) + draw.size(0, 4)
             for k, d, p in zip(kernel, dilation, padding, strict=True)]
    x = draw.tensor(draw.size(1, 3), channels, *sizes)
    if draw.random.random() < 0.3:                     # another order in memory
        x = x.to(memory_format=torch.channels_last)
    if draw.random.random() < 0.5:
        stride = stride[0]
    leaves = [x, draw.tensor(out, channels, *kernel), *present([draw.maybe(draw.tensor(out))])]
    return Case("conv2d", leaves, [],
                {"stride": stride, "padding": padding, "dilation": dilation})


def scores(draw, *shape):
    return draw.tensor(*shape, scale=draw.random.choice([1.0, 1.0, 1000.0]))


def softmax(draw):
    shape = [draw.size(1) for _ in range(draw.random.randint(1, 3))]
    dim = draw.random.randrange(-len(shape), len(shape))
    return Case(draw.random.choice(["softmax", "log_softmax"]), [scores(draw, *shape)], [dim])


def cross_entropy(draw):
    classes, batch = draw.size(1), [draw.size(0, 6), *draw.shape(0, 2)]
    target = draw.integers(classes, *batch)
    ignore = draw.random.choice([-100, 0, classes - 1])
    target = target.where(torch.rand(batch, generator=draw.generator) < 0.7, ignore)
    leaf = scores(draw, batch[0], classes, *batch[1:])
    return Case("cross_entropy", [leaf], [target],
                {"weight": draw.maybe(draw.tensor(classes).abs()), "ignore_index": ignore,
                 "reduction": draw.random.choice(["mean", "mean", "sum", "none"]),
                 "label_smoothing": draw.random.choice([0.0, 0.1, 1.0])})


def binary(draw):
    shape = [draw.size(1), *draw.shape(0, 2)]
    leaf = scores(draw, *shape)
    leaf = leaf.where(torch.rand(shape, generator=draw.generator) < 0.8, 0)
    target = torch.rand(shape, generator=draw.generator).to(draw.dtype)
    return Case("binary_cross_entropy_with_logits", [leaf],
                [draw.random.choice([target, target.round()])])


def dropout(draw):
    return Case("dropout", [draw.tensor(*draw.shape())], [],
                {"p": draw.random.choice([0.0, 0.3, 0.5, 1.0]),
                 "training": draw.random.random() < 0.8})


DRAWS = {each.__name__: each for each in (linear, embedding, dropout, batch_norm, layer_norm,
                                          rms_norm, conv2d, softmax, cross_entropy, binary)}


@contextmanager
def plain_kernels():
    """Without oneDNN, whose conv2d crashes on some of these shapes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                # of TF32, which nobody sets here
        with torch.backends.mkldnn.flags(enabled=False):
            yield


def run(function, case, seed):
    """What a call gives: result, gradients of the leaves, and what it wrote, by name."""
    leaves = [leaf.clone(memory_format=torch.preserve_format).requires_grad_()
              for leaf in case.leaves]
    written = {name: tensor.clone() for name, tensor in case.written.items()}
    options = case.options | written
    if case.name == "batch_norm":
        options |= dict(zip(case.rest, leaves[1:], strict=True))
        arguments = [leaves[0], options.pop("running_mean", None), options.pop("running_var", None)]
    elif case.order:
        arguments = case.order(leaves, case.rest)
    else:
        arguments = [*leaves, *case.rest]
    torch.manual_seed(seed)
    result = function(*arguments, **options)
    upstream = torch.randn(result.shape, generator=torch.Generator().manual_seed(seed),
                           dtype=torch.float64).to(result.dtype)
    result.backward(upstream)
    return {"result": result.detach()} | {
        f"gradient {n}": leaf.grad for n, leaf in enumerate(leaves)} | written


def disagreement(module, name, seed):
    """None, or in a line how the module's layer differs from torch's for this seed."""
    case = DRAWS[name](Draw(seed))
    with plain_kernels() if name == "conv2d" else nullcontext():
        wanted = run(getattr(functional, case.name), case, seed)
    try:
        found = run(getattr(module, case.name), case, seed)
    except (RuntimeError, ValueError, IndexError) as error:
        return f"{case.name}, seed {seed}: {type(error).__name__} {error}"
    for what, value in wanted.items():
        relative, absolute = CLOSE[case.leaves[0].dtype]
        finite = value[value.isfinite()].abs()
        absolute *= max(1.0, finite.max().item() if len(finite) else 0.0)
        try:
            torch.testing.assert_close(found[what], value, rtol=relative, atol=absolute,
                                       equal_nan=True)
        except AssertionError as error:
            return f"{case.name}, seed {seed}, {what}: {' '.join(str(error).split())}"
    return None
