"""The picture of a graph says what torch recorded, and nothing in it lies over something else."""

import random
import re
import xml.etree.ElementTree as ET

import pytest
import torch

from inside.autograd.pictures.autograd_graph import draw_graph
from inside.observe.autograd_graph import nodes_behind, read
from tests.helpers.depth import cases

SVG = "{http://www.w3.org/2000/svg}"


def leaf(*shape):
    return torch.ones(shape, requires_grad=True)


def network():
    x, first, second = torch.ones(4, 3), leaf(3, 5), leaf(5, 2)
    h = (x @ first).tanh()
    y = h @ second
    return {"x": x, "W1": first, "W2": second, "h": h, "y": y, "loss": (y * y).sum()}


def test_text_lists_nodes_edges_and_saved_tensors_by_name():
    assert draw_graph(network()).text.splitlines() == [
        "loss: SumBackward0 -> MulBackward0",
        "MulBackward0 -> MmBackward0 #2, MmBackward0 #2",
        "    saved other = y (4,2)",
        "    saved self = y (4,2)",
        "y: MmBackward0 #2 -> TanhBackward0, AccumulateGrad(W2)",
        "    saved mat2 = W2 (5,2)",
        "    saved self = h (4,5)",
        "h: TanhBackward0 -> MmBackward0 #1",
        "    saved result = h (4,5)",
        "AccumulateGrad holds W2",
        "MmBackward0 #1 -> none, AccumulateGrad(W1)",
        "    saved self = x (4,3)",
        "AccumulateGrad holds W1",
    ]


def test_edge_says_which_output_of_the_operation_it_belongs_to():
    a = leaf(3)
    first, _, last = (a * 2).unbind()
    lines = draw_graph({"a": a, "t": first + last}).text.splitlines()
    assert lines[0] == "t: AddBackward0 -> UnbindBackward0, UnbindBackward0 input 2"


def test_storages_without_a_name_are_told_apart():
    a = leaf(3)
    t = (a * 2).sin() * (a * 3).cos()
    saved = re.findall(r"saved self = (\S+)", draw_graph({"a": a, "t": t}).text)
    assert len(set(saved)) == 3, "the two inputs of sin and cos, and the first factor"


def test_view_of_a_named_tensor_has_its_name_and_another_shape():
    a = leaf(6)
    h = a * 1
    assert "saved self = h (2,3)" in draw_graph({"h": h, "t": h.view(2, 3).sin()}).text


def test_after_backward_saved_tensors_are_shown_as_freed():
    names = network()
    names["loss"].backward()
    text = draw_graph(names).text
    assert text.count("freed") == 6
    assert "MmBackward0 #1 -> none, AccumulateGrad(W1)" in text


def test_tensor_changed_in_place_is_not_called_freed():
    h = leaf(3) * 1
    y = h.sin()
    h.add_(1)
    text = draw_graph({"y": y}).text
    assert "saved self: changed in place" in text
    assert "freed" not in text


def test_saved_lists_are_shown_tensor_by_tensor():
    a = leaf(3)
    i = torch.tensor([0, 2])
    assert "saved indices = i (2,)" in draw_graph({"i": i, "t": a[i]}).text


class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a / 2


def test_what_a_function_of_the_readers_own_saves_is_shown():
    a = leaf(3)
    assert "    saved saved_tensors = a (3,)" in draw_graph({"a": a, "t": Half.apply(a)}).text


def test_tensors_without_a_graph_are_refused():
    with pytest.raises(ValueError, match="none of the tensors has a grad_fn"):
        draw_graph({"x": torch.ones(2), "w": leaf(2)})


def test_shared_nodes_are_found_once_and_deep_graphs_without_recursion():
    a = leaf(1)
    y = a
    for _ in range(5000):
        y = y + a
    assert len(nodes_behind([y])) == 5001
    z = a
    for _ in range(40):
        z = z * z
    assert len(nodes_behind([z, z])) == 41


def random_graph(seed):
    """Twelve operations on two leaves and their results, all results named."""
    choose = random.Random(seed)
    names = {"a": leaf(2, 2), "b": leaf(2, 2)}
    for n in range(12):
        left, right = (choose.choice(list(names.values())) for _ in range(2))
        binary, unary = choose.choice([torch.add, torch.mul]), choose.choice([torch.sin, torch.exp])
        names[f"t{n}"] = binary(left, right) if choose.random() < 0.6 else unary(left)
    return names


@pytest.mark.parametrize("seed", range(cases(5)))
def test_every_edge_leads_to_a_lower_row(seed):
    boxes = read(random_graph(seed))
    for node, b in boxes.items():
        for following, _ in node.next_functions:
            assert following is None or boxes[following].row > b.row


@pytest.mark.parametrize("seed", range(cases(5)))
def test_boxes_stay_in_the_picture_and_apart(seed):
    root = ET.fromstring(draw_graph(random_graph(seed)).svg)
    width, height = map(float, root.get("viewBox").split()[2:])
    sides = ("x", "y", "width", "height")
    places = [[float(rect.get(side)) for side in sides] for rect in root.iter(f"{SVG}rect")]
    assert len(places) > 24, "twelve nodes, twelve results, a leaf"
    for n, (x, y, w, h) in enumerate(places):
        assert min(x, y, width - x - w, height - y - h) >= 0
        for x2, y2, w2, h2 in places[:n]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_each_empty_edge_is_a_stub_below_its_node():
    a = leaf(3)
    picture = draw_graph({"a": a, "t": (a * 2 + 1).sin()})
    assert picture.text.count("none") == 2
    ends = [float(y) for y in re.findall(r"M\S+ (\S+)v11m-5 0h10", picture.svg)]
    boxes = ET.fromstring(picture.svg).iter(f"{SVG}rect")
    below = [float(b.get("y")) + float(b.get("height")) for b in boxes]
    assert len(ends) == 2
    assert set(ends) <= set(below)


def test_picture_is_the_same_each_time_and_holds_no_identity():
    first, second = draw_graph(network()), draw_graph(network())
    assert first == second
    assert not re.search(r"0x|\d{9,}", first.svg + first.text)
