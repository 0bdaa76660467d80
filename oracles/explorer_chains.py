"""Random chains of views and copies as text, for the explorer and torch to run side by side.

A chain is drawn one step at a time on torch's own tensors, so that most steps make sense; about
one step in six is drawn with no regard for the tensor. A refused step ends the chain.
"""

import math
import random
import warnings

from inside.widgets.tensor_chain import chain_steps, run_chain, run_step

LARGEST = 400  # elements: a chain ends before it grows larger
REFUSALS = (RuntimeError, IndexError, ValueError, TypeError)


# ---- one step, as text -------------------------------------------------------------------------

def dim_of(rng, t, more=0):
    """A dimension that fits, counted from either side; rarely one that does not."""
    dims = max(t.dim() + more, 1)
    return rng.randrange(-dims, dims) if rng.random() < 0.93 else rng.choice([-dims - 1, dims])


def size_at(t, dim):
    """The size of a dimension that may not exist, then 1."""
    return t.shape[dim] if -t.dim() <= dim < t.dim() else 1


def factors(rng, numel, most=4):
    """Random sizes whose product is numel."""
    sizes = []
    while numel > 1 and len(sizes) < most - 1:
        size = rng.choice([d for d in range(1, numel + 1) if numel % d == 0])
        sizes.append(size)
        numel //= size
    return [*sizes, numel]


def sizes_of(rng, t):
    sizes = factors(rng, t.numel()) if t.numel() else [rng.choice([0, 1, 3]), 0]
    if rng.random() < 0.2:
        sizes.insert(rng.randrange(len(sizes) + 1), 1)
    if rng.random() < 0.25:
        sizes[rng.randrange(len(sizes))] = -1
    if rng.random() < 0.1:
        sizes[rng.randrange(len(sizes))] = rng.choice([-2, -1, 0, 5])
    return sizes


def many(rng, sizes, name):
    """Ints, a tuple, a list or a named argument: torch takes all of them."""
    plain = ", ".join(map(str, sizes))
    shown = [plain, plain, plain, str(tuple(sizes)), str(list(sizes)), f"{name}={tuple(sizes)}"]
    if len(sizes) == 1 and rng.random() < 0.2:  # torch takes it for `squeeze` alone
        return f"{name}={plain}"
    return rng.choice(shown) if sizes else rng.choice(["()", "[]", f"{name}=()", ""])


def some(rng, names, values, required):
    """Arguments by place and by name, the optional ones sometimes left out."""
    keep = rng.randint(required, len(values)) if rng.random() < 0.95 else rng.randrange(4)
    by_place = rng.randint(0, keep)
    return ", ".join(str(value) if k < by_place else f"{name}={value}" for k, (name, value)
                     in enumerate(zip(names[:keep], values, strict=False)))


def draw_slice(rng, size):
    bounds = [rng.choice(["", "", rng.randint(-size - 1, size + 1)]) for _ in range(2)]
    if rng.random() < 0.05:
        bounds[rng.randrange(2)] = rng.choice(["None", "...", "(1,)"])
    step = rng.choice(["", "", ":", ":1", ":2", ":3"] + (["", ":-1", ":0"] * (rng.random() < 0.1)))
    return f"{bounds[0]}:{bounds[1]}{step}"


def draw_index(rng, t):
    count = rng.randint(0, t.dim()) if rng.random() < 0.95 else t.dim() + 1
    items = []
    for d in range(count):
        size = t.shape[d] if d < t.dim() else 2
        fits = rng.randrange(-size, size) if size and rng.random() < 0.95 else size
        items.append(rng.choice([str(fits), draw_slice(rng, size), draw_slice(rng, size)]))
    for extra in rng.choices(["None", "...", "Ellipsis"], k=rng.choice([0, 0, 0, 1, 1, 2])):
        items.insert(rng.randrange(len(items) + 1), extra)
    inside = ", ".join(items) or "()"
    return f"[({inside},)]" if items and ":" not in inside and rng.random() < 0.1 else f"[{inside}]"


def draw_expand(rng, t):
    sizes = [rng.choice([n, n, -1]) if n != 1 else rng.choice([1, 2, 3, -1, 0]) for n in t.shape]
    sizes = [rng.choice([1, 2, 3]) for _ in range(rng.choice([0, 0, 1, 2]))] + sizes
    if rng.random() < 0.15 and sizes:
        sizes[rng.randrange(len(sizes))] = rng.choice([-2, -1, 0, 7])
    return f".expand({many(rng, sizes[rng.random() < 0.04:], 'size')})"


def draw_as_strided(rng, t):
    dims = rng.randint(0, 3)
    size = [rng.choice([0, 1, 2, 2, 3, 4]) for _ in range(dims)]
    stride = [rng.choice([0, 1, 1, 2, 3, 5] + [-1] * (rng.random() < 0.1)) for _ in range(dims)]
    offset = rng.choice([0, 0, 1, 2, 3, -1] if rng.random() < 0.5 else ["None"])
    stride += [1] * (rng.random() < 0.04)
    values = [tuple(size), tuple(stride), offset]
    return f".as_strided({some(rng, ['size', 'stride', 'storage_offset'], values, 2)})"


