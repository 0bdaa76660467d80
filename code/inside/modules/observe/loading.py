"""What `load_state_dict` would do with each key: copy, refuse the shape, miss or ignore it."""

import copy
import re
from dataclasses import dataclass
from itertools import chain

import torch
from torch import nn

MISMATCH = re.compile(r"size mismatch for (\S+?):")


@dataclass(frozen=True)
class Fate:
    """One key: the shapes on both sides (None where the key is absent) and what becomes of it.

    `fate` is "copied", "mismatch", "missing" (only the model has it) or "unexpected" (only the
    file has it).
    """

    key: str
    in_file: tuple[int, ...] | None
    in_model: tuple[int, ...] | None
    fate: str


def read(model, state_dict):
    """The fates of all keys, the model's in its order and then the unexpected ones.

    A copy of `model` loads a copy of `state_dict` with `strict=False`, both on the meta device, so
    that neither changes and no value is copied. Raises the `RuntimeError` of the load if it says
    more than mismatched sizes.
    """
    tensors = chain(model.parameters(), model.buffers())
    trial, found = copy.deepcopy(model, {id(tensor): empty(tensor) for tensor in tensors}), {}
    trial.register_load_state_dict_post_hook(lambda module, keys: found.update(keys._asdict()))
    mismatched = load(trial, {key: empty(value) for key, value in state_dict.items()})
    return [
        Fate(key, shape(state_dict.get(key)), shape(own.get(key)), fate)
        for own in [model.state_dict()]
        for key in [*own, *found["unexpected_keys"]]
        for fate in [fate_of(key, mismatched, found)]
    ]


def empty(value):
    """A tensor's shape and dtype without its values; what is no tensor as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    bare = torch.empty_like(value, device="meta", requires_grad=False)
    if not isinstance(value, nn.Parameter):
        return bare
    return nn.Parameter(bare, requires_grad=value.requires_grad)


def load(model, state_dict):
    """The keys whose sizes differ."""
    try:
        model.load_state_dict(state_dict, strict=False)
    except RuntimeError as error:
        messages = str(error).splitlines()[1:]
        if not all(MISMATCH.search(line) for line in messages):
            raise
        return MISMATCH.findall(str(error))
    return []


def fate_of(key, mismatched, found):
    if key in mismatched:
        return "mismatch"
    if key in found["missing_keys"]:
        return "missing"
    return "unexpected" if key in found["unexpected_keys"] else "copied"


def shape(value):
    """The shape of a tensor; () for what is no tensor (an extra state); None for None."""
    return None if value is None else tuple(getattr(value, "shape", ()))
