"""检查补完的 mini_tensor · Check a mini_tensor that you have completed.

    python3 check_mini_tensor.py                 every practice file beside this file
    python3 check_mini_tensor.py FILE …

The exit status is 0 if all checks pass. What you wrote is compared with torch, or, where torch is
not installed, with the numbers that torch gave. A mini_tensor_*.py imports mini_tensor_layout.py,
which must lie beside it; a mini_tensor_layout_*.py imports nothing.
"""
import sys
from functools import partial
from math import prod

from exercise_harness import Checker, Differs, compared_with

try:
    import torch
except ImportError:
    torch = None

CELLS = 200  # of the storage that the tensors below look into

# Methods: (sizes, strides, offset), arguments, and the sizes, strides and offset of the view that
# torch gives, or the exception. The arguments of `slice`: the dimension, start, stop and step.
VIEWS = {
    "Tensor.permute": [
        (((2, 3, 4), (12, 4, 1), 5), (2, 0, 1), ((4, 2, 3), (1, 12, 4), 5)),
        (((2, 3), (1, 2), 0), (-1, 0), ((3, 2), (2, 1), 0)),
        (((2, 3), (3, 1), 0), (0, 0), "RuntimeError"),
    ],
    "Tensor.slice": [
        (((4, 6), (6, 1), 3), (1, 1, None, 2), ((4, 3), (6, 2), 4)),
        (((4, 6), (6, 1), 3), (0, 1, 3, None), ((2, 6), (6, 1), 9)),
        (((4, 6), (1, 4), 0), (0, -3, None, 3), ((1, 6), (3, 4), 1)),
        (((3, 4), (8, 2), 10), (1, 1, 100, 3), ((3, 1), (8, 6), 12)),
        (((7, 2), (2, 1), 0), (0, None, None, 3), ((3, 2), (6, 1), 0)),
        (((4, 6), (6, 1), 0), (1, 5, 2, None), ((4, 0), (6, 1), 5)),
        (((5,), (0,), 2), (0, 1, None, 2), ((2,), (0,), 2)),
        (((4,), (1,), 0), (0, None, None, -1), "ValueError"),
    ],
    "Tensor.expand": [
        (((3, 1), (1, 1), 4), (3, 4), ((3, 4), (1, 0), 4)),
        (((3, 1), (5, 5), 0), (2, 3, 4), ((2, 3, 4), (0, 5, 0), 0)),
        (((2, 3), (3, 1), 0), (-1, 3), ((2, 3), (3, 1), 0)),
        (((3,), (2,), 1), (2, 1, 3), ((2, 1, 3), (0, 6, 2), 1)),
        (((2, 1, 3), (3, 3, 1), 0), (2, 4, -1), ((2, 4, 3), (3, 0, 1), 0)),
        (((1, 1), (9, 4), 0), (-1, 5), ((1, 5), (9, 0), 0)),
        (((), (), 7), (2, 2), ((2, 2), (0, 0), 7)),
        (((1,), (4,), 0), (0,), ((0,), (0,), 0)),
        (((2,), (1,), 0), (3,), "RuntimeError"),
        (((2,), (1,), 0), (-1, 2), "RuntimeError"),
    ],
}

