"""Lines of C++ are tied to the operators whose lowering made them, and drawn so."""

import pytest
import torch

from inside.compile.observe.inductor import generated
from inside.compile.observe.line_origins import line_origins, tidy
from inside.compile.pictures.line_origins import draw_line_origins
from tests.helpers.pictures import PHONE, assert_every_text_lies_inside, size

X, B = torch.ones(60, 50), torch.ones(50)


def scaled(x, b):
    return torch.relu(x + b) * 2


def share(x):
    h = torch.relu(x)
    return h / (h.sum(-1, keepdim=True) + 1)


def by_operator(lines, operator):
    return [line.text for line in lines if line.operator == operator]


def test_each_step_of_a_chain_belongs_to_its_operator():
    lines = line_origins(scaled, X, B)
    assert by_operator(lines, "relu") == ["auto tmp3 = clamp_min(tmp2, decltype(tmp2)(0));"] * 2
    assert "auto tmp2 = tmp0 + tmp1;" in by_operator(lines, "add")
    assert "auto tmp6 = tmp3 * tmp5;" in by_operator(lines, "mul")
    assert {line.operator for line in lines} == {None, "add", "relu", "mul"}


def test_loops_branches_and_stores_belong_to_no_operator():
    frame = by_operator(line_origins(scaled, X, B), None)
    assert sum(line.startswith("for(") for line in frame) == 2
    assert sum(line.startswith("if(") for line in frame) == 2
    assert sum(".store(" in line for line in frame) == 2


def test_an_operator_that_two_loops_need_is_in_both():
    assert len(by_operator(line_origins(share, X), "relu")) == 8  # two loops, each with a tail


def test_noting_does_not_change_the_code():
    before = generated(scaled, X, B)
    line_origins(scaled, X, B)
    assert generated(scaled, X, B) == before


def test_depth_counts_loops_and_branches():
    lines = line_origins(scaled, X, B)
    outer, inner, branch, load = lines[3:7]
    assert [inner.depth - outer.depth, branch.depth - inner.depth, load.depth - branch.depth] == [
        1, 1, 1]


def test_tidy_code_has_the_loops_and_no_casts_or_braces():
    kernel, = generated(share, X)[0].kernels.values()
    lines = tidy(kernel).splitlines()
    assert lines[0] == "for(int64_t x0=0; x0<60; x0+=1)"
    assert lines[1] == "  float tmp_acc0 = 0;"
    assert "        auto tmp1 = clamp_min(tmp0, decltype(tmp0)(0));" not in lines[:4]
    assert "static_cast" not in tidy(kernel)


def test_a_function_with_two_kernels_is_refused():
    with pytest.raises(ValueError, match="2 kernels"):
        line_origins(lambda x, w: torch.relu((x + 1) @ w), torch.ones(4, 8), torch.ones(8, 8))


def test_the_picture_fits_a_phone_and_names_each_operator():
    picture = draw_line_origins(scaled, X, B)
    assert_every_text_lies_inside(picture)
    assert size(picture)[0] <= PHONE
    for operator in ("add", "relu", "mul"):
        assert picture.svg.count(f">{operator}<") == 2
