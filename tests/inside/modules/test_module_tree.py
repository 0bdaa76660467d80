"""The tree of a module says what the module registered and what it did not, and draws it."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch
from torch import nn

from inside.modules.observe.module_tree import read_module, ties, totals
from inside.modules.pictures.module_tree import draw_module_tree
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone

SVG = "{http://www.w3.org/2000/svg}"


class Tiny(nn.Module):
    """One of everything: a tied weight, all kinds of buffers, a list and a tensor that hide."""

    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(10, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.tok.weight
        self.extra = [nn.Linear(4, 4)]
        self.scale = torch.ones(4)
        self.register_buffer("mask", torch.ones(4, 4), persistent=False)


@pytest.fixture
def model():
    return Tiny()


def held(tree):
    """{path: what is read of the tensor there}."""
    return {one.path: one for branch in tree.walk() for one in branch.tensors}


def paths(tree, kind):
    return {path for path, one in held(tree).items() if one.kind == kind}


def letters(tree):
    return {path: one.letter for path, one in held(tree).items() if one.letter}


# ---------------------------------------------------------------- what is registered
def test_the_kinds_are_those_of_the_module(model):
    tree = read_module(model)
    named = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    assert paths(tree, "parameter") == named
    assert paths(tree, "buffer") == set(model.state_dict()) - named
    assert paths(tree, "non-persistent") == {"mask"}
    assert paths(tree, "unregistered") == {"scale", "extra[0].weight", "extra[0].bias"}


def test_modules_stand_where_named_modules_has_them(model):
    tree = read_module(model)
    assert {b.path for b in tree.walk() if b.registered} == {n for n, _ in model.named_modules()}
    assert [b.path for b in tree.walk() if not b.registered] == ["extra[0]"]


def test_shape_dtype_bytes_and_gradient_are_those_of_the_tensor(model):
    model.norm.weight.requires_grad_(False)
    for path, one in held(read_module(model)).items():
        tensor = one.tensor
        assert one.shape == tuple(tensor.shape), path
        assert one.nbytes == tensor.numel() * tensor.element_size(), path
        assert f"torch.{one.dtype}" == str(tensor.dtype), path
        assert one.requires_grad == tensor.requires_grad, path


@pytest.mark.parametrize(("value", "place"), [
    (torch.ones(2), "x"), ([torch.ones(2)], "x[0]"), ({"a": (1, torch.ones(2))}, "x['a'][1]")])
def test_what_hides_in_containers_is_found(value, place):
    model = nn.Module()
    model.x = value
    assert paths(read_module(model), "unregistered") == {place}


def test_a_list_that_holds_itself_is_read_once():
    model = nn.Module()
    model.x = [torch.ones(2)]
    model.x.append(model.x)
    assert paths(read_module(model), "unregistered") == {"x[0]"}


def test_a_second_reference_to_a_registered_thing_hides_nothing():
    lstm = nn.LSTM(2, 3)  # keeps its parameters in the list `_flat_weights` as well
    assert paths(read_module(lstm), "unregistered") == set()
    parent, child = nn.Sequential(), nn.ReLU()
    parent.append(child)
    child.__dict__["parent"] = parent
    assert [b.path for b in read_module(parent).walk()] == ["", "0"]


def test_what_is_inside_an_unregistered_module_is_not_registered_either():
    model = nn.Module()
    model.layers = [nn.Sequential(nn.Linear(1, 1))]
    tree = read_module(model)
    assert paths(tree, "unregistered") == {"layers[0].0.weight", "layers[0].0.bias"}
    assert [b.registered for b in tree.walk()] == [True, False, False]


def test_nothing_is_changed(model):
    before = {name: id(value) for name, value in vars(model).items()}
    draw_module_tree(model)
    assert {name: id(value) for name, value in vars(model).items()} == before


# ---------------------------------------------------------------- what is shared
def test_a_tied_weight_is_one_tensor_under_two_names(model):
    tree = read_module(model)
    assert letters(tree) == {"tok.weight": "A", "head.weight": "A"}
    assert [(t.what, t.paths) for t in ties(tree)] == [("tensor", ("tok.weight", "head.weight"))]


def test_two_tensors_on_one_storage_are_told_from_one_tensor():
    model = nn.Module()
    model.register_buffer("whole", torch.zeros(6))
    model.register_buffer("part", model.whole[2:4])
    model.register_buffer("copy", model.whole.clone())
    tree = read_module(model)
    assert letters(tree) == {"whole": "A", "part": "A"}
    assert ties(tree)[0].what == "storage"
    assert totals(model)["buffers"] == (3, 48)


def test_a_module_at_two_places_is_read_once():
    layer = nn.Linear(2, 2)
    tree = read_module(nn.Sequential(layer, nn.ReLU(), layer))
    assert [(b.path, b.letter, b.again) for b in tree.walk()] == [
        ("", "", False), ("0", "A", False), ("1", "", False), ("2", "A", True)]
    assert set(held(tree)) == {"0.weight", "0.bias"}


def test_each_tie_has_a_letter_of_its_own():
    one, two = nn.Linear(2, 2), nn.Linear(3, 3)
    model = nn.Sequential(one, two, one, two, *(nn.Linear(1, 1) for _ in range(2)))
    model[4].weight = model[5].weight
    assert [tie.letter for tie in ties(read_module(model))] == ["A", "B", "C"]


def test_totals_count_one_tensor_once_and_each_entry(model):
    sums = totals(model)
    assert sums["parameters"] == (3, (40 + 4 + 4) * 4)
    assert sums["buffers"] == (len(list(model.buffers())), 4 * 4 * 4 + 4 * 4 * 2 + 8)
    assert sums["state_dict"] == (len(model.state_dict()), (40 + 4 * 4) * 4 + 8)


def test_a_module_at_two_places_has_its_entries_twice():
    layer = nn.BatchNorm1d(2)
    model = nn.Sequential(layer, layer)
    assert totals(model)["state_dict"][0] == len(model.state_dict()) == 10
    assert totals(model)["parameters"][0] == 2


# ---------------------------------------------------------------- hooks and modes
def test_hooks_are_counted_in_their_dictionaries(model):
    model.norm.register_forward_hook(lambda *_: None)
    model.norm.register_forward_hook(lambda *_: None)
    model.norm.register_full_backward_hook(lambda *_: None)
    norm = next(b for b in read_module(model).walk() if b.path == "norm")
    assert norm.hooks == (("_forward_hooks", 2), ("_backward_hooks", 1))
    assert "    _forward_hooks: 2\n    _backward_hooks: 1" in draw_module_tree(model).text


def test_a_mode_is_named_where_it_changes(model):
    assert "eval" not in draw_module_tree(model).text
    model.norm.eval()
    assert re.findall(r".*eval", draw_module_tree(model).text) == ["  norm: BatchNorm1d, eval"]
    assert re.findall(r".*eval", draw_module_tree(model.eval()).text) == ["Tiny, eval"]


# ---------------------------------------------------------------- where tensors are unusual
def test_meta_tensors_and_lazy_parameters_are_read():
    assert totals(nn.Linear(3, 2, device="meta"))["parameters"] == (2, 32)
    lazy = held(read_module(nn.LazyLinear(2)))
    assert lazy["weight"].shape is None
    assert lazy["weight"].nbytes == 0
    assert "weight, ?, 0 bytes, parameter" in draw_module_tree(nn.LazyLinear(2)).text


def test_a_sparse_buffer_is_read():
    model = nn.Module()
    model.register_buffer("s", torch.eye(2).to_sparse())
    one = held(read_module(model))["s"]
    assert (one.letter, one.nbytes) == ("", 2 * 2 * 8 + 2 * 4)
    assert totals(model)["buffers"] == (1, 40)


def test_what_is_no_module_is_refused_in_one_line():
    with pytest.raises(TypeError, match=r"^list: pass an nn\.Module$"):
        draw_module_tree([nn.Linear(1, 1)])


# ---------------------------------------------------------------- the picture
def test_the_text_says_it_all(model):
    assert draw_module_tree(model).text.splitlines() == [
        "Tiny",
        "  mask, (4, 4), 64 bytes, non-persistent",
        "  scale, (4,), 16 bytes, unregistered",
        "  extra[0]: Linear, unregistered",
        "    weight, (4, 4), 64 bytes, unregistered",
        "    bias, (4,), 16 bytes, unregistered",
        "  tok: Embedding",
        "    weight, (10, 4), 160 bytes, parameter, A",
        "  norm: BatchNorm1d",
        "    weight, (4,), 16 bytes, parameter",
        "    bias, (4,), 16 bytes, parameter",
        "    running_mean, (4,), 16 bytes, buffer",
        "    running_var, (4,), 16 bytes, buffer",
        "    num_batches_tracked, () int64, 8 bytes, buffer",
        "  head: Linear",
        "    weight, (10, 4), 160 bytes, parameter, A",
        "A: one tensor: tok.weight, head.weight",
        "parameters(): 3 tensors, 192 bytes",
        "buffers(): 4 tensors, 104 bytes",
        "state_dict(): 7 entries, 232 bytes",
    ]


def signs(model):
    """{name: the drawn sign before it, without its place}, of tensors."""
    svg = draw_module_tree(model).svg
    found = re.findall(r'<(rect|path) (?:x="\S+" y="\S+"|d="M\S+ \S+?(?=l|v))([^>]*)/>\n'
                       r"<text[^>]*>([\w\[\]]+)</text>", svg)
    return {name: (shape, " ".join(rest.split())) for shape, rest, name in found}


def test_the_four_kinds_differ_without_colour(model):
    model.extra = []  # else its bias is the last one drawn
    drawn = signs(model)
    four = [drawn[name] for name in ("bias", "running_mean", "mask", "scale")]
    assert len(set(four)) == 4
    assert all("currentColor" in rest for _, rest in four)


def test_a_tie_has_its_letter_at_each_place_and_in_the_key(model):
    texts = [node.text for node in ET.fromstring(draw_module_tree(model).svg).iter(f"{SVG}text")]
    assert texts.count("A") == 3


def test_the_key_explains_only_what_occurs(model):
    key = draw_module_tree(nn.Linear(2, 2)).svg
    assert "没有注册" not in key
    assert "buffer：" not in key
    assert "没有注册" in draw_module_tree(model).svg


def test_every_text_lies_inside_and_a_phone_shows_it(model):
    model.norm.register_forward_hook(lambda *_: None)
    picture = draw_module_tree(model)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert_every_text_lies_inside(draw_module_tree(nn.TransformerEncoderLayer(512, 8)))


def test_the_picture_is_the_same_each_time_and_takes_its_colours_from_the_page(model):
    picture = draw_module_tree(model)
    assert picture == draw_module_tree(model)
    body = re.sub(r"<style>.*?</style>", "", picture.svg)
    assert not re.search(r"#[0-9a-f]{3,6}\b|white|black|0x[0-9a-f]+|\d{9,}", body)


def test_names_are_escaped():
    model = nn.Module()
    model.x = {"a<b>&": torch.ones(1)}
    assert "x['a<b>&']" in [n.text for n in
                            ET.fromstring(draw_module_tree(model).svg).iter(f"{SVG}text")]