# Functions: arguments, and what torch gives.
STRIDES = {
    "packed_strides": [      # sizes, dimensions with the fastest first
        (((2, 3, 4), (2, 1, 0)), (12, 4, 1)),
        (((2, 3, 4), (0, 1, 2)), (1, 2, 6)),
        (((2, 3, 4), (1, 2, 0)), (12, 1, 3)),
        (((2, 3, 4, 5), (1, 3, 2, 0)), (60, 1, 15, 3)),
        (((), ()), ()),
    ],
    "contiguous_strides": [
        (((2, 3, 4),), (12, 4, 1)),
        (((5, 1, 2),), (2, 2, 1)),
        (((2, 0, 3),), (3, 3, 1)),
        (((0,),), (1,)),
        (((),), ()),
    ],
    "broadcast_strides": [   # operand, as its sizes and strides; the common shape
        ((((3,), (2,)), (4, 3)), (0, 2)),
        ((((3, 1), (1, 3)), (3, 4)), (1, 0)),
        ((((2, 3), (3, 1)), (2, 3)), (3, 1)),
        ((((2, 1, 3), (3, 7, 1)), (5, 2, 4, 3)), (0, 3, 0, 1)),
        ((((2, 1), (4, 9)), (2, 1)), (4, 9)),
        ((((), ()), (2, 3)), (0, 0)),
        ((((), ()), ()), ()),
    ],
    "view_strides": [        # sizes, strides, new shape; None where torch refuses
        (((6,), (1,), (2, 3)), (3, 1)),
        (((2, 3), (3, 1), (6,)), (1,)),
        (((3, 2), (1, 3), (6,)), None),
        (((3, 2), (1, 3), (3, 1, 2)), (1, 6, 3)),
        (((3, 2, 4), (4, 12, 1), (3, 8)), None),
        (((3, 2, 4), (4, 12, 1), (3, 2, 2, 2)), (4, 12, 2, 1)),
        (((2, 3, 2), (12, 4, 1), (6, 2)), (4, 1)),
        (((2, 3, 2), (12, 4, 1), (2, 6)), None),
        (((2, 3, 4), (12, 4, 1), (4, 6)), (6, 1)),
        (((2, 1, 3), (3, 99, 1), (6,)), (1,)),
        (((2, 3, 1), (3, 1, 50), (6,)), (1,)),
        (((1, 6), (99, 1), (3, 2)), (2, 1)),
        (((4, 6), (12, 2), (3, 8)), (16, 2)),
        (((4, 6), (12, 1), (2, 12)), None),
        (((4, 6), (1, 4), (2, 2, 6)), (2, 1, 4)),
        (((6, 4), (1, 6), (4, 6)), None),
        (((3, 4), (1, 0), (12,)), None),
        (((3, 4), (1, 0), (3, 2, 2)), (1, 0, 0)),
        (((2, 3), (0, 0), (3, 2)), (0, 0)),
        (((), (), (1, 1)), (1, 1)),
        (((1,), (5,), ()), ()),
        (((0, 3), (3, 1), (5, 0)), (1, 1)),
        (((0, 3), (3, 9), (0, 3)), (3, 9)),
    ],
    "result_strides": [      # operands, each its sizes and strides
        ((((2, 3), (3, 1)),), (3, 1)),
        ((((3, 2), (1, 3)),), (1, 3)),
        ((((4, 3), (6, 1)),), (3, 1)),
        ((((4, 3), (2, 16)),), (1, 4)),
        ((((2, 3, 4), (1, 8, 2)),), (1, 8, 2)),
        ((((3, 1), (1, 3)),), (1, 1)),
        ((((3, 4), (1, 0)),), (4, 1)),
        ((((0, 3), (1, 5)),), (3, 1)),
        ((((2, 3, 1, 4), (12, 1, 12, 3)),), (12, 1, 12, 3)),
        ((((2, 3), (3, 1)), ((2, 3), (1, 2))), (3, 1)),
        ((((2, 3), (1, 2)), ((2, 3), (3, 1))), (1, 2)),
        ((((2, 3), (0, 1)), ((2, 3), (1, 2))), (1, 2)),
        ((((3,), (1,)), ((2, 3), (1, 2))), (1, 2)),
        ((((2, 1), (1, 1)), ((1, 3), (3, 1))), (3, 1)),
        ((((2, 0, 3), (3, 3, 1)), ((3,), (1,))), (3, 3, 1)),
        ((((3, 1), (1, 3)), ((), ())), (1, 3)),
    ],
}


# --- what torch gives ------------------------------------------------------------------------

def expected_view(name, layout, arguments, stored):
    """Sizes, strides and offset of the view, or the name of the exception."""
    if torch is None:
        return stored
    tensor = torch.arange(CELLS, dtype=torch.float64).as_strided(*layout)
    if name == "Tensor.slice":
        dim, *part = arguments
        return layout_of(lambda: tensor[(slice(None),) * dim + (slice(*part),)])[0]
    return layout_of(lambda: getattr(tensor, name.split(".")[1])(*arguments))[0]


def expected_strides(name, arguments, stored):
    if torch is None:
        return stored
    try:
        return tuple(TORCH[name](*arguments).stride())
    except RuntimeError:
        return None


def with_layout(sizes, strides):
    return torch.zeros(CELLS, dtype=torch.float64).as_strided(sizes, strides)


