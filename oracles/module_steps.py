"""What is done to a module tree: each step to either side, with the same choices.

`side` is a Builder of module_trees: a tree, the names of its library, and random numbers.
"""

import copy
import warnings
from collections import OrderedDict

import torch

from oracles.module_views import NAMES, plain

WIDTH, BATCH = 4, 3


def attempt(function, side):
    """What a step returns, or how it is refused."""
    try:
        return function(side)
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
        return plain(error)


# ---- assignments and other changes -------------------------------------------------------------

KINDS = ["param", "param", "tied", "frozen", "buffer", "transient", "registered", "tensor", "none",
         "none", "number", "no param", "no buffer", *["child"] * 8, "result"]


def assign(side, box, depth=1):
    """Give a name of the box a value of any kind; it may have one of another kind already."""
    name, kind = side.rng.choice(NAMES), side.rng.choice(KINDS)
    side.seen[kind] += 1
    if kind == "no param":
        box.register_parameter(name, None)
    elif kind == "no buffer":
        box.register_buffer(name, None, side.rng.random() < 0.5)
    elif kind == "registered":
        box.register_buffer(name, side.tensor(), side.rng.random() < 0.5)
    elif kind == "result":
        box.register_parameter(name, side.nn.Parameter(side.tensor()) * 1)
    elif kind == "child":
        setattr(box, name, side.module(depth, inside=box))
    else:
        setattr(box, name, value(side, kind))


def value(side, kind):
    if kind == "tied" and side.params:
        return side.rng.choice(side.params)
    if kind in ("param", "frozen", "tied"):
        side.params.append(side.nn.Parameter(side.tensor(), requires_grad=kind != "frozen"))
        return side.params[-1]
    if kind in ("buffer", "transient"):
        return side.nn.Buffer(side.tensor(), persistent=kind == "buffer")
    return {"tensor": side.tensor, "none": lambda: None, "number": lambda: 7}[kind]()


def pick(side, *kinds):
    """A module of the tree, of one of the kinds (names of classes), or None."""
    found = [module for module in side.root.modules()
             if type(module).__name__ in kinds or not kinds]
    return side.rng.choice(found) if found else None


def step_assign(side):
    box = pick(side, "Box")
    assign(side, box)


def step_delete(side):
    """Any name, also one that is not there."""
    delattr(pick(side, "Box"), side.rng.choice(NAMES))


def step_mode(side):
    pick(side).train(side.rng.choice([True, False, False, 1]))


def step_to(side):
    dtype = side.rng.choice([torch.float64, torch.float32, torch.float64, torch.int32])
    pick(side).to(dtype)


def step_apply(side):
    pick(side)._apply(lambda t: t * 2)


def step_copy(side):
    """From here on the tree is a deep copy, in which what was shared is shared."""
    known = (side.modules, side.params)
    side.root, side.modules, side.params = copy.deepcopy((side.root, *known))


def step_container(side):
    container = pick(side, "Sequential", "ModuleList", "ModuleDict")
    if container is None:
        return
    module, numbered = side.module(0, inside=container), hasattr(container, "append")
    action = side.rng.choice(["add", "set", "delete", "slice", "insert"])
    if action == "insert" and type(container).__name__ == "ModuleList":
        container.insert(min(1, len(container)), module)
    elif action in ("add", "insert"):
        container.append(module) if numbered else container.update({"w": module})
    elif numbered:
        change_place(side, container, action, module)
    elif action == "delete":
        del container["u"]


def change_place(side, container, action, module):
    place = side.rng.choice([0, 1, -1, 5])
    if action == "set":
        container[place] = module
    elif action == "delete":
        del container[place if side.rng.random() < 0.5 else slice(place, None)]
    else:
        side.root.part = container[:place]


# ---- loading a damaged state ---------------------------------------------------------------------

def step_load(side):
    """Load the tree's own state, with other numbers and keys that miss, are too many or misfit."""
    rng, state = side.rng, side.root.state_dict(keep_vars=side.rng.random() < 0.2)
    metadata = copy.deepcopy(state._metadata)
    damage = rng.choice([0, 0.1, 0.3])
    damaged = OrderedDict()
    for key, tensor in state.items():
        if rng.random() < damage:
            side.seen["missing"] += 1
            continue
        damaged[key] = damage_tensor(side, tensor, damage)
    for _ in range(rng.choice([0, 0, 2]) if damage else 0):
        side.seen["unexpected"] += 1
        path = ".".join(rng.choice([*NAMES, "0", "u", "weight"]) for _ in range(rng.randint(1, 3)))
        damaged.setdefault(path, side.tensor())
    if rng.random() < 0.8:                             # without it, the state is of version 1
        damaged._metadata = metadata
    else:
        side.seen["no metadata"] += 1
        for key in [key for key in damaged if key.endswith("tracked")]:
            del damaged[key]
    strict, assign_ = rng.random() < 0.7, rng.random() < 0.3
    return side.root.load_state_dict(damaged, strict=strict, assign=assign_)


def damage_tensor(side, tensor, damage):
    if side.rng.random() < damage:
        side.seen["misfit"] += 1
        return side.rng.choice([side.tensor((2,)), side.tensor((1,)), 3.5, None])
    return side.tensor(tensor.shape).to(tensor.dtype)


STEPS = {step.__name__: step for step in (
    step_assign, step_delete, step_mode, step_to, step_apply, step_copy, step_container,
    step_load)}


# ---- hooks and the call --------------------------------------------------------------------------

def add_hooks(side, log):
    """Hooks of all kinds on random modules, some in front, some that change what they are given."""
    rng, handles, kinds = side.rng, [], ("forward_pre", "forward", "full_backward")
    paths = {module: path for path, module in side.root.named_modules()}
    for number in range(rng.randint(2, 6)):
        module, kind = pick(side), rng.choice(kinds)
        changes, front = rng.random() < 0.4, rng.random() < 0.3

        def hook(module, *given, number=number, kind=kind, changes=changes):
            log.append((number, kind, paths[module], len(given[0])))
            if not changes:
                return None
            if kind == "forward":
                return given[1] * 1.5
            return tuple(None if each is None else each * 0.5 for each in given[0])
        handles.append(getattr(module, f"register_{kind}_hook")(hook, prepend=front))
    for handle in handles:
        if rng.random() < 0.2:
            handle.remove()
            handle.remove()
    return handles


def called(side):
    """Output, gradients and the order of hooks of one call in float64, or how it is refused."""
    log, root = [], side.root.to(torch.float64)
    for param in root.parameters():
        param.grad = None
    handles = add_hooks(side, log)
    x = side.tensor((BATCH, WIDTH)).double().requires_grad_(side.rng.random() < 0.8)
    torch.manual_seed(side.rng.randint(0, 1000))       # for the dropout
    found = {"hooks": log}
    try:
        found |= forward_and_back(side, x)
    except (RuntimeError, NotImplementedError) as error:
        found["refused"] = f"{type(error).__name__}: {error}"
    found |= {f"grad of {path}": param.grad for path, param in root.named_parameters()}
    for handle in handles:
        handle.remove()
    return found


def forward_and_back(side, x):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Full backward hook is firing")   # torch: no input needs
        y = side.root(x)
        if y.requires_grad:
            (y * side.tensor(WIDTH)).sum().backward()
    return {"output": y.detach(), "grad of x": x.grad}
