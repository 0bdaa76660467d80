"""The windows of a convolution: the cells of the image, and the rows of the view that read them."""

from inside.modules.observe.windows import cells
from inside.pictures.svg import ACCENT, CELL, Picture, along, bilingual, box, svg, text

TOP, GAP = 44, 46  # where the cells begin, below the headings; between the two blocks


def draw_windows(image, view, mark):
    """Draw a 2-D image and a view (rows, columns, kernel rows, kernel columns) on its storage.

    Each cell shows its position in the storage; the position `mark` is filled wherever it occurs.
    """
    left, right = cells(image, 1), cells(view, 2)
    x = 4 + CELL * image.shape[1] + GAP
    width = x + CELL * len(right[0]) + 30
    height = TOP + CELL * max(len(left), len(right)) + 6
    middle = TOP + CELL * len(left) / 2
    parts = [
        bilingual(4, 15, "图像", "image"),
        bilingual(x, 15, "每行一个窗口", "a row is a window"),
        block(left, 4, mark), block(right, x, mark),
        along(x - GAP + 6, x - 6, middle),
    ]
    return Picture(svg(width, height, "\n".join(parts), smallest_text=12),
                   describe(image, view, left, right, mark))


def block(rows, x, mark):
    """Rows of numbered cells."""
    return "\n".join(
        square(x + CELL * column, TOP + CELL * row, str(cell), cell == mark)
        for row, line in enumerate(rows) for column, cell in enumerate(line))


def square(x, y, words, filled):
    """A cell; a filled one has a frame in the accent colour and bold text."""
    frame = box(x, y, CELL, CELL, radius=0, tint=0.2 if filled else 0.03)
    if filled:
        frame += (f'<rect x="{x + 1.5:g}" y="{y + 1.5:g}" width="{CELL - 3}" height="{CELL - 3}" '
                  f'stroke-width="2" style="stroke:{ACCENT}"/>')
    return frame + text(x + CELL / 2, y + 16.5, words, 12, mono=True, text_anchor="middle",
                        font_weight=700 if filled else 400)


def describe(image, view, left, right, mark):
    """The same facts as text."""
    lines = [f"image {tuple(image.shape)}, stride {image.stride()}",
             f"view {tuple(view.shape)}, stride {view.stride()}"]
    lines += [" ".join(f"{cell:>2}" for cell in row) for row in right]
    return "\n".join([*lines, f"cell {mark} is in {sum(row.count(mark) for row in right)} windows"])
