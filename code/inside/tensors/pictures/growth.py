"""How many bytes each way of making a tensor longer has written, row by row."""

from inside.pictures.plot import draw_curves

WAYS = {
    "by_cat": ("每行 cat 一次", "cat for each row"),
    "doubling": ("满了就翻倍", "doubling when full"),
    "preallocated": ("预先造好", "preallocated"),
}


def draw_growth(kib):
    """Picture of {way: KiB written for 1 row, 2 rows, …} on a logarithmic axis.

    The ways are "by_cat", "doubling" and "preallocated"; raises `KeyError` for another.
    """
    curves = {WAYS[way]: values for way, values in kib.items()}
    return draw_curves(curves, ("行数", "rows"), ("写了多少 KiB", "KiB written"), log=True)
