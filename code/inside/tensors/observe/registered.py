"""Who answers for an operator under each dispatch key: its own kernel, a fallback, or nobody."""

import torch

KEYS = ("FuncTorchBatched", "AutocastCPU", "AutogradCPU", "CPU", "CUDA", "Meta")


def answers(name, keys=KEYS):
    """{key: kernel, fallback, fallthrough or nothing} of an operator, named as in `aten::mm`.

    A fallthrough is a fallback that only passes the call on. Raises ValueError for an unknown
    operator. Source: c10::impl::OperatorEntry::computeDispatchTableEntry.
    """
    try:
        torch._C._dispatch_find_schema_or_throw(*name.partition(".")[::2])
    except RuntimeError:
        raise ValueError(f"{name}: no such operator; name it as in aten::mm") from None
    table = torch._C._dispatch_dump_table(name)
    found = dict.fromkeys(keys, "nothing")
    for line in table.splitlines():
        key, _, entry = line.partition(": ")
        if key in found:
            found[key] = kind(entry)
    return found


def kind(entry):
    """What one line of the table says, without where it was registered."""
    if entry.startswith("fallthrough"):
        return "fallthrough"
    return "fallback" if entry.endswith("[backend fallback]") else "kernel"
