"""Random chains of tensor operations that torch and mini_tensor run side by side.

A step is `(name, operands)`; an operand is a `Ref` to an earlier tensor, or a plain argument.
`Chain` draws a step from torch's tensors, applies it to both engines, and compares everything
that can be seen: exception type, sizes, strides, offset, values, which storages are shared and
what every storage holds. A refused step must leave all of that as it was.
"""

import math
import operator
import random
import warnings
from collections import Counter
from dataclasses import dataclass

import torch

import mini_tensor

STEPS = 8
LARGEST = 120                   # elements; a larger result is compared, then dropped
HIGHEST = 5                     # dimensions
PROBE = 1000.5

ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
FUNCTIONS = {**ARITHMETIC, "neg": operator.neg, "[]": operator.getitem,
             "[]=": operator.setitem, "@": operator.matmul}
WRITES = {"add_", "mul_", "copy_", "[]="}
ATTRIBUTES = {"T", "mT"}
OVERLAPS = ("more than one element of the written-to tensor", "some elements of the input tensor")
ROUNDED = {"sum", "@"}          # torch adds in an order of its own


@dataclass(frozen=True)
class Ref:
    place: int


class Disagreement(AssertionError):
    """The engines differ; the message holds the chain so far."""


# ---- one step, on either engine ------------------------------------------------------------------

def apply(name, operands):
    """The result of a step: a tensor, a number or None."""
    if name in FUNCTIONS:
        return FUNCTIONS[name](*operands)
    if name in ATTRIBUTES:
        return getattr(operands[0], name)
    return getattr(operands[0], name)(*operands[1:])


def attempt(name, operands):
    """The result and None, or None and the exception."""
    try:
        return apply(name, operands), None
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        return None, error


def resolved(operands, tensors):
    return [tensors[o.place] if isinstance(o, Ref) else o for o in operands]


# ---- what can be seen of a tensor ----------------------------------------------------------------

def torch_storage(tensor):
    """All elements of the storage, a tensor whose writes go through."""
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    return tensor.as_strided((count,), (1,), 0)


def same_numbers(ours, theirs):
    return ours == theirs or (len(ours) == len(theirs) and all(
        a == b or (a != a and b != b) for a, b in zip(ours, theirs, strict=True)))


def near(ours, theirs, scale):
    """Equal up to rounding of a sum whose terms add up to `scale` in magnitude."""
    return same_numbers([ours], [theirs]) or abs(ours - theirs) <= 1e-12 * scale or (
        not math.isfinite(scale) and math.isclose(ours, theirs, rel_tol=1e-9))


def layout(tensor):
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.is_contiguous()


def order_is_open(target, source):
    """Whether the values written depend on the order in which elements are visited.

    So where a cell is written twice, or written at one place and read at another. torch fixes no
    order, and vector units read several elements before they write the first.
    """
    cells = list(target.addresses())
    read = list(source.addresses()) if source is not None else cells
    written = set(cells)
    shared = source is None or mini_tensor.shares_storage(target, source)
    return len(written) < len(cells) or (shared and any(
        w != r and r in written for w, r in zip(cells, read, strict=True)))


# ---- the chain -----------------------------------------------------------------------------------

