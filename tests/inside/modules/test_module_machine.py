"""The picture of the machine says what each walk over a real model reaches."""

import pytest
import torch
from torch import nn

from inside.modules.observe.module_machine import parts, walks
from inside.modules.pictures.module_machine import draw_module_machine
from tests.helpers.pictures import (
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


class Small(nn.Module):
    """Has one of each: modules, parameters, both kinds of buffer, a tensor that is not noted."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2)
        self.layers = nn.ModuleList([nn.Linear(2, 2)])
        self.hidden = [nn.Linear(2, 2)]
        self.register_buffer("scale", torch.ones(2), persistent=False)
        self.offset = torch.zeros(2)

    def forward(self, x):
        x = self.layers[0](self.norm(x))
        return self.layers[0](self.hidden[0](x)) * self.scale + self.offset


def small():
    return Small(), torch.ones(3, 2)


def drawn():
    return draw_module_machine(*small())


def test_text_says_for_each_part_which_walks_reach_it():
    assert drawn().text.splitlines() == [
        "Small: call 1, train",
        "  scale: assignment B, to",
        "  offset: assignment ×",
        "  hidden[0]: Linear: assignment ×",
        "    weight: assignment ×",
        "    bias: assignment ×",
        "  norm: BatchNorm1d: assignment M, call 2, train",
        "    weight: assignment P, to, load_state_dict, parameters",
        "    bias: assignment P, to, load_state_dict, parameters",
        "    running_mean: assignment B, to, load_state_dict",
        "    running_var: assignment B, to, load_state_dict",
        "    num_batches_tracked: assignment B, to, load_state_dict",
        "  layers: ModuleList: assignment M, train",
        "    0: Linear: assignment M, call 3, 4, train",
        "      weight: assignment P, to, load_state_dict, parameters",
        "      bias: assignment P, to, load_state_dict, parameters",
    ]


def test_the_model_is_left_as_it_is():
    model, x = small()
    before = {name: (id(t), t._version) for name, t in model.state_dict(keep_vars=True).items()}
    draw_module_machine(model, x)
    after = {name: (id(t), t._version) for name, t in model.state_dict(keep_vars=True).items()}
    assert after == before
    assert model.training
    assert not any(module._forward_pre_hooks for module in model.modules())


def test_a_module_in_eval_mode_is_switched_too():
    model, x = small()
    model.norm.eval()
    assert "norm" not in walks(model, x)["train"], "it is in the mode already"
    assert "norm" in walks(model.eval(), x)["train"]


def test_a_tied_parameter_is_listed_under_its_first_name_and_loaded_under_both():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    model[1].weight = model[0].weight
    marks = walks(model, torch.ones(1, 2))
    assert "1.weight" not in marks["parameters"]
    assert {"0.weight", "1.weight"} <= marks["load_state_dict"].keys() & marks["to"].keys()


def test_parts_stand_in_the_order_of_the_tree():
    model, _ = small()
    assert [part.path for part in parts(model)][:4] == ["", "scale", "offset", "hidden[0]"]


def test_what_the_call_raises_is_raised():
    model, _ = small()
    with pytest.raises(RuntimeError):
        draw_module_machine(model, torch.ones(3, 5))


def test_it_is_the_same_each_time():
    assert drawn() == drawn()


def test_every_text_lies_inside_the_picture():
    assert_every_text_lies_inside(drawn())


def test_it_is_narrow_enough_for_a_phone():
    assert_narrow_enough_for_a_phone(drawn())