TORCH = {
    "packed_strides": lambda sizes, order: torch.empty_permuted(sizes, order[::-1]),
    "contiguous_strides": lambda sizes: torch.empty(sizes),
    "broadcast_strides": lambda operand, sizes: with_layout(*operand).expand(sizes),
    "view_strides": lambda sizes, strides, shape: with_layout(sizes, strides).view(shape),
    "result_strides": lambda first, second=None: (
        -with_layout(*first) if second is None else with_layout(*first) + with_layout(*second)),
}


def layout_of(make):
    """Sizes, strides and offset of what `make` returns, with it; or the exception, with None."""
    try:
        view = make()
    except (RuntimeError, IndexError, ValueError) as error:
        if isinstance(error, NotImplementedError):
            raise
        return type(error).__name__, None
    return (tuple(view.shape), tuple(view.stride()), view.storage_offset()), view


# --- the checks ------------------------------------------------------------------------------

def labelled(found):
    """Sizes, strides and offset with their names; an exception as it is."""
    if not isinstance(found, tuple):
        return found
    return "size {}, stride {}, offset {}".format(*found)


def check_method(module, name):
    for layout, arguments, stored in VIEWS[name]:
        size, stride, offset = layout
        storage = [float(cell) for cell in range(CELLS)]
        tensor = module.Tensor(storage, size, stride, offset)
        given = arguments
        if name == "Tensor.slice":
            given = arguments[0], slice(*arguments[1:])
        called = f"{name.split('.')[1]}({', '.join(map(str, given))})"
        what = f"{called} of {labelled(layout)}"
        found, view = layout_of(lambda: getattr(tensor, name.split(".")[1])(*given))  # noqa: B023
        wanted = expected_view(name, layout, arguments, stored)
        if found != wanted:
            raise Differs(f"{what}: expected {labelled(wanted)}; found {labelled(found)}")
        if view is not None and view.untyped_storage() is not storage:
            raise Differs(f"{what}: expected a view of the same storage; found another storage")
        if storage != [float(cell) for cell in range(CELLS)]:
            raise Differs(f"{what}: a view leaves the storage as it is; it was written to")


def check_function(module, name):
    for arguments, stored in STRIDES[name]:
        wanted = expected_strides(name, arguments, stored)
        given = [Operand(module, *argument) if is_operand(name, place) else argument
                 for place, argument in enumerate(arguments)]
        found = getattr(module, name)(*given)
        found = found if found is None else tuple(found)
        compared = [found, wanted]
        if name == "view_strides":
            compared = [of_steps(arguments[2], strides) for strides in compared]
        if compared[0] != compared[1]:
            raise Differs(f"{name}({', '.join(map(str, given))}): "
                          f"expected stride {wanted}; found {found}")


def is_operand(name, place):
    return name == "result_strides" or (name, place) == ("broadcast_strides", 0)


def of_steps(shape, strides):
    """Strides that are ever stepped along: None in place of those that reach no other element."""
    if strides is None or len(strides) != len(shape):
        return strides
    return tuple(stride if size > 1 and 0 not in shape else None
                 for size, stride in zip(shape, strides, strict=True))


class Operand:
    """Sizes and strides, without elements: what mini_tensor_layout.py asks of an operand."""

    def __init__(self, module, shape, stride):
        self.module, self.shape, self.strides = module, shape, stride

    def __str__(self):
        return f"<size {self.shape}, stride {self.strides}>"

    def stride(self):
        return self.strides

    def numel(self):
        return prod(self.shape)

    def is_contiguous(self):
        inner_first = range(len(self.shape))[::-1]
        return not self.numel() or self.module.is_packed(self.shape, self.strides, inner_first)


FUNCTIONS = {  # file -> its functions, in the order in which they build on one another
    "mini_tensor": [*VIEWS, "view_strides"],
    "mini_tensor_layout": ["packed_strides", "contiguous_strides", "broadcast_strides",
                           "result_strides"],
}
CHECKER = Checker(
    {file: {name: partial(check_method if name in VIEWS else check_function, name=name)
            for name in names} for file, names in FUNCTIONS.items()},
    needs={"contiguous_strides": ["packed_strides"],
           "result_strides": ["packed_strides", "contiguous_strides", "broadcast_strides"]},
    imports={"mini_tensor": ["mini_tensor_layout.py"]})

if __name__ == "__main__":
    sys.exit(CHECKER.main(compared_with(torch)))
