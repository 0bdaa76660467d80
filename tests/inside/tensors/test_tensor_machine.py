"""The picture of the machine says what the tensors and the dispatcher say."""

import re

import pytest
import torch

from inside.tensors.pictures.tensor_machine import draw_tensor_machine
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone

CALLS = {"t = x.t()": lambda x: x.t(), "y = t.add(1)": lambda t: t.add(1)}


@pytest.fixture
def x():
    return torch.tensor([[0.0, 1, 2], [3, 4, 5]], requires_grad=True)


@pytest.fixture
def picture(x):
    return draw_tensor_machine("x", x, CALLS)


def test_the_objects_are_described_as_they_are(picture, x):
    t = x.t()
    assert f"x: sizes {tuple(x.shape)}, strides {x.stride()}" in picture.text
    assert f"t: sizes {tuple(t.shape)}, strides {t.stride()}" in picture.text
    assert "grad_fn TBackward0" in picture.text
    assert "grad_fn AddBackward0" in picture.text


def test_who_shares_is_read_from_the_tensors(picture):
    assert "version 0: x, t\nversion 0: y" in picture.text
    assert "storage [0 1 2 3 4 5], 24 bytes: x, t" in picture.text
    assert "storage [1 2 3 4 5 6], 24 bytes: y" in picture.text
    apart = draw_tensor_machine("x", torch.zeros(2), {"t = x.clone()": lambda x: x.clone()})
    assert "24 bytes" not in apart.text
    assert re.findall(r"^(?:version|storage).*: (\w.*)$", apart.text, re.M) == ["x", "t"] * 2


def test_the_path_of_each_call(picture):
    assert picture.text.splitlines()[-2:] == [
        "t = x.t(): aten::t: AutocastCPU excluded, AutogradCPU kernel, "
        "ADInplaceOrView kernel, CPU kernel",
        "y = t.add(1): aten::add.Tensor: AutocastCPU excluded, AutogradCPU kernel, "
        "ADInplaceOrView fallthrough, CPU kernel"]


def test_each_call_is_made_once():
    made = draw_tensor_machine("x", torch.zeros(2), {"same = x.add_(1)": lambda x: x.add_(1)})
    assert "storage [1 1], 8 bytes: " in made.text


def test_every_text_lies_inside_the_picture(picture):
    assert_every_text_lies_inside(picture)


def test_it_is_narrow_enough_for_a_phone(picture):
    assert_narrow_enough_for_a_phone(picture)


def test_a_tensor_elsewhere_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"^m: is on meta; the machine is drawn for the CPU$"):
        draw_tensor_machine("m", torch.ones(2, device="meta"), CALLS)
