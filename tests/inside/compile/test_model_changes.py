"""The picture of a compiled model's changes says what running the changes gave."""

import torch
from torch import nn

from inside.compile.observe.model_changes import AT_ONCE, RECOMPILED, UNNOTICED, UNREAD, fates
from inside.compile.pictures.model_changes import WORDS, draw_changes
from tests.helpers.pictures import assert_every_text_lies_inside


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.scale, self.note = 2.0, "unread"
        nn.init.ones_(self.inner.weight)
        nn.init.ones_(self.inner.bias)

    def forward(self, x):
        return self.inner(x) * self.scale


CHANGES = {
    "weight": lambda model: model.inner.weight.mul_(2),
    "scale": lambda model: setattr(model, "scale", 3.0),
    "note": lambda model: setattr(model, "note", "changed"),
    "late hook": lambda model: model.inner.register_forward_hook(lambda m, a, y: y * 2),
}


def test_each_fate_is_the_one_that_running_the_change_gives():
    found = dict(fates(Scaled, CHANGES, torch.ones(1, 2)))
    assert found == {"weight": AT_ONCE, "scale": RECOMPILED, "note": UNREAD,
                     "late hook": UNNOTICED}


def test_a_change_that_is_undone_by_reset_is_no_longer_unnoticed():
    def late_and_reset(model):
        CHANGES["late hook"](model)
        torch.compiler.reset()

    assert fates(Scaled, {"": late_and_reset}, torch.ones(1, 2))[0].fate == AT_ONCE


def test_a_late_hook_on_the_compiled_model_itself_takes_effect_at_once():
    hook = {"": lambda model: model.register_forward_hook(lambda m, a, y: y * 2)}
    assert fates(Scaled, hook, torch.ones(1, 2))[0].fate == AT_ONCE


def test_each_change_is_drawn_below_its_fate():
    picture = draw_changes(Scaled, CHANGES, torch.ones(1, 2))
    heads = [picture.svg.index(en) for _, en in WORDS.values()]
    lines = [picture.svg.index(f">{name}<") for name in CHANGES]
    assert sorted(heads + lines) == [each for pair in zip(heads, lines, strict=True)
                                     for each in pair]
    assert_every_text_lies_inside(picture)
