"""The picture of an operator that is registered step by step: a row for each dispatch key."""

from inside.pictures.svg import ACCENT, Picture, bilingual, box, svg, text

LABEL, COLUMN, ROW, TOP = 136, 56, 28, 30
SIGNS = {"fallback": "○", "fallthrough": "↓", "nothing": "·"}
LEGEND = (
    ("圆点：自己的实现；○：兜底", "dot: its own kernel; ○: a fallback"),
    ("↓：兜底只是放行；·：没有实现", "↓: a fallback that passes it on; ·: nothing"),
)


def draw_answers(stages):
    """Draw `{"define": answers("my::op"), …}`: a column for each stage of the registration."""
    keys = list(next(iter(stages.values())))
    parts = [text(4, TOP + ROW * (n + 0.5) + 4, key, 12, mono=True) for n, key in enumerate(keys)]
    for n, (name, found) in enumerate(stages.items()):
        x = LABEL + COLUMN * n
        parts.append(text(x + COLUMN / 2, TOP - 10, name, 12, mono=True, text_anchor="middle"))
        parts += [cell(x, TOP + ROW * row, found[key]) for row, key in enumerate(keys)]
    y = TOP + ROW * len(keys) + 22
    parts += [bilingual(4, y + n * 34, *words) for n, words in enumerate(LEGEND)]
    height = y + len(LEGEND) * 34 - 12
    width = max(LABEL + COLUMN * len(stages), 300) + 4
    return Picture(svg(width, height, "\n".join(parts), smallest_text=12), describe(stages))


def cell(x, y, word):
    """One key at one stage: a dot for a kernel, else a sign."""
    frame = box(x + 2, y + 2, COLUMN - 4, ROW - 4, tint=0.06 if word == "kernel" else 0, edge=0.3)
    middle, centre = x + COLUMN / 2, y + ROW / 2
    if word == "kernel":
        return f'{frame}\n<circle cx="{middle:g}" cy="{centre:g}" r="6" style="fill:{ACCENT}"/>'
    return f"{frame}\n{text(middle, centre + 4.5, SIGNS[word], 13, text_anchor='middle')}"


def describe(stages):
    """The same facts as lines of text."""
    keys = next(iter(stages.values()))
    rows = [["", *stages], *([key, *(found[key] for found in stages.values())] for key in keys)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = (zip(row, widths, strict=True) for row in rows)
    return "\n".join("  ".join(c.ljust(w) for c, w in row).rstrip() for row in padded)
