"""The parts of a split: the indices that they hold, and the one dataset behind them.

Each part is followed through `.dataset` down to the dataset that has the samples, so the picture
shows what really stands between a part and its samples.
"""

from dataclasses import dataclass

from torch.utils.data import Subset

from inside.pictures.svg import (
    ACCENT,
    CELL,
    Picture,
    bilingual,
    box,
    capsule,
    down,
    line_to,
    numbers,
    svg,
    text,
    wide,
)

WIDTH, EDGE = 350, 16  # of the picture, around the cells of a part
FRONT, VIEW, BASE = 26, 90, 190  # where functions, subsets and the dataset begin
MOST = 8  # samples whose cells fit side by side


@dataclass(frozen=True)
class Part:
    """A part: what stands in front of its subset, its indices, and what they are looked up in."""

    name: str
    functions: tuple  # names of the functions in front, the outermost first
    indices: tuple
    dataset: object


def draw_split(**parts):
    """Draw two parts by name: each a Subset, or a dataset with a `function` in front of one.

    Raises `ValueError` if there are not two, if they are subsets of different datasets, and for
    more than 8 samples.
    """
    found = [follow(name, part) for name, part in parts.items()]
    if len(found) != 2 or found[0].dataset is not found[1].dataset:
        raise ValueError("draw two parts of one dataset")
    base = found[0].dataset
    if len(base) > MOST:
        raise ValueError(f"{len(base)} samples: at most {MOST} are drawn")
    return Picture(svg(WIDTH, BASE + 92, draw(found, base), smallest_text=12),
                   describe(found, base))


def follow(name, part):
    """What is met on the way from a part to its samples."""
    functions = []
    while not isinstance(part, Subset):
        functions.append(part.function.__name__)
        part = part.dataset
    return Part(name, tuple(functions), tuple(part.indices), part.dataset)


def transform(base):
    """The name of the transform that the dataset itself has, or nothing."""
    has = getattr(base, "transform", None)
    return has.__name__ if has else ""


# ---------------------------------------------------------------- drawing
def draw(parts, base):
    """From top to bottom: functions in front, subsets, lines to the samples, the dataset."""
    widths = [max(len(part.indices) * CELL, 86) + 2 * EDGE for part in parts]
    gap = (WIDTH - 2 - sum(widths)) / (len(parts) - 1)
    first = WIDTH / 2 - CELL * len(base) / 2
    drawn, x = [draw_base(base, first)], 1.0
    for part, width in zip(parts, widths, strict=True):
        middle = x + width / 2
        drawn += [text(middle, 16, part.name, 13, mono=True, text_anchor="middle",
                       font_weight=600), draw_front(part, x, width)]
        drawn += [box(x, VIEW, width, 56),
                  text(middle, VIEW + 17, "indices", 12, mono=True, text_anchor="middle"),
                  numbers(part.indices, middle, VIEW + 25)]
        left = middle - CELL * len(part.indices) / 2
        for n, index in enumerate(part.indices):
            drawn.append(line_to([(left + (n + 0.5) * CELL, VIEW + 49),
                                  (first + (index + 0.5) * CELL, BASE + 22)], "l-4 -8h8z"))
        x += width + gap
    return "\n".join(drawn)


def draw_front(part, x, width):
    """The functions that a sample of this part passes last."""
    words = ", ".join(part.functions)
    middle = x + width / 2
    if not words:
        return bilingual(middle, FRONT + 22, "前面什么也没有", "nothing in front",
                         text_anchor="middle")
    size = wide(words) + 2 * EDGE
    return "\n".join([marked(capsule(middle - size / 2, FRONT + 10, size, words)),
                      down(middle, FRONT + 36, VIEW)])


def draw_base(base, first):
    """The dataset: a cell for each sample, and its transform below them."""
    words = transform(base)
    drawn = [box(1, BASE + 8, WIDTH - 2, 82),
             text(10, BASE + 40, type(base).__name__, 12, mono=True),
             numbers(range(len(base)), first + CELL * len(base) / 2, BASE + 23)]
    if words:
        size = wide(f"transform: {words}") + 2 * EDGE
        drawn.append(marked(capsule(WIDTH / 2 - size / 2, BASE + 55, size, f"transform: {words}")))
    else:
        drawn.append(bilingual(WIDTH / 2, BASE + 66, "没有变换", "no transform",
                               text_anchor="middle"))
    return "\n".join(drawn)


def marked(shape):
    """The same shape with an edge that stands out."""
    return shape.replace('stroke="currentColor" stroke-opacity="0.55"',
                         f'stroke-width="2" style="stroke:{ACCENT}"', 1)


# ---------------------------------------------------------------- the same as text
def describe(parts, base):
    lines = [f"{part.name}: in front {', '.join(part.functions) or 'nothing'}, "
             f"indices {list(part.indices)}" for part in parts]
    return "\n".join([*lines, f"{type(base).__name__}: {len(base)} samples, "
                              f"transform {transform(base) or 'none'}"])
