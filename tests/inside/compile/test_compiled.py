"""What `inside.compile.observe.compiled` reads of Dynamo is what Dynamo did, without addresses."""

import re

import pytest
import torch

from inside.compile.observe.compiled import normal, watch

OFFSET = 3


def broken(x, n):
    y = x.sin() + n * OFFSET
    torch._dynamo.graph_break()
    return y.cos()


def test_graphs_and_frames_are_those_of_the_function_and_its_resume_function():
    seen = watch(broken)
    assert torch.equal(seen(torch.ones(3), 2), broken(torch.ones(3), 2))
    assert seen.operations() == [["sin", "add"], ["cos"]]
    assert seen.frames() == ["broken", "torch_dynamo_resume_in_broken"]
    assert seen.graphs()[1][-2:] == ["cos = l_y_.cos()", "return (cos,)"]
    assert len(seen.breaks()) == 1


def test_recompiles_name_the_guard_that_failed():
    seen = watch(broken)
    for n in (2, 2, 5):
        seen(torch.ones(3), n)
    assert seen.recompiles() == ["n == 2"]
    assert len(seen.entries()) == 2


def test_guards_hold_the_values_read_and_no_address():
    seen = watch(broken)
    seen(torch.ones(3), 2)
    codes = {each.kind: each for each in seen.guards()}
    assert codes["TENSOR_MATCH"].source == "L['x']"
    assert {"L['n'] == 2", "G['OFFSET'] == 3"} <= {each.code for each in seen.guards()}
    assert not any(re.search(r"\d{7,}|0x", each.code) for each in seen.guards(ambient=True))
    assert len(seen.guards(ambient=True)) > len(seen.guards())


def test_a_module_is_watched_at_the_frame_that_dynamo_compiles():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))
    seen = watch(model)
    seen(torch.ones(1, 2))
    model.eval()
    seen(torch.ones(1, 2))
    assert seen.recompiles() == ["fn._modules['1'].training == True"]
    assert "L['fn']._modules['1'].training == False" in {each.code for each in seen.guards()}


def test_the_new_bytecode_calls_the_graph():
    seen = watch(broken)
    seen(torch.ones(3), 2)
    assert not any("__compiled_fn" in line for line in seen.bytecode())
    assert any("__compiled_fn" in line for line in seen.bytecode(entry=0))


def test_normal_keeps_small_numbers():
    assert normal("___check_obj_id(L['f'], 140410205076704) and n == 12") == (
        "___check_obj_id(L['f'], …) and n == 12")


def test_records_last_when_torch_has_forgotten_the_oldest_compilations():
    for _ in range(70):
        watch(lambda x: x + 1)(torch.ones(3))
    seen = watch(broken)
    for n in (2, 5):
        seen(torch.ones(3), n)
    assert seen.recompiles() == ["n == 2"]
    assert seen.frames() == ["broken", "torch_dynamo_resume_in_broken", "broken"]


@pytest.mark.skipif(torch.__version__ < "2.13", reason="2.11 doesn't let these nodes be read")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")    # Dynamo reads it
def test_for_autograd_each_graph_of_aot_autograd_is_one_node():
    def nodes(function, backend):
        w = torch.ones(2, requires_grad=True)
        found, waiting = [], [watch(function, backend=backend)(w).grad_fn]
        while waiting:
            node = waiting.pop()
            if node is not None:
                found.append(type(node).__name__)
                waiting += [each for each, _ in node.next_functions]
        return [name for name in dict.fromkeys(found) if name != "AccumulateGrad"], found

    def in_two(w):
        y = w * w
        torch._dynamo.graph_break()
        return y.sum()

    assert nodes(lambda w: (w * w).sum(), "aot_eager")[1] == ["CompiledFunctionBackward",
                                                              "AccumulateGrad"]
    assert nodes(in_two, "aot_eager")[1].count("CompiledFunctionBackward") == 2
    assert nodes(lambda w: (w * w).sum(), "eager")[0] == ["SumBackward0", "MulBackward0"]
    # an output that is only a view of an input is made again outside the graph
    assert nodes(lambda w: w.view(-1), "aot_eager")[0] == ["ViewBackward0"]
