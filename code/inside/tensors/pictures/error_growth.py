"""How the error of a formula for the variance grows with the mean of the data."""

from inside.pictures.plot import draw_curves

SMALLEST = 1e-8  # an error of 0 has no place on a logarithmic axis


def draw_error_growth(errors):
    """Picture of {name: relative errors where the mean is 1, 10, 100, …} on a logarithmic axis.

    Errors below 1e-8 are drawn as 1e-8, less than half of the spacing of float32 at 1.
    """
    shown = {name: [max(value, SMALLEST) for value in values] for name, values in errors.items()}
    return draw_curves(shown, ("均值是 10 的几次方", "power of ten of the mean"),
                       ("相对误差", "relative error"), start=0, log=True)