class Chain:
    """One random chain; `run` returns a Counter of what happened, or raises Disagreement."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.theirs, self.ours, self.log, self.seen = [], [], [], Counter()

    def run(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                   # torch's advice about T and mT
            for _ in range(self.rng.choice([1, 1, 2])):
                self.start()
            for _ in range(STEPS):
                self.step()
        self.seen["chains"] = 1
        self.seen["chains with a refusal"] = bool(self.seen["refused"])
        return self.seen

    def start(self):
        """A row-major tensor of small integers, of rank 0 to 5."""
        sizes = draw_sizes(self.rng)
        values = [float(self.rng.randint(-4, 4)) for _ in range(math.prod(sizes))]
        self.log.append(("start", sizes))
        self.theirs.append(torch.tensor(values, dtype=torch.float64).reshape(sizes))
        self.ours.append(mini_tensor.tensor(values).reshape(sizes))
        self.compare_all()

    def step(self):
        name, operands = draw_step(self.rng, self.theirs)
        self.log.append((name, operands))
        with_theirs, with_ours = resolved(operands, self.theirs), resolved(operands, self.ours)
        before = [list(tensor.untyped_storage()) for tensor in self.ours]
        theirs, refused = attempt(name, with_theirs)
        ours, raised = attempt(name, with_ours)
        self.require(type(raised) is type(refused), f"torch: {refused!r}, here: {raised!r}")
        self.count(name, with_theirs, refused)
        if refused:
            self.require(before == [t.untyped_storage() for t in self.ours], "refused, but wrote")
        elif name in WRITES:
            self.settle_open_order(name, with_ours, with_theirs)
        elif isinstance(theirs, torch.Tensor):
            self.keep(name, ours, theirs, with_theirs)
        else:
            self.require(same_numbers([ours], [theirs]), f"{ours} for {theirs}")
        self.compare_all()

    def count(self, name, operands, refused):
        self.seen["steps"] += 1
        self.seen["refused"] += refused is not None
        self.seen[f"refused {name}" if refused else name] += 1
        if not refused and name == "view" and not operands[0].is_contiguous():
            self.seen["view of a tensor that is not contiguous"] += 1
        for reason in OVERLAPS:
            self.seen[f"refused: {reason}"] += reason in str(refused)

    def require(self, truth, message):
        if not truth:
            raise Disagreement("\n".join([message, *map(str, self.log), *(
                f"  {i}: {layout(t)} cells {torch_storage(t).numel()}"
                for i, t in enumerate(self.theirs))]))

    def keep(self, name, ours, theirs, operands):
        self.require(isinstance(ours, mini_tensor.Tensor), f"{type(ours)} for a tensor")
        if name in ROUNDED and layout(ours) == layout(theirs):
            self.settle_rounding(ours, theirs, operands)
        self.ours.append(ours)
        self.theirs.append(theirs)
        self.compare_new()
        self.compare_all()
        self.probe()
        if theirs.numel() > LARGEST or theirs.dim() > HIGHEST:
            self.ours.pop()
            self.theirs.pop()

    def settle_rounding(self, ours, theirs, operands):
        """Sums agree up to rounding; afterwards torch's are taken, so that the rest is exact."""
        tensors = [o for o in operands if isinstance(o, torch.Tensor)]
        scale = math.prod(t.abs().sum().item() for t in tensors)
        values = theirs.reshape(-1).tolist()
        self.require(all(map(lambda a, b: near(a, b, scale), ours.elements(), values)), "sums")
        ours.untyped_storage()[:] = torch_storage(theirs).tolist()

    def settle_open_order(self, name, ours, theirs):
        """Where torch leaves the order open: only cells of the target change; then torch's."""
        target = ours[0][ours[1]] if name == "[]=" else ours[0]
        source = ours[-1] if isinstance(ours[-1], mini_tensor.Tensor) else None
        if source is not None:
            while source.dim() > target.dim():
                source = source.select(0, 0)
            source = source.expand(target.shape)
        if not target.numel() or not order_is_open(target, source):
            return
        self.seen["order left open by torch"] += 1
        written = set(target.addresses())
        theirs = torch_storage(theirs[0]).tolist()
        storage = target.untyped_storage()
        self.require(all(same_numbers([storage[i]], [theirs[i]]) for i in range(len(storage))
                         if i not in written), "a cell outside the target changed")
        storage[:] = theirs

    # ---- comparisons ----

    def compare_new(self):
        """Layout, values, and with whom the newest tensor shares its storage."""
        ours, theirs = self.ours[-1], self.theirs[-1]
        self.require(layout(ours) == layout(theirs), f"{layout(ours)} for {layout(theirs)}")
        self.require(same_numbers(ours.elements(), theirs.reshape(-1).tolist()), "values")
        key = theirs.untyped_storage()._cdata
        sharing = [t.untyped_storage()._cdata == key for t in self.theirs]
        self.require([mini_tensor.shares_storage(t, ours) for t in self.ours] == sharing,
                     f"torch shares {sharing}")
        self.seen["views" if any(sharing[:-1]) else "copies"] += 1
        self.seen[f"rank {theirs.dim()}"] += 1
        for what, found in (("size 0", 0 in theirs.shape), ("size 1", 1 in theirs.shape),
                            ("stride 0", 0 in theirs.stride()),
                            ("not contiguous", not theirs.is_contiguous())):
            self.seen[what] += found

    def compare_all(self):
        """Every storage, cell by cell; `compare_new` has seen which tensors share one."""
        pairs = {id(ours.untyped_storage()): (ours.untyped_storage(), theirs)
                 for ours, theirs in zip(self.ours, self.theirs, strict=True)}
        for ours, theirs in pairs.values():
            cells = torch_storage(theirs).tolist()
            if not same_numbers(ours, cells):            # the words cost more than the comparison
                self.require(False, f"storage {ours} for {cells}")

    def probe(self):
        """Write one element of the newest tensor: the same cells change in both, then undo."""
        theirs, ours = self.theirs[-1], self.ours[-1]
        if not theirs.numel():
            return
        index = tuple(self.rng.randrange(size) for size in theirs.shape)
        old = theirs[index].item()
        for value in (PROBE, old):
            theirs[index] = ours[index] = value
            self.compare_all()
        self.seen["probe writes"] += 1


