"""The whole autograd machine in one picture: names, tensors, the graph, one run of the engine.

Tensors and graph are read from the objects. How the engine runs is observed by hooks in a real
`backward`: in which order the nodes come, what each receives, what each has let go of by the time
the next one comes. The picture is narrow, so that a phone shows it without scrolling.
"""

from collections import Counter
from dataclasses import dataclass

from inside.pictures import autograd_graph as graph
from inside.pictures.drawing import ACCENT, Picture, arrow, bilingual, box, spell, svg, text

WIDTH, LEAD, ROW, LINE = 373, 16, 26, 24  # px: picture, a line of text, a tensor's row, a run's row
BOX = 66  # left edge of the boxes of the tensors
FIELDS = (90, 161, 275, 350)  # middles of value, requires_grad, grad_fn, .grad
RUN = (26, 213, 258, 283)  # node (left), waits for (middle), gets (middle), frees (left)
MIDDLE = {"text_anchor": "middle"}
ANCHORS = ({}, MIDDLE, MIDDLE, {})  # of the columns of RUN


# ---------------------------------------------------------------- what is drawn
@dataclass(frozen=True)
class Run:
    """One run of a node: how many edges it waited for, what it received, which fields it freed."""

    label: str
    waited: int
    received: str
    freed: tuple[str, ...]


def draw_autograd_machine(names):
    """Draw `{"w": w, "x": x, "loss": loss}`, the graph behind them, and `loss.backward()`.

    Runs `backward` once, from the last tensor, which adds to `.grad` and frees what the nodes have
    saved. Raises `ValueError` unless that tensor is one number with a `grad_fn`.
    """
    last, loss = list(names.items())[-1]
    if loss.grad_fn is None or loss.numel() != 1:
        raise ValueError(f"{last}: backward begins at one number that has a grad_fn; name it last")
    boxes = graph.read(names)
    for b in boxes.values():
        b.saved = [line.removesuffix(" ()") for line in b.saved]  # of one number: no shape
    runs = run(loss, boxes)
    tensors, y = draw_tensors(names, boxes)
    nodes, y = draw_nodes(boxes, list(runs), y + 22)
    engine, height = draw_engine(list(runs.values()), y + 26)
    body = "\n".join([tensors, nodes, engine])
    return Picture(svg(WIDTH, height, body, smallest_text=12), describe(names, boxes, runs))


def run(loss, boxes):
    """Run `loss.backward()`: {node: its `Run`}, in the order in which the engine took them."""
    came, received, freed = [], {}, []

    def watch(node):
        def note(grads):
            came.append(node)
            received[node] = ", ".join(map(amount, grads))
            freed.append({node: let_go(node) for node in boxes})
        return node.register_prehook(note)

    hooks = [watch(node) for node in boxes]
    try:
        loss.backward()
    finally:
        for hook in hooks:
            hook.remove()
    freed.append({node: let_go(node) for node in boxes})
    waits = Counter(to for node in boxes for to, _ in node.next_functions)
    return {node: Run(label(boxes[node]), waits[node], received[node],
                      tuple(f for f in freed[n + 1][node] if f not in freed[n][node]))
            for n, node in enumerate(came)}


def let_go(node):
    """The fields of a node whose saved tensors are freed."""
    return [field for field, value in graph.saved_fields(node) if value == "freed"]


def label(b):
    """The name of a node, for an AccumulateGrad with where it adds."""
    return f"{b.label} → {b.leaf}.grad" if b.leaf else b.label


def amount(tensor):
    """One number, the shape of several, None."""
    if tensor is None:
        return "None"
    return spell(tensor.item()) if tensor.numel() == 1 else str(tuple(tensor.shape))


def fields(tensor, boxes):
    """The fields of a tensor as (name, value); those of the graph are in its AutogradMeta."""
    kept = tensor.is_leaf or tensor.retains_grad  # torch warns when the others are asked for .grad
    return [
        ("value", amount(tensor.detach())),
        ("requires_grad", str(tensor.requires_grad)),
        ("grad_fn", boxes[tensor.grad_fn].label if tensor.grad_fn else "None"),
        (".grad", amount(tensor.grad) if kept else "None"),
    ]


