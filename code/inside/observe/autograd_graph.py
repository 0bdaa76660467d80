"""The graph that `backward` walks, read from real tensors: nodes, edges, what the nodes save."""

from dataclasses import dataclass, field

import torch

from inside.observe.saved import storage_key


@dataclass(eq=False)
class Node:
    """A node of torch with its title, a line per saved tensor, the tensor objects it made.

    A leaf's AccumulateGrad has its name in `leaf`. Every edge leads to a larger `row`.
    """

    node: object
    label: str = ""
    saved: list[str] = field(default_factory=list)
    tensors: list[str] = field(default_factory=list)
    leaf: str = ""
    row: int = 0


def nodes_behind(tensors):
    """Each node that backward from the tensors could reach, once, roots first."""
    found, todo = {}, [t.grad_fn for t in reversed(tensors) if t.grad_fn is not None]
    while todo:
        node = todo.pop()
        if node not in found:  # by the node itself: an id may be used again (torch 2.11)
            found[node] = None
            todo += [n for n, _ in reversed(node.next_functions) if n is not None]
    return list(found)


def read(names):
    """{node of torch: its `Node`} for all behind the named tensors, in the order of the rows."""
    nodes = {node: Node(node) for node in nodes_behind(list(names.values()))}
    called = {}
    for name, tensor in names.items():
        called.setdefault(storage_key(tensor), name)
        if tensor.grad_fn is not None:
            nodes[tensor.grad_fn].tensors.append(name)
    title(nodes)
    for n in nodes.values():
        n.saved = [spell(f, value, called) for f, value in saved_fields(n.node)]
        if hasattr(n.node, "variable"):
            n.leaf = next((name for name, t in names.items() if t is n.node.variable), "(unnamed)")
    layer(nodes)
    return dict(sorted(nodes.items(), key=lambda item: item[1].row))


def title(nodes):
    """Names of the nodes; of nodes with the same name the oldest is #1. Leaves go by tensor."""
    alike = {}
    for node, n in nodes.items():
        n.label = node.name().split("::")[-1]
        alike.setdefault(n.label, []).append(n)
    for same in alike.values():
        if len(same) > 1 and not hasattr(same[0].node, "variable"):
            for number, n in enumerate(sorted(same, key=lambda n: n.node._sequence_nr()), 1):
                n.label += f" #{number}"


def saved_fields(node):
    """The saved tensors of a node as (field, tensor); what torch refuses is a word on why."""
    for name in sorted(dir(node)):
        if not name.startswith("_saved_") and name != "saved_tensors":  # of torch, of a Function
            continue
        try:
            value = getattr(node, name)
        except RuntimeError as error:  # only the message tells the two causes apart
            why = "freed" if "freed" in str(error) else "changed in place"
            yield name.removeprefix("_saved_"), why
            continue
        for tensor in value if isinstance(value, tuple | list) else [value]:
            if isinstance(tensor, torch.Tensor):
                yield name.removeprefix("_saved_"), tensor


def spell(field_name, tensor, called):
    """One line of a box: the field, its storage by name (storage1, … if it has none), the shape.

    In place of the tensor there may be a word on why it is not to be had. `called` holds the names
    by storage and is filled with those given here.
    """
    if isinstance(tensor, str):
        return f"{field_name}: {tensor}"
    unnamed = sum(name.startswith("storage") for name in called.values())
    name = called.setdefault(storage_key(tensor), f"storage{unnamed + 1}")
    return f"{field_name} = {name} " + str(tuple(tensor.shape)).replace(" ", "")


def layer(nodes):
    """Rows so that every edge leads down: longest distance from a root, settled node by node."""
    waiting = dict.fromkeys(nodes, 0)
    for node in nodes:
        for following, _ in node.next_functions:
            if following is not None:
                waiting[following] += 1
    ready = [node for node in nodes if waiting[node] == 0]
    while ready:
        node = ready.pop()
        for following, _ in node.next_functions:
            if following is not None:
                nodes[following].row = max(nodes[following].row, nodes[node].row + 1)
                waiting[following] -= 1
                if waiting[following] == 0:
                    ready.append(following)


def describe(node, nodes):
    """A node as text: a line for itself and its edges, one for each thing that it saves."""

    def target(following, index):
        if following is None:
            return "none"
        to = nodes[following]
        name = f"{to.label}({to.leaf})" if to.leaf else to.label
        return f"{name} input {index}" if index else name

    first = f"{', '.join(node.tensors)}: " if node.tensors else ""
    if node.leaf:
        yield f"{node.label} holds {node.leaf}"
    else:
        edges = ", ".join(target(*edge) for edge in node.node.next_functions)
        yield f"{first}{node.label} -> {edges or 'nothing'}"
    for line in node.saved:
        yield f"    saved {line}"