# ---- drawing -------------------------------------------------------------------------------------

def draw_sizes(rng):
    """Rank 0 to 5, sizes mostly 1 to 4, 0 now and then, at most LARGEST elements."""
    while True:
        sizes = tuple(rng.choices([0, 1, 2, 3, 4, 5], [1, 6, 8, 6, 4, 2])[0]
                      for _ in range(rng.choice([0, 1, 2, 2, 3, 3, 4, 4, 5, HIGHEST])))
        if math.prod(sizes) <= LARGEST:
            return sizes


def draw_step(rng, tensors):
    name = rng.choices(list(DRAW), [weight for weight, _ in DRAW.values()])[0]
    place = rng.choices(range(len(tensors)), list(map(interest, tensors)))[0]
    arguments = DRAW[name][1](rng, tensors[place], tensors)
    if name in ARITHMETIC and rng.random() < 0.15 and not isinstance(arguments[0], Ref):
        return name, (arguments[0], Ref(place))               # the number stands on the left
    return name, (Ref(place), *arguments)


def interest(tensor):
    """How often a tensor is drawn: more where its layout can make a difference."""
    return 1 + 2 * (tensor.numel() > 1) + 6 * (not tensor.is_contiguous())


def nothing(_rng, _tensor, _tensors):
    return ()


def dim(rng, tensor, _tensors):
    """Mostly a dimension of the tensor, sometimes one past either end."""
    low, high = -max(tensor.dim(), 1), max(tensor.dim(), 1) - 1
    return (rng.choice([low - 1, high + 1]) if rng.random() < 0.15 else rng.randint(low, high),)


def two_dims(rng, tensor, tensors):
    return dim(rng, tensor, tensors) + dim(rng, tensor, tensors)


def maybe_dim(rng, tensor, tensors):
    return () if rng.random() < 0.3 else dim(rng, tensor, tensors)


def new_dim(rng, tensor, _tensors):
    return (rng.randint(-tensor.dim() - 2, tensor.dim() + 1),)


