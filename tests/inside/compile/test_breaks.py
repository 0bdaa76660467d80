"""What `compile.observe.breaks` says of a break is what Dynamo did, and the picture shows that."""

import xml.etree.ElementTree as ET

import pytest
import torch

import break_cases
from break_cases import between
from inside.compile.observe.breaks import EAGER, PYTHON, capture, graphs_of, lines_of, tensor_lines
from inside.compile.pictures.breaks import CASES, draw_breaks
from tests.helpers.pictures import PHONE, assert_every_text_lies_inside, size

X = torch.tensor([0.5, 0.25])


def test_a_break_splits_the_function_and_gives_its_reason():
    found = capture(break_cases.straight, X)
    assert found.operations == [["sin"], ["cos"]]
    assert found.reason == "Failed to trace builtin operator"


def test_a_function_without_a_break_has_one_graph_and_no_reason():
    assert capture(between("y = y + 1"), X) == ([["sin", "add", "cos"]], "")


def test_fullgraph_captures_what_breaks_without_it():
    found = capture(between("y = y * y.sum().item()"), X)
    assert len(found.operations) == 2
    assert found.reason == ""


@pytest.mark.parametrize(("name", "graphs"), [
    ("straight", 2), ("in_a_with", 2), ("in_a_call", 4), ("in_a_loop", 0), ("in_a_try", 0)])
def test_how_far_a_break_reaches_depends_on_where_it_stands(name, graphs):
    fn = getattr(break_cases, name)
    assert len(graphs_of(fn, X)) == graphs
    assert torch.equal(torch.compile(fn, backend="eager")(X), fn(X))


def test_lines_carry_the_graph_that_took_them():
    lines = lines_of(break_cases.in_a_call, X, calls=(break_cases.helper,))
    assert [line.where for line in lines] == [None, 1, None, 4, None, 2, PYTHON, 3]
    assert lines[1].text == "    y = x.sin()"


def test_lines_of_a_skipped_frame_ran_in_eager_mode():
    wheres = [line.where for line in lines_of(break_cases.in_a_loop, X)]
    assert wheres == [None, EAGER, None, EAGER, PYTHON, EAGER]


def test_tensor_lines_are_those_that_call_torch_on_a_tensor():
    first = break_cases.in_a_with.__code__.co_firstlineno
    assert tensor_lines(break_cases.in_a_with, X) == {first + 1, first + 3, first + 5}


def test_the_picture_has_a_number_for_each_line_in_a_graph_and_a_square_for_each_that_is_in_none():
    wheres = [line.where for name, calls, *_ in CASES for line in lines_of(
        getattr(break_cases, name), X, calls=tuple(getattr(break_cases, c) for c in calls))]
    root = ET.fromstring(draw_breaks().svg)
    shapes = [each.tag.split("}")[1] for each in root.iter()]
    assert shapes.count("circle") == sum(isinstance(where, int) for where in wheres) + 1
    assert shapes.count("rect") == wheres.count(EAGER) + 1


def test_every_text_lies_inside_the_picture():
    assert_every_text_lies_inside(draw_breaks())


def test_a_phone_shows_its_whole_width():
    assert size(draw_breaks())[0] <= PHONE
