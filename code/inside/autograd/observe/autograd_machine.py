"""One run of autograd's engine, observed by hooks in a real `backward`; a tensor's own fields."""

from collections import Counter
from dataclasses import dataclass

from inside.observe.autograd_graph import saved_fields
from inside.observe.storages import spell


@dataclass(frozen=True)
class Run:
    """One run of a node: how many edges it waited for, what it received, which fields it freed."""

    label: str
    waited: int
    received: str
    freed: tuple[str, ...]


def run(loss, nodes):
    """Run `loss.backward()`: {node: its `Run`}, in the order in which the engine took them."""
    came, received, freed = [], {}, []

    def watch(node):
        def note(grads):
            came.append(node)
            received[node] = ", ".join(map(amount, grads))
            freed.append({node: let_go(node) for node in nodes})
        return node.register_prehook(note)

    hooks = [watch(node) for node in nodes]
    try:
        loss.backward()
    finally:
        for hook in hooks:
            hook.remove()
    freed.append({node: let_go(node) for node in nodes})
    waits = Counter(to for node in nodes for to, _ in node.next_functions)
    return {node: Run(label(nodes[node]), waits[node], received[node],
                      tuple(f for f in freed[n + 1][node] if f not in freed[n][node]))
            for n, node in enumerate(came)}


def let_go(node):
    """The fields of a node whose saved tensors are freed."""
    return [field for field, value in saved_fields(node) if value == "freed"]


def label(read):
    """The name of a node, for an AccumulateGrad with where it adds."""
    return f"{read.label} → {read.leaf}.grad" if read.leaf else read.label


def amount(tensor):
    """One number, the shape of several, None."""
    if tensor is None:
        return "None"
    return spell(tensor.item()) if tensor.numel() == 1 else str(tuple(tensor.shape))


def fields(tensor, nodes):
    """The fields of a tensor as (name, value); those of the graph are in its AutogradMeta."""
    kept = tensor.is_leaf or tensor.retains_grad  # torch warns when the others are asked for .grad
    return [
        ("value", amount(tensor.detach())),
        ("requires_grad", str(tensor.requires_grad)),
        ("grad_fn", nodes[tensor.grad_fn].label if tensor.grad_fn else "None"),
        (".grad", amount(tensor.grad) if kept else "None"),
    ]
