"""The picture of a load says of each key what `load_state_dict` does with it."""

import xml.etree.ElementTree as ET
from collections import OrderedDict

import pytest
import torch
from torch import nn

from inside.modules.observe.loading import Fate, read
from inside.modules.pictures.loading import draw_loading
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def network(classes, bias=True):
    return nn.Sequential(
        OrderedDict(body=nn.Linear(2, 3), head=nn.Linear(3, classes, bias=bias)))


@pytest.fixture
def checkpoint():
    return network(5, bias=False).state_dict() | {"ema.body": torch.zeros(3, 2)}


def test_each_of_the_four_fates_is_read_from_the_load(checkpoint):
    assert read(network(4), checkpoint) == [
        Fate("body.weight", (3, 2), (3, 2), "copied"),
        Fate("body.bias", (3,), (3,), "copied"),
        Fate("head.weight", (5, 3), (4, 3), "mismatch"),
        Fate("head.bias", None, (4,), "missing"),
        Fate("ema.body", (3, 2), None, "unexpected"),
    ]


def test_a_prefix_makes_all_keys_missing_and_unexpected():
    wrapped = nn.ModuleDict({"module": network(4)})
    fates = [fate.fate for fate in read(network(4), wrapped.state_dict())]
    assert fates == ["missing"] * 4 + ["unexpected"] * 4


def test_looking_changes_neither_the_model_nor_the_checkpoint(checkpoint):
    model, keys = network(4), list(checkpoint)
    before = [p.clone() for p in model.parameters()]
    draw_loading(model, checkpoint)
    assert all(map(torch.equal, before, model.parameters()))
    assert list(checkpoint) == keys
    assert not model._load_state_dict_post_hooks


def test_an_error_that_is_not_about_sizes_is_raised():
    with pytest.raises(RuntimeError, match="expected torch"):
        read(network(4), network(4).state_dict() | {"body.bias": "not a tensor"})


def test_only_copied_keys_have_a_whole_arrow(checkpoint):
    picture = draw_loading(network(4), checkpoint)
    paths = [node.get("d") for node in ET.fromstring(picture.svg).iter(f"{SVG}path")]
    heads = [path for path in paths if path.endswith("l-8 -4v8z")]
    assert picture.text.count("copied") == len(heads) == 2
    assert picture.text.splitlines()[2:] == [
        "head.weight: mismatch", "head.bias: missing", "ema.body: unexpected"]


def test_it_fits_on_a_phone(checkpoint):
    picture = draw_loading(network(4), checkpoint)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
