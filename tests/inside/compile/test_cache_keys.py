"""Keys are those that torch computes; a change makes exactly the caches miss that depend on it."""

import xml.etree.ElementTree as ET

import pytest
import torch
from torch import nn

from inside.compile.observe.cache_keys import BYPASS, cache_keys, misses
from inside.compile.pictures.cache_keys import draw_cache_keys
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)

BOTH, X = ["AOTAutograd", "Inductor"], torch.ones(2, 3)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.requires_grad_(False)

    def forward(self, x):
        return self.linear(x).relu()


@torch.compiler.allow_in_graph
def own(x):
    return x.relu()


def double(x):
    return x * 2


def changed(fn, *args):
    return misses(cache_keys(double, X), cache_keys(fn, *args))


def test_the_same_program_has_the_same_keys():
    assert changed(double, X) == changed(double, X + 1) == []


def test_weights_are_not_in_the_keys():
    assert misses(cache_keys(Layer(), X), cache_keys(Layer(), X)) == []


def test_a_name_is_only_in_the_key_of_the_captured_graph():
    assert changed(lambda y: y * 2, X) == ["AOTAutograd"]


def test_shapes_dtypes_and_operators_are_in_both_keys():
    for fn, x in [(double, torch.ones(3, 3)), (double, X.double()), (lambda x: x * 3, X)]:
        assert changed(fn, x) == BOTH


def test_settings_of_inductor_are_in_both_keys_but_not_the_number_of_workers():
    before = cache_keys(double, X)
    with torch._inductor.config.patch(max_autotune=True):
        assert misses(before, cache_keys(double, X)) == BOTH
    with torch._inductor.config.patch(compile_threads=7):
        assert misses(before, cache_keys(double, X)) == []


def test_a_bypass_is_a_miss_even_of_itself():
    keys = cache_keys(lambda x: own(x), X)
    assert keys["AOTAutograd"] == BYPASS != keys["Inductor"]
    assert misses(keys, keys) == ["AOTAutograd"]


def test_several_graphs_are_refused():
    def broken(x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2
    with pytest.raises(ValueError, match="AOTAutograd saw 2"):
        cache_keys(broken, X)


def test_the_graph_still_runs_and_the_result_is_right():
    results = []

    def kept(x):
        y = x * 2
        results.append(y)
        return y
    cache_keys(kept, X)
    assert torch.equal(results[0], X * 2)


def test_the_picture_has_a_dot_for_a_hit_and_a_cross_for_a_miss():
    before = {"AOTAutograd": "a1", "Inductor": "f1"}
    picture = draw_cache_keys(before, {"nothing": before, "another name": before | {
        "AOTAutograd": "a2"}, "unknown function": before | {"AOTAutograd": BYPASS}})
    tree = ET.fromstring(picture.svg)
    dots = [float(node.get("cx")) for node in tree.iter(f"{SVG}circle")]
    heads = {node.text: float(node.get("x")) for node in tree.iter(f"{SVG}text")}
    assert dots == [heads["AOTAutograd"]] + 3 * [heads["Inductor"]]
    assert picture.text.splitlines()[1] == "another name     AOTAutograd: miss  Inductor: hit"
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)


def test_a_change_without_a_name_is_refused():
    keys = {"AOTAutograd": "a1", "Inductor": "f1"}
    with pytest.raises(KeyError):
        draw_cache_keys(keys, {"weather": keys})