def draw_permute(rng, t):
    dims = rng.sample(range(t.dim()), t.dim())
    dims = [d - t.dim() if rng.random() < 0.2 else d for d in dims]
    if rng.random() < 0.1 and dims:
        dims[0] = rng.choice([dims[-1], t.dim()])
    return f".permute({many(rng, dims[rng.random() < 0.04:], 'dims')})"


def dims_of(rng, t):
    return [dim_of(rng, t) for _ in range(rng.choice([0, 1, 1, 1, 2]))]


def draw_narrow(rng, t):
    dim = dim_of(rng, t)
    size = size_at(t, dim)
    start = rng.randint(-size - (rng.random() < 0.1), size)
    rest = size - (start if start >= 0 else start + size)
    length = rng.randint(-(rng.random() < 0.05), max(rest, 0))
    return f".narrow({some(rng, ['dim', 'start', 'length'], [dim, start, length], 3)})"


def draw_unfold(rng, t):
    dim = dim_of(rng, t)
    size = size_at(t, dim)
    values = [dim, rng.randint(0, size + (rng.random() < 0.2)), rng.choice([1, 1, 2, 3, 0])]
    return f".unfold({some(rng, ['dimension', 'size', 'step'], values, 3)})"


def draw_select(rng, t):
    dim = dim_of(rng, t)
    size = size_at(t, dim)
    index = rng.randint(-size - (rng.random() < 0.1), max(size - 1, 0))
    return f".select({some(rng, ['dim', 'index'], [dim, index], 2)})"


def draw_diagonal(rng, t):
    values = [rng.randint(-3, 3), dim_of(rng, t), dim_of(rng, t)]
    return f".diagonal({some(rng, ['offset', 'dim1', 'dim2'], values, 0)})"


def draw_flatten(rng, t):
    low, high = sorted([dim_of(rng, t) % max(t.dim(), 1) for _ in range(2)])
    if rng.random() < 0.1:
        low, high = high, low
    return f".flatten({some(rng, ['start_dim', 'end_dim'], [low, high], 0)})"


DRAWS = {
    "view": lambda rng, t: f".view({many(rng, sizes_of(rng, t), 'size')})",
    "reshape": lambda rng, t: f".reshape({many(rng, sizes_of(rng, t), 'shape')})",
    "transpose": lambda rng, t: ".transpose(" + some(
        rng, ["dim0", "dim1"], [dim_of(rng, t), dim_of(rng, t)], 2) + ")",
    "permute": draw_permute,
    "t": lambda rng, t: ".t()",
    "T": lambda rng, t: ".T",
    "mT": lambda rng, t: ".mT",
    "[]": draw_index,
    "expand": draw_expand,
    "squeeze": lambda rng, t: f".squeeze({many(rng, dims_of(rng, t), 'dim')})",
    "unsqueeze": lambda rng, t: f".unsqueeze({some(rng, ['dim'], [dim_of(rng, t, 1)], 1)})",
    "flatten": draw_flatten,
    "unfold": draw_unfold,
    "diagonal": draw_diagonal,
    "contiguous": lambda rng, t: ".contiguous()",
    "clone": lambda rng, t: ".clone()",
    "as_strided": draw_as_strided,
    "narrow": draw_narrow,
    "select": draw_select,
    "flip": lambda rng, t: f".flip({many(rng, dims_of(rng, t), 'dims')})",
}
LIKELY = ["view", "reshape", "permute", "[]", "expand", "unfold", "as_strided"]


# ---- a chain, and what torch makes of it -------------------------------------------------------

def seen_by_torch(t, before):
    """Everything that the explorer shows of a step."""
    shares = before is not None and storage(t) == storage(before)
    kind = "self" if t is before else "view" if shares else "copy"
    return {
        "kind": "new" if before is None else kind,
        "shape": list(t.shape), "strides": list(t.stride()), "offset": t.storage_offset(),
        "size": t.untyped_storage().nbytes() // t.element_size(),
        "contiguous": t.is_contiguous(), "values": t.flatten().tolist(),
    }


def storage(t):
    return t.untyped_storage()._cdata


def draw_chain(seed):
    """(text, what torch sees of x and each step, the name of each step, the refusal or None)."""
    rng = random.Random(seed)
    text, names = f"torch.arange({rng.choice([0, 1, 6, 12, 12, 12, 16, 24, 36])})", []
    tensors = run_chain(text)
    if tensors[0].numel() > 1 and rng.random() < 0.85:
        sizes = factors(rng, tensors[0].numel())
        text, names = f"{text}.view({', '.join(map(str, sizes))})", ["view"]
        tensors = run_chain(text)
    for _ in range(rng.randint(1, 6)):
        name = rng.choice([*DRAWS, *LIKELY])
        step = DRAWS[name](rng, tensors[-1])
        text, names = text + step, [*names, name]
        try:
            tensors.append(run_step(tensors[-1], chain_steps(f"x{step}")[1][0]))
        except REFUSALS as error:
            return text, seen(tensors), names, error
        if any(n < 0 for n in tensors[-1].shape):  # torch lets an empty tensor expand to size -2
            return draw_chain(seed + 1_000_000)
        if math.prod(max(n, 1) for n in tensors[-1].shape) > LARGEST:
            break
    return text, seen(tensors), names, None


def seen(tensors):
    return [seen_by_torch(t, before) for t, before in zip(tensors, [None, *tensors], strict=False)]


def draw_chains(count):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's advice about T and mT
        return [draw_chain(seed) for seed in range(count)]
