"""Padded batches to scale: how much of each rectangle is data and how much is padding.

Each batch is given by its mask, so the picture shows the very places that the batch has.
"""

from inside.pictures.svg import Picture, bilingual, box, svg, text

WIDTH, ROW = 350, 2.5  # of the picture; height of a row, of which the data leaves a little free
LABEL, SPACE = 20, 12  # above a batch, below it


def draw_padded_batches(masks):
    """Draw batches below each other, each a bool tensor (B, T) that is True where there is data.

    The widest fills the picture, and all have the same scale. Raises `ValueError` without batches.
    """
    if not masks:
        raise ValueError("no batches to draw")
    unit = (WIDTH - 2) / max(mask.shape[1] for mask in masks)
    parts, y = [], 0
    for mask in masks:
        rows, places = mask.shape
        parts += [text(1, y + 14, f"{rows} × {places} = {rows * places:,}", 12, mono=True),
                  box(1, y + LABEL, places * unit, rows * ROW, radius=0, tint=0.08, edge=0.4),
                  draw_data(mask, unit, y + LABEL)]
        y += LABEL + rows * ROW + SPACE
    parts.append(bilingual(1, y + 12, "深色：数据；浅色：补齐", "dark: data; pale: padding"))
    return Picture(svg(WIDTH, round(y + 34), "\n".join(parts), smallest_text=12), describe(masks))


def draw_data(mask, unit, top):
    """A dark bar for each piece of a row that holds data."""
    path = "".join(f"M{1 + start * unit:.1f} {top + (row + 0.5) * ROW:g}h{length * unit:.1f}"
                   for row, places in enumerate(mask.tolist()) for start, length in runs(places))
    return f'<path d="{path}" stroke="currentColor" stroke-width="{ROW - 0.5:g}"/>'


def runs(places):
    """(start, length) of each unbroken piece of data."""
    found = []
    for place, data in enumerate(places):
        if data and found and sum(found[-1]) == place:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        elif data:
            found.append((place, 1))
    return found


# ---------------------------------------------------------------- the same as text
def describe(masks):
    return "\n".join(f"{mask.shape[0]} rows of {mask.shape[1]} places, "
                     f"{1 - mask.sum().item() / mask.numel():.0%} padding" for mask in masks)
