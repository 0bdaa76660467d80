"""A graph of torch as torch recorded it, and its backward pass as it ran.

Nothing is computed on torch's behalf: nodes, edges and saved tensors are read from the graph; the
order in which nodes run, what each receives and what it returns are observed by hooks.
"""

from dataclasses import dataclass

import torch
from torch.autograd.graph import get_gradient_edge

WHERE = "GraphStepper.of_torch"  # what the reader called, as errors say


@dataclass(frozen=True)
class Recording:
    """The nodes in order, what is known of each, and [(node, received, returned)] as they ran."""

    nodes: list
    labels: dict
    values: dict
    saved: dict
    runs: list


def record(tensor, names, limit):
    """Run `tensor.backward()` once and tell what was there and what happened.

    Raises as `GraphStepper.of_torch`; `limit` is the largest number of nodes.
    """
    check(tensor)
    root = get_gradient_edge(tensor).node
    values = {root: tensor}
    nodes = in_order(reach(root, limit), names)
    labels = {}
    for name, named in names.items():
        node = get_gradient_edge(named).node if named.requires_grad else None
        if node not in nodes:
            raise ValueError(f"{WHERE}: names[{name!r}] is not in this graph; leave it out")
        labels[node], values[node] = name, named
    try:
        saved = {node: saved_by(node) for node in nodes}
        runs = run(tensor, nodes)
    except RuntimeError as error:
        reason = str(error).partition(". ")[0].partition("\n")[0]
        raise ValueError(f"{WHERE}: torch cannot run this graph: {reason}") from error
    return Recording(nodes, labels, values | known(nodes, saved), saved, runs)


def check(tensor):
    """Raise unless `tensor` is the result of a graph from which backward can start."""
    if not isinstance(tensor, torch.Tensor):
        kind = type(tensor).__name__
        raise TypeError(f"{WHERE}: got an object of type {kind}; pass the tensor of a loss")
    if not tensor.requires_grad:
        raise ValueError(f"{WHERE}: the tensor has no graph; give a leaf requires_grad=True")
    if tensor.numel() != 1 or tensor.is_complex():
        raise ValueError(
            f"{WHERE}: the tensor has {tensor.numel()} elements of {tensor.dtype}; "
            "pass one real number, such as a loss"
        )


# ---------------------------------------------------------------- what torch recorded
def reach(root, limit):
    """Every node below `root`, itself first."""
    found = {root: None}
    todo = [root]
    while todo:
        for node, _ in todo.pop().next_functions:
            if node is not None and node not in found:
                found[node] = None
                todo.append(node)
        if len(found) > limit:
            raise ValueError(
                f"{WHERE}: the graph has more than {limit} nodes; step through a smaller one"
            )
    return list(found)


def is_leaf(node):
    """Whether the node stands for a leaf: an AccumulateGrad, which holds its tensor."""
    return hasattr(node, "variable")


def in_order(nodes, names):
    """Leaves first, in the order of `names`, then by the number that torch gave each node.

    An AccumulateGrad is made when its leaf is first used; its number is the largest there is.
    """
    given = list(map(id, names.values()))

    def age(node):
        if not is_leaf(node):
            return 1, node._sequence_nr()
        leaf = id(node.variable)
        return 0, given.index(leaf) if leaf in given else len(given)

    made = sorted(nodes, key=age)
    for n, node in enumerate(made):
        if any(other in made[n:] for other, _ in node.next_functions):
            raise ValueError(
                f"{WHERE}: an operand of {short(node)} is not older than its result; "
                "build the graph in one thread"
            )
    return made


def short(node):
    """`MulBackward0`, without a namespace."""
    return node.name().rpartition("::")[2]


def saved_by(node):
    """{name: tensor} of what a node keeps for backward."""
    found = {}
    for name in dir(node):
        if name.startswith("_saved_") or name == "saved_tensors":  # of torch, of a Function
            value = getattr(node, name)
            several = value if isinstance(value, (tuple, list)) else [value]
            tensors = [one for one in several if isinstance(one, torch.Tensor)]
            key = name.removeprefix("_saved_")
            found |= {f"{key}[{n}]" if several is value else key: t for n, t in enumerate(tensors)}
    return found


def known(nodes, saved):
    """The value of each node that some node keeps: a saved tensor knows which node made it."""
    kept = [tensor for node in nodes for tensor in saved[node].values() if tensor.requires_grad]
    kept += [node.variable for node in nodes if is_leaf(node)]
    return {get_gradient_edge(tensor).node: tensor for tensor in kept}


# ---------------------------------------------------------------- how it ran
def run(tensor, nodes):
    """[(node, gradient received, gradients returned)] in the order in which the engine ran."""
    leaves = [node.variable for node in nodes if is_leaf(node)]
    held, runs = [leaf.grad for leaf in leaves], []

    def watch(node):
        def note(returned, received):
            runs.append((node, list(map(copy, received)), list(map(copy, returned))))
        return node.register_hook(note)

    hooks = [watch(node) for node in nodes]
    try:
        for leaf in leaves:
            leaf.grad = None
        tensor.backward(retain_graph=True)
    finally:
        for hook in hooks:
            hook.remove()
        for leaf, grad in zip(leaves, held, strict=True):
            leaf.grad = grad
    for node, received, _ in runs:
        if len(received) != 1:
            raise ValueError(f"{WHERE}: {short(node)} has {len(received)} results; "
                             "the stepper shows operations with one")
    return [(node, received[0], returned) for node, received, returned in runs]


def copy(grad):
    """The engine may add to a gradient in place later."""
    return None if grad is None else grad.detach().clone()
