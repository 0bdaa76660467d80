"""The graph that `backward` walks, drawn from real tensors: nodes, edges, what the nodes save.

The last node stands at the top and arrows lead to `next_functions`, the way backward goes. Beside
a node stand the tensor objects whose `grad_fn` it is; a leaf stands below the `AccumulateGrad` that
holds it. An edge that leads to no node is a short line with a bar at its end.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from inside.observe.autograd_graph import Node, describe, read
from inside.pictures.svg import PILL, Picture, box, capsule, line_to, stub, svg, text, wide

SIZE, LINE, PAD, GAP, ROW_GAP = 12, 17, 8, 26, 40  # font size, heights and distances


@dataclass(eq=False)
class Box:
    """A node with its lines of text, or a bend in an edge that passes a row (`seen` is None)."""

    row: int
    seen: Node | None = None
    x: float = 0.0  # of the middle of the box
    y: float = 0.0  # of its top
    passed: float = 0.0  # the lower end of its row

    @property
    def edges(self):
        """Where the node's edges lead: (node or None, which of its inputs)."""
        return self.seen.node.next_functions

    @property
    def names(self):
        """The tensor objects that the node made, as they stand beside it."""
        return ", ".join(self.seen.tensors) if self.seen else ""

    @property
    def width(self):
        if self.seen is None:
            return 0
        return max(map(wide, [self.seen.label, *self.seen.saved])) + 2 * PAD

    @property
    def left(self):
        """The space that the tensor objects beside the box take."""
        return wide(self.names) + 2 * PAD + 24 if self.names else 0

    @property
    def height(self):
        return LINE * (1 + len(self.seen.saved)) + PAD if self.seen else 0

    @property
    def below(self):
        return PILL + 16 if self.seen and self.seen.leaf else 0


def draw_graph(names):
    """Draw the graph behind `{"w": w, "h": h, "loss": loss}`, naming the tensors given.

    A saved tensor is called by the name of the given tensor on the same storage; the storages of
    the others are called storage1, storage2, … Raises `ValueError` where none of the tensors has
    a graph behind it.
    """
    nodes = read(names)
    if not nodes:
        raise ValueError("draw_graph: none of the tensors has a grad_fn; give one that has")
    described = "\n".join(line for n in nodes.values() for line in describe(n, nodes))
    body, _, (width, height) = draw_nodes(nodes)
    return Picture(svg(width, height, body, smallest_text=SIZE), described)


def draw_nodes(nodes, top=0, within=None):
    """The nodes that `read` found and their edges: (SVG, a box for each node, (width, height)).

    They begin at `top` and are centred where `within` gives a width.
    """
    boxes = {node: Box(n.row, n) for node, n in nodes.items()}
    routes = route(boxes)
    width, height = place(list(boxes.values()), routes)
    right = (within - width) / 2 if within else 0
    for b in [*boxes.values(), *(bend for r in routes for bend in r.bends)]:
        b.x, b.y, b.passed = b.x + right, b.y + top, b.passed + top
    parts = [*map(draw_route, routes), *map(draw_box, boxes.values())]
    return "\n".join(parts), boxes, (width, height)


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
        for number, (following, index) in enumerate(b.edges):
            if following is not None:
                end = boxes[following]
                bends = [Box(row) for row in range(b.row + 1, end.row)]
                routes.append(Route(b, end, share_of(b, number), index, bends))
    return routes


def share_of(b, number):
    """Where the edge leaves the lower side of its box, from 0 (left) to 1."""
    return (number + 1) / (len(b.edges) + 1)


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
    for n, line in enumerate([b.seen.label, *b.seen.saved]):
        more = {} if n else {"font_weight": 600}
        parts.append(text(left + PAD, b.y + LINE * (n + 1) - 2, line, SIZE, mono=True, **more))
    if b.names:
        middle, pill = b.y + LINE / 2 + 4, wide(b.names) + 2 * PAD
        parts += [
            capsule(left - b.left, middle - PILL / 2, pill, b.names),
            line_to([(left - 24, middle), (left, middle)], "l-7 -4v8z"),
        ]
    if b.seen.leaf:
        pill, top = wide(b.seen.leaf) + 2 * PAD, b.y + b.height + 16
        parts += [
            line_to([(b.x, b.y + b.height), (b.x, top)], "l-4 -7h8z"),
            capsule(b.x - pill / 2, top, pill, b.seen.leaf),
        ]
    empty = [n for n, (following, _) in enumerate(b.edges) if following is None]
    parts += [stub(left + share_of(b, n) * b.width, b.y + b.height) for n in empty]
    return "\n".join(parts)


def draw_route(r):
    """The arrow of an edge, with the input it leads to where that is not 0."""
    start = r.start.x + (r.share - 0.5) * r.start.width, r.start.y + r.start.height
    end = r.end.x + (r.share - 0.5) * min(r.end.width, 48), r.end.y
    bends = [(bend.x, y) for bend in r.bends for y in (bend.y, bend.passed)]
    drawn = line_to([start, *bends, end], "l-4 -7h8z")
    if r.index:
        drawn += "\n" + text(end[0] + 7, end[1] - 5, str(r.index), SIZE, mono=True)
    return drawn
