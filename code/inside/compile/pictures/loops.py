"""Graphs with a frame around what runs as one loop; a curve is a tensor that lies in memory.

One column for each graph, its steps from the top down. Curves lead from the node that writes a
tensor to the nodes of other steps that read it. Views and the graph's inputs are left out.
"""
from inside.pictures.beside import beside
from inside.pictures.svg import ACCENT, MONO_WIDTH, Picture, box, svg, text

COLUMN, LEFT, WIDE, HEAD, ROW, GAP, PAD, SIZE = 186, 6, 96, 30, 18, 12, 5, 12  # px
ROOM = int((WIDE - 2 * PAD) / (SIZE * MONO_WIDTH))
TITLES = {"forward": ("前向图", "forward graph"), "backward": ("反向图", "backward graph"),
          "inference": ("图", "graph")}


def draw_loops(*graphs):
    """Draw (kind, steps) pairs, one or two, `steps` as `observe.loops.steps` gives them.

    Raises `ValueError` for another number of them, or if a name has no room.
    """
    if not 1 <= len(graphs) <= 2:
        raise ValueError(f"one or two graphs are drawn, not {len(graphs)}")
    parts, height = [], 0
    for number, (kind, steps) in enumerate(graphs):
        drawn, bottom = column(number * COLUMN + LEFT, kind, steps)
        parts += drawn
        height = max(height, bottom)
    return Picture(svg(COLUMN * len(graphs), height + 4, "\n".join(parts), smallest_text=SIZE),
                   "\n\n".join(describe(*each) for each in graphs))


def column(x, kind, steps):
    """The parts of one graph, and where it ends."""
    rows, parts, y = {}, [beside(x, 14, *TITLES[kind], leading=13)], HEAD
    for step in steps:
        tall = ROW * len(step.nodes) + 2 * PAD
        loop = step.kind == "loop"
        parts.append(box(x, y, WIDE, tall, 8 if loop else 2, 0.1 if loop else 0.0,
                         0.9 if loop else 0.4))
        for at, name in enumerate(step.nodes):
            rows[name] = y + PAD + ROW * (at + 0.5)
            parts.append(named(x, rows[name], name, loop))
        y += tall + GAP
    ends = {(rows[made], rows[reader]) for step in steps for made, reader in step.reads}
    return parts + [curve(x + WIDE, *each) for each in sorted(ends)], y - GAP


def named(x, middle, name, loop):
    if len(name) > ROOM:
        raise ValueError(f"{name} is longer than {ROOM} characters")
    style = {} if loop else {"font_style": "italic"}
    return text(x + PAD + 3, middle + 4, name, SIZE, mono=True, **style)


def curve(x, start, end):
    """A curve on the right, the wider the farther it goes, with a head where it ends."""
    reach = x + 14 + min(62, (end - start) * 0.3)
    return (f'<path d="M{x:g} {start:g}C{reach:g} {start:g} {reach:g} {end:g} {x + 7:g} {end:g}" '
            f'stroke-width="1.3" style="stroke:{ACCENT}"/>'
            f'<path d="M{x:g} {end:g}l8 -4v8z" style="fill:{ACCENT}"/>')


def describe(kind, steps):
    """The same as text, a line for each step."""
    lines = []
    for step in steps:
        made = sorted({made for made, _ in step.reads})
        after = f"  reads {', '.join(made)}" if made else ""
        lines.append(f"  {step.kind}: {', '.join(step.nodes)}{after}")
    return "\n".join([f"{kind} graph", *lines])
