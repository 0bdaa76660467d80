"""What `.grad` holds after each micro-batch, in several formats."""

from inside.pictures.plot import draw_curves


def draw_accumulated(held):
    """Picture of {dtype: value of `.grad` after micro-batch 1, 2, …}, at most four dtypes."""
    pieces = "第几个 micro-batch", "micro-batch"
    return draw_curves(held, pieces, (".grad 的值", "value of .grad"))
