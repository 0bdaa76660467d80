"""The schedule that is read is the scheduler's own; its picture draws each group it made."""

import xml.etree.ElementTree as ET
from unittest import mock

import pytest
import torch
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.utils import fresh_cache
from torch.nn.attention.flex_attention import flex_attention

from inside.compile.observe.fusion import LOG, fused
from inside.compile.observe.inductor import generated
from inside.compile.pictures.fusion import draw_fusion
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)

X = torch.ones(64, 8)


def rows(x):
    return torch.softmax(x, dim=-1)


def both(x):
    p = torch.softmax(x, dim=-1)
    return p / p.sum(dim=0, keepdim=True)


def operators(made):
    return [[str(node) for node in unit] for unit in made.units]


def test_a_softmax_is_one_group_of_four_loops():
    assert operators(fused(rows, X)) == [["amax", "sub exp", "sum", "div"]]


def test_the_groups_are_those_of_the_generated_code():
    for fn in (rows, both):
        names = [tuple(node.name for node in unit) for unit in fused(fn, X).units]
        assert names == [loop.buffers for loop in generated(fn, X)[0].loops]


def test_reasons_are_those_between_groups_at_the_end():
    assert fused(rows, X).log
    assert not fused(rows, X).reasons()
    assert fused(both, X).reasons() == [
        (1, 2, "no shared data"), (1, 3, "intermediate nodes between node1 & node2"),
        (2, 3, "no shared data")]


def test_a_line_about_part_of_a_group_is_no_reason():
    def far(q, k, v):
        place = torch.arange(32)
        return torch.softmax(q @ k.mT - (place[:, None] - place).abs(), dim=-1) @ v
    made = fused(far, *[torch.ones(1, 2, 32, 16)] * 3)
    assert [len(unit) for unit in made.units] == [1, 2, 2, 1]
    assert [line[:2] for line in made.log] == [("op2", "op4")]  # op4 is half of the third group
    assert not made.reasons()


def test_a_pair_that_the_back_end_refuses_has_no_line():
    asked = []
    decide = CppScheduling.can_fuse_vertical

    def spy(backend, one, other):
        asked.append((one.get_name(), other.get_name(), decide(backend, one, other)))
        return asked[-1][2]
    with mock.patch.object(CppScheduling, "can_fuse_vertical", spy):
        made = fused(lambda x: x / x.sum(), X)
    assert ("op0", "op1", False) in asked
    assert len(made.units) == 2
    assert not made.log


def test_a_loop_knows_the_shape_of_its_result_and_what_it_reads():
    unit, = fused(rows, X).units
    assert [node.shape for node in unit] == [(64, 1), (64, 8), (64, 1), (64, 8)]
    assert [node.reads for node in unit] == [(), ("op0",), ("op1",), ("op1", "op2")]


def test_a_call_and_a_template_are_told_from_loops():
    made = fused(lambda x: torch.relu(x.T @ x), X)
    assert [unit[0].kind for unit in made.units] == ["call", "loop"]
    q, k, v = (torch.ones(1, 2, 32, 16) * n for n in (1, 2, 3))
    assert fused(flex_attention, q, k, v).units[-1][0].kind == "template"


def test_two_graphs_are_refused():
    def broken(x):
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()
    with pytest.raises(ValueError, match="2 graphs"):
        fused(broken, X)


def test_the_log_is_left_as_it_was():
    before = LOG.level, LOG.propagate, list(LOG.handlers)
    with fresh_cache():
        fused(rows, X)
    assert (LOG.level, LOG.propagate, LOG.handlers) == before


def test_the_picture_has_a_frame_for_each_group_and_a_heavy_arrow_where_one_reads_another():
    picture = draw_fusion(("rows", fused(rows, X)), ("both", fused(both, X)))
    root = ET.fromstring(picture.svg)
    frames = [each for each in root.iter(f"{SVG}rect") if each.get("rx") == "8"]
    heavy = [each for each in root.iter(f"{SVG}path") if each.get("stroke-width") == "2.4"]
    assert len(frames) == 1 + 3
    assert len(heavy) == 5  # exp and sum into both later groups, the column sums into the last
    assert str(picture).startswith("rows\namax | sub exp | sum | div\n\nboth\n")
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match="not 0"):
        draw_fusion()
    with pytest.raises(ValueError, match="longer"):
        draw_fusion(("long", fused(lambda x: x.sin().cos().tan().sin().cos(), X)))
