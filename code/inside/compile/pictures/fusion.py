"""The schedule of one or two functions: their loops as boxes, a frame around what was fused."""

from inside.pictures.svg import ACCENT, MONO_WIDTH, Picture, box, svg, text

COLUMN, TOP, NODE, WIDE, LEFT = 171, 30, 40, 104, 12  # px: of a column, its title, a loop's box
GAP, BETWEEN, FRAME = 18, 40, 8  # px: between loops, between frames, from a loop to its frame
ROOM = int((WIDE - 8) / (12 * MONO_WIDTH))


def draw_fusion(*schedules):
    """Draw (name, Fused) pairs beside each other; an arrow is a result that another loop reads.

    Arrows from one frame to another are drawn heavier. Raises `ValueError` if there are none or
    more than two, or if a loop has more operators than fit into its box.
    """
    if not 1 <= len(schedules) <= 2:
        raise ValueError(f"one or two schedules are drawn, not {len(schedules)}")
    columns = [column(number * COLUMN, *each) for number, each in enumerate(schedules)]
    height = max(bottom for _, bottom in columns)
    body = "\n".join(part for parts, _ in columns for part in parts)
    return Picture(svg(COLUMN * len(schedules), height + 4, body, smallest_text=12),
                   "\n\n".join(map(describe, schedules)))


def column(x, name, fused):
    """The parts of one schedule from `x` on, and where it ends."""
    places, frames, y = {}, [], TOP + FRAME
    for unit in fused.units:
        start = y
        for node in unit:
            places[node.name] = y
            y += NODE + GAP
        y += BETWEEN - GAP
        frames.append(box(x + LEFT - FRAME, start - FRAME, WIDE + 2 * FRAME,
                          y - BETWEEN - start + 2 * FRAME, radius=8, tint=0.04, edge=0.7))
    every = [(node, at) for at, unit in enumerate(fused.units) for node in unit]
    group = {node.name: at for node, at in every}
    loops = [loop(x + LEFT, places[node.name], node) for node, _ in every]
    lines = [edge(x + LEFT, places, read, node.name, group[read] != at)
             for node, at in every for read in node.reads if read in places]
    title = text(x + LEFT - FRAME, 16, name, 13, mono=True, font_weight=600)
    return [title, *frames, *lines, *loops], y - BETWEEN + FRAME


def loop(x, y, node):
    """A box with the operators of a loop and the shape of its result."""
    if len(str(node)) > ROOM:
        raise ValueError(f"{node} is longer than {ROOM} characters")
    shape = " × ".join(map(str, node.shape)) or node.kind
    return "\n".join([box(x, y, WIDE, NODE, tint=0.06),
                      text(x + WIDE / 2, y + 16, str(node), 12, mono=True, text_anchor="middle"),
                      text(x + WIDE / 2, y + 32, shape, 12, text_anchor="middle")])


def edge(x, places, read, reader, crosses):
    """An arrow from a loop to one that reads it: straight to the next box, else around it."""
    style = f'stroke-width="{2.4 if crosses else 1.2}" style="stroke:{ACCENT}"'
    start, end = places[read] + NODE, places[reader]
    if end - start <= BETWEEN:
        x += WIDE / 2
        head = f'<path d="M{x:g} {end:g}l-4 -8h8z" style="fill:{ACCENT}"/>'
        return f'<path d="M{x:g} {start:g}V{end - 6:g}" {style}/>' + head
    x, start, end = x + WIDE, start - NODE / 2, end + NODE / 2
    bend = x + 36
    head = f'<path d="M{x:g} {end:g}l8 -4v8z" style="fill:{ACCENT}"/>'
    return (f'<path d="M{x:g} {start:g}C{bend:g} {start:g} {bend:g} {end:g} {x + 7:g} {end:g}" '
            f'{style}/>' + head)


def describe(schedule):
    """The picture in words, a line for each frame."""
    name, fused = schedule
    return "\n".join([name] + [" | ".join(map(str, unit)) for unit in fused.units])
