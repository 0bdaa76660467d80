"""Random tensors, keys and values for mini_index, from one generator."""

import itertools

import torch

SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5)


def tensor(random):
    """A tensor of 0 to 4 dimensions whose values are all different, often not contiguous."""
    shape = [random.choice(SIZES) for _ in range(random.randrange(5))]
    how = random.choice(("packed", "packed", "permuted", "sliced", "offset"))
    order = random.sample(range(len(shape)), len(shape)) if how == "permuted" else None
    steps = [random.choice((1, 2)) if how == "sliced" else 1 for _ in shape]
    front = random.randrange(3) if how == "offset" else 0
    wide = [front + size * step for size, step in zip(shape, steps, strict=True)]
    if order:
        wide = [wide[dim] for dim in order]
    dtype = random.choice((torch.float64, torch.float32, torch.int64))
    x = torch.arange(torch.Size(wide).numel(), dtype=dtype).view(wide)
    if order:
        x = x.permute([order.index(dim) for dim in range(len(order))])
    for dim, (size, step) in enumerate(zip(shape, steps, strict=True)):
        x = x.narrow(dim, front, size * step)
        x = x.as_strided([*x.shape[:dim], size, *x.shape[dim + 1:]],
                         [*x.stride()[:dim], x.stride(dim) * step, *x.stride()[dim + 1:]],
                         x.storage_offset())
    return x, how


def position(random, size):
    """A position, negative as often as not; one of twenty is out of range."""
    if not size or random.random() < 0.05:
        return random.choice((size, -size - 1, size + 3))
    return random.randrange(-size, size)


def a_slice(random, size):
    ends = [random.choice((None, random.randint(-size - 2, size + 2))) for _ in range(2)]
    return slice(*ends, random.choice((None, None, 1, 2, 3, *((0, -1) * (random.random() < 0.1)))))


def a_mask(random, shape, dtype=torch.bool):
    if random.random() < 0.05:
        shape = [size + 1 for size in shape]
    count = torch.Size(shape).numel()
    return torch.tensor([random.random() < 0.5 for _ in range(count)], dtype=dtype).view(shape)


def positions(random, size, common):
    """Positions of a shape that broadcasts with `common`, but for one of thirty."""
    shape = [random.choice((n, n, 1)) for n in common]
    shape = shape[random.randrange(len(shape) + 1):] if random.random() < 0.2 else shape
    if shape and random.random() < 0.03:
        shape[-1] += 1
    count = torch.Size(shape).numel()
    dtype = random.choice((*[torch.int64] * 8, torch.int32, random.choice(
        (torch.int64, torch.int64, torch.int16, torch.float32))))
    return torch.tensor([position(random, size) for _ in range(count)], dtype=dtype).view(shape)


KINDS = ("int", "int", "slice", "slice", "slice", "None", "positions", "positions", "positions",
         "list", "mask", "mask of several dims", "bool", "0-dim mask", "0-dim index", "list mask",
         "uint8 mask")


def item(random, kind, sizes, common):
    """One item of a key and how many dimensions it takes; `sizes` are those not yet taken."""
    size = sizes[0] if sizes else 1
    if kind in ("mask", "uint8 mask"):
        dtype = torch.uint8 if kind == "uint8 mask" else torch.bool
        return a_mask(random, [size], dtype), 1
    if kind == "mask of several dims":
        rank = random.randint(1, max(1, min(3, len(sizes))))
        return a_mask(random, list(sizes[:rank]) or [1]), rank
    made = {
        "int": lambda: position(random, size), "slice": lambda: a_slice(random, size),
        "None": lambda: None, "bool": lambda: random.random() < 0.7,
        "0-dim mask": lambda: torch.tensor(random.random() < 0.7),
        "0-dim index": lambda: torch.tensor(position(random, size),
                                            dtype=random.choice((torch.int64, torch.int16))),
        "positions": lambda: positions(random, size, common),
        "list": lambda: positions(random, size, common[-1:]).tolist(),
        "list mask": lambda: a_mask(random, [size]).tolist()}[kind]()
    return made, 0 if kind in ("None", "bool", "0-dim mask") else 1


def key(random, shape):
    """A key and its kinds; one of thirty has an item too many."""
    sizes, items, kinds = list(shape), [], []
    common = [random.choice((0, 1, 2, 2, 3)) for _ in range(random.randrange(3))] or [2]
    dots = random.random() < 0.25
    for _ in range(random.randrange(5)):
        if not sizes and random.random() < 0.9:
            break
        if dots and random.random() < 0.4:
            dots, kept = False, random.randint(0, len(sizes))
            items.append(...)
            kinds.append("...")
            sizes = sizes[kept:]
            continue
        kind = random.choice(KINDS)
        made, taken = item(random, kind, sizes, common)
        items.append(made)
        kinds.append(kind)
        sizes = sizes[taken:]
    if len(items) == 1 and random.random() < 0.5:
        return items[0], kinds
    if random.random() < 0.05:
        return items, [*kinds, "list as a tuple"]
    return tuple(items), kinds


def value(random, shape, dtype):
    """A number, or a tensor that mostly broadcasts to the shape, at times with 1s in front."""
    if random.random() < 0.2:
        return random.choice((random.randint(-9, 9), 0.1, 1e300, 1j))
    shape = [random.choice((n, n, n, 1)) for n in shape][random.choice((0, 0, 0, 1)):]
    shape = [1] * random.choice((0, 0, 0, 1, 2)) + shape
    if shape and random.random() < 0.05:
        shape[random.randrange(len(shape))] += 1
    count = torch.Size(shape).numel()
    start = itertools.count(100)
    dtype = torch.int32 if count > 1 and random.random() < 0.05 else dtype
    return torch.tensor([next(start) for _ in range(count)], dtype=dtype).view(shape)


def result(function, *arguments):
    """What it returns, or the type of what it raises."""
    try:
        return function(*arguments)
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        return type(error)


def written_by_torch(x, key, value):
    """x after x[key] = value."""
    x[key] = value
    return x
