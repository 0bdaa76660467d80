"""What `mini_compile` made of a function, step by step, and what passes through memory.

    seen = mini_compile.explain(f, x)
    steps(seen.graphs[0])       # its loops and calls in the order in which they run
    moved(seen.graphs[0])       # how many numbers they read from memory and write to it
    moved_in_eager(run)         # the same for what eager mode does while `run()` runs

The loops are planned again from the graph, so all of this works without a C++ compiler.
"""
import math
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from mini_compile_groups import Group, plan, tensors

__all__ = ["Step", "linked_nodes", "moved", "moved_in_eager", "operators_run", "steps"]
FREE = ("a view costs nothing",)


@dataclass(frozen=True)
class Step:
    """A loop or a call: its nodes, and the (node, reader) pairs that reach it through memory."""

    kind: str
    nodes: tuple[str, ...]
    reads: tuple[tuple[str, str], ...]


def source_of(node, free):
    """The node whose memory a view reads."""
    while node in free:
        node = node.args[0]
    return node


def steps(compiled):
    """The steps of one graph (`mini_compile.Compiled`), without the calls that only make a view."""
    order, alone = plan(compiled.module.graph)
    free = {node for node, why in alone.items() if why in FREE}
    found = []
    for one in order:
        nodes = one.nodes if isinstance(one, Group) else [one]
        if nodes[0] in free:
            continue
        reads = {(source_of(read, free).name, node.name): None for node in nodes
                 for read in node.all_input_nodes
                 if source_of(read, free) not in nodes
                 and source_of(read, free).op != "placeholder"}
        found.append(Step("loop" if isinstance(one, Group) else "call",
                          tuple(node.name for node in nodes), tuple(reads)))
    return tuple(found)


def linked_nodes(compiled):
    """(operators in their order, those that have a rule, linked) of one graph.

    `linked(first, then)` says whether `then` can take the value of `first` inside one loop.
    """
    order, alone = plan(compiled.module.graph)
    places = next(one.places for one in order if isinstance(one, Group))
    nodes = [node for node in compiled.module.graph.nodes
             if node.op not in ("placeholder", "output")]
    return nodes, {node for node in nodes if node not in alone}, places.linked


# ---- what passes through memory ---------------------------------------------------------------

def numbers_in(value):
    """How many numbers lie in the memory of a tensor; one that is broadcast counts once."""
    sizes = zip(value.shape, value.stride(), strict=True)
    return math.prod(size for size, stride in sizes if stride or size == 0)


def moved(compiled):
    """How many numbers the loops and calls of one graph read and write, views left out."""
    free = {node for node, why in compiled.alone.items() if why in FREE}
    total = 0
    for loop in compiled.loops:
        total += sum(numbers_in(node.meta["val"]) for node in loop.inputs + loop.outputs)
    for node in compiled.alone.keys() - free:
        total += sum(numbers_in(one.meta["val"]) for one in [*tensors(node), node])
    return total


class Recorder(TorchDispatchMode):
    """The operators that run while it is open, with what each moves."""

    def __init__(self):
        super().__init__()
        self.names, self.moved = [], 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.names.append(func._schema.name.removeprefix("aten::"))
        if func._schema.returns[0].alias_info is None and self.names[-1] != "detach":
            self.moved += sum(numbers_in(one) for one in tree_leaves((args, kwargs, result))
                              if isinstance(one, torch.Tensor))
        return result


def operators_run(run):
    """The names of the ATen operators that run while `run()` runs, backward included."""
    with Recorder() as recorder:
        run()
    return recorder.names


def moved_in_eager(run):
    """How many numbers these operators read and write, views left out."""
    with Recorder() as recorder:
        run()
    return recorder.moved
