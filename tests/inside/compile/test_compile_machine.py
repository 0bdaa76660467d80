"""The picture of the machine holds what each stage of a real compilation made."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch

from inside.compile.observe.compile_machine import machine
from inside.compile.pictures.compile_machine import STAGES, draw_compile_machine
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def step(x, w):
    y = torch.sin(x * w)
    y += 1
    return y.sum()


def inputs(size=4):
    return torch.ones(size), torch.ones(size, requires_grad=True)


@pytest.fixture(scope="module")
def made():
    return machine(step, inputs(), inputs())


def test_the_bytecode_of_each_line_has_the_same_names_on_every_python(made):
    assert made.source[0] == "def step(x, w):"
    assert made.bytecode == {
        "y = torch.sin(x * w)": ["LOAD_GLOBAL torch", "LOAD_ATTR sin", "LOAD_FAST x",
                                 "LOAD_FAST w", "BINARY_OP *", "CALL", "STORE_FAST y"],
        "y += 1": ["LOAD_FAST y", "LOAD_CONST 1", "BINARY_OP +=", "STORE_FAST y"],
        "return y.sum()": ["LOAD_FAST y", "LOAD_ATTR sum", "CALL", "RETURN_VALUE"]}


def test_the_in_place_addition_is_in_the_graph_of_dynamo_and_in_none_of_aot(made):
    assert "y += 1; y_1 = y" in made.graph
    assert "add = aten.add(sin, 1)" in made.forward
    assert not any("+=" in line or "add_" in line for line in made.forward + made.backward)


def test_what_the_forward_graph_saves_is_what_the_backward_graph_reads(made):
    assert made.saved == ["primals_1", "mul"]
    for name in made.saved:
        assert any(re.search(rf"\({name}\)|, {name}\)", line) for line in made.backward)
    assert made.backward[-1] == "return (None, mul_2)", "x needs no gradient"


def test_the_guards_are_those_of_the_arguments(made):
    assert made.guards == ["L['w']: float32, requires_grad=True, size=[4]",
                           "L['x']: float32, requires_grad=False, size=[4]"]


def test_a_second_call_finds_the_entry_and_another_size_does_not(made):
    assert (made.compiled, made.entries) == (1, 1)
    other = machine(step, inputs(4), inputs(5), inputs(6))
    assert (other.compiled, other.entries) == (2, 2)


def test_a_default_device_changes_nothing_and_stays(made):
    try:
        torch.set_default_device("cpu")
        assert machine(step, inputs(), inputs()) == made
        assert torch.utils._device.CURRENT_DEVICE is not None
    finally:
        torch.set_default_device(None)


def test_gradients_are_those_of_eager():
    x, w = inputs()
    machine(step, (x, w))
    ours = w.grad.clone()
    w.grad = None
    step(x, w).backward()
    assert torch.equal(ours, w.grad)


# ---------------------------------------------------------------- the picture
@pytest.fixture(scope="module")
def drawn():
    return draw_compile_machine(step, inputs(), inputs())


def test_the_picture_holds_the_lines_of_all_stages(drawn, made):
    words = [node.text for node in ET.fromstring(drawn.svg).iter(f"{SVG}text")]
    for lines in (made.source, made.graph, made.guards, made.forward, made.backward):
        assert set(lines) <= set(words)
    assert [word for word in words if re.fullmatch(r"\d", word)] == [
        str(n + 1) for n in range(len(STAGES))]
    assert "Dynamo ran 1 time(s), entries in the cache: 1" in drawn.text


def test_every_text_lies_inside_the_picture(drawn):
    assert_every_text_lies_inside(drawn)


def test_it_is_narrow_enough_for_a_phone(drawn):
    assert_narrow_enough_for_a_phone(drawn)


def test_it_is_the_same_each_time(drawn):
    assert draw_compile_machine(step, inputs(), inputs()) == drawn
