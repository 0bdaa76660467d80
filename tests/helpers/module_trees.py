"""Random module trees, built twice: of mini_module and of torch.nn. What one does, the other does.

A tree is drawn from a seed, then changed by random steps, and after each step all that can be seen
of the two is compared. `Tree(seed).run()` raises Disagreement, or counts what occurred.
"""

import copy
import random
import re
import warnings
from collections import Counter, OrderedDict
from types import SimpleNamespace

import torch
from torch import nn

import mini_module
import mini_module_layers

WIDTH, BATCH = 4, 3
NAMES = "abcde"


class Disagreement(AssertionError):
    """mini_module and torch.nn do not do the same; the message says where."""


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
                x = through(child, x)
            return x

    def through(child, x):
        if child is None:
            return x
        if isinstance(child, found.ModuleList):
            for module in child:
                x = through(module, x)
            return x
        if isinstance(child, found.ModuleDict):
            for module in child.values():
                x = through(module, x)
            return x
        return child(x)

    Box.__qualname__ = "Box"
    found.Box = Box
    return found


ENGINES = engine(mini_module, mini_module_layers), engine(nn)


# ---- drawing a tree ------------------------------------------------------------------------------

class Builder:
    """A tree of one side. The same seed draws the same choices on either side."""

    def __init__(self, side, seed):
        self.nn, self.rng = side, random.Random(seed)
        self.numbers = torch.Generator().manual_seed(seed)
        self.modules, self.params, self.seen, self.refused = [], [], Counter(), []
        self.inside = []
        self.root = self.box(depth=3)

    def tensor(self, shape=(WIDTH,)):
        return torch.rand(shape, generator=self.numbers) + 0.5

    def box(self, depth):
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

    def make_box(self, depth):
        return self.box(depth)

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


# ---- steps: each is done to both sides, with the same choices ------------------------------------

def assign(side, box, depth=1):
    """Give a name of the box a value of any kind; it may have one of another kind already."""
    name, kind = side.rng.choice(NAMES), side.rng.choice(
        ["param", "param", "tied", "frozen", "buffer", "transient", "registered", "tensor", "none",
         "none", "number", "no param", "no buffer", *["child"] * 8, "result"])
    side.seen[kind] += 1
    if kind == "tied" and not side.params:
        kind = "param"
    if kind in ("param", "frozen"):
        value = side.nn.Parameter(side.tensor(), requires_grad=kind == "param")
        side.params.append(value)
    values = {
        "tied": lambda: side.rng.choice(side.params),
        "buffer": lambda: side.nn.Buffer(side.tensor()),
        "transient": lambda: side.nn.Buffer(side.tensor(), persistent=False),
        "tensor": side.tensor, "none": lambda: None, "number": lambda: 7,
        "child": lambda: side.module(depth, inside=box)}
    if kind == "no param":
        box.register_parameter(name, None)
    elif kind == "no buffer":
        box.register_buffer(name, None, side.rng.random() < 0.5)
    elif kind == "registered":
        box.register_buffer(name, side.tensor(), side.rng.random() < 0.5)
    elif kind == "result":
        box.register_parameter(name, side.nn.Parameter(side.tensor()) * 1)
    else:
        setattr(box, name, values[kind]() if kind in values else value)


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
        place = side.rng.choice([0, 1, -1, 5])
        if action == "set":
            container[place] = module
        elif action == "delete":
            del container[place if side.rng.random() < 0.5 else slice(place, None)]
        else:
            side.root.part = container[:place]
    elif action == "delete":
        del container["u"]


STEPS = {step.__name__: step for step in (
    step_assign, step_delete, step_mode, step_to, step_apply, step_copy, step_container)}


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


STEPS["step_load"] = step_load


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
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Full backward hook is firing")   # torch: no input needs
        try:
            y = root(x)
            found["output"] = y.detach()
            if y.requires_grad:
                (y * side.tensor(WIDTH)).sum().backward()
            found["grad of x"] = x.grad
        except (RuntimeError, NotImplementedError) as error:
            found["refused"] = f"{type(error).__name__}: {error}"
    found |= {f"grad of {path}": param.grad for path, param in root.named_parameters()}
    for handle in handles:
        handle.remove()
    return found


# ---- what can be seen of a tree ------------------------------------------------------------------

def seen(root):
    """All names in order, which objects are one object, flags, values, state and metadata."""
    found, number = OrderedDict(), {}

    def identity(thing):
        return number.setdefault(id(thing), len(number))
    for once in (True, False):
        found[f"modules, once {once}"] = [
            (path, type(module).__name__, identity(module), module.training)
            for path, module in root.named_modules(remove_duplicate=once)]
        for what in ("parameters", "buffers"):
            members = list(getattr(root, f"named_{what}")(remove_duplicate=once))
            found[f"{what}, once {once}"] = [
                (path, identity(t), t.requires_grad, t.dtype) for path, t in members]
            found[f"values of {what}, once {once}"] = [t.detach() for _, t in members]
    for path, module in root.named_modules():
        tables = module._parameters, module._buffers, module._modules
        found[f"tables of {path}"] = [[(name, value is None) for name, value in table.items()]
                                      for table in tables]
        found[f"not saved of {path}"] = sorted(module._non_persistent_buffers_set)
        found[f"children of {path}"] = [name for name, _ in module.named_children()]
        found[f"attributes of {path}"] = sorted(set(vars(module)) & {*NAMES})
    state = root.state_dict()
    found["layers"] = Counter(type(module).__name__ for module in root.modules())
    found["state"] = [(key, t.dtype, t.requires_grad, type(t)) for key, t in state.items()]
    found["values of the state"] = list(state.values())
    found["metadata"] = [(path, dict(entry)) for path, entry in state._metadata.items()]
    return found


def differ(ours, theirs):
    """Whether two findings differ; tensors up to rounding."""
    if isinstance(ours, torch.Tensor) and isinstance(theirs, torch.Tensor):
        return ours.dtype != theirs.dtype or not torch.allclose(
            ours, theirs, rtol=1e-5, atol=1e-7, equal_nan=True)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) != len(theirs) or any(map(differ, ours, theirs))
    return ours != theirs


def same(what, ours, theirs):
    if ours.keys() != theirs.keys():
        raise Disagreement(f"{what}: only one side has {sorted(ours.keys() ^ theirs.keys())}: "
                           f"{[side.get('refused') for side in (ours, theirs)]}")
    for key in ours:
        if differ(ours[key], theirs[key]):
            raise Disagreement(f"{what}: {key}: ours {ours[key]}; torch {theirs[key]}")


# ---- one case ------------------------------------------------------------------------------------

def plain(error):
    """Type and text of an error, without where a class lives and what torch adds as advice."""
    text = re.sub(r"(torch|mini_module)[\w.]*\.(?=[A-Z])", "", str(error))
    for advice in (". Model parameters must be created", '", got: '):
        text = text.split(advice)[0].rstrip('"')
    return type(error).__name__, text.rstrip(".\"'")


def attempt(function, side):
    """What a step returns, or how it is refused."""
    try:
        return function(side)
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError) as error:
        return plain(error)


class Tree:
    """The same random tree of mini_module and of torch.nn, and steps that change both."""

    def __init__(self, seed, steps=6):
        self.steps, self.seen = steps, Counter(trees=1)
        self.sides = [Builder(side, seed) for side in ENGINES]

    def run(self):
        ours, theirs = self.sides
        self.compare("built", ours.refused, theirs.refused)
        for _ in range(self.steps):
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
