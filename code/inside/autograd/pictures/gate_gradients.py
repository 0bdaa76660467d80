"""The average gradient of a random gate at each probability, by several estimators."""

from inside.pictures.plot import draw_curves

NAMES = {"exact": ("精确", "exact"), "straight-through": ("直通估计器", "straight-through")}


def draw_gate_gradients(gradients):
    """Picture of {name: average gradients at 1%, 2%, …}, at most four curves.

    Gradients are drawn times 100, because the axis shows at most one decimal.
    """
    return draw_curves({NAMES.get(name, name): [100 * value for value in values]
                        for name, values in gradients.items()},
                       ("门打开的概率（%）", "probability that the gate is open (%)"),
                       ("平均梯度 × 100", "average gradient × 100"))
