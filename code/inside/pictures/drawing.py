"""Drawings of real objects as SVG: Python names, the tensors they hold, the storages below.

Every number in a picture is read from the tensors passed in. The SVG takes its colours from the
page (`currentColor`, theme variables), so it follows light and dark mode; opened alone, as a
notebook does, it puts itself on white paper. Words that depend on the language are written twice,
with the classes `lang-zh` and `lang-en`, on lines of their own.
"""

from dataclasses import dataclass
from html import escape

import torch

SANS = "system-ui, 'Segoe UI', 'Noto Sans SC', 'Noto Sans CJK SC', sans-serif"
MONO = "ui-monospace, Menlo, Consolas, monospace"
ACCENT = "var(--pst-color-primary, currentColor)"
SMALLEST = 11  # px that the smallest text of a picture may shrink to on a phone
MAX_CELLS = 16  # of one storage; of a longer one the first cells are drawn


# ---------------------------------------------------------------- SVG
@dataclass(frozen=True)
class Picture:
    """A cell output: the SVG for the page (None where it cannot be drawn), the text for tests."""

    svg: str | None
    text: str

    def _repr_mimebundle_(self, include=None, exclude=None):
        bundle = {"text/plain": self.text}
        return bundle | ({"image/svg+xml": self.svg} if self.svg else {})

    def __repr__(self):
        return self.text


def svg(width, height, body, smallest_text, scale=1.2, family=SANS):
    """The SVG of a picture drawn in units of `width` by `height`.

    It shrinks with the page until its smallest text (in the same units) is 11 px high; on a
    narrower screen the box around it scrolls.
    """
    least = round(width * SMALLEST / smallest_text)
    style = f"max-width:100%;min-width:min({round(width * scale)}px,{least}px);height:auto"
    alone = "<style>svg:root{background:#fff;color:#222}</style>"  # opened without a page around
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'width="{round(width * scale)}" height="{round(height * scale)}" style="{style}" '
        f'fill="none" stroke="none" font-family="{family}">{alone}\n{body}\n</svg>'
    )


def text(x, y, words, size=13, *, mono=False, **attributes):
    """One line of selectable text with its baseline at `y`."""
    family = f' font-family="{MONO}"' if mono else ""
    more = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="currentColor"{family}{more}>'
        f"{escape(words)}</text>"
    )


def bilingual(x, y, zh, en, size=12, leading=15, **attributes):
    """Both languages, English on the line below, so that they never overlap where both show."""
    return "\n".join(
        [
            text(x, y, zh, size, lang="zh-Hans", **{"class": "lang-zh"}, **attributes),
            text(x, y + leading, en, size, lang="en", **{"class": "lang-en"}, **attributes),
        ]
    )


def box(x, y, width, height, radius=5, tint=0.05, edge=0.55):
    """A frame with a faint tint of the text colour."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
        f'fill="currentColor" fill-opacity="{tint}" stroke="currentColor" stroke-opacity="{edge}"/>'
    )


def arrow(x1, y1, x2, y2):
    """A curve from left to right that ends in a head at (x2, y2)."""
    bend = max(12, (x2 - x1) / 2)
    path = f"M{x1:g} {y1:g}C{x1 + bend:g} {y1:g} {x2 - bend:g} {y2:g} {x2 - 7:g} {y2:g}"
    head = f"M{x2:g} {y2:g}l-8 -4v8z"
    return (
        f'<path d="{path}" stroke-width="1.6" style="stroke:{ACCENT}"/>'
        f'<path d="{head}" style="fill:{ACCENT}"/>'
    )


# ---------------------------------------------------------------- what is drawn
@dataclass(frozen=True)
class Handle:
    """One tensor object with the Python names that refer to it."""

    names: tuple[str, ...]
    tensor: torch.Tensor

    def rows(self):
        """The fields of its TensorImpl as (name, value)."""
        t = self.tensor
        return [
            ("sizes", str(tuple(t.shape))),
            ("strides", str(t.stride())),
            ("storage_offset", str(t.storage_offset())),
            ("dtype", str(t.dtype).removeprefix("torch.")),
            ("version", "none" if t.is_inference() else str(t._version)),
        ]


@dataclass(frozen=True)
class Storage:
    """One StorageImpl, its values read with the dtype of the first tensor on it."""

    handles: tuple[Handle, ...]
    nbytes: int
    values: tuple[str, ...]

    def first_cell(self, handle):
        """The cell where the handle's tensor begins; None where it begins past the last."""
        first = self.handles[0].tensor
        start = handle.tensor.storage_offset() * handle.tensor.element_size()
        cell = start // first.element_size()
        return cell if cell < len(self.values) else None


def group(names):
    """The storages below `names` in order of appearance, each with its tensors and their names."""
    by_object, by_storage = {}, {}
    for name, tensor in names.items():
        by_object.setdefault(id(tensor), ([], tensor))[0].append(name)
    for called, tensor in by_object.values():
        if tensor.layout != torch.strided:
            raise ValueError(f"{called[0]}: a {tensor.layout} tensor has no storage to draw")
        key = tensor.untyped_storage()._cdata  # which StorageImpl; never printed
        by_storage.setdefault(key, []).append(Handle(tuple(called), tensor))
    return [storage_of(tuple(handles)) for handles in by_storage.values()]


def storage_of(handles):
    """Read the storage that the handles share."""
    first = handles[0].tensor.detach()
    nbytes = first.untyped_storage().nbytes()
    count = nbytes // first.element_size()
    flat = torch.as_strided(first, (count,), (1,), 0)
    values = [""] * count if first.is_meta else [spell(v) for v in flat.tolist()]
    return Storage(handles, nbytes, tuple(values))


def spell(value):
    """A number short enough for a cell."""
    return f"{value:.4g}" if isinstance(value, float | complex) else str(value)


# ---------------------------------------------------------------- draw_tensors
ROW, CELL, GAP, TOP = 17, 24, 18, 62  # heights; TOP is where the boxes begin, below the headings
MONO_WIDTH, SANS_WIDTH = 0.61, 0.55  # of a character, in font sizes; a little more than the average


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
