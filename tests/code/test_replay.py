"""A replay does what a CUDA graph does: the same operators, at the addresses of the recording."""

import gc

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch._inductor.cudagraph_trees import CUDAGraphTreeManager

from replay import Graphs
from replay_pool import Pool, address


def f(x):
    return (x * 2 + 1).relu()


def recordings(children):
    return sum(1 + recordings(each.children) for each in children.values())


def tensor(*values):
    return torch.tensor(values, dtype=torch.float32)


def test_replay_computes_what_the_function_does():
    graphs = Graphs()
    for values in [(1, 2), (-3, 4), (10, 20)]:
        assert graphs(f, tensor(*values)).tolist() == f(tensor(*values)).tolist()
        graphs.step()
    assert recordings(graphs.roots) == 1


def test_replay_calls_no_python_of_the_function():
    calls = []

    def counted(x):
        calls.append(len(calls))
        return x + len(calls)
    graphs = Graphs()
    first = graphs(counted, tensor(0)).tolist()
    graphs.step()
    assert (first, graphs(counted, tensor(0)).tolist(), calls) == ([1], [1], [0])


def test_next_step_overwrites_the_output_of_the_last():
    graphs = Graphs()
    first = graphs(f, tensor(1))
    assert not graphs.overwritten(first)
    graphs.step()
    second = graphs(f, tensor(10))
    assert first.tolist() == second.tolist() == [21]
    assert graphs.overwritten(first)
    assert not graphs.overwritten(second)


def test_clone_survives_the_next_step():
    graphs = Graphs()
    kept = graphs(f, tensor(1)).clone()
    graphs.step()
    graphs(f, tensor(10))
    assert kept.tolist() == [3]


def test_output_in_use_in_the_same_step_is_not_overwritten_but_recorded_again():
    graphs = Graphs()
    first = graphs(f, tensor(1))
    second = graphs(f, tensor(10))
    assert (first.tolist(), second.tolist()) == ([3], [21])
    assert recordings(graphs.roots) == 2
    assert not graphs.overwritten(first)


def test_output_that_is_dead_in_the_same_step_makes_room_for_a_replay():
    graphs = Graphs()
    first = graphs(f, tensor(1))
    del first
    gc.collect()
    assert graphs(f, tensor(10)).tolist() == [21]
    assert recordings(graphs.roots) == 1


def test_result_that_is_not_a_tensor_is_returned():
    graphs = Graphs()
    for k in (1, 2):
        y, n = graphs(lambda x: (x + 1, 3), tensor(k))
        assert (y.tolist(), n) == ([k + 1], 3)
        graphs.step()


def test_python_number_stays_as_it_was_when_recorded():
    graphs, k = Graphs(), 2.0

    def scaled(x):
        return x * k
    assert graphs(scaled, tensor(5)).tolist() == [10]
    k = 3.0
    graphs.step()
    assert graphs(scaled, tensor(5)).tolist() == [10]


def test_memory_of_a_dead_output_is_used_again():
    graphs = Graphs()
    place = address(graphs(f, tensor(1)))
    gc.collect()
    assert address(graphs(lambda x: x * 3, tensor(10))) == place


def test_view_keeps_its_memory_in_use():
    graphs = Graphs()
    view = graphs(f, tensor(1, 2))[1:]
    other = graphs(lambda x: x * 3, tensor(10, 20))
    assert view.tolist() == [5]
    assert address(view) != address(other)


def test_input_is_copied_in_so_its_own_address_does_not_matter():
    graphs, inputs = Graphs(), [tensor(k) for k in range(5)]
    results = []
    for x in inputs:
        results.append(graphs(f, x).item())
        graphs.step()
    assert results == [1, 3, 5, 7, 9]
    assert recordings(graphs.roots) == 1
    assert [x.item() for x in inputs] == [0, 1, 2, 3, 4]


def test_write_to_an_input_stays_in_the_copy():
    graphs, x = Graphs(), tensor(1)
    assert graphs(lambda t: t.add_(1), x).tolist() == [2]
    assert x.tolist() == [1]


def test_output_of_the_same_step_is_read_where_it_lies():
    graphs = Graphs()
    y = graphs(f, tensor(1))
    before = address(y)
    graphs(torch.neg, y)
    node = next(iter(next(iter(graphs.roots.values())).children.values()))
    assert node.inputs == [None]
    assert address(node.calls[0][1][0]) == before


