"""How long a training loop waits for each of its batches."""

from inside.pictures.plot import draw_curves


def draw_waits(runs):
    """Picture of {name: seconds waited for batches 1, 2, …}, in ms."""
    return draw_curves({name: [1000 * wait for wait in waits] for name, waits in runs.items()},
                       ("第几个 batch", "batch"), ("等待（毫秒）", "wait (ms)"))
