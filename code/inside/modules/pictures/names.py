"""What stands behind a name of a module, and which parameters its gradient reaches."""

from inside.pictures.svg import (
    PILL,
    Picture,
    along,
    bilingual,
    box,
    capsule,
    svg,
    text,
    wide,
)

WIDTH, PAD, GAP = 372, 10, 30  # px: the picture, beside a name in its box, the arrow between two
LEAD, LABEL = 15, 118  # px: from a line to the next; where the parameters begin


def draw_names(cases):
    """Draw `{"nn.Linear": read_name(layer, "weight")}`, one panel for each.

    A panel says where the name is found and which parameters its gradient reaches; below it stand
    the parameters that it does not reach, if `read_name` was asked about any.
    """
    parts, y = [], 0
    for title, read in cases.items():
        body, y = draw_case(title, read, y)
        parts.append(body)
        y += 14
    described = "\n".join(describe(title, read) for title, read in cases.items())
    return Picture(svg(WIDTH, y - 8, "\n".join(parts), smallest_text=12), described)


def draw_case(title, read, y):
    """One panel from `y` down: (SVG, where it ends)."""
    name = wide(read.name) + 2 * PAD
    found = wide(read.found) + 2 * PAD
    parts = [text(1, y + 13, title, 12, mono=True, font_weight=600)]
    y += 22
    parts += [capsule(1, y, name, read.name), along(name + 3, name + GAP - 1, y + PILL / 2),
              box(name + GAP, y, found, PILL),
              text(name + GAP + PAD, y + 17, read.found, 12, mono=True)]
    y += PILL + 8
    rows = [("梯度到", "gradient to", read.trains, 0.9), ("到不了", "not to", read.left_out, 0.2)]
    for zh, en, names, edge in rows:
        if names:
            parts.append(draw_row(zh, en, names, edge, y))
            y += 2 * LEAD + 6
    return "\n".join(parts), y


def draw_row(zh, en, names, edge, y):
    """The words at the left, the parameters beside them by their last names."""
    parts, x = [bilingual(1, y + 12, zh, en, leading=LEAD)], LABEL
    for name in names:
        last = name.rpartition(".")[2]
        width = wide(last) + 2 * PAD
        parts += [box(x, y + 2, width, PILL, radius=PILL / 2, tint=0, edge=edge),
                  text(x + PAD, y + 19, last, 12, mono=True)]
        x += width + 8
    return "\n".join(parts)


def describe(title, read):
    """The same facts as text."""
    line = f"{title}: {read.name} in {read.found}, gradient to {', '.join(read.trains) or 'none'}"
    return line + (f", not to {', '.join(read.left_out)}" if read.left_out else "")
