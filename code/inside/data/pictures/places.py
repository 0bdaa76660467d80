"""Where samples come out of a shuffle: a point for each, its place before across, after upwards.

A shuffle of everything fills the square. One that moves samples only a little leaves the diagonal.
"""

from inside.pictures.svg import Picture, bilingual, svg, text

SIDE, GAP, TOP, BOTTOM = 160, 24, 20, 34  # px: a square, between two, above for its name, below
POINTS = 500  # at most, in a square


def draw_places(orders):
    """Picture of {name: order}, at most two; order[k] is where the sample at place k was before.

    Places count from 0. Of a long order, points are left out at equal distances.
    """
    if len(orders) > 2:
        raise ValueError(f"{len(orders)} orders: at most two stand beside each other")
    parts, told = [], []
    for number, (name, order) in enumerate(orders.items()):
        left, size = 1 + number * (SIDE + GAP), len(order)
        parts.append(text(left, 13, name, 12, mono=True))
        parts.append(f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" '
                     'stroke="currentColor" stroke-opacity="0.4"/>')
        points = [(before, after) for after, before in enumerate(order)][::-(-size // POINTS)]
        drawn = "".join(f"M{left + SIDE * before / size:.1f} "
                        f"{TOP + SIDE - SIDE * after / size:.1f}h0" for before, after in points)
        parts.append(f'<path d="{drawn}" stroke="currentColor" stroke-width="2.6" '
                     'stroke-linecap="round" stroke-opacity="0.75"/>')
        told.append(f"{name}: {size} samples, {moved(order)}")
    parts.append(bilingual(1, TOP + SIDE + 16, "横轴：打乱前的位置；纵轴：打乱后的位置",
                           "across: place before; upwards: place after", size=12))
    return Picture(svg(2 * SIDE + GAP + 2, TOP + SIDE + BOTTOM, "\n".join(parts), smallest_text=12),
                   "\n".join(told))


def moved(order):
    """How far the samples of an order have come, in words."""
    late = [after - before for after, before in enumerate(order)]
    return f"{-min(late)} places early at most, {max(late)} late"
