"""torch's own answers about CUDA graphs, and the picture of a pool that is replayed."""

import xml.etree.ElementTree as ET

import pytest
import torch

from inside.compile.observe.cudagraphs import (
    calls,
    calls_of_a_model,
    micro_batches,
    recordings,
    replaying,
    why_skipped,
    writes,
)
from inside.compile.pictures.pool_runs import draw_pool_runs
from replay import Graphs
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def f(x):
    return (x * 2 + 1).relu()


@pytest.fixture
def two_runs():
    return writes(Graphs(), f, [torch.tensor([1.0]), torch.tensor([10.0])])


@pytest.mark.parametrize(("fn", "devices", "reason"), [
    (lambda x: x * 2, ["cuda"], None),
    (lambda x: x * 2, ["cpu"], "cpu device (x_1)"),
    (lambda x, y: x * y, ["cuda", "cpu"], "cpu device (y_1)"),
    (lambda x: x.add_(1), ["cuda"], "mutated inputs (1 instances)"),
    (lambda x: x * x.sum().item(), ["cuda"], "incompatible op (_local_scalar_dense)")])
def test_torch_gives_the_reason_without_a_gpu(fn, devices, reason):
    told = why_skipped(fn, *devices)
    assert told == (reason and f"skipping cudagraphs due to {reason}")


def test_only_the_outputs_of_the_first_two_calls_are_marked():
    assert calls_of_a_model(5) == [("warm-up", False), ("recording", True), ("replay", True),
                                   ("replay", False), ("replay", False)]


SLOW = "Unable to hit fast path of CUDAGraphs because outputs from a previous step"


def test_a_pending_backward_keeps_the_step_open_and_torch_warns_once():
    with pytest.warns(UserWarning, match=SLOW) as told:
        assert calls_of_a_model(4, backward=True) == [("warm-up", False)] * 4
    assert len(told) == 1


@pytest.mark.filterwarnings("error")
def test_two_calls_are_too_few_for_that_warning():
    assert calls_of_a_model(2, backward=True) == [("warm-up", False)] * 2


def test_a_second_function_begins_a_step_and_marks_what_it_is_about_to_read():
    marked = [marked for _, marked in calls_of_a_model(["f", "g"] * 3)]
    assert marked == [False, True, True, True, True, False]


def test_one_mark_for_each_iteration_keeps_two_functions_in_one_step():
    said = calls_of_a_model(["f", "g"] * 3, mark_every=2)
    assert said == calls_of_a_model(6, mark_every=2)
    assert [call for call, (_, marked) in enumerate(said) if marked] == [2, 4]


def test_the_gradient_of_a_micro_batch_is_marked_only_in_the_first_two():
    assert micro_batches(4) == [
        ("warm-up", False), ("warm-up", False), ("recording", True), ("recording", False),
        ("replay", True), ("replay", False), ("replay", False), ("replay", False)]


@pytest.mark.parametrize(("before", "total"), [(None, 20.0), (torch.zeros(1), 11.0)])
def test_a_gradient_of_the_pool_becomes_grad_unless_there_is_one(before, total):
    torch._dynamo.reset()
    w = torch.zeros(1, requires_grad=True)
    w.grad = before
    loss = torch.compile(lambda w, x: (w * x).sum(), backend=replaying)
    for k in (1.0, 10.0):
        loss(w, torch.tensor([k])).backward()
    assert w.grad.item() == total


def test_a_graph_without_a_gradient_for_an_input_runs_too():
    torch._dynamo.reset()
    w, x = torch.ones(2, requires_grad=True), torch.ones(2)
    torch.compile(lambda x, w: (x * w).sum(), backend=replaying)(x, w).backward()
    assert w.grad.tolist() == [1, 1]
    assert x.grad is None


def test_each_size_has_its_own_warm_up_and_recording():
    once = calls_of_a_model(4)
    assert calls_of_a_model([8, 8, 8, 8, 12, 12, 12, 12, 8, 8]) == once + once + [once[-1]] * 2


def test_a_mark_before_each_call_keeps_no_output():
    assert calls_of_a_model(5, mark_every=1) == calls_of_a_model(5)


def test_a_mark_ends_the_step_even_if_a_backward_is_pending():
    said = calls_of_a_model(5, backward=True, mark_every=1)
    assert said == calls_of_a_model(5)


def test_a_mark_before_every_second_call_puts_two_calls_into_one_step():
    assert calls_of_a_model(6, mark_every=2) == [
        ("warm-up", False), ("warm-up", False), ("recording", True), ("recording", False),
        ("replay", True), ("replay", False)]


def test_calls_and_recordings_are_those_of_the_tree():
    graphs = Graphs()
    y = graphs(f, torch.tensor([1.0]))
    assert calls(graphs)[0] == "aten.mul.Tensor: reads 0, writes 64"
    assert recordings(graphs) == 1
    graphs(f, y)
    assert recordings(graphs) == 2


def test_asking_leaves_torch_as_it_was():
    before = torch._dynamo.mutation_guard.GenerationTracker.generation
    calls_of_a_model(3)
    assert torch._dynamo.mutation_guard.GenerationTracker.generation == before


def test_writes_follow_the_recording(two_runs):
    assert [(each.by, each.slot) for each in two_runs] == [
        ("copy", 0), ("mul", 1), ("add", 2), ("relu", 1)] * 2
    assert two_runs[-1].held == {0: 10.0, 1: 21.0, 2: 21.0}


def test_writes_are_those_of_a_real_replay(two_runs):
    graphs = Graphs()
    kept = []
    for k in (1.0, 10.0):
        kept.append(graphs(f, torch.tensor([k])))
        assert graphs.slots(kept[-1])[0] == two_runs[-1].slot
        graphs.step()
    assert kept[0].item() == two_runs[-1].held[two_runs[-1].slot]


def test_picture_says_what_the_first_output_shows_after_the_second_run(two_runs):
    lines = draw_pool_runs(two_runs, ["y1", "y2"]).text.split("\n")
    assert lines[0] == "run 1: copy -> 0 = 1, mul -> 64 = 2, add -> 128 = 3, relu -> 64 = 3"
    assert lines[2:] == ["y1: 3 after run 1, 21 after run 2", "y2: 21 after run 2"]


def test_picture_has_a_column_for_each_write(two_runs):
    tree = ET.fromstring(draw_pool_runs(two_runs, ["y1", "y2"]).svg)
    words = [node.text for node in tree.iter(f"{SVG}text")]
    assert words.count("relu") == 2
    assert [word for word in words if word in ("0", "64", "128")] == ["0", "64", "128"]


def test_a_run_without_a_name_is_refused(two_runs):
    with pytest.raises(ValueError, match="1 names for 2 runs"):
        draw_pool_runs(two_runs, ["y1"])


def test_the_picture_fits_a_phone(two_runs):
    picture = draw_pool_runs(two_runs, ["y1", "y2"])
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
