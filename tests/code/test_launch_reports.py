"""The reports of launches: what can be known of them, and what a model learns."""

import math

import pytest
import torch

from launch_reports import Model, every_day, mean_loss, rows, spelled, train
from mini_samples import block_mask, pack

pytestmark = pytest.mark.usefixtures("one_thread")


def test_every_day_comes_once_with_one_weather():
    days = every_day()
    assert len({tuple(map(tuple, day)) for day in days}) == 192
    assert len(days) == 192
    for day in days:
        assert sorted(map(len, day)) == [2, 3, 4, 5]
        assert len({report[-1] for report in day}) == 1
        assert all(report[:-1] == [*range(len(report) - 1, 0, -1)] for report in day)
    assert spelled(days[0][0]) == "1s"
    assert spelled([-100, 0, 4, 12]) == "..4n"


def test_rows_hold_a_group_each():
    days = every_day()[:2]
    packed = rows(days, 16)
    assert packed.tokens.shape == (2, 16)
    assert packed.documents.max() == 3
    for row, day in enumerate(days):
        for together, alone in zip(packed, pack(day, 16), strict=True):
            assert torch.equal(together[row], alone[0])


def test_a_model_that_is_told_nothing_sees_what_stands_before():
    model, tokens = Model(), torch.tensor([[3, 2, 1, 5, 1, 5]])
    changed = tokens.clone()
    changed[0, 3] = 6
    moved = (model(tokens) != model(changed)).any(-1)[0].tolist()
    assert moved == [False] * 3 + [True] * 3
    assert torch.equal(model(tokens), model(tokens, positions=torch.arange(6)))
    assert not torch.allclose(model(tokens), model(tokens, positions=torch.zeros(6).long()))


def test_a_model_learns_what_it_sees_and_no_more():
    days = every_day()
    packed = rows(days, 14)
    model, loss = train(packed)
    letters, places = 4 * math.log(8), 10
    assert loss == pytest.approx(letters / 4 / places, abs=0.003)
    assert mean_loss(model, packed).item() == pytest.approx(loss, abs=1e-3)
    _, closed = train(packed, mask=block_mask(packed.documents), positions=packed.positions)
    assert closed == pytest.approx(letters / places, abs=0.003)
