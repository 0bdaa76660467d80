"""`compile.observe.inductor` shows the C++ that Inductor compiles, and calls no compiler for it."""

import os
import re
import subprocess
import sys

import pytest
import torch
from torch._inductor import config, ir
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.utils import run_and_get_code
from torch.nn.attention.flex_attention import flex_attention

from book.pipeline.ground.paths import CODE
from inside.compile.observe.inductor import CALL, KERNEL, generated, same

X = torch.ones(5, 13)


def layer(x, w, b):
    h = torch.relu(x @ w + b)
    return h / (h.sum(-1, keepdim=True) + 1)


ARGS = torch.ones(60, 32), torch.ones(32, 50), torch.ones(50)


def test_no_compiler_is_looked_for_or_called():
    program = ("import torch; from inside.compile.observe.inductor import generated; "
               "print(*generated(lambda x: x.sin() + 1, torch.ones(9))[0].kernels.values())")
    env = {name: value for name, value in os.environ.items() if name not in ("CXX", "CC")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          env=env | {"PATH": "", "PYTHONPATH": str(CODE)}, check=True)
    assert "tmp0.sin()" in done.stdout


def test_the_text_is_the_same_each_time():
    assert generated(layer, *ARGS) == generated(layer, *ARGS)


def test_a_matmul_is_a_call_and_what_follows_is_one_unit_of_loops():
    made, = generated(layer, *ARGS)
    assert [unit.kind for unit in made.loops] == ["call", "loops"]
    assert made.loops[0].operators == ("addmm",)
    assert made.loops[1].operators == ("relu", "sum", "add", "div")
    assert len(made.kernels) == 1
    assert "extern_kernels.addmm" in made.call


def test_vector_code_takes_eight_at_a_time_and_plain_code_one():
    plain, = generated(torch.sin, X, vector=False)[0].kernels.values()
    vector, = generated(torch.sin, X)[0].kernels.values()
    assert "Vectorized" not in plain
    assert "static_cast<int64_t>(8)" in vector


def test_more_threads_ask_for_openmp_where_there_is_enough_work():
    big = torch.ones(1000, 1000)
    one, = generated(torch.sin, big)[0].kernels.values()
    four, = generated(torch.sin, big, threads=4)[0].kernels.values()
    assert "#pragma omp" not in one
    assert "#pragma omp parallel num_threads(4)" in four


def test_backward_graphs_come_behind_their_forward_graph():
    x = torch.ones(5, requires_grad=True)
    assert len(generated(torch.sin, x)) == 1
    forward, backward = generated(torch.sin, x, backward=True)
    assert ".sin()" in next(iter(forward.kernels.values()))
    assert ".cos()" in next(iter(backward.kernels.values()))


def test_a_view_is_only_an_index_in_the_loop_ir():
    made, = generated(lambda x: x[:, 2:].t() + 1, X)
    text, = made.ir.values()
    assert text.splitlines()[0] == "Pointwise [11, 5]"
    assert "ops.load(arg0_1, 2 + i0 + 13 * i1)" in text


def test_a_reduction_names_its_kind_and_what_it_runs_over():
    made, = generated(lambda x: x.sum(-1), X)
    assert made.ir["buf0"].splitlines()[0] == "Reduction sum [5] over [13]"


def test_a_call_of_a_library_has_no_loop_ir():
    made, = generated(layer, *ARGS)
    assert made.ir["buf0"] == "ExternKernelOut"


def test_flex_attention_is_a_call_with_the_name_of_its_operator():
    def far(q):
        return flex_attention(q, q, q, score_mod=lambda score, b, h, i, j: score - (i - j).abs())

    made, = generated(far, torch.ones(1, 1, 128, 64))
    assert "flex_attention" in [name for unit in made.loops for name in unit.operators]
    assert None not in made.ir


def test_the_profiler_gets_a_name_for_a_kernel_only_on_request():
    made, = generated(layer, *ARGS, **{"cpp.enable_kernel_profile": True})
    (name, text), = made.kernels.items()
    assert re.search(rf'RecordFunction.*"graph_\d+_{name}"', text)
    assert "RecordFunction" not in generated(layer, *ARGS)[0].kernels[name]


def test_no_inner_fn_runs_while_the_cpp_is_written(monkeypatch):
    runs, writing = {"before": 0, "while written": 0}, []
    make, write = ir.Pointwise.create, CppScheduling.codegen_node

    def create(*args, inner_fn, **kwargs):
        def counted(*index):
            runs["while written" if writing else "before"] += 1
            return inner_fn(*index)

        return make(*args, inner_fn=counted, **kwargs)

    def codegen_node(scheduling, node):
        writing.append(node)
        write(scheduling, node)
        writing.pop()

    monkeypatch.setattr(ir.Pointwise, "create", create)
    monkeypatch.setattr(CppScheduling, "codegen_node", codegen_node)
    made, = generated(lambda x: torch.relu(x) * 2, X)
    assert made.kernels
    assert runs["before"] > 0
    assert runs["while written"] == 0


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.skipif(not torch.cpu._is_avx2_supported(), reason="the text is for AVX2")
def test_what_is_shown_is_what_inductor_compiles():
    torch.compiler.reset()
    with config.patch({"cpp.threads": 1, "cpp.simdlen": 256, "fx_graph_cache": False}):
        result, (source,) = run_and_get_code(torch.compile(layer), *ARGS)
    shown, = generated(layer, *ARGS)
    torch.testing.assert_close(result, layer(*ARGS))
    assert same(CALL.search(source)[1]) == shown.call
    assert {name: same(text) for name, text in KERNEL.findall(source)} == shown.kernels
