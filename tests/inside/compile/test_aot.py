"""Graphs and the wrapper's steps are AOTAutograd's own; the picture shows the way of a write."""

import pytest
import torch
from torch._dynamo.utils import counters

from inside.compile.observe.aot import autograd_nodes, backward_as_one_graph, trace
from inside.compile.pictures.write_back import draw_write_back, edges
from tests.helpers.pictures import (
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)

pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute")  # torch reads it


def double_row(x):
    row = x[0]
    row.mul_(2)
    return x.t(), x.sum()


def wave(x, w):
    return torch.sin(x * w).sum()


def leaf(n=3):
    return torch.ones(n, requires_grad=True)


def test_a_write_becomes_a_new_value_that_the_wrapper_copies_back():
    x = torch.ones(2, 3)
    seen = trace(double_row, x)
    assert "mul_ = row.mul_(2)" in seen.dynamo
    assert "select_scatter = select_scatter(x, mul, 0, 0)" in seen.forward
    assert not any("_(" in line for line in seen.forward)
    assert seen.after == ["x.copy_(select_scatter)", "output 0 = view of x like t_1",
                          "output 1 = sum_1"]
    assert x.tolist() == [[2] * 3, [1] * 3]
    assert seen.result[0]._base is x


def test_a_write_kept_in_the_graph_is_not_copied_back_again():
    seen = trace(double_row, torch.ones(2, 3), keep_inference_input_mutations=True)
    assert "copy_ = copy_(x, select_scatter)" in seen.forward
    assert not any("copy_" in line for line in seen.after)


def test_a_write_to_an_input_with_a_gradient_stays_outside_all_the_same():
    seen = trace(double_row, leaf() * torch.ones(2, 3), keep_inference_input_mutations=True)
    assert seen.after[0] == "x.copy_(select_scatter)"
    assert not any("copy_(" in line for line in seen.forward)


def test_the_joint_graph_is_cut_into_forward_and_backward():
    seen = trace(wave, torch.ones(3), leaf())
    assert seen.joint[-1] == "return sum_1, None, mul_2"
    assert seen.forward[-1] == "return sum_1, x, mul"
    assert seen.saved == ["x", "mul"]
    assert seen.joint[:3] == seen.forward[:3]
    assert seen.joint[3:7] == seen.backward[:4]
    assert seen.operators() == {"mul", "sin", "sum", "expand", "cos"}


def test_without_gradients_there_is_one_graph():
    seen = trace(wave, torch.ones(3), torch.ones(3))
    assert (seen.joint, seen.backward, seen.saved) == ([], [], [])


def test_a_compiled_part_is_one_node_and_leaves_are_not_counted():
    compiled = torch.compile(wave, backend="aot_eager")
    assert autograd_nodes(compiled(torch.ones(3), leaf())) == ["CompiledFunctionBackward"]
    assert autograd_nodes(wave(torch.ones(3), leaf())) == [
        "SumBackward0", "SinBackward0", "MulBackward0"]


def test_compiled_autograd_has_hooks_and_accumulation_in_one_graph():
    w, gradients = leaf(), []
    for times in (1, 10):
        torch._dynamo.reset()
        layer, w.grad = torch.compile(torch.sin, backend="aot_eager"), None
        middle = layer(w)
        middle.register_hook(lambda gradient, times=times: gradient * times)
        graphs = backward_as_one_graph(layer(middle).sum())
        gradients.append(w.grad)
        assert [len(each) for each in graphs] == [7]
        assert graphs[0][0] == "SumBackward0"
        assert graphs[0][-1] == "AccumulateGrad"
    torch.testing.assert_close(gradients[1], 10 * gradients[0])


def test_curves_lead_from_the_line_that_makes_a_value_to_those_that_read_it():
    seen = trace(double_row, torch.ones(2, 3))
    lines = [("forward", "inputs"), *(("forward", line) for line in seen.forward[:-1]),
             *(("after", line) for line in seen.after)]
    rows, counts = {}, {"forward": 0, "after": 0}
    for y, (name, line) in enumerate(lines):
        rows[name, counts[name]] = (y, line)
        counts[name] += 1
    # 0 inputs, 1 select, 2 mul, 3 select_scatter, 4 sum_1, 5 t_1, 6 copy_, 7 and 8 outputs
    assert sorted(edges(seen, rows)) == [
        (0, 1), (0, 3), (1, 2), (2, 3), (3, 4), (3, 5), (3, 6), (4, 8), (5, 7), (6, 7)]


@pytest.mark.parametrize("fn", [double_row, lambda x: x.sum()])
def test_the_picture_fits_a_phone(fn):
    picture = draw_write_back(trace(fn, torch.ones(2, 3)))
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert picture.svg.count("<circle") == (2 if fn is double_row else 0)


def step(w):
    torch.sin(torch.sin(w)).sum().backward()


def test_the_switch_of_compiled_autograd_acts_only_inside_a_compiled_function():
    captures = []
    for compiled in (False, True):
        torch._dynamo.reset()
        counters.clear()
        with torch._dynamo.config.patch(compiled_autograd=True):
            if compiled:
                torch.compile(step, backend="aot_eager")(leaf())
            else:
                torch.compile(torch.sin, backend="aot_eager")(leaf()).sum().backward()
        captures.append(counters["compiled_autograd"]["captures"])
    assert captures == [0, 1]


def test_the_switch_of_compiled_autograd_is_read_when_the_function_is_wrapped():
    captures = []
    for early in (True, False):
        torch._dynamo.reset()
        counters.clear()
        with torch._dynamo.config.patch(compiled_autograd=early):
            compiled = torch.compile(step, backend="aot_eager")
        with torch._dynamo.config.patch(compiled_autograd=not early):
            compiled(leaf())
        captures.append(counters["compiled_autograd"]["captures"])
    assert captures == [1, 0]
