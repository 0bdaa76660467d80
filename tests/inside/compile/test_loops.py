"""What passes between loops is what mini_compile planned; the picture shows each step."""
import pytest
import torch

import mini_compile
from inside.compile.observe.loops import (
    linked_nodes,
    moved,
    moved_in_eager,
    numbers_in,
    operators_run,
    steps,
)
from inside.compile.pictures.loops import draw_loops
from tests.helpers.pictures import (
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


@pytest.fixture(autouse=True)
def without_a_compiler(monkeypatch, tmp_path, recwarn):
    """Nothing here needs the compiled code."""
    monkeypatch.setenv("CXX", "nowhere")
    monkeypatch.setenv("MINI_COMPILE_CACHE", str(tmp_path))


def around(a):
    b = a * 2
    return b + b @ b


def loss(x, w):
    z = x @ w
    return (z * torch.sigmoid(z)).sum()


def graph_of(fn, *args):
    return mini_compile.explain(fn, *args).graphs[0]


def test_the_steps_are_loops_and_calls_in_the_order_in_which_they_run():
    found = steps(graph_of(around, torch.ones(4, 4)))
    assert [(one.kind, one.nodes) for one in found] == [
        ("loop", ("mul",)), ("call", ("mm",)), ("loop", ("add",))]
    assert found[2].reads == (("mul", "add"), ("mm", "add"))


def test_a_value_inside_a_loop_is_no_read():
    found = steps(graph_of(lambda x: (x * 2).exp() + 1, torch.ones(4)))
    assert [(one.kind, one.reads) for one in found] == [("loop", ())]


def test_a_view_is_no_step_and_its_reader_reads_the_tensor_behind_it():
    found = steps(graph_of(lambda a: (a * 2) @ (a * 3).t(), torch.ones(4, 4)))
    assert [one.kind for one in found] == ["loop", "call"]
    assert set(found[1].reads) == {("mul", "mm"), ("mul_1", "mm")}


def test_a_chain_is_linked_and_a_matrix_product_has_no_rule():
    nodes, inside, linked = linked_nodes(graph_of(around, torch.ones(4, 4)))
    mul, mm, add = nodes
    assert inside == {mul, add}
    assert linked(mul, add)
    assert not linked(mul, mm)
    assert not linked(mm, add)


def test_a_chain_moves_its_input_and_its_result():
    assert moved(graph_of(lambda x: (x * 2).exp() + 1, torch.ones(4))) == 8


def test_calls_move_their_operands_and_results():
    assert moved(graph_of(around, torch.ones(4, 4))) == 16 * (2 + 2 + 3)   # mm reads b once


def test_eager_moves_each_value_in_between_and_no_views():
    x = torch.ones(4)
    assert moved_in_eager(lambda: (x * 2).exp() + 1) == 24
    assert moved_in_eager(lambda: x.view(2, 2).t()) == 0


def test_a_broadcast_tensor_lies_in_memory_once():
    assert numbers_in(torch.ones(1).expand(5, 3)) == 1
    assert numbers_in(torch.ones(4, 1).expand(4, 3)) == 4
    assert numbers_in(torch.ones(4, 3)) == 12
    assert numbers_in(torch.ones(0, 3)) == 0


def test_the_operators_of_backward_are_recorded():
    x, w = torch.ones(2, 3), torch.ones(3, 2, requires_grad=True)
    names = operators_run(lambda: loss(x, w).backward())
    assert names[:2] == ["mm", "sigmoid"]
    assert "sigmoid_backward" in names


def test_the_picture_names_each_node_and_each_read():
    seen = mini_compile.explain(loss, torch.ones(2, 3), torch.ones(3, 2, requires_grad=True))
    drawn = [(one.kind, steps(one)) for one in seen.graphs]
    picture = draw_loops(*drawn)
    for _, found in drawn:
        for step in found:
            assert all(f">{name}<" in picture.svg for name in step.nodes)
    assert picture.text.startswith("forward graph\n  call: mm\n  loop: sigmoid, mul")
    assert "reads mm" in picture.text
    assert "\n\nbackward graph\n" in picture.text
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)


def test_a_picture_has_one_graph_or_two():
    with pytest.raises(ValueError, match="not 0"):
        draw_loops()
