"""Python names, the tensors they hold, the storages below, all read from the tensors."""

from dataclasses import dataclass

from inside.observe.storages import group
from inside.pictures.svg import (
    CELL,
    MONO_WIDTH,
    SANS_WIDTH,
    Picture,
    arrow,
    bilingual,
    box,
    svg,
    text,
)

ROW, GAP, TOP = 17, 18, 62  # heights; TOP is where the boxes begin, below the headings
MAX_CELLS = 16  # of one storage; of a longer one the first cells are drawn


@dataclass(frozen=True)
class Columns:
    """Where the three columns stand: names, TensorImpl boxes, storage cells."""

    name: float
    impl: float
    cell: float

    @classmethod
    def fitting(cls, storages):
        """Columns as wide as their longest text."""
        handles = [handle for storage in storages for handle in storage.handles]
        names = max(len(", ".join(handle.names)) for handle in handles)
        fields = max(
            len(field) * SANS_WIDTH + len(value) * MONO_WIDTH
            for handle in handles
            for field, value in handle.rows()
        )
        values = max((len(v) for storage in storages for v in storage.values), default=0)
        return cls(
            name=max(60, round(names * 13 * MONO_WIDTH + 16)),
            impl=max(150, round(fields * 12 + 30)),
            cell=max(54, round(values * 13 * MONO_WIDTH + 16)),
        )

    @property
    def impl_x(self):
        return max(4 + self.name + 26, 98)  # the first heading needs room as well

    @property
    def cell_x(self):
        return self.impl_x + self.impl + 40

    @property
    def width(self):
        return self.cell_x + max(self.cell + 26, 90)  # beside the cells their addresses


def draw_tensors(names):
    """Draw `{"t": t, "row": t[1]}`: names, the TensorImpl of each tensor, the storages they share.

    Two names of one tensor object share a box; tensors on one storage point into the same cells,
    each at its `storage_offset`. Raises `ValueError` for a tensor without strided storage.
    """
    storages = group(names)
    columns = Columns.fitting(storages)
    parts, y = [headings(columns)], TOP
    for storage in storages:
        body, height = draw_storage(storage, columns, y)
        parts.append(body)
        y += height + GAP
    described = "\n".join(describe(n, s) for n, s in enumerate(storages))
    return Picture(svg(columns.width, y - GAP + 6, "\n".join(parts), smallest_text=12), described)


def headings(columns):
    """What each column is: the C++ or Python type, then its role in both languages."""
    kinds = [
        (4, "THPVariable", "Python 对象", "Python object"),
        (columns.impl_x, "TensorImpl", "元数据", "metadata"),
        (columns.cell_x, "StorageImpl", "数据", "data"),
    ]
    return "\n".join(
        text(x, 16, kind, mono=True, font_weight=600) + "\n" + bilingual(x, 33, zh, en)
        for x, kind, zh, en in kinds
    )


def draw_storage(storage, columns, top):
    """One storage at the right, its tensors stacked at the left: (SVG, height)."""
    impl_height = 5 * ROW + 12
    left = len(storage.handles) * (impl_height + GAP) - GAP
    cells, right = draw_cells(storage, columns, top)
    parts = [cells]
    for n, handle in enumerate(storage.handles):
        y = top + n * (impl_height + GAP)
        parts.append(draw_handle(handle, columns, y, impl_height))
        cell = storage.first_cell(handle)
        if cell is not None:
            start = columns.impl_x + columns.impl, y + 6 + 2.5 * ROW  # beside storage_offset
            target = columns.cell_x - 2, top + CELL * (min(cell, MAX_CELLS) + 0.5)
            parts.append(arrow(*start, *target))
    return "\n".join(parts), max(left, right)


def draw_handle(handle, columns, y, height):
    """The Python names and, joined by an arrow, the TensorImpl with its fields."""
    middle, right = y + height / 2, columns.impl_x + columns.impl - 8
    names = ", ".join(handle.names)
    parts = [
        box(4, middle - 15, columns.name, 30, radius=15, tint=0),
        text(4 + columns.name / 2, middle + 4.5, names, mono=True, text_anchor="middle"),
        arrow(4 + columns.name, middle, columns.impl_x - 2, middle),
        box(columns.impl_x, y, columns.impl, height),
    ]
    for n, (field, value) in enumerate(handle.rows()):
        baseline = y + 6 + ROW * (n + 0.5) + 4.5
        parts.append(text(columns.impl_x + 8, baseline, field, 12))
        parts.append(text(right, baseline, value, 12, mono=True, text_anchor="end"))
    return "\n".join(parts)


def draw_cells(storage, columns, top):
    """The cells from top to bottom with their addresses beside them: (SVG, height)."""
    x, middle, after = columns.cell_x, columns.cell_x + columns.cell / 2, columns.cell + 7
    shown = storage.values[:MAX_CELLS]
    parts = []
    for n, value in enumerate(shown):
        y = top + n * CELL
        parts.append(box(x, y, columns.cell, CELL, radius=0, tint=0.03))
        parts.append(text(middle, y + 16.5, value, mono=True, text_anchor="middle"))
        parts.append(text(x + after, y + 16, str(n), 12, mono=True, fill_opacity=0.75))
    y = top + len(shown) * CELL
    if more := len(storage.values) - len(shown):
        parts.append(text(middle, y + 17, f"… +{more}", text_anchor="middle"))
        y += CELL
    parts.append(bilingual(x, y + 18, f"{storage.nbytes} 字节", f"{storage.nbytes} bytes"))
    return "\n".join(parts), y + 38 - top


def describe(number, storage):
    """The same facts as text: the storage, then one line for each tensor on it."""
    lines = [f"storage {number}: {len(storage.values)} elements, {storage.nbytes} bytes"]
    for handle in storage.handles:
        facts = ", ".join(f"{field} {value}" for field, value in handle.rows())
        lines.append(f"  {', '.join(handle.names)}: {facts}")
    return "\n".join(lines)
