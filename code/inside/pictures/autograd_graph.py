"""The graph that `backward` walks, drawn from real tensors: nodes, edges, what the nodes save.

The last node stands at the top and arrows lead to `next_functions`, the way backward goes. Beside
a node stand the tensor objects whose `grad_fn` it is; a leaf stands below the `AccumulateGrad` that
holds it. An edge that leads to no node is a short line with a bar at its end.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil

import torch

from inside.observe.saved import storage_key
from inside.pictures.drawing import ACCENT, MONO_WIDTH, Picture, box, svg, text

SIZE, LINE, PAD, GAP, ROW_GAP, PILL = 12, 17, 8, 26, 40, 26  # font size, heights and distances


@dataclass(eq=False)
class Box:
    """A node with its lines of text, or a bend in an edge that passes a row (`node` is None)."""

    node: object = None
    label: str = ""
    saved: list = field(default_factory=list)
    tensors: list = field(default_factory=list)
    leaf: str = ""
    row: int = 0
    x: float = 0.0  # of the middle of the box
    y: float = 0.0  # of its top
    passed: float = 0.0  # the lower end of its row

    @property
    def width(self):
        if self.node is None:
            return 0
        return max(map(wide, [self.label, *self.saved])) + 2 * PAD

    @property
    def left(self):
        """The space that the tensor objects beside the box take."""
        return wide(", ".join(self.tensors)) + 2 * PAD + 24 if self.tensors else 0

    @property
    def height(self):
        return LINE * (1 + len(self.saved)) + PAD if self.node is not None else 0

    @property
    def below(self):
        return PILL + 16 if self.leaf else 0


def wide(words):
    """The width of a line in the font of the picture."""
    return len(words) * SIZE * MONO_WIDTH


def draw_graph(names):
    """Draw the graph behind `{"w": w, "h": h, "loss": loss}`, naming the tensors given.

    A saved tensor is called by the name of the given tensor on the same storage; the storages of
    the others are called storage1, storage2, … Raises `ValueError` where none of the tensors has
    a graph behind it.
    """
    boxes = read(names)
    if not boxes:
        raise ValueError("draw_graph: none of the tensors has a grad_fn; give one that has")
    described = "\n".join(line for b in boxes.values() for line in describe(b, boxes))
    routes = route(boxes)
    width, height = place(list(boxes.values()), routes)
    parts = [*map(draw_route, routes), *map(draw_box, boxes.values())]
    return Picture(svg(width, height, "\n".join(parts), smallest_text=SIZE), described)


# ---------------------------------------------------------------- what is drawn
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
    """A box for each node behind the named tensors, in the order of the rows."""
    boxes = {node: Box(node) for node in nodes_behind(list(names.values()))}
    called = {}
    for name, tensor in names.items():
        called.setdefault(storage_key(tensor), name)
        if tensor.grad_fn is not None:
            boxes[tensor.grad_fn].tensors.append(name)
    title(boxes)
    for b in boxes.values():
        b.saved = [spell(f, value, called) for f, value in saved_fields(b.node)]
        if hasattr(b.node, "variable"):
            b.leaf = next((n for n, t in names.items() if t is b.node.variable), "(unnamed)")
    layer(boxes)
    return dict(sorted(boxes.items(), key=lambda item: item[1].row))


def title(boxes):
    """Names of the nodes; of nodes with the same name the oldest is #1. Leaves go by tensor."""
    alike = {}
    for node, b in boxes.items():
        b.label = node.name().split("::")[-1]
        alike.setdefault(b.label, []).append(b)
    for same in alike.values():
        if len(same) > 1 and not hasattr(same[0].node, "variable"):
            for number, b in enumerate(sorted(same, key=lambda b: b.node._sequence_nr()), 1):
                b.label += f" #{number}"


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


def layer(boxes):
    """Rows so that every edge leads down: longest distance from a root, settled node by node."""
    waiting = dict.fromkeys(boxes, 0)
    for node in boxes:
        for following, _ in node.next_functions:
            if following is not None:
                waiting[following] += 1
    ready = [node for node in boxes if waiting[node] == 0]
    while ready:
        node = ready.pop()
        for following, _ in node.next_functions:
            if following is not None:
                boxes[following].row = max(boxes[following].row, boxes[node].row + 1)
                waiting[following] -= 1
                if waiting[following] == 0:
                    ready.append(following)


def describe(b, boxes):
    """The same facts as text: a line for the node and its edges, one for what it saves."""

    def target(following, index):
        if following is None:
            return "none"
        to = boxes[following]
        name = f"{to.label}({to.leaf})" if to.leaf else to.label
        return f"{name} input {index}" if index else name

    first = f"{', '.join(b.tensors)}: " if b.tensors else ""
    if b.leaf:
        yield f"{b.label} holds {b.leaf}"
    else:
        edges = ", ".join(target(*edge) for edge in b.node.next_functions)
        yield f"{first}{b.label} -> {edges or 'nothing'}"
    for line in b.saved:
        yield f"    saved {line}"


