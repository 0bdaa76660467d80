"""The stride explorer: which storage cell does each element of a strided tensor read?

`StrideExplorer` is an anywidget around `book/web/stride-explorer.js`, the same file that the
page loads without a kernel. What is drawn in the browser and what this object holds follow each
other. Without JavaScript a table of addresses stands in its place.
"""

from itertools import product
from math import prod
from pathlib import Path

import anywidget
import torch
from ipywidgets.widgets.trait_types import TypedTuple
from traitlets import Int, TraitError, validate

LIMIT = 64  # elements and storage cells a reader can still see at once
ESM = Path(__file__).resolve().parents[2] / "book" / "web" / "stride-explorer.js"
if not ESM.is_file():
    raise ImportError(
        f"inside.stride_explorer: {ESM.name} is missing; use `inside` from a clone of the book, "
        "where it lies in book/web/"
    )


def contiguous_strides(shape):
    """Row-major strides of `shape`: each is the product of the sizes to its right."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def needed(shape, strides, offset):
    """Storage elements the view needs: one past its last address, none when it is empty."""
    if 0 in shape:
        return 0
    return offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 1


def refusal(shape, strides, offset, size):
    """Why `torch.as_strided` refuses this view of a storage of `size` elements, or None."""
    if len(shape) != len(strides):
        return f"shape {shape} and strides {strides} differ in length; give each dimension a stride"
    if any(n < 0 for n in shape):
        return f"shape {shape}: a size cannot be negative"
    if any(s < 0 for s in strides):
        return f"strides {strides}: torch has no negative strides; flip(dim) reverses by copying"
    if offset < 0:
        return f"offset {offset}: a storage offset cannot be negative"
    need = needed(shape, strides, offset)
    if need > size:
        return (
            f"shape {shape}, strides {strides}, offset {offset} need {need} storage elements, "
            f"the storage has {size}; pass a larger size or a smaller stride"
        )
    return None


def undrawable(shape, size):
    """Why the widget does not draw a view that torch may accept, or None."""
    if not 1 <= len(shape) <= 3 or any(n < 1 for n in shape):
        return f"shape {shape}: the explorer draws 1 to 3 dimensions of size 1 or more"
    if prod(shape) > LIMIT:
        return f"shape {shape} has {prod(shape)} elements; the explorer draws at most {LIMIT}"
    if not 1 <= size <= LIMIT:
        return f"a storage of {size} elements; the explorer draws 1 to {LIMIT}, so take a small one"
    return None


class StrideExplorer(anywidget.AnyWidget):
    """Widget over one strided view; `shape`, `strides`, `offset`, `size` count elements.

    `strides` default to contiguous ones, `size` (the storage) to 12 or what the view needs.
    Traits can be assigned; to change several at once (another number of dimensions) use
    `with w.hold_trait_notifications():`. Raises `ValueError` where torch would refuse the view
    or where it has more than 64 elements or storage cells.
    """

    _esm = ESM
    shape = TypedTuple(trait=Int()).tag(sync=True)
    strides = TypedTuple(trait=Int()).tag(sync=True)
    offset = Int().tag(sync=True)
    size = Int().tag(sync=True)

    def __init__(self, shape=(3, 4), strides=None, offset=0, size=None):
        shape = tuple(shape)
        strides = contiguous_strides(shape) if strides is None else tuple(strides)
        if size is None:
            size = max(12, needed(shape, strides, offset) if len(shape) == len(strides) else 0)
        check(shape, strides, offset, size)
        super().__init__(shape=shape, strides=strides, offset=offset, size=size)

    @classmethod
    def of(cls, tensor):
        """The explorer of a real strided tensor and its whole storage; raises `ValueError`."""
        if tensor.layout != torch.strided:
            raise ValueError(f"a {tensor.layout} tensor has no strides; pass a dense tensor")
        size = tensor.untyped_storage().nbytes() // tensor.element_size()
        return cls(tensor.shape, tensor.stride(), tensor.storage_offset(), size)

    @validate("shape", "strides", "offset", "size")
    def _accept(self, proposal):
        """Judge the whole view that the change would make, not one number alone."""
        view = {name: getattr(self, name) for name in ("shape", "strides", "offset", "size")}
        view[proposal["trait"].name] = proposal["value"]
        check(**view)
        return proposal["value"]

    def addresses(self):
        """Address of every element, nested lists of the shape of the tensor, in elements."""

        def below(dims, base):
            if not dims:
                return base
            (n, stride), *rest = dims
            return [below(rest, base + i * stride) for i in range(n)]

        return below(list(zip(self.shape, self.strides, strict=True)), self.offset)

    def __repr__(self):
        return (
            f"StrideExplorer(shape={self.shape}, strides={self.strides}, "
            f"offset={self.offset}, size={self.size})"
        )

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": fallback(self)}, metadata


class ViewError(ValueError, TraitError):
    """A view torch refuses or the widget cannot draw; as a TraitError it rolls a change back."""


def check(shape, strides, offset, size):
    """Raise `ViewError` with one line where the view cannot be drawn or torch refuses it."""
    reason = undrawable(shape, size) or refusal(shape, strides, offset, size)
    if reason:
        raise ViewError(reason)


def fallback(view):
    """The custom element with a table of addresses inside, for pages without JavaScript."""
    attributes = " ".join(
        f'{name}="{",".join(map(str, value))}"'
        for name, value in [
            ("shape", view.shape),
            ("strides", view.strides),
            ("offset", [view.offset]),
            ("size", [view.size]),
        ]
    )
    return f"<stride-explorer {attributes}>\n{table(view)}\n</stride-explorer>"


def table(view):
    """One row per index of the leading dimensions, one column per index of the last."""
    *lead, columns = view.shape
    head = "".join(f'<th scope="col">{j}</th>' for j in range(columns))
    rows = [table_row(view, index) for index in product(*map(range, lead))]
    corner = f"t[{', '.join('ijk'[: len(view.shape)])}]"
    caption = (
        '<span class="lang-zh" lang="zh-Hans">每个元素落在存储的几号格</span> '
        '<span class="lang-en" lang="en">The storage cell of each element, by number</span>'
    )
    top = f'<tr><th scope="col"><code>{corner}</code></th>{head}</tr>'
    return "\n".join([f"<table><caption>{caption}</caption>", top, *rows, "</table>"])


def table_row(view, index):
    """Addresses along the last dimension at the leading `index`; without one the row is `t`."""
    *lead, step = view.strides
    start = view.offset + sum(i * s for i, s in zip(index, lead, strict=True))
    cells = "".join(f"<td>{start + j * step}</td>" for j in range(view.shape[-1]))
    return f'<tr><th scope="row">{", ".join(map(str, index)) or "t"}</th>{cells}</tr>'
