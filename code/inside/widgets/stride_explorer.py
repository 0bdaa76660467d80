"""The stride explorer: which storage cell does each element of a strided tensor read?

`StrideExplorer` is an anywidget around `book/web/stride-explorer/`, the same module that the
page loads without a kernel. What is drawn in the browser and what this object holds follow each
other, and a chain typed there is executed here, by torch. Without JavaScript a table of addresses
stands in its place.
"""

import html
from itertools import product
from math import prod

import anywidget
import torch
from ipywidgets.widgets.trait_types import TypedTuple
from traitlets import Int, TraitError, Unicode, observe, validate

from inside.bilingual import spans
from inside.widgets.fallback import table
from inside.widgets.tensor_chain import ChainError, chain_on, length_of, run_chain
from inside.widgets.web_module import WEB, joined_module

LIMIT = 64  # elements and storage cells a reader can still see at once
DIMS = 6
ITEMSIZES = (1, 2, 4, 8, 16)
ESM = WEB / "stride-explorer" / "index.js"


def contiguous_strides(shape):
    """Row-major strides: products of the sizes to the right, where a size of 0 counts as 1."""
    return tuple(prod(max(n, 1) for n in shape[d + 1 :]) for d in range(len(shape)))


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
    if len(shape) > DIMS:
        return f"shape {shape} has {len(shape)} dimensions; the explorer draws at most {DIMS}"
    if prod(shape) > LIMIT:
        return f"shape {shape} has {prod(shape)} elements; the explorer draws at most {LIMIT}"
    if not 0 <= size <= LIMIT:
        return f"a storage of {size} elements; the explorer draws 0 to {LIMIT}, so take a small one"
    return None


class StrideExplorer(anywidget.AnyWidget):
    """Widget over one strided tensor; `shape`, `strides`, `offset`, `size` count elements.

    `strides` default to contiguous ones, `size` (the storage) to 12 or what the view needs.
    `chain` is how the tensor was made, such as `"x.view(3, 4).t()"` with `x = torch.arange(size)`;
    where it is given torch executes it and the other numbers follow; it is empty where they were
    set by hand. `itemsize` is in bytes. Traits can be assigned; to change several at once (another
    number of dimensions) use `with w.hold_trait_notifications():`. Raises `ValueError` where torch
    would refuse the view or where it has more than 64 elements or storage cells.
    """

    _esm = joined_module(ESM)
    shape = TypedTuple(trait=Int()).tag(sync=True)
    strides = TypedTuple(trait=Int()).tag(sync=True)
    offset = Int().tag(sync=True)
    size = Int().tag(sync=True)
    chain = Unicode().tag(sync=True)
    itemsize = Int(8).tag(sync=True)

    def __init__(self, shape=(3, 4), strides=None, offset=0, size=None, chain="", itemsize=8):
        shape = tuple(shape)
        strides = contiguous_strides(shape) if strides is None else tuple(strides)
        if size is None:
            size = max(12, needed(shape, strides, offset) if len(shape) == len(strides) else 0)
        self.cells = None
        if chain:
            chain = with_length(chain, size)
            shape, strides, offset, size = layout(result(chain))
        check(shape, strides, offset, size)
        super().__init__(shape=shape, strides=strides, offset=offset, size=size, chain=chain,
                         itemsize=itemsize)

    @classmethod
    def of(cls, tensor):
        """The explorer of a real strided tensor and its whole storage; raises `ValueError`.

        `tensor` of the widget then lies in that storage too, so writing to it writes there. In a
        typed chain `x` is the whole storage in one dimension.
        """
        if tensor.layout != torch.strided:
            raise ValueError(f"a {tensor.layout} tensor has no strides; pass a dense tensor")
        *view, size = layout(tensor)
        widget = cls(*view, size, itemsize=tensor.element_size())
        widget.cells = tensor.detach().as_strided((size,), (1,), 0)
        return widget

    @property
    def tensor(self):
        """The tensor that is shown, made by torch; a chain that copies copies at each call."""
        if self.chain:
            return result(self.chain, self.cells)
        cells = self.cells
        if cells is None or len(cells) != self.size:
            cells = torch.arange(self.size)
        return cells.as_strided(self.shape, self.strides, self.offset)

    @validate("shape", "strides", "offset", "size")
    def _accept(self, proposal):
        """Judge the whole view that the change would make, not one number alone."""
        view = {name: getattr(self, name) for name in ("shape", "strides", "offset", "size")}
        view[proposal["trait"].name] = proposal["value"]
        check(**view)
        return proposal["value"]

    @validate("chain")
    def _accept_chain(self, proposal):
        """Execute the chain once: torch's refusal is raised as `ViewError`, nothing changes."""
        if not proposal["value"]:
            return ""
        length = len(self.cells) if self.cells is not None else self.size
        chain = with_length(proposal["value"], length_of(self.chain) if self.chain else length)
        check(*layout(result(chain, self.cells)))
        return chain

    @validate("itemsize")
    def _accept_itemsize(self, proposal):
        return of_a_dtype(proposal["value"])

    @observe("shape", "strides", "offset", "size", "chain")
    def _follow(self, change):
        """A new chain sets the numbers; new numbers that are not those of the chain end it."""
        if not self.chain:
            return
        now = (self.shape, self.strides, self.offset, self.size)
        made = layout(result(self.chain, self.cells))
        if made == now:
            return
        if change["name"] != "chain":
            self.chain = ""
            return
        with self.hold_trait_notifications():
            self.shape, self.strides, self.offset, self.size = made

    def __repr__(self):
        return (
            f"StrideExplorer(shape={self.shape}, strides={self.strides}, "
            f"offset={self.offset}, size={self.size})"
        )

    def _repr_mimebundle_(self, **kwargs):
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/html": fallback(self)}, metadata


