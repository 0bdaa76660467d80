"""Values on their way to the places that an index names: which arrive, and which are lost."""

from inside.pictures.svg import ACCENT, Picture, box, svg, text

CELL, STEP, LEFT, HIGH = 34, 46, 64, 26  # px: width of a box, from box to box, of the first, height
TITLE, ROWS, BLOCK = 16, (26, 100), 152  # px in a block: title, tops of the rows, the next block


def draw_arrivals(index, **found):
    """Draw the way of each value, once for each name: its `arrivals` for the same `index`.

    A value that arrives has a heavy line; one that is lost, a dashed line. The number in a place is
    how many arrived there. Raises `ValueError` if there is nothing to draw.
    """
    if not found or not index:
        raise ValueError("there is nothing to draw")
    parts = [block(n * BLOCK, name, index, places)
             for n, (name, places) in enumerate(found.items())]
    most = max(len(index), *map(len, found.values()))
    picture = svg(LEFT + most * STEP, len(found) * BLOCK - 20, "\n".join(parts), 12)
    return Picture(picture, "\n".join(f"{name}: {places}" for name, places in found.items()))


def block(y, name, index, places):
    """The parts of one write from `y` on."""
    top, bottom = y + ROWS[0], y + ROWS[1]
    words = [text(0, y + TITLE, name, 13, mono=True, font_weight=600),
             text(0, top + 17, "index", 12, mono=True),
             text(0, bottom + 17, "count", 12, mono=True)]
    ways = [way(k, at, top, bottom, k in places[at]) for k, at in enumerate(index)]
    upper = [cell(k, top, at) for k, at in enumerate(index)]
    lower = [cell(at, bottom, len(who)) for at, who in enumerate(places)]
    return "\n".join([*words, *ways, *upper, *lower])


def cell(number, y, value):
    """A box with a number in it."""
    x = LEFT + number * STEP
    return box(x, y, CELL, HIGH) + text(x + CELL / 2, y + 17, str(value), 12, mono=True,
                                        text_anchor="middle")


def way(start, end, top, bottom, arrives):
    """The line from value `start` to place `end`."""
    x1, x2 = (LEFT + each * STEP + CELL / 2 for each in (start, end))
    style = (f'stroke-width="2.2" style="stroke:{ACCENT}"' if arrives else
             'stroke-width="1.2" stroke="currentColor" stroke-opacity="0.6" stroke-dasharray="4 4"')
    return f'<path d="M{x1:g} {top + HIGH:g}L{x2:g} {bottom:g}" {style}/>'
