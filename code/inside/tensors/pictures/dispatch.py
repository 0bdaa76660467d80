"""The picture of one operator call in several situations: which keys count, which kernels run.

The key sets are read from the tensors and the thread; the order of the kernels is what a `Spy`
saw when the operator was called.
"""

from inside.pictures.svg import ACCENT, Picture, bilingual, box, svg, text
from inside.tensors.observe.dispatch import LAYERS, situation

LABEL, COLUMN, ROW, TOP = 114, 50, 30, 84
SYMBOLS = {"skipped": "↓", "excluded": "✕", "absent": "·", "not called": "–"}
LEGEND = (
    (
        "1、2、3：依次运行的实现；↓：直落",
        "1, 2, 3: kernels in the order they ran; ↓: fallthrough",
    ),
    ("✕：在键集里，被排除集去掉；·：不在键集里", "✕: in the set but excluded; ·: not in the set"),
)


def draw_dispatch(op, situations):
    """Draw `{"no_grad": (torch.no_grad(), (x, w))}`: name, context manager and arguments.

    Calls the operator once for each situation. `op` is named as in native_functions.yaml and
    returns one tensor; raises `ValueError` for an unknown operator.
    """
    columns = [situation(op, name, *how) for name, how in situations.items()]
    parts = [draw_labels(op), *(draw_column(n, column) for n, column in enumerate(columns))]
    width = LABEL + COLUMN * len(columns) + 4
    y = TOP + ROW * (len(LAYERS) + 2) + 18
    for n, words in enumerate(LEGEND):
        parts.append(bilingual(4, y + n * 34, *words))
    height = y + len(LEGEND) * 34 - 12
    return Picture(svg(width, height, "\n".join(parts), smallest_text=12), describe(op, columns))


def draw_labels(op):
    """The operator at the top, then the keys from the highest priority down, then the results."""
    names = [*LAYERS, "grad_fn", "dtype"]
    lines = [text(4, TOP - 14, op, mono=True, font_weight=600)]
    for n, name in enumerate(names):
        lines.append(text(4, TOP + ROW * (n + 0.5) + 4, name, 12, mono=True))
    return "\n".join(lines)


def draw_column(number, column):
    """The situation's name, a cell for each key, the results."""
    x = LABEL + COLUMN * number
    middle = x + COLUMN / 2
    foot = middle + 4, TOP - 6  # the name slopes down to its column: five names fit on a phone
    slope = f"rotate(38 {foot[0]:g} {foot[1]:g})"
    parts = [text(*foot, column.name, 12, mono=True, text_anchor="end", transform=slope)]
    for n, word in enumerate(column.states.values()):
        parts.append(draw_cell(x, TOP + ROW * n, word))
    node = "None" if column.node == "None" else "✓"  # the node's name is wider than a column
    for n, word in enumerate([node, column.dtype], start=len(LAYERS)):
        parts.append(text(middle, TOP + ROW * (n + 0.5) + 4, word, 12, text_anchor="middle"))
    return "\n".join(parts)


def draw_cell(x, y, word):
    """One key in one situation: a ring with the number where its kernel ran, else a sign."""
    middle, centre = x + COLUMN / 2, y + ROW / 2
    frame = box(x + 2, y + 2, COLUMN - 4, ROW - 4, tint=0.06 if word.isdigit() else 0, edge=0.3)
    sign = SYMBOLS.get(word, word)
    weight = 700 if word.isdigit() else 400
    label = text(middle, centre + 4.5, sign, 13, text_anchor="middle", font_weight=weight)
    if not word.isdigit():
        return f"{frame}\n{label}"
    ring = f'<circle cx="{middle:g}" cy="{centre:g}" r="11" stroke-width="1.8"'
    return f'{frame}\n{ring} style="stroke:{ACCENT}"/>\n{label}'


def describe(op, columns):
    """The same facts as a table of text."""
    rows = [[op, *(column.name for column in columns)]]
    rows += [[key, *(column.states[key] for column in columns)] for key in LAYERS]
    rows.append(["grad_fn", *(column.node for column in columns)])
    rows.append(["dtype", *(column.dtype for column in columns)])
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    padded = (zip(row, widths, strict=True) for row in rows)
    return "\n".join("  ".join(c.ljust(w) for c, w in row).rstrip() for row in padded)
