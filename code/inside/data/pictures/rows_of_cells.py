"""Rows of cells of three kinds, in this order: shaded, in a bold frame, pale."""

from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, ROW, HEIGHT, TOP = 350, 26, 18, 4  # px: picture, from row to row, a cell


def draw_rows(rows, left, legend):
    """Picture of `rows`: name -> (how many cells of each kind, what a text says of the row).

    `left` is the room for the names in px, `legend` what the kinds mean, in Chinese and English.
    """
    side = (WIDTH - left - 1) / max(sum(counts) for counts, _ in rows.values())
    parts, described = [], []
    for row, (name, (counts, told)) in enumerate(rows.items()):
        y = TOP + row * ROW
        parts.append(text(0, y + 13, name, 12, mono=True))
        kinds = [kind for kind, count in enumerate(counts) for _ in range(count)]
        parts += [cell(left + n * side, y, side, kind) for n, kind in enumerate(kinds)]
        described.append(f"{name}: {told}")
    y = TOP + len(rows) * ROW
    parts.append(bilingual(0, y + 15, *legend, 12))
    return Picture(svg(WIDTH, y + 36, "\n".join(parts), smallest_text=12), "\n".join(described))


def cell(x, y, side, kind):
    look = ('fill="currentColor" fill-opacity="0.6"', f'stroke-width="2" style="stroke:{ACCENT}"',
            'stroke="currentColor" stroke-opacity="0.35"')[kind]
    return f'<rect x="{x + 1:g}" y="{y}" width="{side - 2:g}" height="{HEIGHT}" {look}/>'
