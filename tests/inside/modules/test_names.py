"""The picture of a name says where it is found and which parameters its gradient reaches."""

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from inside.modules.observe.names import Name, read_name
from inside.modules.pictures.names import draw_names
from tests.helpers.pictures import (
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


class Wrapped(nn.Linear):
    """Wraps a computed weight in a Parameter, as the error message of torch suggests."""

    def __init__(self, wrap=nn.Parameter):
        super().__init__(2, 3)
        self.g = nn.Parameter(torch.ones(3, 1))
        self.weight = wrap(self.g * torch.ones(3, 2))


def cases():
    plain, wrapped = nn.Linear(2, 3), Wrapped()
    normed = parametrizations.weight_norm(nn.Linear(2, 3))
    return {"nn.Linear": read_name(plain, "weight"),
            "nn.Parameter(...)": read_name(wrapped, "weight", also=["g"]),
            "weight_norm": read_name(normed, "weight")}


def test_a_parameter_is_its_own_leaf():
    assert cases()["nn.Linear"] == Name("weight", "_parameters", ("weight",), ())


def test_a_parameter_made_from_others_does_not_reach_them():
    assert cases()["nn.Parameter(...)"] == Name("weight", "_parameters", ("weight",), ("g",))


def test_a_property_on_the_class_of_the_layer_reaches_the_originals():
    assert cases()["weight_norm"] == Name(
        "weight", "property of ParametrizedLinear",
        ("parametrizations.weight.original0", "parametrizations.weight.original1"), ())


def test_a_plain_tensor_in_the_place_of_a_deleted_parameter_is_found_in_the_dict():
    layer = nn.Linear(2, 3)
    layer.scale = nn.Parameter(torch.ones(()))
    del layer.weight
    layer.weight = layer.scale * 2
    assert read_name(layer, "weight") == Name("weight", "__dict__", ("scale",), ())


def test_a_tensor_swapped_in_for_a_call_leads_to_a_leaf_that_the_module_cannot_name():
    layer, seen = nn.Linear(2, 3), []
    layer.register_forward_pre_hook(lambda module, args: seen.append(read_name(module, "weight")))
    outside = torch.ones(3, 2, requires_grad=True)
    torch.func.functional_call(layer, {"weight": outside * 2}, torch.ones(1, 2))
    assert seen == [Name("weight", "_parameters", ("?",), ())]


def test_a_buffer_trains_nothing():
    assert read_name(nn.BatchNorm1d(2), "running_mean") == Name("running_mean", "_buffers", (), ())


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError):
        read_name(nn.Linear(2, 3), "wieght")


def test_text_tells_the_same():
    assert draw_names(cases()).text.splitlines() == [
        "nn.Linear: weight in _parameters, gradient to weight",
        "nn.Parameter(...): weight in _parameters, gradient to weight, not to g",
        "weight_norm: weight in property of ParametrizedLinear, gradient to "
        "parametrizations.weight.original0, parametrizations.weight.original1",
    ]


def test_every_text_lies_inside_the_picture():
    assert_every_text_lies_inside(draw_names(cases()))


def test_it_is_narrow_enough_for_a_phone():
    assert_narrow_enough_for_a_phone(draw_names(cases()))
