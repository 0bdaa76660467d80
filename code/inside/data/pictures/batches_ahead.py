"""The batches of an epoch in their order: trained on, asked for by the loader, not asked for yet.

A loader with workers asks its sampler for batches that the training loop has not had. After a
stop they are lost to a sampler that counts what it gave.
"""

from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, LEFT, ROW, HEIGHT, TOP = 350, 92, 26, 18, 4  # px: picture, names, from row to row, a cell


def draw_ahead(rows, total):
    """Picture with a row for each name in `rows`: name -> (batches trained on, batches asked for).

    The first `total` batches of the epoch are drawn.
    """
    side = (WIDTH - LEFT - 1) / total
    parts, described = [], []
    for row, (name, (trained, asked)) in enumerate(rows.items()):
        y = TOP + row * ROW
        parts.append(text(0, y + 13, name, 12, mono=True))
        parts += [cell(LEFT + n * side, y, side, "trained" if n < trained else
                       "ahead" if n < asked else "later") for n in range(total)]
        described.append(f"{name}: {trained} trained on, {asked - trained} more asked for")
    y = TOP + len(rows) * ROW
    parts.append(bilingual(0, y + 15, "深色：训练过；粗框：已要走，还没训练",
                           "shaded: trained on; bold: only asked for", 12))
    return Picture(svg(WIDTH, y + 36, "\n".join(parts), smallest_text=12), "\n".join(described))


def cell(x, y, side, what):
    """A batch: shaded if it was trained on, in a bold frame if it was asked for, else pale."""
    at = f'<rect x="{x + 1:g}" y="{y}" width="{side - 2:g}" height="{HEIGHT}"'
    if what == "trained":
        return f'{at} fill="currentColor" fill-opacity="0.6"/>'
    if what == "ahead":
        return f'{at} stroke-width="2" style="stroke:{ACCENT}"/>'
    return f'{at} stroke="currentColor" stroke-opacity="0.35"/>'
