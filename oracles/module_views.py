"""What can be seen of a module tree of either side, and whether two sides agree in it."""

import re
from collections import Counter, OrderedDict

import torch

NAMES = "abcde"    # of what a Box owns


class Disagreement(AssertionError):
    """mini_module and torch.nn do not do the same; the message says where."""


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
    found["layers"] = Counter(type(module).__name__ for module in root.modules())
    for path, module in root.named_modules():
        found.update({f"{what} of {path}": value for what, value in inside(module).items()})
    return found | saved(root)


def inside(module):
    """What a single module holds, by name."""
    tables = module._parameters, module._buffers, module._modules
    return {"tables": [[(name, value is None) for name, value in table.items()]
                       for table in tables],
            "not saved": sorted(module._non_persistent_buffers_set),
            "children": [name for name, _ in module.named_children()],
            "attributes": sorted(set(vars(module)) & {*NAMES})}


def saved(root):
    """Keys, kinds, values and metadata of the state."""
    state = root.state_dict()
    return {"state": [(key, t.dtype, t.requires_grad, type(t)) for key, t in state.items()],
            "values of the state": list(state.values()),
            "metadata": [(path, dict(entry)) for path, entry in state._metadata.items()]}


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


def plain(error):
    """Type and text of an error, without where a class lives and what torch adds as advice."""
    text = re.sub(r"(torch|mini_module)[\w.]*\.(?=[A-Z])", "", str(error))
    for advice in (". Model parameters must be created", '", got: '):
        text = text.split(advice)[0].rstrip('"')
    return type(error).__name__, text.rstrip(".\"'")
