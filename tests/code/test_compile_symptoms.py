"""Each symptom is planted, its tool finds it, and without the symptom the tool says nothing."""

import pytest
import torch

import compile_apart
import compile_faults
import compile_symptoms
from compile_symptoms import CASES, FirstNan, fresh, logged


@pytest.fixture(autouse=True)
def _empty_caches():
    yield
    torch._dynamo.reset()


@pytest.mark.parametrize(("name", "said"), [
    ("slow_first_call", "OutputGraph.call_user_compiler"),
    ("slow_always", "1 graph break"),
    ("slow_later", "name == 'a'"),
    ("raises", "BackendCompilerFailed, not with eager"),
    ("wrong_result", "first wrong: aot_eager"),
    ("nan", "call_method log"),
    ("memory", "2 saved for backward"),
])
def test_the_tool_of_a_symptom_names_its_cause(name, said):
    assert CASES[name]() == said


def test_the_logs_are_silent_without_a_break_and_off_afterwards():
    with logged(graph_breaks=True) as lines:
        fresh(torch.sin)(torch.ones(2))
    assert lines() == []
    compile_symptoms.slow_always()
    assert lines() == []


def test_a_log_is_read_without_time_and_place():
    with logged(recompiles=True) as lines:
        compiled = fresh(lambda x, n: x + len(n))
        compiled(torch.ones(2), "a")
        compiled(torch.ones(2), "b")
    assert lines()[0].startswith("Recompiling function")


def test_a_graph_without_nan_names_no_operation():
    FirstNan.found = None
    fresh(torch.sin, lambda graph, inputs: FirstNan(graph).run)(torch.ones(2))
    assert FirstNan.found is None


@pytest.mark.parametrize(("fn", "first"), [
    (compile_faults.told_wrong_by_dynamo, "eager"),
    (compile_faults.lost_by_autograd, "aot_eager"),
    (compile_faults.wrong_when_decomposed, "aot_eager_decomp_partition"),
    (torch.sin, None),
])
def test_a_fault_shows_first_at_its_own_stage(fn, first):
    assert compile_faults.first_wrong(fn, torch.ones(4)) == first


def test_the_fused_back_end_rounds_once_and_the_lossy_one_loses_bits():
    def gap(b, ac):
        return b * b - 4 * ac

    b = torch.tensor([1 + 2**-12])
    ac = (b * b - 2**-12) / 4
    assert gap(b, ac).item() == 2**-12
    assert fresh(gap, compile_faults.fused)(b, ac).item() == 2**-12 + 2**-24
    assert fresh(torch.mul, compile_faults.lossy)(b, b).item() == 1.0
    torch.set_default_device("cpu")  # operators become methods in the graph
    try:
        assert fresh(gap, compile_faults.fused)(b, ac).item() == 2**-12 + 2**-24
    finally:
        torch.set_default_device(None)


def test_a_trace_holds_an_event_for_each_graph_break_and_recompilation(tmp_path):
    compile_apart.run_apart(compile_apart.BROKEN, str(tmp_path), TORCH_TRACE=str(tmp_path))
    kinds = compile_apart.events(str(tmp_path))
    assert kinds["dynamo_output_graph"] == kinds["compilation_metrics"] == 4
    assert kinds["dynamo_graph_break_reason"] == kinds["recompile_reasons"] == 2


def test_the_minifier_leaves_the_one_operation_that_is_wrong(tmp_path):
    before, after = compile_apart.minify(compile_apart.INACCURATE, str(tmp_path))
    assert sum("=" in line for line in before) == 10  # the first only renames the input
    assert [line for line in after if "=" in line] == ["b = torch.relu(sub)"]


def test_the_debug_variable_leaves_a_log_in_the_working_folder(tmp_path):
    compile_apart.run_apart(compile_apart.BROKEN, str(tmp_path), TORCH_COMPILE_DEBUG="1")
    assert list(tmp_path.glob("torch_compile_debug/*/torchdynamo/debug.log"))
