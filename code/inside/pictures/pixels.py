"""Rows of small grey pictures below each other, for example what went in and what came out."""

from inside.pictures.svg import Picture, bilingual, svg

PIXEL, GAP, CAPTION = 7, 9, 38  # px: side of a pixel, between pictures, a row's words
APART = 0.1  # two pictures are different if some pixel differs by more
CAPTIONS = {"input": ("输入", "input"), "output": ("输出", "output"),
            "repaired": ("改好之后的输出", "output after the repair")}


def draw_pictures(**rows):
    """Draw a row for each `name=pictures`, a tensor (N, H, W) in which 0 is paper and 1 is ink.

    The names in `CAPTIONS` are written in the reader's language, others as they are. Values
    outside 0 to 1 are drawn as the nearer of the two. Raises `ValueError` for a tensor that has
    not three dimensions.
    """
    parts, described, y, width = [], [], 0, 0
    for name, pictures in rows.items():
        if pictures.dim() != 3:
            raise ValueError(f"{name}: pictures are (N, H, W), got {tuple(pictures.shape)}")
        count, height, side = pictures.shape
        parts.append(bilingual(0, y + 14, *CAPTIONS.get(name, (name, name))))
        y += CAPTION
        parts += [one(image, n * (side * PIXEL + GAP), y)
                  for n, image in enumerate(pictures.tolist())]
        y += height * PIXEL + GAP
        width = max(width, count * (side * PIXEL + GAP))
        described.append(f"{name}: {count} pictures, {different(pictures)} of them different")
    return Picture(svg(width, y, "\n".join(parts), smallest_text=12), "\n".join(described))


def one(image, left, top):
    """One picture: a frame, and a square for each pixel that has any ink."""
    frame = (f'<rect x="{left:g}" y="{top:g}" width="{len(image[0]) * PIXEL}" '
             f'height="{len(image) * PIXEL}" stroke="currentColor" stroke-opacity="0.4"/>')
    return frame + "".join(
        f'<rect x="{left + column * PIXEL:g}" y="{top + row * PIXEL:g}" width="{PIXEL}" '
        f'height="{PIXEL}" fill="currentColor" fill-opacity="{min(ink, 1):.2f}"/>'
        for row, line in enumerate(image) for column, ink in enumerate(line) if ink >= 0.01)


def different(pictures):
    """How many pictures there are if nearly equal ones count once."""
    kept = []
    for image in pictures:
        if all((image - other).abs().max() > APART for other in kept):
            kept.append(image)
    return len(kept)
