"""The whole autograd machine in one picture: names, tensors, the graph, one run of the engine.

Tensors and graph are read from the objects. How the engine runs is observed by hooks in a real
`backward`: in which order the nodes come, what each receives, what each has let go of by the time
the next one comes. The picture is narrow, so that a phone shows it without scrolling.
"""

from inside.autograd.observe.autograd_machine import fields, run
from inside.autograd.pictures.autograd_graph import draw_nodes
from inside.observe import autograd_graph as graph
from inside.pictures.svg import (
    Picture,
    arrow,
    bilingual,
    box,
    capsule,
    circled,
    svg,
    text,
    wide,
)

WIDTH, LEAD, ROW, LINE = 373, 16, 26, 24  # px: picture, a line of text, a tensor's row, a run's row
BOX, PAD = 66, 8  # left edge of the boxes of the tensors; beside a name in its capsule
FIELDS = (90, 161, 275, 350)  # middles of value, requires_grad, grad_fn, .grad
RUN = (26, 213, 258, 283)  # node (left), waits for (middle), gets (middle), frees (left)
MIDDLE = {"text_anchor": "middle"}
ANCHORS = ({}, MIDDLE, MIDDLE, {})  # of the columns of RUN


def draw_autograd_machine(names):
    """Draw `{"w": w, "x": x, "loss": loss}`, the graph behind them, and `loss.backward()`.

    Runs `backward` once, from the last tensor, which adds to `.grad` and frees what the nodes have
    saved. Raises `ValueError` unless that tensor is one number with a `grad_fn`.
    """
    last, loss = list(names.items())[-1]
    if loss.grad_fn is None or loss.numel() != 1:
        raise ValueError(f"{last}: backward begins at one number that has a grad_fn; name it last")
    nodes = graph.read(names)
    for node in nodes.values():
        node.saved = [line.removesuffix(" ()") for line in node.saved]  # of one number: no shape
    runs = run(loss, nodes)
    tensors, y = draw_tensors(names, nodes)
    middle, y = draw_graph_in_order(nodes, list(runs), y + 22)
    engine, height = draw_engine(list(runs.values()), y + 26)
    body = "\n".join([tensors, middle, engine])
    return Picture(svg(WIDTH, height, body, smallest_text=12), describe(names, nodes, runs))


# ---------------------------------------------------------------- drawing
def heading(y, kind, zh, en):
    """What a part of the picture shows: the C++ or Python type, then its role."""
    return "\n".join([text(0, y, kind, 12, mono=True, font_weight=600),
                      bilingual(wide(kind) + LEAD, y, zh, en, leading=LEAD)])


def draw_tensors(names, nodes):
    """Names at the left, their tensors with the fields that matter here: (SVG, where they end)."""
    parts = [heading(13, "torch.Tensor", "名字和张量，反向之后",
                     "names and tensors, after backward")]
    top = 13 + 2 * LEAD + 6
    titles = [name for name, _ in fields(next(iter(names.values())), nodes)]
    parts += [text(middle, top, name, 12, mono=True, text_anchor="middle")
              for middle, name in zip(FIELDS, titles, strict=True)]
    y = top + 8
    for name, tensor in names.items():
        baseline, width = y + 17, wide(name) + 2 * PAD
        parts += [capsule(1, y, width, name), arrow(1 + width, y + 13, BOX - 1, y + 13),
                  box(BOX, y, WIDTH - BOX - 1, ROW)]
        parts += [text(middle, baseline, value, 12, mono=True, text_anchor="middle")
                  for middle, (_, value) in zip(FIELDS, fields(tensor, nodes), strict=True)]
        y += ROW + 6
    return "\n".join(parts), y - 6


def draw_graph_in_order(nodes, order, y):
    """The graph as `draw_graph` draws it, and the place of each node in the run: (SVG, its end)."""
    top = y + 12 + LEAD + 10
    body, boxes, (_, height) = draw_nodes(nodes, top, within=WIDTH)
    parts = [heading(y + 12, "Node", "边、保存的张量；圈里是第几个跑",
                     "edges, saved tensors; circled: place in run"), body]
    parts += [circled(n, boxes[node].x + boxes[node].width / 2 + 13, boxes[node].y + 12)
              for n, node in enumerate(order, 1)]
    return "\n".join(parts), top + height


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
        parts += [box(0.5, y, WIDTH - 1, LINE, radius=0, tint=0.03, edge=0.2),
                  circled(n, 13, y + 12)]
        parts += [text(x, y + 16, cell, 12, mono=True, **middle)
                  for x, cell, middle in zip(RUN, cells, ANCHORS, strict=True)]
        y += LINE
    return "\n".join(parts), y + 4


def describe(names, nodes, runs):
    """The same facts as text."""
    lines = [f"{name}: " + ", ".join(f"{field} {value}" for field, value in fields(tensor, nodes))
             for name, tensor in names.items()]
    lines += [line for node in nodes.values() for line in graph.describe(node, nodes)]
    lines += [f"{n}. {one.label}: waits for {one.waited}, receives {one.received}, "
              f"frees {', '.join(one.freed) or 'nothing'}"
              for n, one in enumerate(runs.values(), 1)]
    return "\n".join(lines)
