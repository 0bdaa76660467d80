"""The picture of the machine says what the graph says, and how a real backward ran."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch

from inside.autograd.pictures.autograd_machine import draw_autograd_machine
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)

CIRCLED = re.compile(r'<circle.*?>(\d+)</text>', re.S)


def number(value):
    return torch.tensor(value, requires_grad=True)


def names():
    w, b, x = number(2.0), number(4.0), torch.tensor(3.0)
    h = w * x
    return {"w": w, "x": x, "b": b, "h": h, "loss": h * b + h}


def runs(picture):
    """[(label, waits for, receives, frees)] of the lines that tell the run."""
    line = re.compile(r"^\d+\. (.+): waits for (\d+), receives (.+), frees (.+)$", re.M)
    return line.findall(picture.text)


def test_tensors_are_described_as_they_are_after_backward():
    lines = draw_autograd_machine(names()).text.splitlines()
    assert lines[:5] == [
        "w: value 2, requires_grad True, grad_fn None, .grad 15",
        "x: value 3, requires_grad False, grad_fn None, .grad None",
        "b: value 4, requires_grad True, grad_fn None, .grad 6",
        "h: value 6, requires_grad True, grad_fn MulBackward0 #1, .grad None",
        "loss: value 30, requires_grad True, grad_fn AddBackward0, .grad None",
    ]


def test_graph_is_the_one_that_was_recorded():
    assert draw_autograd_machine(names()).text.splitlines()[5:-5] == [
        "loss: AddBackward0 -> MulBackward0 #2, MulBackward0 #1",
        "MulBackward0 #2 -> MulBackward0 #1, AccumulateGrad(b)",
        "    saved other = b",
        "    saved self = h",
        "h: MulBackward0 #1 -> AccumulateGrad(w), none",
        "    saved other = x",
        "AccumulateGrad holds b",
        "AccumulateGrad holds w",
    ]


def test_run_is_told_in_the_order_of_the_engine():
    assert runs(draw_autograd_machine(names())) == [
        ("AddBackward0", "0", "1", "nothing"),
        ("MulBackward0 #2", "1", "1", "other, self"),
        ("AccumulateGrad → b.grad", "1", "6", "nothing"),
        ("MulBackward0 #1", "2", "5", "other"),
        ("AccumulateGrad → w.grad", "1", "15", "nothing"),
    ]


def test_the_newest_of_two_ready_nodes_is_told_first_whichever_side_it_is_on():
    for swap in (False, True):
        older = number(1.0).exp()
        newer = number(2.0).tanh()
        out = newer + older if swap else older + newer
        told = runs(draw_autograd_machine({"out": out}))
        assert [label for label, *_ in told][1] == "TanhBackward0"


def test_a_node_waits_for_every_edge_even_two_from_one_node():
    h = number(3.0).exp()
    picture = draw_autograd_machine({"h": h, "out": h * h})
    waits = {label: count for label, count, *_ in runs(picture)}
    assert waits["ExpBackward0"] == "2"


def test_numbers_in_the_graph_are_the_places_in_the_run():
    picture = draw_autograd_machine(names())
    root = ET.fromstring(picture.svg)
    nodes = [(float(t.get("x")), float(t.get("y")), t.text) for t in root.iter(f"{SVG}text")
             if t.text.startswith(("Add", "Mul", "Acc")) and t.get("font-weight")]
    circles = [(float(c.get("cx")), float(c.get("cy"))) for c in root.iter(f"{SVG}circle")]
    beside = [max((x, label) for x, y, label in nodes if x < cx and abs(y - cy) < 6)[1]
              for cx, cy in circles[:5]]
    assert beside == [label.partition(" →")[0] for label, *_ in runs(picture)]
    assert CIRCLED.findall(picture.svg) == list("12345") * 2


def test_backward_is_run_once_and_as_torch_would():
    given = names()
    draw_autograd_machine(given)
    assert (given["w"].grad.item(), given["b"].grad.item()) == (15, 6)
    with pytest.raises(RuntimeError, match="second time"):
        given["loss"].backward()


def test_every_text_lies_inside_the_picture():
    assert_every_text_lies_inside(draw_autograd_machine(names()))


def test_boxes_lie_apart_and_so_do_the_circles_in_the_graph():
    root = ET.fromstring(draw_autograd_machine(names()).svg)
    places = [[float(rect.get(side)) for side in ("x", "y", "width", "height")]
              for rect in root.iter(f"{SVG}rect")]
    assert len(places) == 5 + 5 + 4 + 5 + 5, "names, tensors, pills in the graph, nodes, runs"
    for circle in list(root.iter(f"{SVG}circle"))[:5]:
        x, y, r = (float(circle.get(key)) for key in ("cx", "cy", "r"))
        places.append([x - r, y - r, 2 * r, 2 * r])
    for n, (x, y, w, h) in enumerate(places):
        for x2, y2, w2, h2 in places[:n]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_it_is_narrow_enough_for_a_phone():
    assert_narrow_enough_for_a_phone(draw_autograd_machine(names()))


@pytest.mark.parametrize("loss", [
    torch.ones(()), number(1.0), torch.ones(2, requires_grad=True) * 1])
def test_a_tensor_from_which_backward_cannot_begin_is_refused_in_one_line(loss):
    with pytest.raises(ValueError, match=r"^loss: backward begins at one number .*$"):
        draw_autograd_machine({"loss": loss})
