"""Which operators share a loop.

Each node that has a rule gets a space, the shape that a loop would walk over, split into rows: the
last `split` dimensions are one row, which a reduction turns into one value. Without a reduction
nearby nothing is split. Two neighbours are linked if the second can take the value of the first
inside one loop. Then each node gets a stage:

    0 for an input;
    otherwise the largest over its operands: one more than the operand's stage if the operand is in
    a loop and the two are not linked, and the operand's stage in all other cases.

The nodes of one stage and one space (shape and split) are one loop, up to 64 of them. Operators
outside of loops run first in their stage. So along an edge the stage never falls, and where an edge
leaves a loop, the stage rises. No path that has left a loop can come back to it: the loops can run
in the order of their stages.
At the end a node moves to the stage of its first reader, if each reader could share its loop.
Source: torch/_inductor/scheduler.py (can_fuse) decides by pairs and has to look for such circles.
"""
from dataclasses import dataclass, field

import torch

from mini_compile_dtypes import CPP
from mini_compile_eager import refusal
from mini_compile_operators import NotInTable, name_of, reduction_of, rule_of

__all__ = ["VIEWS", "Group", "Places", "is_name", "plan", "why_not"]
LARGEST_GROUP = 64                                   # nodes in one loop

# Views that keep the values in their order: inside a loop they are only another name.
NAMES = {"view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "expand", "alias", "detach"}
VIEWS = NAMES | {"t", "transpose", "permute", "select", "slice", "as_strided", "diagonal", "split",
                 "split_with_sizes", "unbind", "unfold", "view_as_real"}


def key(shape):
    """A shape that can be compared without adding a guard: symbolic sizes by their expression."""
    return tuple(size.node.expr if isinstance(size, torch.SymInt) else size for size in shape)


def is_name(node):
    """Whether a node is another name for a value; view.dtype reads its bits as something else."""
    return name_of(node) in NAMES and node.target._overloadname != "dtype"


# --- 1. Has this node a rule? ---------------------------------------------------------------------

def why_not(node):
    """Why a node is no part of a loop, in one line; None if it has a rule."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return "no operator of ATen"
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return "its result is no single tensor"
    for tensor in [value, *(one.meta["val"] for one in tensors(node))]:
        if reason := why_not_tensor(tensor):
            return reason
    given = [one.meta.get("val") for one in node.all_input_nodes]
    if any(isinstance(one, (torch.SymFloat, torch.SymBool)) for one in given):
        return "an operand that is a symbolic float or bool"
    if any(from_data(key([one])[0]) for one in given if isinstance(one, torch.SymInt)):
        return "a number that only the data tell"
    if is_name(node):
        return None
    if name_of(node) in VIEWS:
        return "a view costs nothing"
    if any(s == 0 and n != 1 for n, s in zip(key(value.shape), key(value.stride()), strict=True)):
        return "its result overlaps itself"
    try:
        reason = why_not_reduction(node) if reduction_of(node) else rule_of(node) and None
    except NotInTable as problem:
        return str(problem)
    return reason or refusal(node.target, node.args, node.kwargs)


def why_not_tensor(tensor):
    if tensor.device.type != "cpu":
        return f"loops are for the CPU, this is on {tensor.device.type}"
    if tensor.dtype not in CPP:
        return f"no rule for {tensor.dtype}"
    if tensor.layout != torch.strided or getattr(tensor, "is_quantized", False):
        return f"no rule for the layout {tensor.layout}"
    if any(map(from_data, [*key(tensor.shape), *key(tensor.stride())])):
        return "a size that only the data tell"
    return None


def from_data(size):
    """Whether a size is computed from a number that stands in a tensor (x.item())."""
    return any(str(one).startswith("u") for one in getattr(size, "free_symbols", ()))


def why_not_reduction(node):
    value, (_, dims, _) = node.args[0].meta["val"], reduction_of(node)
    if value.dim() == 0:
        return "a reduction of a single number"
    if dims != list(range(value.dim() - len(dims), value.dim())):
        return "a reduction over other dimensions than the last ones"
    return None


def tensors(node):
    """The operands that are tensors."""
    return [one for one in node.all_input_nodes if isinstance(one.meta.get("val"), torch.Tensor)]


# --- 2. Spaces and links --------------------------------------------------------------------------

@dataclass
class Places:
    """Of each node with a rule: its space, and whether it has one value for a whole row."""

    space: dict = field(default_factory=dict)        # node: (shape, split)
    row: dict = field(default_factory=dict)          # node: bool
    stage: dict = field(default_factory=dict)        # of each node of the graph
    sizes: dict = field(default_factory=dict)        # space: its shape as the graph has it

    def row_shapes(self, space):
        """A row's values, without the reduced dimensions and with them: (N,) and (N, 1)."""
        shape, split = space
        outer = shape[:len(shape) - split]
        return outer, outer + (1,) * split

    def fits(self, node, space):
        """Whether a node that is no reduction can be computed in a loop over this space."""
        shape = key(node.meta["val"].shape)
        return shape == space[0] or (space[1] > 0 and shape in self.row_shapes(space))

    def linked(self, first, then):
        """Whether `then` can take the value of `first` inside one loop."""
        space = self.space.get(first)
        if space is None or space != self.space.get(then):
            return False
        made, wanted = key(first.meta["val"].shape), key(then.meta["val"].shape)
        if not self.row[first]:
            return reduces(then) or not self.row[then]
        if reduces(then):
            return False
        if self.row[then]:
            return made == wanted or is_name(then)
        return made in ((), self.row_shapes(space)[1])


def reduces(node):
    return reduction_of(node) is not None


def place(nodes):
    """Spaces of the nodes that have a rule: first from a reduction back, then on from it."""
    places = Places()
    for node in reversed(nodes):
        value = node.meta["val"]
        places.space[node] = next(
            (places.space[user] for user in node.users
             if places.space.get(user, ((), 0))[1] and key(value.shape) == places.space[user][0]),
            (key(value.shape), 0))
        if reduces(node):
            value = node.args[0].meta["val"]
            places.space[node] = (key(value.shape), len(reduction_of(node)[1]))
        places.sizes.setdefault(places.space[node], value.shape)
    for node in nodes:
        before = [one for one in tensors(node) if one in places.row]
        if not reduces(node):
            for one in before:
                space = places.space[one]
                if space[1] and places.fits(node, space):
                    places.space[node] = space
        places.row[node] = has_row_value(node, places, before)
    return places


def has_row_value(node, places, before):
    space, shape = places.space[node], key(node.meta["val"].shape)
    if reduces(node) or shape != space[0]:
        return True
    inside = [one for one in before if places.space[one] == space]
    return (space[1] > 0 and shape in places.row_shapes(space) and bool(inside)
            and all(places.row[one] for one in inside))


# --- 3. Stages and groups -------------------------------------------------------------------------

@dataclass
class Group:
    """Nodes that share a loop, in the order of the graph."""

    nodes: list
    space: tuple
    places: Places


def plan(graph):
    """Groups and single nodes in an order that can run, and {node: why it is in no loop}."""
    nodes = [node for node in graph.nodes if node.op not in ("placeholder", "output")]
    reasons = {node: why_not(node) for node in nodes}
    places = place([node for node in nodes if reasons[node] is None])
    stage_all(nodes, places, reasons)
    groups, alone = {}, []
    for node in nodes:
        if reasons[node] is None:
            groups.setdefault((places.stage[node], places.space[node]), []).append(node)
        else:
            alone.append(node)
    order = [(places.stage[node], 0, node) for node in alone]
    for (stage, space), members in groups.items():
        for at in range(0, len(members), LARGEST_GROUP):
            order.append((stage, 1, Group(members[at:at + LARGEST_GROUP], space, places)))
    order.sort(key=lambda one: one[:2])
    return [one[2] for one in order], {node: why for node, why in reasons.items() if why}


def stage_all(nodes, places, reasons):
    """The stage of each node; what must keep its order is chained by its stages."""
    last = 0
    for node in nodes:
        if is_name(node) and reasons[node] is None and not any(
                places.linked(one, node) for one in tensors(node)):
            reasons[node] = "a view costs nothing"
            del places.space[node], places.row[node]
        alone = reasons[node] is not None
        stage = max((step(one, node, places) for one in node.all_input_nodes), default=0)
        if alone and keeps_order(node):
            stage = last = max(stage, last)
        places.stage[node] = stage
    for node in reversed(nodes):
        inside = node in places.space and node.users
        if inside and all(places.linked(node, user) for user in node.users):
            places.stage[node] = min(places.stage[user] for user in node.users)


def step(first, then, places):
    stage = places.stage.get(first, 0)
    return stage + (first in places.space and not places.linked(first, then))


def keeps_order(node):
    """Random and impure operators run in the order of the program."""
    return (torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
            or (node.op == "call_function" and node.is_impure()))
