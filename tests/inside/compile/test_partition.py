"""What is saved is what torch's own graphs return; the picture draws the network it solved."""

import xml.etree.ElementTree as ET

import pytest
import torch
from torch._functorch import config
from torch._functorch.partitioners import default_partition
from torch._inductor.fx_passes.joint_graph import joint_graph_passes

from inside.compile.observe.partition import MIN_CUT, partitioned
from inside.compile.pictures.min_cut import draw_min_cut
from inside.observe.saved import saved_bytes
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def gate(x, w):
    a = torch.sigmoid(x @ w)
    return a * a.exp()


def arguments():
    return torch.ones(2, 4), torch.ones(4, 100, requires_grad=True)


def held(fn, args):
    with saved_bytes(apart_from=args) as saved:
        out = fn(*args)
        assert out.requires_grad
        return saved.held


def test_bytes_are_those_that_the_running_nodes_hold():
    args = arguments()
    for partition in ({}, {"partition": default_partition}):
        cut = partitioned(gate, *args, **partition)
        assert sum(cut.saved.values()) == held(cut, args) > 0


def test_inductor_rewrites_attention_before_it_cuts_and_this_does_not():
    """The passes over the joint graph come first there, and they know the textbook form."""
    def attention(q, k, v):
        return torch.softmax(q @ k.mT / 4.0, dim=-1) @ v

    def after_passes(joint, inputs, **options):
        return MIN_CUT(joint_graph_passes(joint), inputs, **options)

    args = [torch.ones(1, 2, 32, 16, requires_grad=True) for _ in range(3)]
    here = partitioned(attention, *args)
    there = partitioned(attention, *args, partition=after_passes)
    table = 2 * 32 * 32 * 4                              # the scores
    assert max(here.saved.values()) == table
    assert max(there.saved.values()) < table
    fused = ["scaled_dot_product" in str([node.target for node in cut.graphs[0][0].graph.nodes])
             for cut in (here, there)]
    assert fused == [False, True]


def test_a_value_used_before_and_after_a_product_is_kept_without_a_reason():
    def far(x, w):
        a = x.sin()
        return (a * (a.cos() @ w)).exp().sin()
    x, w = (torch.ones(4, 4, requires_grad=True) for _ in range(2))
    values = partitioned(far, x, w).values
    assert values["mul"].never == "cannot recompute"
    assert values["exp"].never is None


def test_the_default_partition_saves_what_eager_mode_saves():
    args = arguments()
    cut = partitioned(gate, *args, partition=default_partition)
    assert cut.saved == {"sigmoid": 800, "exp": 800}
    assert held(gate, args) == 1600
    assert not cut.recomputed
    assert not cut.values


def test_the_min_cut_saves_the_product_and_recomputes_the_rest():
    cut = partitioned(gate, *arguments())
    assert cut.saved == {"mm": 800}
    assert cut.recomputed == ["sigmoid", "exp"]
    assert cut.values["mm"].never
    assert not cut.values["exp"].never
    assert ("x", "backward") in cut.edges
    assert ("mm", "backward") not in cut.edges


def test_gradients_do_not_depend_on_the_partition():
    expected = None
    for partition in ({}, {"partition": default_partition}):
        x, w = arguments()
        partitioned(gate, x, w, **partition)(x, w).sum().backward()
        expected = w.grad if expected is None else expected
        assert torch.equal(w.grad, expected)


def test_the_aot_back_end_of_inductor_saves_the_same():
    args = arguments()
    torch._dynamo.reset()
    real = torch.compile(gate, backend="aot_eager_decomp_partition")
    assert held(real, args) == sum(partitioned(gate, *args).saved.values())


@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_a_graph_break_makes_two_cuts():
    def broken(x):
        y = x.sin().exp()
        torch._dynamo.graph_break()
        return y.cos() * 2
    cut = partitioned(broken, torch.ones(8, requires_grad=True))
    assert len(cut.graphs) == 2


def test_the_picture_shows_capacities_and_a_dashed_line_where_the_cut_runs():
    cut = partitioned(gate, *arguments())
    picture = draw_min_cut(cut)
    tree = ET.fromstring(picture.svg)
    words = [node.text for node in tree.iter(f"{SVG}text")]
    assert {"mm", "968", "1760", "800·1.1²", "800·1.1¹·2"} <= set(words)
    dashed = [node for node in tree.iter(f"{SVG}path") if node.get("stroke-dasharray")]
    assert len(dashed) == 2  # mm and the input x
    assert picture.text.splitlines()[2] == "mm: 800·1.1² = 968, not recomputed, cut"


def test_a_capacity_is_the_bytes_times_the_factors_it_shows():
    for each in partitioned(gate, *arguments()).values.values():
        weighed = int(each.nbytes * 1.1**each.steps)
        assert each.capacity in (weighed, 2 * weighed)


def test_a_budget_of_zero_leaves_nothing_to_cut():
    with config.patch(activation_memory_budget=0.0):
        cut = partitioned(gate, *arguments())
    assert cut.saved == {}
    assert "mm" in cut.recomputed


def test_a_graph_of_another_form_is_refused():
    cut = partitioned(lambda x: x.sin(), torch.ones(3, requires_grad=True))
    with pytest.raises(ValueError, match="chain behind two inputs"):
        draw_min_cut(cut)


def test_the_picture_fits_a_phone():
    picture = draw_min_cut(partitioned(gate, *arguments()))
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
