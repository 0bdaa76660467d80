"""How the relative error of a sum grows with the number of values, by the order of adding."""

from inside.pictures.plot import draw_curves

NAMES = {"one by one": ("逐个相加", "one by one"), "8 lanes": ("8 个 lane", "8 lanes"),
         "in halves": ("对半相加", "in halves")}


def draw_sum_errors(errors, start):
    """Picture of {name in NAMES: relative errors for 2**start, 2**(start + 1), … values}.

    The axis of the errors is logarithmic. Raises `ValueError` for another name.
    """
    if unknown := [name for name in errors if name not in NAMES]:
        raise ValueError(f"name {unknown[0]!r}: one of {', '.join(NAMES)}")
    return draw_curves({NAMES[name]: values for name, values in errors.items()},
                       ("有 2 的几次方个数", "number of values, as a power of two"),
                       ("平均相对误差", "mean relative error"), start=start, log=True)
