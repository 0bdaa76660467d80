"""What ranks meet in gloo's all-reduce, call by call, and that the last one waits."""

from inside.data.observe.ranks import meet
from inside.data.pictures.steps_of_ranks import fates


def test_calls_meet_in_their_order_and_not_by_epoch():
    assert meet([3, 2], epochs=2) == [
        "rank 0 in epoch 1, rank 1 in epoch 1", "rank 0 in epoch 1, rank 1 in epoch 1",
        "rank 0 in epoch 1, rank 1 in epoch 2", "rank 0 in epoch 2, rank 1 in epoch 2",
        "rank 0 waits: RuntimeError"]


def test_nobody_waits_if_all_make_equally_many_steps():
    assert meet([2, 2, 2], epochs=1) == 2 * ["rank 0 in epoch 1, rank 1 in epoch 1, "
                                             "rank 2 in epoch 1"]


def test_the_picture_says_what_happens():
    steps, epochs = [2, 3, 2], 2
    drawn = [[str(epoch) for epoch, what in fate if what == "made"]
             for fate in fates(steps, epochs)]
    met = [line for line in meet(steps, epochs) if "waits" not in line]
    assert [[line.split(", ")[rank][-1] for line in met] for rank in range(3)] == drawn