# ---------------------------------------------------------------- where it stands
@dataclass
class Route:
    """An edge from one box to another, past the rows between by one bend each."""

    start: Box
    end: Box
    share: float  # where it leaves the box, from 0 (left) to 1
    index: int
    bends: list


def route(boxes):
    """The edges of all nodes that lead to a node; the others are drawn with their box."""
    routes = []
    for b in boxes.values():
        for number, (following, index) in enumerate(b.node.next_functions):
            if following is not None:
                end = boxes[following]
                bends = [Box(row=row) for row in range(b.row + 1, end.row)]
                routes.append(Route(b, end, share_of(b, number), index, bends))
    return routes


def share_of(b, number):
    """Where the edge leaves the lower side of its box, from 0 (left) to 1."""
    return (number + 1) / (len(b.node.next_functions) + 1)


def place(boxes, routes):
    """Give each box its x and y, rows from top to bottom and centred: (width, height)."""
    above = {}
    for r in routes:
        for upper, lower in pairwise([r.start, *r.bends, r.end]):
            above.setdefault(id(lower), []).append((upper, r.share))
    boxes = [*boxes, *(bend for r in routes for bend in r.bends)]
    rows = [[b for b in boxes if b.row == n] for n in range(max(b.row for b in boxes) + 1)]
    widths = [sum(b.left + b.width for b in row) + GAP * (len(row) - 1) for row in rows]
    width, y = max(widths) + 8, 4
    for row, taken in zip(rows, widths, strict=True):
        x, tall = (width - taken) / 2, max(b.height + b.below for b in row)
        for b in sorted(row, key=lambda b: mean(above.get(id(b), []))):
            b.x, b.y, b.passed = x + b.left + b.width / 2, y, y + tall
            x += b.left + b.width + GAP
        y += tall + ROW_GAP
    return ceil(width), ceil(y - ROW_GAP + 4)


def mean(links):
    """Where the edges into a box come from, on average."""
    return sum(b.x + (share - 0.5) * b.width for b, share in links) / max(1, len(links))


# ---------------------------------------------------------------- drawing
def draw_box(b):
    """The node, its saved tensors below the name, its tensor objects beside or below."""
    left, parts = b.x - b.width / 2, [box(b.x - b.width / 2, b.y, b.width, b.height)]
    for n, line in enumerate([b.label, *b.saved]):
        more = {} if n else {"font_weight": 600}
        parts.append(text(left + PAD, b.y + LINE * (n + 1) - 2, line, SIZE, mono=True, **more))
    if b.tensors:
        middle, pill = b.y + LINE / 2 + 4, wide(", ".join(b.tensors)) + 2 * PAD
        parts += [
            capsule(left - b.left, middle - PILL / 2, pill, ", ".join(b.tensors)),
            line_to([(left - 24, middle), (left, middle)], "l-7 -4v8z"),
        ]
    if b.leaf:
        pill, top = wide(b.leaf) + 2 * PAD, b.y + b.height + 16
        parts += [
            line_to([(b.x, b.y + b.height), (b.x, top)], "l-4 -7h8z"),
            capsule(b.x - pill / 2, top, pill, b.leaf),
        ]
    empty = [n for n, (following, _) in enumerate(b.node.next_functions) if following is None]
    parts += [stub(left + share_of(b, n) * b.width, b.y + b.height) for n in empty]
    return "\n".join(parts)


def stub(x, y):
    """An edge that leads to no node: a short line that ends in a bar."""
    return f'<path d="M{x:g} {y:g}v11m-5 0h10" stroke-width="1.6" style="stroke:{ACCENT}"/>'


def capsule(x, y, width, name):
    """A tensor object by its name."""
    words = text(x + width / 2, y + PILL / 2 + 4, name, SIZE, mono=True, text_anchor="middle")
    return box(x, y, width, PILL, radius=PILL / 2, tint=0) + "\n" + words


def draw_route(r):
    """The arrow of an edge, with the input it leads to where that is not 0."""
    start = r.start.x + (r.share - 0.5) * r.start.width, r.start.y + r.start.height
    end = r.end.x + (r.share - 0.5) * min(r.end.width, 48), r.end.y
    bends = [(bend.x, y) for bend in r.bends for y in (bend.y, bend.passed)]
    drawn = line_to([start, *bends, end], "l-4 -7h8z")
    if r.index:
        drawn += "\n" + text(end[0] + 7, end[1] - 5, str(r.index), SIZE, mono=True)
    return drawn


def line_to(points, head):
    """A line through the points, smooth where it bends, with an arrow head at the last."""
    (x, y), path = points[0], f"M{points[0][0]:g} {points[0][1]:g}"
    for to_x, to_y in points[1:]:
        half = (to_y - y) / 2
        path += f"C{x:g} {y + half:g} {to_x:g} {to_y - half:g} {to_x:g} {to_y:g}"
        x, y = to_x, to_y
    return (
        f'<path d="{path}" stroke-width="1.6" style="stroke:{ACCENT}"/>'
        f'<path d="M{x:g} {y:g}{head}" style="fill:{ACCENT}"/>'
    )
