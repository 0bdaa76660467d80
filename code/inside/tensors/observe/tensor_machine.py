"""A tensor's fields and keys, how a call on it was dispatched, and who shares what with whom."""

from dataclasses import dataclass

import torch

from inside.observe.storages import group
from inside.tensors.observe.dispatch import Trace, active, kernels, key_names


@dataclass(frozen=True)
class Step:
    """One call: its text, the name it gives the result, the operator, the keys of each kind."""

    words: str
    name: str
    operator: str
    ran: tuple[str, ...]
    excluded: tuple[str, ...]

    def fate(self, key):
        if key in self.ran:
            return "kernel"
        return "excluded" if key in self.excluded else "fallthrough"


def take(words, call, tensor):
    """Make one call and read how it was dispatched: (the step, its result)."""
    with Trace() as trace:
        result = call(tensor)
    [operator] = trace.names
    ran = tuple(kernels(operator, tensor))
    excluded = tuple(key for key in keys(tensor) if key not in key_names(active(tensor)))
    name = words.partition(" = ")[0]
    return Step(words, name, f"aten::{operator}", ran, excluded), result


def keys(tensor):
    """Names of the keys that a tensor carries, highest priority first."""
    return key_names(torch._C._dispatch_keys(tensor))


def fields(tensor):
    """The fields of a TensorImpl as (name, value)."""
    return [
        ("sizes", str(tuple(tensor.shape))),
        ("strides", str(tensor.stride())),
        ("storage_offset", str(tensor.storage_offset())),
        ("dtype", str(tensor.dtype).removeprefix("torch.")),
        ("key_set", f"{len(keys(tensor))} keys"),
        ("grad_fn", tensor.grad_fn.name() if tensor.grad_fn else "None"),
    ]


def storages(tensors):
    """(columns, storage) for each storage below the tensors."""
    order = {id(tensor): n for n, tensor in enumerate(tensors.values())}
    return [([order[id(handle.tensor)] for handle in storage.handles], storage)
            for storage in group(tensors)]


def counters(tensors):
    """(columns, version) for each version counter: a view has the one of its base."""
    found = {}
    for n, tensor in enumerate(tensors.values()):
        base = tensor if tensor._base is None else tensor._base
        found.setdefault(id(base), ([], tensor._version))[0].append(n)
    return list(found.values())
