"""Which keys of a checkpoint reach which tensors of a model: two columns, with arrows between."""

from inside.modules.observe.loading import read
from inside.pictures.svg import ACCENT, Picture, along, bilingual, box, stroke, svg, text, wide

TOP, ROW, HEIGHT, GAP, SIZE = 42, 46, 38, 104, 12
WORDS = {
    "copied": ("复制", "copied"),
    "mismatch": ("形状不同，报错", "shapes: error"),
    "missing": ("缺少", "missing"),
    "unexpected": ("多余", "unexpected"),
}


def draw_loading(model, state_dict):
    """Draw what `model.load_state_dict(state_dict, strict=False)` does; the model stays as it is.

    Raises what the load raises, apart from mismatched sizes.
    """
    fates = read(model, state_dict)
    column = max(wide(line, SIZE) for fate in fates for line in (fate.key, "(0, 0)")) + 16
    width, height = 2 * column + GAP + 2, TOP + ROW * len(fates) + 4
    parts = [bilingual(x, 14, zh, en, text_anchor="middle", font_weight=600)
             for x, zh, en in ((1 + column / 2, "检查点", "checkpoint"),
                               (1 + column * 1.5 + GAP, "模型", "model"))]
    for row, fate in enumerate(fates):
        parts += draw_fate(fate, TOP + ROW * row, column)
    return Picture(svg(round(width), height, "\n".join(parts), smallest_text=SIZE), describe(fates))


# ---------------------------------------------------------------- drawing
def draw_fate(fate, y, column):
    """The tensor on either side, and what lies between them."""
    left, right = 1, 1 + column + GAP
    parts = [tensor(x, y, column, fate.key, shape)
             for x, shape in ((left, fate.in_file), (right, fate.in_model)) if shape is not None]
    x = left if fate.fate == "missing" else right
    if fate.fate in ("missing", "unexpected"):
        return [*parts, words(fate, x + column / 2, y + 15)]
    start, end, middle = left + column + 4, right - 4, y + HEIGHT - 8
    line = along(start, end, middle) if fate.fate == "copied" else blocked(start, end, middle)
    return [*parts, line, words(fate, (start + end) / 2, y + 3)]


def tensor(x, y, width, key, shape):
    """A key and its shape in a frame."""
    middle = x + width / 2
    return "\n".join([box(x, y, width, HEIGHT),
                      text(middle, y + 16, key, SIZE, mono=True, text_anchor="middle"),
                      text(middle, y + 31, str(shape), SIZE, mono=True, text_anchor="middle",
                           fill_opacity=0.75)])


def blocked(x1, x2, y):
    """A dashed line that a cross stops halfway."""
    middle = (x1 + x2) / 2
    dashed = (f'<path d="M{x1:g} {y:g}H{middle - 8:g}" stroke-width="1.6" stroke-dasharray="4 3" '
              f'style="stroke:{ACCENT}"/>')
    return dashed + stroke(f"M{middle - 5:g} {y - 5:g}l10 10m0 -10l-10 10")


def words(fate, x, y):
    return bilingual(x, y + 8, *WORDS[fate.fate], leading=12, text_anchor="middle")


# ---------------------------------------------------------------- the same as text
def describe(fates):
    return "\n".join(f"{fate.key}: {fate.fate}" for fate in fates)
