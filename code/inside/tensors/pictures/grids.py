"""Tables of small labelled cells beside each other, some of them marked."""

from dataclasses import dataclass

from inside.pictures.svg import ACCENT, Picture, bilingual, svg, text

CAPTIONS = {
    "input": "输入", "head 0, moved": "头 0：先拆再转置", "head 0, viewed": "头 0：直接 view",
    "right": "对的写法", "both wrong": "分头、拼回都错", "merge wrong": "只有拼回错"}
HIGH, APART, TOP, SIZE = 24, 26, 40, 12  # px: a cell, between tables, room for a title, font size


@dataclass(frozen=True)
class Grid:
    """Rows of cells, each a label and whether it is marked.

    A title in `CAPTIONS` is written in the reader's language, others as they are.
    """

    en: str
    cells: list  # rows of (label, marked)

    @property
    def zh(self):
        """The title in Chinese."""
        return CAPTIONS.get(self.en, self.en)

    @property
    def cell(self):
        """Width of a cell: its longest label and some room, in pixels."""
        longest = max((len(label) for row in self.cells for label, _ in row), default=0)
        return max(HIGH, round(longest * SIZE * 0.56) + 10)

    @property
    def width(self):
        """Of the table or of the longer title, whichever is wider."""
        words = max(round(len(self.zh) * SIZE * 1.04), round(len(self.en) * SIZE * 0.58))
        return max(words, self.cell * max(map(len, self.cells), default=0))


def draw_grids(*grids, across=3):
    """Draw each `Grid`, `across` of them in a row; a marked cell is tinted and framed."""
    parts, described, x, y, widest = [], [], 0, 0, 0
    for number, grid in enumerate(grids):
        if number and number % across == 0:
            x, y = 0, y + bottom(grids[number - across:number]) + APART
        parts += [bilingual(x, y + 13, grid.zh, grid.en, SIZE), *drawn(grid, x, y + TOP)]
        described += [grid.en] + [" ".join(f"[{label}]" if marked else label or "."
                                           for label, marked in row) for row in grid.cells]
        x += grid.width + APART
        widest = max(widest, x - APART)
    height = y + bottom(grids[len(grids) - (len(grids) - 1) % across - 1:])
    return Picture(svg(widest + 1, height + 1, "\n".join(parts), smallest_text=SIZE),
                   "\n".join(described))


def bottom(grids):
    """How far a row of tables reaches down."""
    return TOP + HIGH * max(len(grid.cells) for grid in grids)


def drawn(grid, left, top):
    """The cells of a table, the marked ones last so that their frames lie on top."""
    found = []
    for row, cells in enumerate(grid.cells):
        for column, (label, marked) in enumerate(cells):
            x, y = left + column * grid.cell, top + row * HIGH
            found.append((marked, one(x, y, grid.cell, label, marked)))
    return [piece for _, piece in sorted(found, key=lambda each: each[0])]


def one(x, y, width, label, marked):
    """A cell with its label in the middle."""
    tint = f'style="fill:{ACCENT};stroke:{ACCENT}" fill-opacity="0.25"' if marked else (
        'stroke="currentColor" stroke-opacity="0.35"')
    frame = (f'<rect x="{x + 0.5:g}" y="{y + 0.5:g}" width="{width}" height="{HIGH}" {tint}/>')
    return frame + text(x + width / 2, y + 17, label, SIZE, text_anchor="middle") if label \
        else frame
