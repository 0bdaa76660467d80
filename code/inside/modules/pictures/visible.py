"""Which keys each query may see: one grid for each mask, cached keys on the left of a line."""

from inside.pictures.svg import ACCENT, CELL, Picture, bilingual, box, stroke, svg, text

TITLES = {"counted from 0": "从 0 数起", "after the cache": "从缓存后数起"}  # known in Chinese
TOP, LEFT, GAP = 62, 34, 22  # room above for title and column numbers, beside for row names


def draw_visible(masks, cached):
    """Draw `{title: mask}`, each mask (queries, keys) bool, True where the key is seen.

    The queries are the positions after the `cached` ones; cached keys stand left of a line. Titles
    are English; those in `TITLES` are shown in both languages.
    """
    x, parts, height = 4, [], 0
    for title, mask in masks.items():
        rows, first = mask.tolist(), mask.shape[1] - mask.shape[0]
        parts.append(bilingual(x, 15, TITLES.get(title, title), title))
        parts.append(grid(rows, x + LEFT, first, cached))
        x += LEFT + CELL * mask.shape[1] + GAP
        height = max(height, TOP + CELL * len(rows) + 10)
    described = "\n".join(describe(title, mask) for title, mask in masks.items())
    return Picture(svg(x - GAP + 4, height, "\n".join(parts), smallest_text=12), described)


def grid(rows, x, first, cached):
    """Positions above and beside, a dot where the key is seen, a line behind the cached keys."""
    parts = [text(x + CELL * (column + 0.5), TOP - 8, f"k{column}", 12, mono=True,
                  text_anchor="middle") for column in range(len(rows[0]))]
    for row, seen in enumerate(rows):
        y = TOP + CELL * row
        parts.append(text(x - 6, y + 16.5, f"q{first + row}", 12, mono=True, text_anchor="end"))
        parts += [square(x + CELL * column, y, dot) for column, dot in enumerate(seen)]
    line = x + CELL * cached
    return "\n".join([*parts, stroke(f"M{line:g} {TOP - 4}V{TOP + CELL * len(rows) + 4}")])


def square(x, y, seen):
    """A cell, with a dot in the accent colour if the key is seen."""
    frame = box(x, y, CELL, CELL, radius=0, tint=0.12 if seen else 0.02)
    dot = f'<circle cx="{x + CELL / 2:g}" cy="{y + CELL / 2:g}" r="5" style="fill:{ACCENT}"/>'
    return frame + (dot if seen else "")


def describe(title, mask):
    """The same facts as text: a line for each query."""
    first = mask.shape[1] - mask.shape[0]
    lines = [f"  q{first + row} sees " + (" ".join(f"k{n}" for n, dot in enumerate(seen) if dot)
                                          or "nothing")
             for row, seen in enumerate(mask.tolist())]
    return "\n".join([f"{title}:", *lines])
