"""The values of a small forward graph, what saving each would cost, and where the cut runs."""

from itertools import pairwise

from inside.pictures.svg import (
    ACCENT,
    Picture,
    bilingual,
    box,
    head,
    stroke,
    svg,
    text,
)

WIDTH, TOP, STEP, HIGH, WIDE = 342, 10, 92, 44, 92
LEFT, MIDDLE, NOTES = 52, 172, 230
BACKWARD = "backward"


def draw_min_cut(cut):
    """Draw a `Partitioned` whose forward pass is a chain behind two inputs, the first on the left.

    A box is a value: its capacity is inside, how that comes about beside it, and a dashed line
    through it where the partitioner cuts. Raises `ValueError` for a graph of another form.
    """
    places = placed(cut)
    lines = [edge(places[a], places[b], a, b, places) for a, b in cut.edges]
    boxes = [value(name, *places[name], cut) for name in cut.values]
    y = places[BACKWARD][1]
    floor = box(0, y, MIDDLE + WIDE / 2, HIGH) + bilingual(
        (MIDDLE + WIDE / 2) / 2, y + 19, "反向的运算", "operations of backward", 12, 16,
        text_anchor="middle")
    body = "\n".join([*lines, *boxes, floor])
    return Picture(svg(WIDTH, y + HIGH + 4, body, smallest_text=12), describe(cut))


def placed(cut):
    """{name: (middle, top)} of each box; the chain stands below the second input."""
    names = list(cut.values)
    chain = names[1:]
    links = [pair for pair in cut.edges if pair[0] in chain and pair[1] in chain]
    if len(names) < 3 or links != list(pairwise(chain)):
        raise ValueError(f"draw_min_cut draws a chain behind two inputs, not {cut.edges}")
    places = {name: (MIDDLE, TOP + STEP * row) for row, name in enumerate(chain)}
    return places | {names[0]: (LEFT, TOP), BACKWARD: (MIDDLE, TOP + STEP * len(chain))}


def edge(start, end, a, b, places):
    """An arrow from the bottom of one box to the top of another; a skipped row is passed by."""
    (x1, y1), (x2, y2) = start, end
    y1, skips = y1 + HIGH, y2 - y1 > STEP
    if x1 == LEFT and b == BACKWARD:
        return stroke(f"M{x1:g} {y1:g}V{y2 - 6:g}") + head(f"M{x1:g} {y2:g}l-4 -8h8z")
    if skips:
        x = x1 - WIDE / 2 - 12
        path = (f"M{x1 - 30:g} {y1:g}C{x1 - 30:g} {y1 + 24:g} {x:g} {y1 + 10:g} {x:g} {y1 + 40:g}"
                f"V{y2 - 6:g}")
        return stroke(path) + head(f"M{x:g} {y2:g}l-4 -8h8z")
    if x1 != x2:
        x2 -= 24
        path = f"M{x1 + 16:g} {y1:g}C{x1 + 16:g} {y1 + 26:g} {x2:g} {y2 - 30:g} {x2:g} {y2 - 6:g}"
        return stroke(path) + head(f"M{x2:g} {y2:g}l-4 -8h8z")
    return stroke(f"M{x1:g} {y1:g}V{y2 - 6:g}") + head(f"M{x2:g} {y2:g}l-4 -8h8z")


def value(name, x, y, cut):
    """One box; the notes stand beside it, but for the input on the left."""
    each, saved = cut.values[name], is_cut(name, cut)
    parts = [box(x - WIDE / 2, y, WIDE, HIGH, tint=0.05),
             text(x, y + 16, name, 12, mono=True, text_anchor="middle"),
             text(x, y + 37, f"{each.capacity:g}", 12, mono=True, text_anchor="middle",
                  font_weight=600 if saved else 400)]
    if saved:
        parts.append(f'<path d="M{x - WIDE / 2 - 5:g} {y + 22:g}h{WIDE + 10}" stroke-width="2.4" '
                     f'stroke-dasharray="6 4" style="stroke:{ACCENT}"/>')
    if x == MIDDLE:
        parts.append(text(NOTES, y + 10, formula(each), 12, mono=True))
        if each.never:
            parts.append(bilingual(NOTES, y + 27, "不重算", "not recomputed", 12, 15))
    return "\n".join(parts)


def formula(each):
    """The capacity as bytes, distance and the factor for a value that isn't written anyway."""
    twice = "·2" if each.capacity > 1.5 * int(each.nbytes * 1.1**each.steps) else ""
    return f"{each.nbytes}·1.1{'¹²³⁴⁵⁶⁷⁸⁹'[each.steps - 1]}{twice}"


def is_cut(name, cut):
    """Whether the value is kept for backward: saved, or an input that backward uses."""
    return name in cut.saved or (name in cut.inputs and (name, BACKWARD) in cut.edges)


def describe(cut):
    """A line for each value."""
    return "\n".join(f"{name}: {formula(each)} = {each.capacity:g}"
                     + (", not recomputed" if each.never else "")
                     + (", cut" if is_cut(name, cut) else "")
                     for name, each in cut.values.items())
