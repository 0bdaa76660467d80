"""Losses of several runs, step by step, on one pair of axes."""

from inside.pictures.plot import draw_curves


def draw_loss_curves(runs):
    """Picture of {name: losses at step 0, 1, …}, at most four runs; names as in `draw_curves`."""
    return draw_curves(runs, ("训练步", "training step"), ("损失", "loss"), start=0)
