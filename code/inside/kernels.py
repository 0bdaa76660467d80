"""Which kernels of an operator a call on CPU tensors runs, from their keys and torch's tables."""

import torch


def keys(*tensors):
    """Names of the dispatch keys of CPU `tensors`, highest priority first."""
    return names_of(union(*map(torch._C._dispatch_keys, tensors)))


def union(*sets):
    """The dispatch keys that are in any of the sets."""
    raw = 0
    for one in sets:
        raw |= one.raw_repr()
    return torch._C.DispatchKeySet.from_raw_repr(raw)


def names_of(key_set):
    """Names of the keys in a set, highest priority first."""
    found = []
    while (key := key_set.highestPriorityTypeId()) != torch._C.DispatchKey.Undefined:
        found.append(key.name)
        key_set = key_set.remove(key)
    return found


def active(*tensors):
    """Keys that a call on CPU `tensors` looks at now: (theirs | included) - excluded."""
    single, of = torch._C.DispatchKey, torch._C.DispatchKeySet
    wanted = union(*map(torch._C._dispatch_keys, tensors),
                   torch._C._dispatch_tls_local_include_set()).raw_repr()
    # One bit of a key names its backend. Excluding a key excludes what it does, on any backend.
    backend = of(single.CPU).raw_repr() & of(single.AutogradCPU).raw_repr()
    excluded = torch._C._dispatch_tls_local_exclude_set().raw_repr() & ~backend
    return names_of(of.from_raw_repr(wanted & ~excluded))


def kernels(operator, *tensors):
    """Keys whose kernels a call of `operator` (as in "aten::add.Tensor") may run, in order.

    Each kernel but the last calls the dispatcher again with its own key excluded (a composite one
    calls other operators instead). Keys whose kernel only falls through to the next are left out.
    """
    lines = torch._C._dispatch_dump_table(operator).splitlines()
    table = dict(line.split(": ", 1) for line in lines if ": " in line)
    return [key for key in active(*tensors) if not table[key].startswith("fallthrough")]
