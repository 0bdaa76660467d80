"""Shapes aligned at the right, dimension by dimension, as torch broadcasts them.

`AlignedShapes((3, 1), (4,))` is an anywidget around `book/web/aligned-shapes/`. It shows what each
dimension does, the shape of the result, the strides of each operand after `expand`, the bytes read
and the dimensions that a backward sums over.
The table that stands in its place without JavaScript is torch's own answer.
"""

import re
from itertools import zip_longest
from math import prod
from operator import index

import anywidget
import torch
from traitlets import Int, Unicode, validate

from inside.bilingual import spans
from inside.widgets.fallback import table
from inside.widgets.stride_explorer import DIMS, ViewError, of_a_dtype
from inside.widgets.web_module import WEB, joined_module

OPERANDS = "abc"
FLOAT32 = 4  # bytes
ESM = WEB / "aligned-shapes" / "index.js"
LARGEST = 999_999_999  # a size that the front end reads
EXACT = 2**49  # elements whose bytes JavaScript counts exactly: 16 each make 2**53
SIZE = r"-?[0-9]{1,9}"
SHAPE = re.compile(rf"\(\s*\)|(\()?\s*{SIZE}(\s*,\s*{SIZE})*\s*,?\s*(?(1)\))")


class AlignedShapes(anywidget.AnyWidget):
    """Widget over two or three shapes, each a sequence of sizes; `itemsize` is in bytes.

    `shapes` of the widget is their text, such as `"(3, 1) | (4,)"`. Shapes that conflict are shown
    with torch's error. Raises `ValueError` for another number of shapes, what is no shape, a size
    below 0 or above 999 999 999, more than 6 dimensions, or more than 2**49 elements.
    """

    _esm = joined_module(ESM)
    shapes = Unicode().tag(sync=True)
    itemsize = Int(FLOAT32).tag(sync=True)

    def __init__(self, *shapes, itemsize=FLOAT32):
        super().__init__(shapes=text_of([sizes(shape) for shape in shapes]), itemsize=itemsize)

    @validate("shapes")
    def _accept(self, proposal):
        return text_of(read(proposal["value"]))

    @validate("itemsize")
    def _accept_itemsize(self, proposal):
        return of_a_dtype(proposal["value"])

    def __repr__(self):
        return f"AlignedShapes({', '.join(map(str, read(self.shapes)))})"

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": fallback(read(self.shapes), self.itemsize)}, metadata


def text_of(shapes):
    """Shapes as the attribute of the element: `"(3, 1) | (4,)"`; raises `ViewError`."""
    if not 2 <= len(shapes) <= len(OPERANDS):
        raise ViewError(f"{len(shapes)} shapes; give two or three")
    for shape in shapes:
        if any(n < 0 for n in shape):
            raise ViewError(f"shape {shape}: a size cannot be negative")
        if any(n > LARGEST for n in shape):
            raise ViewError(f"shape {shape}: a size can be at most {LARGEST}")
        if len(shape) > DIMS:
            raise ViewError(f"shape {shape} has {len(shape)} dimensions; at most {DIMS} are drawn")
    if prod(max(1, *column) for column in zip_longest(*map(reversed, shapes), fillvalue=1)) > EXACT:
        raise ViewError(f"aligned, the shapes have more than {EXACT} elements; take smaller ones")
    return " | ".join(map(str, shapes))


def sizes(shape):
    """A shape as a tuple of ints; raises `ViewError`."""
    try:
        return tuple(map(index, shape))
    except TypeError:
        raise ViewError(f"{shape!r} is no shape; write it as (3, 1)") from None


def read(text):
    """The shapes of such a text; raises `ViewError`."""
    parts = [part.strip() for part in text.split("|")]
    if not all(map(SHAPE.fullmatch, parts)):
        raise ViewError(f"shapes {text!r}: write them as (3, 1) | (4,)")
    return [tuple(map(int, re.findall(SIZE, part))) for part in parts]


def in_torch(shapes):
    """Operands without data, broadcast by torch, or the text of its refusal."""
    operands = [torch.empty(shape, device="meta") for shape in shapes]
    try:
        return torch.broadcast_tensors(*operands), None
    except RuntimeError as error:
        return None, str(error).partition("\n")[0]


def summed(shape, result):
    """Dimensions of `result` that `sum_to_size` sums for a gradient of `shape`."""
    missing = len(result) - len(shape)
    return [d for d, size in enumerate(result)
            if d < missing or (shape[d - missing] == 1 and size != 1)]


def fallback(shapes, itemsize=FLOAT32):
    """The custom element with a table inside, for pages without JavaScript."""
    expanded, refused = in_torch(shapes)
    head = [spans("张量", "tensor"), spans("形状", "shape")]
    rows = [[f"<code>{name}</code>", f"<code>{shape}</code>"]
            for name, shape in zip(OPERANDS, shapes, strict=False)]
    if refused:
        caption = spans(f"不能广播：<code>{refused}</code>",
                        f"They cannot be broadcast: <code>{refused}</code>")
    else:
        result = tuple(expanded[0].shape)
        caption = spans(f"结果的形状是 <code>{result}</code>",
                        f"The result has shape <code>{result}</code>")
        head += [spans("<code>expand</code> 之后的步长", "strides after <code>expand</code>"),
                 spans("要读的字节", "bytes to read"),
                 spans("反向求和的维", "backward sums over")]
        for row, shape, t in zip(rows, shapes, expanded, strict=True):
            dims = ", ".join(f"<code>dim={d}</code>" for d in summed(shape, result)) or "–"
            row += [f"<code>{t.stride()}</code>", prod(shape) * itemsize if t.numel() else 0, dims]
    size = "" if itemsize == FLOAT32 else f' itemsize="{itemsize}"'
    return (f'<aligned-shapes shapes="{text_of(shapes)}"{size}>\n'
            f"{table(caption, head, rows)}\n</aligned-shapes>")
