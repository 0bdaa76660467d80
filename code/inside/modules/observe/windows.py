"""Which storage cells the rows of a view read."""

from itertools import product


def cells(view, row_dims):
    """[[cell, …], …]: one row for each index of the first `row_dims` dimensions of a strided view.

    A cell is a position in the storage, counted in elements from its beginning.
    """
    def positions(sizes, strides):
        for index in product(*map(range, sizes)):
            yield sum(i * step for i, step in zip(index, strides, strict=True))

    sizes, strides = tuple(view.shape), view.stride()
    within = list(positions(sizes[row_dims:], strides[row_dims:]))
    return [[view.storage_offset() + row + cell for cell in within]
            for row in positions(sizes[:row_dims], strides[:row_dims])]
