"""Random numbers of several epochs as shades: what repeats shows as stripes or diagonals."""

from inside.pictures.svg import Picture, bilingual, svg, text

NAMES = {"stored": ("生成器存在数据集里", "stored in the dataset"),
         "stored, persistent": ("同上，工作进程留到下一轮", "stored, persistent workers"),
         "sum": ("种子相加", "seed = sum"),
         "key": ("种子写成列表", "seed = list")}
SIDE, LEFT, TOP, APART = 13, 24, 40, 22  # px: a cell, the axis at the left, title, between tables


def draw_numbers(tables):
    """Picture of {name: rows of numbers from 0 to 1}: a row is an epoch, a column a sample.

    The larger the number, the darker its cell. Equal numbers have equal shades.
    """
    parts, described, y = [], [], 0
    for name, rows in tables.items():
        parts += [bilingual(LEFT, y + 13, *NAMES.get(name, (name, name))),
                  *cells(rows, y + TOP)]
        different = len({value for row in rows for value in row})
        described.append(f"{name}: {len(rows)} epochs of {len(rows[0])}, {different} different")
        y += TOP + SIDE * len(rows) + APART
    width = LEFT + SIDE * max(len(rows[0]) for rows in tables.values()) + 2
    parts.append(bilingual(LEFT, y - 6, "→ 样本，↓ 轮", "→ sample, ↓ epoch"))
    return Picture(svg(width, y + 14, "\n".join(parts), smallest_text=12), "\n".join(described))


def cells(rows, top):
    """A shaded square for each number, and the index of each epoch."""
    found = []
    for epoch, row in enumerate(rows):
        y = top + SIDE * epoch
        found.append(text(LEFT - 6, y + 11, str(epoch), 12, text_anchor="end"))
        found += [f'<rect x="{LEFT + SIDE * i}" y="{y}" width="{SIDE - 1}" height="{SIDE - 1}" '
                  f'fill="currentColor" fill-opacity="{0.06 + 0.84 * value:.2f}"/>'
                  for i, value in enumerate(row)]
    return found