def layout(tensor):
    """(shape, strides, offset, elements of the storage) of a tensor, as plain tuples and ints."""
    size = tensor.untyped_storage().nbytes() // tensor.element_size()
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), size


def with_length(chain, length):
    """The chain with `torch.arange(length)` in the place of `x`; raises `ViewError`."""
    try:
        return chain_on(chain, length)
    except ChainError as error:
        raise ViewError(str(error)) from error


def result(chain, cells=None):
    """The tensor at the end of a chain; raises `ViewError` where torch refuses a step.

    `x = torch.arange(n)` is replaced by `cells` where those are n elements.
    """
    try:
        return run_chain(chain, cells)[-1]
    except (ChainError, RuntimeError, IndexError, TypeError, ValueError) as error:
        raise ViewError(f"chain {chain!r}: {str(error).partition(chr(10))[0]}") from error


class ViewError(ValueError, TraitError):
    """A view torch refuses or the widget cannot draw; as a TraitError it rolls a change back."""


def of_a_dtype(itemsize):
    """The item size in bytes; raises `ViewError` where no dtype has it."""
    if itemsize not in ITEMSIZES:
        raise ViewError(f"itemsize {itemsize}: one of {ITEMSIZES} bytes")
    return itemsize


def check(shape, strides, offset, size):
    """Raise `ViewError` with one line where the view cannot be drawn or torch refuses it."""
    reason = undrawable(shape, size) or refusal(shape, strides, offset, size)
    if reason:
        raise ViewError(reason)


def fallback(view):
    """The custom element with a table of addresses inside, for pages without JavaScript."""
    attributes = {
        "shape": ",".join(map(str, view.shape)),
        "strides": ",".join(map(str, view.strides)),
        "offset": view.offset,
        "size": view.size,
    }
    if view.chain:
        attributes["chain"] = html.escape(view.chain)
    if view.itemsize != StrideExplorer.itemsize.default_value:
        attributes["itemsize"] = view.itemsize
    listed = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f"<stride-explorer {listed}>\n{addresses(view)}\n</stride-explorer>"


def addresses(view):
    """One row per index of the leading dimensions, one column per index of the last."""
    *lead, columns = view.shape or (1,)  # the one element of a 0-dim tensor has no index
    corner = f"<code>t[{', '.join('ijklmn'[: len(view.shape)]) or '()'}]</code>"
    caption = spans("每个元素落在存储的几号格", "The storage cell of each element, by number")
    rows = (address_row(view, index) for index in product(*map(range, lead)))
    return table(caption, [corner, *(range(columns) if view.shape else [""])], rows)


def address_row(view, index):
    """Addresses along the last dimension at the leading `index`; without one the row is `t`."""
    *lead, step = view.strides or (0,)
    start = view.offset + sum(i * s for i, s in zip(index, lead, strict=True))
    return [", ".join(map(str, index)) or "t",
            *(start + j * step for j in range(prod(view.shape[-1:])))]
