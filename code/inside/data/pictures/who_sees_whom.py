"""Which tokens of a packed row each token may see: a grid for each mask, side by side.

A token of its own document is dark. One of another document is coloured and has a dot.
"""

from inside.pictures.svg import ACCENT, Picture, bilingual, box, svg, text

WIDTH, LABEL, SPACE, TOP = 350, 16, 14, 50  # of the picture, beside a grid, between two, above
TITLES = {"causal": "因果掩码", "block_mask": "block_mask"}  # known in Chinese
MOST, LONGEST = 2, 12  # masks that fit side by side, tokens of a row


def draw_who_sees_whom(masks, words, documents):
    """Picture of `{title: mask}`, each mask (L, L) bool, True where the column is seen by the row.

    `words` has a letter for each token, `documents` the number of its document. Raises
    `ValueError` for more than two masks or 12 tokens.
    """
    if not 0 < len(masks) <= MOST or len(words) > LONGEST:
        raise ValueError(f"{len(masks)} masks of {len(words)} tokens: at most {MOST} of {LONGEST} "
                         "are drawn")
    documents = [int(number) for number in documents]
    width = (WIDTH - 2 - SPACE * (len(masks) - 1)) / len(masks)
    side = min(24, (width - LABEL) / len(words))
    parts, lines = [], []
    for n, (title, mask) in enumerate(masks.items()):
        x = 1 + n * (width + SPACE) + LABEL
        parts.append(bilingual(x, 13, TITLES.get(title, title), title))
        parts.append(grid(mask.tolist(), words, documents, x, side))
        lines.append(describe(title, mask.tolist(), words, documents))
    y = TOP + side * len(words) + 20
    parts.append(bilingual(LABEL, y, "深色：自己的文档；带点：别的文档",
                           "dark: own document; dot: another one"))
    return Picture(svg(WIDTH, round(y + 24), "\n".join(parts), smallest_text=12), "\n".join(lines))


def grid(mask, words, documents, x, side):
    """The letters above and beside, and a cell for each pair that is seen."""
    parts = []
    for row, seen in enumerate(mask):
        y = TOP + row * side
        parts.append(text(x - 5, y + side / 2 + 4, words[row], 12, mono=True, text_anchor="end"))
        parts.append(text(x + (row + 0.5) * side, TOP - 6, words[row], 12, mono=True,
                          text_anchor="middle"))
        for column, sees in enumerate(seen):
            at = x + column * side
            if not sees:
                parts.append(box(at, y, side, side, radius=0, tint=0, edge=0.15))
            elif documents[row] == documents[column]:
                parts.append(box(at, y, side, side, radius=0, tint=0.45, edge=0.5))
            else:
                parts.append(foreign(at, y, side))
    return "\n".join(parts)


def foreign(x, y, side):
    """A cell for a token of another document."""
    return (f'<rect x="{x:g}" y="{y:g}" width="{side:g}" height="{side:g}" fill-opacity="0.25" '
            f'style="fill:{ACCENT};stroke:{ACCENT}"/><circle cx="{x + side / 2:g}" '
            f'cy="{y + side / 2:g}" r="2.5" style="fill:{ACCENT}"/>')


def describe(title, mask, words, documents):
    """The same facts as text: a line for each token."""
    lines = []
    for row, seen in enumerate(mask):
        own, other = ("".join(words[column] for column, sees in enumerate(seen)
                              if sees and (documents[row] == documents[column]) == same)
                      for same in (True, False))
        lines.append(f"  {words[row]} sees {own or '-'} of its own, {other or '-'} of others")
    return "\n".join([f"{title}:", *lines])