def permutation(rng, tensor, _tensors):
    dims = rng.sample(range(tensor.dim()), tensor.dim())
    if rng.random() < 0.1:
        dims = [*dims, rng.randint(0, 2)] if rng.random() < 0.5 else dims[1:]
    elif dims and rng.random() < 0.2:
        dims[0] = rng.choice([dims[-1], dims[0] - len(dims), len(dims)])
    return (tuple(dims),)


def factors(rng, number):
    """A random ordered factorization, with 1s strewn in."""
    sizes = []
    while number > 1:
        size = rng.choice([n for n in range(2, number + 1) if number % n == 0])
        sizes.append(size)
        number //= size
    for _ in range(rng.choice([0, 0, 1, 2])):
        sizes.insert(rng.randint(0, len(sizes)), 1)
    rng.shuffle(sizes)
    return sizes


def regrouped(rng, sizes):
    """Neighbours merged here and there, and sizes split: shapes that a view often allows."""
    merged = []
    for size in sizes:
        if merged and rng.random() < 0.4:
            merged[-1] *= size
        else:
            merged.append(size)
    return [part for size in merged
            for part in (factors(rng, size) if size and rng.random() < 0.4 else [size])]


def new_shape(rng, tensor, _tensors):
    """A shape for view and reshape: regrouped, any factorization, with -1, or wrong."""
    shape = regrouped(rng, tensor.shape)
    if rng.random() < 0.6:
        shape = factors(rng, tensor.numel()) if tensor.numel() else list(draw_sizes(rng))
    for chance, value in ((0.3, -1), (0.05, -1), (0.1, 0), (0.1, 2), (0.03, -2)):
        if shape and rng.random() < chance:
            shape[rng.randrange(len(shape))] = value
    return (tuple(shape),)


def expanded(rng, tensor, _tensors):
    sizes = [rng.choice([size, -1, 2, 3]) if size == 1 else rng.choice([size, size, -1])
             for size in tensor.shape]
    sizes = [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 1, 2]))] + sizes
    if sizes and rng.random() < 0.3:
        sizes[rng.randrange(len(sizes))] = rng.choice([0, 2, -1, -2])
    if 0 in sizes or 0 in tensor.shape:
        # With no element to check, torch makes a tensor of size -2: zeros(0, 1).expand(0, -2).
        sizes = [max(size, -1) for size in sizes]
    return (tuple(sizes),) if rng.random() < 0.9 else (tuple(sizes[1:]),)


def strided(rng, tensor, _tensors):
    """Sizes, strides and an offset for as_strided that mostly stay inside the storage."""
    cells = torch_storage(tensor).numel()
    sizes = [rng.choices([0, 1, 2, 3, 4], [1, 3, 5, 5, 3])[0] for _ in range(rng.randint(0, 4))]
    strides = [rng.choice([0, 1, 1, 2, 3, 4, 6]) for _ in sizes]
    last = sum(max(n - 1, 0) * step for n, step in zip(sizes, strides, strict=True))
    offset = rng.choice([None, 0, max(cells - 1 - last, 0), rng.randint(0, cells + 1)])
    if rng.random() < 0.03:
        strides.append(1)
    if strides and rng.random() < 0.03:
        strides[0] = -1
    return sizes, strides, -1 if rng.random() < 0.02 else offset


def index(rng, tensor, _tensors=None):
    """Ints, slices, None and `...` in any order; a tuple, or one of them alone."""
    items = []
    for size in tensor.shape[:rng.randint(0, tensor.dim())]:
        items.append(draw_item(rng, size))
    for extra, chance in ((..., 0.3), (None, 0.2), (None, 0.1), (0, 0.12)):
        if rng.random() < chance:
            items.insert(rng.randint(0, len(items)), extra)
    if ... in items and rng.random() < 0.1:
        # Only at the end: torch passes over a full slice before it looks at the dimension, so
        # zeros(2, 3)[..., ..., :] is accepted, and [..., ..., 1:] is not.
        items.append(...)
    # A bare slice of a 0-dim tensor is left out: torch looks at its step before the rank.
    bare = len(items) == 1 and tensor.dim() and rng.random() < 0.5
    return (items[0] if bare else tuple(items),)