def test_output_of_the_last_step_is_copied_before_it_is_overwritten():
    graphs = Graphs()
    y, seen = tensor(1, 2, 3), []
    for _ in range(4):
        y = graphs(f, y)
        seen.append(y.tolist())
        graphs.step()
    assert seen == [[3, 5, 7], [7, 11, 15], [15, 23, 31], [31, 47, 63]]
    assert recordings(graphs.roots) == 1


def test_parameter_is_read_at_its_address():
    weight, graphs = tensor(2), Graphs()

    def scaled(x):
        return x * weight
    assert graphs(scaled, tensor(5)).tolist() == [10]
    weight.fill_(3)                                  # the same memory
    graphs.step()
    assert graphs(scaled, tensor(5)).tolist() == [15]
    weight = tensor(100)                             # another tensor: the recording can't know
    graphs.step()
    assert graphs(scaled, tensor(5)).tolist() == [15]


def test_two_functions_share_the_pool_and_a_branch_needs_only_the_larger_one():
    def large(x):
        return x.repeat(32) + 1

    def small(x):
        return x + 1
    graphs, ends = Graphs(), []
    for follow in (small, large, small, large):
        y = graphs(f, tensor(1, 2))
        z = graphs(follow, y)
        ends.append(max(graphs.pool.live().values()))
        assert z[:2].tolist() == [4, 6]
        del y, z
        graphs.step()
    assert ends == [ends[0], ends[1]] * 2
    assert ends[0] < ends[1]
    assert recordings(graphs.roots) == 3             # f once, and each of the two behind it


def test_new_shape_is_recorded_anew():
    graphs = Graphs()
    for n in (1, 2, 3, 2, 1):
        graphs(f, torch.ones(n))
        graphs.step()
    assert recordings(graphs.roots) == 3


@pytest.mark.parametrize("fn", [lambda x: x.sum().item(), lambda x: x[x > 0], torch.nonzero])
def test_operator_whose_result_the_host_must_wait_for_is_refused(fn):
    graphs = Graphs()
    with pytest.raises(RuntimeError, match="can't wait for a value"):
        graphs(fn, tensor(1, 2))
    assert graphs(f, tensor(1)).tolist() == [3]      # and nothing is left behind


def test_full_pool_is_one_clear_line():
    with pytest.raises(MemoryError, match="pool of 128 bytes: no room for 64 more"):
        Graphs(128)(f, tensor(1))


@pytest.mark.parametrize("fn", [
    lambda x: x.t(), lambda x: (x, x + 1), lambda x: x.topk(2)[0], lambda x: x.t().sin().sum(0),
    lambda x: torch.cat([x, x]), lambda x: x.bool(), lambda x: x.double() + 1, lambda x: x[:, :0],
    lambda x: x.clone().mul_(3)[1:], lambda x: torch.softmax(x, 1) @ x.t(), lambda x: [x[0], x[1]]])
def test_any_shape_of_result_is_replayed(fn):
    graphs, scaled = Graphs(), torch.arange(9.0).view(3, 3)
    for k in (1, 2, 3):
        got, expected = graphs(fn, scaled * k), fn(scaled * k)
        torch.testing.assert_close(got, expected)
        del got
        graphs.step()
    assert recordings(graphs.roots) == 1


@given(st.lists(st.tuples(st.sampled_from("fgh"), st.integers(1, 4), st.booleans(), st.booleans()),
                max_size=12))
def test_no_output_of_a_step_changes_within_the_step(calls):
    fns = {"f": f, "g": lambda x: x - 1, "h": lambda x: (x.repeat(17) * 2)[: len(x)]}
    graphs, kept = Graphs(1 << 16), []
    for name, n, keep, step in calls:
        x = torch.arange(float(n)) if not kept or n % 2 else kept[-1][0]
        expected = fns[name](x.clone())
        got = graphs(fns[name], x)
        kept = [*kept, (got, expected)] if keep else kept
        for output, value in [*kept, (got, expected)]:
            assert torch.equal(output, value)
            assert not graphs.overwritten(output)
        if step:
            graphs.step()
            kept = []


def test_pool_places_in_the_first_gap():
    pool = Pool(256)
    a, b, c = (pool.place(tensor(k)) for k in range(3))
    del b
    gc.collect()
    assert list(pool.live()) == [0, 128]
    with pytest.raises(MemoryError):                 # 80 bytes need two slots, and no two adjoin
        pool.place(torch.ones(20))
    assert pool.position(pool.place(tensor(1))) == 64
    assert (a.item(), c.item()) == (0, 2)


def test_torch_marks_an_output_as_overwritten_with_an_advice_to_clone():
    said = CUDAGraphTreeManager.format_dealloc_msg("y = f(x)")
    assert "overwritten by a subsequent run" in said
    assert "clone" in said
