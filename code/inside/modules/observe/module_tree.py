"""What a module holds: its modules, parameters and buffers, and the tensors it does not know of.

Registered is what `nn.Module` keeps in `_parameters`, `_buffers` and `_modules`. Whatever else
holds a tensor or a module, a plain attribute or a Python list, is found by looking through the
attributes; `parameters()`, `to` and `state_dict` do not look there.
"""

from dataclasses import dataclass, field
from itertools import count, product
from string import ascii_uppercase

import torch
from torch import nn
from torch.nn.parameter import is_lazy

PARAMETER, BUFFER, NON_PERSISTENT, UNREGISTERED = KINDS = (
    "parameter", "buffer", "non-persistent", "unregistered")
OWN = frozenset(vars(nn.Module()))  # the attributes that a module has before anything is assigned
HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks",
         "_state_dict_pre_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks",
         "_load_state_dict_post_hooks")


# ---------------------------------------------------------------- what is read
@dataclass(frozen=True)
class Held:
    """A tensor and the attribute that holds it; `kind` is one of `KINDS`.

    `shape` is None for a parameter that a lazy module has not made yet; `nbytes` are the bytes
    of its elements. Tensors on one storage have the same `letter`, others have "".
    """

    name: str
    path: str
    kind: str
    shape: tuple[int, ...] | None
    dtype: str
    nbytes: int
    requires_grad: bool
    letter: str = ""
    tensor: torch.Tensor = field(default=None, repr=False, compare=False)

    @property
    def spelled(self):
        """The shape, with the dtype where it is not the usual one."""
        shape = "?" if self.shape is None else str(self.shape)
        return shape if self.dtype == "float32" else f"{shape} {self.dtype}"


@dataclass(frozen=True)
class Branch:
    """A module at one place of the tree, with what it holds in the order of registration.

    `hooks` are (name of the dictionary, how many) where there are any. A module that stands at
    several places has a `letter`, and all but the first leave out what is in it (`again`).
    """

    name: str
    path: str
    type: str
    registered: bool
    training: bool
    hooks: tuple[tuple[str, int], ...]
    letter: str = ""
    again: bool = False
    tensors: tuple[Held, ...] = ()
    modules: tuple["Branch", ...] = ()
    module: nn.Module = field(default=None, repr=False, compare=False)

    def walk(self):
        """This branch and all below it, from the top down."""
        yield self
        for below in self.modules:
            yield from below.walk()


@dataclass(frozen=True)
class Tie:
    """Places that lead to one module, one tensor object, or several tensors on one storage."""

    letter: str
    what: str  # "module", "tensor" or "storage"
    paths: tuple[str, ...]