def draw_item(rng, size):
    if rng.random() < 0.4:
        return rng.randint(-size - 1, size) if rng.random() < 0.25 else (
            rng.randrange(-size, size) if size else 0)
    start, stop = (rng.choice([None, None, rng.randint(-size - 1, size + 1)]) for _ in "ab")
    step = rng.choice([None, None, 1, 2, 3]) if rng.random() < 0.93 else rng.choice([0, -1])
    return slice(start, stop, step)


def operand(rng, _tensor, tensors):
    """Another tensor of the chain, or a number; the left operand may be drawn again."""
    return (Ref(rng.randrange(len(tensors))),) if rng.random() < 0.7 else (
        rng.choice([2, 0.5, -1, 0, 3.25]),)


def matching(rng, tensor, tensors):
    """An operand for a write or a sum of two: mostly one that broadcasts, of the same storage."""
    fits = [i for i, other in enumerate(tensors)
            if broadcasts_to(tuple(other.shape), tuple(tensor.shape))]
    storage = tensor.untyped_storage()._cdata
    near_by = [i for i in fits if tensors[i].untyped_storage()._cdata == storage]
    if fits and rng.random() < 0.5:
        return (Ref(rng.choice(near_by if near_by and rng.random() < 0.5 else fits)),)
    return operand(rng, tensor, tensors)


def broadcasts_to(shape, target):
    return len(shape) <= len(target) and all(
        a in (1, b) for a, b in zip(reversed(shape), reversed(target), strict=False))


def index_and_value(rng, tensor, tensors):
    chosen = index(rng, tensor)
    view, refused = attempt("[]", [tensor, *chosen])
    return chosen + (operand(rng, tensor, tensors) if refused else matching(rng, view, tensors))


def for_fill(rng, tensor, tensors):
    scalars = [i for i, other in enumerate(tensors) if not other.dim()]
    if scalars and rng.random() < 0.5:
        return (Ref(rng.choice(scalars)),)
    return operand(rng, tensor, tensors) if rng.random() < 0.4 else (rng.randint(-3, 3),)


def factor(rng, tensor, tensors):
    """The right operand of a matrix product: mostly one whose inner size fits."""
    fits = [i for i, other in enumerate(tensors)
            if tensor.dim() and other.dim() and tensor.shape[-1] == other.shape[-2:][0]]
    return (Ref(rng.choice(fits) if fits and rng.random() < 0.8
                else rng.randrange(len(tensors))),)


def sum_over(rng, tensor, tensors):
    keepdim = rng.random() < 0.5
    if rng.random() < 0.2:
        return None, keepdim
    if rng.random() < 0.5:
        return *dim(rng, tensor, tensors), keepdim
    dims = rng.sample(range(tensor.dim()), rng.randint(0, tensor.dim()))
    return tuple(dims + dims[:1] if rng.random() < 0.1 else dims), keepdim


# How often each step is drawn, and from what.
DRAW = {
    "[]": (11, index), "transpose": (6, two_dims), "permute": (9, permutation), "T": (1, nothing),
    "mT": (2, nothing), "t": (2, nothing), "unsqueeze": (4, new_dim), "squeeze": (3, maybe_dim),
    "expand": (10, expanded), "view": (24, new_shape), "reshape": (7, new_shape),
    "flatten": (3, two_dims), "as_strided": (8, strided), "contiguous": (2, nothing),
    "clone": (4, nothing), "neg": (3, nothing), "+": (7, matching), "-": (3, matching),
    "*": (4, operand), "/": (3, operand), "add_": (8, matching), "mul_": (4, matching),
    "copy_": (9, matching), "fill_": (3, for_fill), "[]=": (10, index_and_value),
    "sum": (3, sum_over), "@": (6, factor), "item": (1, nothing),
}
