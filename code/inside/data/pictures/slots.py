"""The slots of a loader at several moments: lent to the user, with a worker, idle."""

from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

WIDTH, LEFT, ROW, HEIGHT, TOP = 350, 70, 26, 18, 4  # px: picture, names, from row to row, a cell


def draw_slots(rows):
    """Picture with a row for each moment in `rows`: name -> (lent, with a worker, idle), counts."""
    side = (WIDTH - LEFT - 1) / max(map(sum, rows.values()))
    parts, described = [], []
    for row, (name, (lent, busy, idle)) in enumerate(rows.items()):
        y = TOP + row * ROW
        parts.append(text(0, y + 13, name, 12, mono=True))
        kinds = ["lent"] * lent + ["busy"] * busy + ["idle"] * idle
        parts += [cell(LEFT + n * side, y, side, kind) for n, kind in enumerate(kinds)]
        described.append(f"{name}: {lent} lent, {busy} with the worker, {idle} idle")
    y = TOP + len(rows) * ROW
    parts.append(bilingual(0, y + 15, "深色：借出；粗框：在工作进程手里；浅框：空闲",
                           "shaded: lent; bold: with the worker; pale: idle", 12))
    return Picture(svg(WIDTH, y + 36, "\n".join(parts), smallest_text=12), "\n".join(described))


def cell(x, y, side, kind):
    """A slot: shaded if it is lent, in a bold frame if a worker has it, else pale."""
    at = f'<rect x="{x + 1:g}" y="{y}" width="{side - 2:g}" height="{HEIGHT}"'
    if kind == "lent":
        return f'{at} fill="currentColor" fill-opacity="0.6"/>'
    if kind == "busy":
        return f'{at} stroke-width="2" style="stroke:{ACCENT}"/>'
    return f'{at} stroke="currentColor" stroke-opacity="0.35"/>'
