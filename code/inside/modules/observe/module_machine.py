"""Which parts of a module each walk reaches: call, `to`, `load_state_dict`, `train`, `parameters`.

Each walk is really taken, on a copy of the model, and what it did is read afterwards: hooks that
ran, tensors that were passed on, versions that grew, flags that changed.
"""

import copy
from dataclasses import dataclass

import torch
from torch import nn

from inside.modules.observe.module_tree import (
    BUFFER,
    NON_PERSISTENT,
    PARAMETER,
    UNREGISTERED,
    read_module,
)

YES = "yes"
SHELVES = {PARAMETER: "P", BUFFER: "B", NON_PERSISTENT: "B", "module": "M", UNREGISTERED: "×"}


@dataclass(frozen=True)
class Part:
    """A module or tensor of the tree; `path` is its name in `named_modules` or `state_dict`."""

    depth: int
    path: str
    words: str
    kind: str  # "module", or one of the kinds of `module_tree`


def parts(model):
    """Every `Part` of the model from the top down, the model itself first."""
    return list(below(read_module(model), 0))


def below(branch, depth):
    words = f"{branch.name}: {branch.type}" if branch.name else branch.type
    kind = "module" if branch.registered else UNREGISTERED
    yield Part(depth, branch.path, words, kind)
    for held in branch.tensors:
        yield Part(depth + 1, held.path, held.name, held.kind)
    for inner in branch.modules:
        yield from below(inner, depth + 1)


def walks(model, *inputs):
    """{walk: {path: its mark}} for the six walks; the model is left as it is.

    A mark is `YES`, the letter of a dictionary (P, B, M, × for none) or, for a call with `inputs`,
    the place in the order in which modules begin, such as "3" or "2, 5".
    """
    return {
        "assignment": {part.path: SHELVES[part.kind] for part in parts(model) if part.path},
        "call": called(copied(model), inputs),
        "to": moved(copied(model)),
        "load_state_dict": loaded(copied(model)),
        "train": switched(copied(model)),
        "parameters": dict.fromkeys(dict(model.named_parameters()), YES),
    }


def copied(model):
    """A copy with tensors of its own, tied where the model's are; also for devices whose tensors
    `deepcopy` cannot copy."""
    memo = {}
    for tensor in tensors(model).values():
        twin = tensor.detach().clone().requires_grad_(tensor.requires_grad)
        is_parameter = isinstance(tensor, nn.Parameter)
        memo[id(tensor)] = nn.Parameter(twin, tensor.requires_grad) if is_parameter else twin
    return copy.deepcopy(model, memo)


def called(model, inputs):
    """Calls the model; a hook on each module notes when it begins."""
    order = []
    for path, module in model.named_modules():
        module.register_forward_pre_hook(lambda *_, path=path: order.append(path))
    with torch.no_grad():
        model(*inputs)
    marks = {}
    for place, path in enumerate(order, 1):
        marks[path] = f"{marks[path]}, {place}" if path in marks else str(place)
    return marks


def moved(model):
    """What `to` passes to its conversion, here one that returns each tensor as it is."""
    seen, names = set(), tensors(model)

    def note(tensor):
        seen.add(id(tensor))
        return tensor

    model._apply(note)
    return {path: YES for path, tensor in names.items() if id(tensor) in seen}


def loaded(model):
    """The tensors whose versions grow when the model's own values are loaded."""
    names = tensors(model)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    before = {path: tensor._version for path, tensor in names.items()}
    model.load_state_dict(state)
    return {path: YES for path, tensor in names.items() if tensor._version > before[path]}


def switched(model):
    """The modules whose `training` changes when the model's mode does."""
    modules = {part.path: part.module for part in read_module(model).walk()}
    before = {path: module.training for path, module in modules.items()}
    model.train(not model.training)
    return {path: YES for path, module in modules.items() if module.training != before[path]}


def tensors(model):
    """{path: tensor} of all that the modules hold, registered or not."""
    return {held.path: held.tensor for branch in read_module(model).walk()
            for held in branch.tensors}
