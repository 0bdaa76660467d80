"""Lengths are those that the guards accept; the number line draws each where it lies."""

import xml.etree.ElementTree as ET

import pytest
import torch

from inside.compile.observe.compiled import watch
from inside.compile.observe.shapes import compilations, lengths_served, shape_guards
from inside.compile.pictures.size_line import draw_size_line, runs
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def lift(x):
    return x + 1 if x.shape[0] > 10 else x - 1


def lifted(*lengths):
    seen = watch(lift)
    for n in lengths:
        seen(torch.ones(n))
    return seen


SERVED = {1: [4], 2: list(range(2, 11)), 3: [11, 12, 13], 4: [1], 5: [0]}


def test_each_graph_serves_the_lengths_its_guards_accept():
    assert lengths_served(lifted(4, 5, 11, 1, 0), 13) == SERVED


def test_a_hit_that_moves_an_entry_to_the_front_keeps_the_order_of_the_graphs():
    seen = lifted(4, 5, 11, 1, 0)
    seen(torch.ones(7))
    assert lengths_served(seen, 13) == SERVED


def test_a_graph_break_is_refused():
    def broken(x):
        torch._dynamo.graph_break()
        return x + 1
    seen = watch(lambda x: broken(x * 2) + 1)
    seen(torch.ones(3))
    with pytest.raises(ValueError, match="cache entries"):
        lengths_served(seen, 5)


def test_shape_guards_are_the_conditions_of_one_entry():
    seen = lifted(4, 5)
    assert shape_guards(seen) == ["2 <= x.size()[0] <= 10"]
    assert shape_guards(seen, 1) == []


def test_compilations_count_graphs_after_each_call():
    assert compilations(lift, (4, 5, 6, 11)) == [1, 2, 2, 3]
    assert compilations(lift, (4, 5, 6), dynamic=False) == [1, 2, 3]


def test_only_the_first_tensor_is_marked():
    marked = []
    assert compilations(lift, (4, 5), lambda x, dim: marked.append((len(x), dim))) == [1, 2]
    assert marked == [(4, 0)]
    assert compilations(lift, (4, 5, 6), torch._dynamo.mark_dynamic) == [1, 1, 1]


def test_the_line_has_a_dot_for_one_length_and_an_arrow_where_it_goes_on():
    picture = draw_size_line({1: [4], 2: [11, 12]}, 12)
    tree = ET.fromstring(picture.svg)
    dots = [float(node.get("cx")) for node in tree.iter(f"{SVG}circle")]
    ticks = {node.text: float(node.get("x")) for node in tree.iter(f"{SVG}text")}
    assert dots == [ticks["4"], ticks["11"]]
    assert picture.text == "graph 1: 4\ngraph 2: 11 on"


def test_runs_end_at_a_gap():
    assert runs([3, 1, 2, 7]) == [(1, 3), (7, 7)]


@pytest.mark.parametrize("served", [{1: [14]}, {1: [-1]}, {1: []}, {}])
def test_lengths_off_the_line_are_refused(served):
    with pytest.raises(ValueError, match="not on the line"):
        draw_size_line(served, 13)


def test_the_picture_fits_a_phone():
    picture = draw_size_line(SERVED, 13)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