# ---------------------------------------------------------------- where it stands
def heading(y, kind, zh, en):
    """What a part of the picture shows: the C++ or Python type, then its role."""
    return "\n".join([text(0, y, kind, 12, mono=True, font_weight=600),
                      bilingual(graph.wide(kind) + LEAD, y, zh, en, leading=LEAD)])


def draw_tensors(names, boxes):
    """Names at the left, their tensors with the fields that matter here: (SVG, where they end)."""
    parts = [heading(13, "torch.Tensor", "名字和张量，反向之后",
                     "names and tensors, after backward")]
    top = 13 + 2 * LEAD + 6
    titles = [name for name, _ in fields(next(iter(names.values())), boxes)]
    parts += [text(middle, top, name, 12, mono=True, text_anchor="middle")
              for middle, name in zip(FIELDS, titles, strict=True)]
    y = top + 8
    for name, tensor in names.items():
        baseline, wide = y + 17, graph.wide(name) + 2 * graph.PAD
        parts += [graph.capsule(1, y, wide, name), arrow(1 + wide, y + 13, BOX - 1, y + 13),
                  box(BOX, y, WIDTH - BOX - 1, ROW)]
        parts += [text(middle, baseline, value, 12, mono=True, text_anchor="middle")
                  for middle, (_, value) in zip(FIELDS, fields(tensor, boxes), strict=True)]
        y += ROW + 6
    return "\n".join(parts), y - 6


def draw_nodes(boxes, order, y):
    """The graph as `draw_graph` draws it, and the place of each node in the run: (SVG, its end)."""
    parts = [heading(y + 12, "Node", "边、保存的张量；圈里是第几个跑",
                     "edges, saved tensors; circled: place in run")]
    routes = graph.route(boxes)
    width, height = graph.place(list(boxes.values()), routes)
    top = y + 12 + LEAD + 10
    for b in [*boxes.values(), *(bend for r in routes for bend in r.bends)]:
        b.x, b.y, b.passed = b.x + (WIDTH - width) / 2, b.y + top, b.passed + top
    parts += [*map(graph.draw_route, routes), *map(graph.draw_box, boxes.values())]
    parts += [turn(n, boxes[node].x + boxes[node].width / 2 + 13, boxes[node].y + 12)
              for n, node in enumerate(order, 1)]
    return "\n".join(parts), top + height


def turn(number, x, y):
    """The place of a node in the run, in a circle."""
    return (f'<circle cx="{x:g}" cy="{y:g}" r="9" stroke-width="1.6" style="stroke:{ACCENT}"/>'
            + text(x, y + 4.5, str(number), 12, text_anchor="middle", font_weight=600))


def draw_engine(runs, y):
    """A row for each run, first to last: (SVG, where they end)."""
    parts = [heading(y + 12, "Engine", "一趟反向，钩子记下的次序",
                     "one backward pass, as noted by hooks")]
    y += 12 + 2 * LEAD + 8
    words = [("节点", "node"), ("要等几份", "waits for"), ("收到", "gets"), ("放掉", "frees")]
    parts += [bilingual(x, y, *pair, leading=LEAD, **middle)
              for x, pair, middle in zip(RUN, words, ANCHORS, strict=True)]
    y += LEAD + 8
    for n, one in enumerate(runs, 1):
        cells = one.label, str(one.waited), one.received, ", ".join(one.freed) or "—"
        parts += [box(0.5, y, WIDTH - 1, LINE, radius=0, tint=0.03, edge=0.2), turn(n, 13, y + 12)]
        parts += [text(x, y + 16, cell, 12, mono=True, **middle)
                  for x, cell, middle in zip(RUN, cells, ANCHORS, strict=True)]
        y += LINE
    return "\n".join(parts), y + 4


def describe(names, boxes, runs):
    """The same facts as text."""
    lines = [f"{name}: " + ", ".join(f"{field} {value}" for field, value in fields(tensor, boxes))
             for name, tensor in names.items()]
    lines += [line for b in boxes.values() for line in graph.describe(b, boxes)]
    lines += [f"{n}. {one.label}: waits for {one.waited}, receives {one.received}, "
              f"frees {', '.join(one.freed) or 'nothing'}"
              for n, one in enumerate(runs.values(), 1)]
    return "\n".join(lines)
