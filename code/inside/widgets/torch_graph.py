"""A recorded graph of torch in the words of the graph stepper.

`describe` returns the dict that inside/widgets/graph_stepper.py describes under `engine`.
"""

from collections import Counter

from inside.autograd.observe.torch_graph import is_leaf, short
from inside.widgets.quantities import spell

SHOWN = 3  # elements of a vector that are written out


def describe(recording):
    """Nodes and steps as the element reads them."""
    fields = [node_fields(node, recording) for node in recording.nodes]
    return {"engine": "torch", "nodes": fields, "steps": steps(recording.nodes, recording.runs)}


def node_fields(node, recording):
    nodes, values, saved = recording.nodes, recording.values, recording.saved
    operands = [{"constant": "None"} if other is None else {"node": nodes.index(other)}
                for other, _ in node.next_functions]
    return {
        "number": nodes.index(node), "label": recording.labels.get(node, ""),
        "op": "" if is_leaf(node) else short(node),
        "value": text(values[node]) if node in values else "?",
        "saved": [[name, text(tensor)] for name, tensor in saved[node].items()],
        "operands": operands,
    }


def text(tensor):
    """A number as the stepper spells it, a short vector element by element, else the shape."""
    if tensor is None:
        return "None"
    if tensor.is_complex() or (tensor.numel() != 1 and tensor.shape != tensor.shape[:1]):
        return str(tuple(tensor.shape))
    if tensor.numel() == 1:
        return spell(tensor.item())
    if len(tensor) > SHOWN:
        return str(tuple(tensor.shape))
    return f"[{', '.join(map(spell, tensor.tolist()))}]"


def steps(nodes, runs):
    """Every step as a dict of texts: forward by age, then each run of a node as observed."""
    place = {node: n for n, node in enumerate(nodes)}
    turn = {place[node]: n for n, (node, *_) in enumerate(runs)}
    waiting = Counter(place[other] for node in nodes for other, _ in node.next_functions
                      if other is not None)
    grads, ready = dict.fromkeys(turn), {place[runs[0][0]]}
    told = [{"kind": "forward", "node": n} for n in range(len(nodes))]

    def tell(kind, number, **more):
        told.append({"kind": kind, "node": number, **more, "ready": sorted(ready, key=turn.get)})

    tell("start", len(nodes) - 1, grad=text(runs[0][1]))
    for node, received, returned in runs:
        number = place[node]
        ready.discard(number)
        tell("take", number, grad=text(received))
        for n, ((other, _), flow) in enumerate(zip(node.next_functions, returned, strict=True)):
            if other is None:
                continue
            to = place[other]
            before = grads[to]
            if flow is not None:
                grads[to] = flow if before is None else before + flow
            waiting[to] -= 1
            ready |= set() if waiting[to] else {to}
            sums = {"flow": flow, "before": before, "after": grads[to]}
            tell("flow", number, operand=n, grad=text(received), waiting=waiting[to],
                 **{name: None if g is None else text(g) for name, g in sums.items()})
    tell("done", len(nodes) - 1)
    return told
