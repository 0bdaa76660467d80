"""One `x[key]` under another: the dimensions of `x`, those of the result, and what became what."""

from inside.pictures.svg import ACCENT, Picture, box, svg, text

CELL, STEP, LEFT, HIGH = 44, 56, 70, 26  # px: width of a box, from box to box, of the first, height
TITLE, ROWS, BLOCK = 16, (26, 92), 142  # px in a block: title, tops of the two rows, the next block


def draw_landing(*landings):
    """Draw `Landing`s; a dimension that an index tensor reads, and where it lands, is filled.

    Raises `ValueError` if there is none to draw.
    """
    if not landings:
        raise ValueError("there is nothing to draw")
    parts = [block(number * BLOCK, each) for number, each in enumerate(landings)]
    most = max(max(len(each.source), len(each.result)) for each in landings)
    picture = svg(LEFT + most * STEP, len(landings) * BLOCK - 16, "\n".join(parts), 12)
    return Picture(picture, "\n".join(map(str, landings)))


def block(y, landing):
    """The parts of one landing from `y` on."""
    top, bottom = y + ROWS[0], y + ROWS[1]
    title = text(0, y + TITLE, f"x[{landing.key}]", 13, mono=True, font_weight=600)
    rows = [text(0, top + 17, "x", 12, mono=True), text(0, bottom + 17, "result", 12, mono=True)]
    upper = [cell(n, top, size, is_index(entry)) + label(n, top, entry)
             for n, (size, entry) in enumerate(landing.source)]
    lower = [cell(n, bottom, size, origin == "index")
             for n, (size, origin) in enumerate(landing.result)]
    return "\n".join([title, *rows, *lines(landing, top, bottom), *upper, *lower])


def is_index(entry):
    """Whether an entry of a key is an index tensor or a list, not an integer or a slice."""
    return entry != ":" and not entry.lstrip("-").isdigit()


def cell(number, y, size, filled):
    """A dimension as a box with its size."""
    x = LEFT + number * STEP
    words = text(x + CELL / 2, y + 17, str(size), 12, mono=True, text_anchor="middle")
    shade = (f'<rect x="{x:g}" y="{y:g}" width="{CELL}" height="{HIGH}" rx="5" '
             f'fill-opacity="0.25" style="fill:{ACCENT}"/>') if filled else ""
    return shade + box(x, y, CELL, HIGH) + words


def label(number, y, entry):
    """The entry of the key that stands for a dimension, under its box."""
    return text(LEFT + number * STEP + CELL / 2, y + HIGH + 13, entry, 12, mono=True,
                text_anchor="middle")


def lines(landing, top, bottom):
    """From each dimension that survives, or is indexed, to where it is in the result."""
    places = {}
    for at, (_, origin) in enumerate(landing.result):
        places.setdefault(origin, []).append(at)
    found = []
    for number, (_, entry) in enumerate(landing.source):
        kind = "index" if is_index(entry) else number
        found += [line(number, at, top, bottom, kind == "index") for at in places.get(kind, [])]
    return found


def line(start, end, top, bottom, heavy):
    """From under the label of box `start` to the top of box `end`."""
    x1, x2 = (LEFT + each * STEP + CELL / 2 for each in (start, end))
    path = f"M{x1:g} {top + HIGH + 19:g}L{x2:g} {bottom:g}"
    style = f'style="stroke:{ACCENT}"' if heavy else 'stroke="currentColor" stroke-opacity="0.5"'
    return f'<path d="{path}" stroke-width="{2.2 if heavy else 1.2}" {style}/>'