def read_module(model):
    """The tree of `model`, an `nn.Module`, as a `Branch`; nothing is called or changed.

    Looked through for unregistered tensors and modules are plain attributes and the lists,
    tuples and dictionaries in them. What is registered elsewhere in the model is not
    unregistered. Raises `TypeError` for what is not a module.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"{type(model).__name__}: pass an nn.Module")
    return Reader(model).branch("", "", model, True)


def ties(tree):
    """The `Tie` of each letter, in the order of letters."""
    found = {}
    for branch in tree.walk():
        if branch.letter:
            found.setdefault(branch.letter, []).append((branch.path, branch.module))
        for held in branch.tensors:
            if held.letter:
                found.setdefault(held.letter, []).append((held.path, held.tensor))
    return [Tie(letter, what_is_shared([thing for _, thing in places]),
                tuple(path for path, _ in places))
            for letter, places in sorted(found.items(), key=lambda one: (len(one[0]), one[0]))]


def what_is_shared(things):
    if isinstance(things[0], nn.Module):
        return "module"
    return "tensor" if len({id(thing) for thing in things}) == 1 else "storage"


def totals(model):
    """{"parameters": (how many, bytes), "buffers": …, "state_dict": …}.

    `parameters()` and `buffers()` return a tensor once however many names it has; `state_dict`
    has an entry per name. The bytes are those of the storages, each counted once and whole.
    """
    named = dict(model.named_parameters(remove_duplicate=False))
    for path, module in model.named_modules(remove_duplicate=False):
        named |= {f"{path}.{name}" if path else name: tensor
                  for name, tensor in module._buffers.items()
                  if tensor is not None and name not in module._non_persistent_buffers_set}
    lists = {"parameters": list(model.parameters()), "buffers": list(model.buffers()),
             "state_dict": list(named.values())}
    return {name: (len(tensors), storage_bytes(tensors)) for name, tensors in lists.items()}


# ---------------------------------------------------------------- reading
class Reader:
    """Reads one model; knows what it has met, so that sharing is found by identity."""

    def __init__(self, model):
        self.registered = {id(module) for module in model.modules()}
        self.registered |= {id(t) for m in model.modules()
                            for t in (*m._parameters.values(), *m._buffers.values())}
        self.met, self.letters, self.fresh = set(), {}, letters()
        self.places = self.count_places(model)

    def count_places(self, model):
        """{key of a module or a storage: how many places of the tree lead to it}."""
        places, met, left = {id(model): 1}, {id(model)}, [model]
        while left:
            for _, _, thing in self.things(left.pop()):
                places[key_of(thing)] = places.get(key_of(thing), 0) + 1
                if isinstance(thing, nn.Module) and id(thing) not in met:
                    met.add(id(thing))
                    left.append(thing)
        return places

    def branch(self, name, path, module, registered):
        again, letter = id(module) in self.met, self.letter(module)
        self.met.add(id(module))
        tensors, modules = [], []
        for inner, kind, thing in () if again else self.things(module):
            where = f"{path}.{inner}" if path else inner
            known = registered and kind != UNREGISTERED
            if isinstance(thing, nn.Module):
                modules.append(self.branch(inner, where, thing, known))
            else:
                tensors.append(self.held(inner, where, kind if known else UNREGISTERED, thing))
        hooks = tuple((kind, n) for kind in HOOKS if (n := len(getattr(module, kind, ()))))
        return Branch(name, path, type(module).__name__, registered, module.training, hooks,
                      letter, again, tuple(tensors), tuple(modules), module)

    def things(self, module):
        """(name, kind, tensor or module) of all that the module holds itself."""
        yield from ((name, PARAMETER, t) for name, t in present(module._parameters))
        for name, tensor in present(module._buffers):
            gone = name in module._non_persistent_buffers_set
            yield name, NON_PERSISTENT if gone else BUFFER, tensor
        for name, value in vars(module).items():
            for place, thing in hidden(name, value) if name not in OWN else ():
                if id(thing) not in self.registered:
                    yield place, UNREGISTERED, thing
        yield from ((name, "module", child) for name, child in present(module._modules))

    def held(self, name, path, kind, tensor):
        lazy = is_lazy(tensor)
        shape, nbytes = (None, 0) if lazy else (tuple(tensor.shape), own_bytes(tensor))
        return Held(name, path, kind, shape, str(tensor.dtype).removeprefix("torch."), nbytes,
                    tensor.requires_grad, self.letter(tensor), tensor)

    def letter(self, thing):
        """The letter of what stands at several places, "" for what stands at one."""
        key = key_of(thing)
        if self.places[key] < 2:
            return ""
        if key not in self.letters:
            self.letters[key] = next(self.fresh)
        return self.letters[key]


def present(entries):
    """(name, value) of what is not None, such as the bias of `Linear(2, 2, bias=False)`."""
    return [(name, value) for name, value in entries.items() if value is not None]


def hidden(name, value, around=()):
    """(place, tensor or module) in a value: itself, or what its containers hold."""
    if isinstance(value, torch.Tensor | nn.Module):
        yield name, value
    elif isinstance(value, list | tuple | dict) and id(value) not in around:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in items:
            yield from hidden(f"{name}[{key!r}]", inner, (*around, id(value)))


def letters():
    """A to Z, then AA, AB, …"""
    for length in count(1):
        yield from map("".join, product(ascii_uppercase, repeat=length))


def key_of(thing):
    """What makes two places the same: one module, or one storage."""
    return id(thing) if isinstance(thing, nn.Module) else storage_key(thing)


def storage_key(tensor):
    """Which storage the tensor reads; a tensor that has no one storage stands for itself."""
    if is_lazy(tensor) or tensor.layout != torch.strided:
        return "alone", id(tensor)
    return "storage", tensor.untyped_storage()._cdata


def storage_bytes(tensors):
    """The bytes of the storages below the tensors, each storage once."""
    sizes = {}
    for tensor in tensors:
        if not is_lazy(tensor):
            strided = tensor.layout == torch.strided
            sizes[storage_key(tensor)] = (
                tensor.untyped_storage().nbytes() if strided else own_bytes(tensor))
    return sum(sizes.values())


def own_bytes(tensor):
    """The bytes of a tensor's elements; of a COO one those of indices and values."""
    if tensor.layout == torch.sparse_coo:
        return tensor._indices().nbytes + tensor._values().nbytes
    return tensor.numel() * tensor.element_size()
