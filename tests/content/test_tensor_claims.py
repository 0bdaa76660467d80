"""Sentences of chapter 1 at the edge where they would be false, as torch behaves there."""

import json
import os
import platform
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch.utils import swap_tensors

from book.pipeline.ground.paths import ROOT
from inside.tensors.observe.dispatch import LAYERS, Spy, Trace, slots


def raises(call):
    try:
        call()
    except RuntimeError:
        return True
    return False


def in_a_process(code, *arguments, **variables):
    """The words that a new Python prints, with these variables in its environment."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=os.environ | variables,
                          capture_output=True, text=True, check=True)
    return done.stdout.split()


# ---- inside an operator --------------------------------------------------------------------------

def test_mul_checks_for_overlap_and_fill_does_not():
    def refuses(write):
        return raises(lambda: write(torch.ones(3, 1).expand(3, 4)))
    assert refuses(lambda e: e.mul_(5))
    assert not refuses(lambda e: e[0, 0].mul_(5))
    assert not refuses(lambda e: e.fill_(5))
    assert not refuses(lambda e: e.zero_())


def test_spy_shows_the_layers_of_ordinary_cpu_tensors_only():
    conjugate = torch.ones(2, dtype=torch.complex64).conj()
    assert slots("sin")["Conjugate"] == "backend fallback"
    assert "Conjugate" not in LAYERS
    with Spy("sin") as spy:
        torch.sin(conjugate)
    assert [step.key for step in spy.steps] == ["AutogradCPU", "CPU"]


def test_trace_notes_a_call_after_it_has_returned():
    with Trace() as trace:
        a = torch.ones(2, 3)
        assert raises(lambda: torch.mm(a, a))
    assert trace.names == ["ones"]


def test_a_mode_sees_explicit_composites_whole_and_implicit_ones_in_parts():
    x = torch.ones(2, 3)

    def seen(call):
        with Trace() as trace:
            call()
        return trace.names
    assert slots("zeros_like")["CPU"] == "default backend kernel"
    assert seen(lambda: torch.zeros_like(x)) == ["zeros_like"]
    assert slots("linear")["CPU"] == "math kernel"
    weight, bias = torch.ones(4, 3), torch.ones(4)
    assert seen(lambda: F.linear(x, weight, bias)) == ["t", "addmm"]
    assert seen(lambda: F.linear(x, weight)) == ["t", "mm"]
    assert seen(lambda: F.linear(x[None], weight, bias)).count("view") > 0


def test_sum_has_kernels_of_its_own_for_sparse_tensors_and_t_has_not():
    kinds = {op: {slots(op)[key] for key in ("SparseCPU", "SparseCsrCPU")} for op in ("sum", "t")}
    assert kinds == {"sum": {"kernel"}, "t": {"default backend kernel"}}
    assert {slots(op)["CPU"] for op in kinds} == {"default backend kernel"}


PLACES = """
import re, torch
a = torch.ones(2, 3)
calls = [lambda: torch.mm(a, a), lambda: torch.mm(a, a.double().t()), lambda: a.fill_(a),
         lambda: torch.ones(3, 1).expand(3, 4).mul_(2)]
for call in calls:
    try:
        call()
    except RuntimeError as error:
        print(*re.search(r"raised from (\\w+) at \\S*?(\\w+\\.cpp):", str(error)).groups())
"""


def test_errors_are_raised_in_the_functions_that_the_text_names():
    """torch says where an error is raised: the shapes of mm in `meta`, its dtypes in `impl`."""
    words = in_a_process(PLACES, TORCH_SHOW_CPP_STACKTRACES="1", TORCH_DISABLE_ADDR2LINE="1")
    assert list(zip(words[::2], words[1::2], strict=True)) == [
        ("meta", "LinearAlgebra.cpp"), ("addmm_impl_cpu_", "LinearAlgebra.cpp"),
        ("fill_", "Fill.cpp"), ("assert_no_internal_overlap", "MemoryOverlap.cpp")]


STARTED = """
import os, sys, torch
torch.set_num_threads(2)
name, x = sys.argv[1], torch.ones(4096)
before = len(os.listdir("/proc/self/task"))
getattr(torch, name)(x, *[x] * (name == "add"))
print(len(os.listdir("/proc/self/task")) - before)
"""


@pytest.mark.skipif("OpenMP" not in torch.__config__.parallel_info(), reason="other threads")
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="no list of threads")
@pytest.mark.parametrize(("name", "threads"), [("add", 0), ("neg", 0), ("exp", 1), ("log", 1)])
def test_exp_and_log_split_4096_elements_between_threads_and_add_does_not(name, threads):
    started = in_a_process(STARTED, name, OMP_NUM_THREADS="2")
    assert started == [str(threads)], started          # OpenMP starts one with the first split


CAPABILITY = """
import hashlib, torch
torch.set_num_threads(1)
x = torch.arange(-2.0**15, 2**15).reshape(256, 256) / 2**15
bits = [hashlib.sha256(t.numpy().tobytes()).hexdigest() for t in (x @ x, x.softmax(1))]
print(torch.backends.cpu.get_cpu_capability(), *bits)
"""


@pytest.mark.skipif(torch.backends.cpu.get_cpu_capability() == "DEFAULT", reason="nothing below")
def test_aten_cpu_capability_replaces_the_choice_and_does_not_reach_mm():
    usual, product, softmax = in_a_process(CAPABILITY)
    plain, same_product, other_softmax = in_a_process(CAPABILITY, ATEN_CPU_CAPABILITY="default")
    assert (usual, plain) == (torch.backends.cpu.get_cpu_capability(), "DEFAULT")
    assert same_product == product
    assert other_softmax != softmax
    assert in_a_process(CAPABILITY, ATEN_CPU_CAPABILITY="DEFAULT")[0] == usual    # not a value


# ---- views and copies ----------------------------------------------------------------------------

def test_a_view_made_in_inference_mode_keeps_its_base_unless_the_base_is_an_inference_tensor():
    x = torch.ones(3)
    with torch.inference_mode():
        view, inner = x[1:], torch.ones(3)
        nested = inner[1:]
    assert view._base is x
    assert not view.is_inference()
    assert nested._base is None
    assert nested.is_inference()


@pytest.mark.parametrize(("hold", "refused"), [
    (lambda a: a[:1], True), (lambda a: a * a, True), (weakref.ref, True),
    (lambda a: a.detach(), False), (lambda a: a.data, False), (lambda a: None, False)])
def test_swap_is_refused_by_whatever_holds_the_c_tensor_and_not_by_what_holds_the_bytes(
        hold, refused):
    a, b = torch.zeros(2, requires_grad=True), torch.ones(3)
    holder = hold(a)
    assert raises(lambda: swap_tensors(a, b)) == refused
    assert a.shape == ((2,) if refused else (3,)), holder


def test_resize_leaves_the_strides_of_sizes_that_stay():
    columns = torch.empty_strided((3, 2), (1, 3))
    assert columns.resize_(3, 2).stride() == (1, 3)
    assert columns.resize_(2, 3).stride() == (3, 1)


def test_an_empty_tensor_takes_any_shape_without_elements_but_no_open_question():
    empty = torch.zeros(0, 3)
    assert empty.view(5, 0).shape == (5, 0)
    assert empty.t().view(0).shape == (0,)
    assert raises(lambda: empty.view(-1, 0))
    assert empty.view(-1, 3).shape == (0, 3)


# ---- order in memory -----------------------------------------------------------------------------

def test_each_piece_of_a_view_may_touch_one_page_more():
    columns = torch.zeros(1024, 2048)[:, :32]                       # 1024 pieces of 128 bytes
    first = torch.arange(1024) * columns.stride(0) * 4

    def pages(base):
        begin, end = (base + first) // 4096, (base + first + 127) // 4096
        return torch.cat([begin, end]).unique().numel()
    assert (pages(0), pages(64 * 63)) == (1024, 2048)


def test_the_record_shows_what_the_text_says_of_it():
    record = (ROOT / "benchmarks/results/memory-order.json").read_text(encoding="utf-8")
    tables = json.loads(record)["tables"]
    ratio = {name: {row["key"]: row["ratio"] for row in tables[name]["rows"]} for name in tables}
    assert ratio["loop"]["columns"] < 1.1                           # "a few percent longer"
    assert 0.55 < ratio["conv3"]["last"] < 0.75
    assert 0.9 < ratio["conv64"]["last"] < 1.1


FAULTS = """
import resource, torch
def faults(call):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    call()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
x = torch.ones(4096, 4096)
out = torch.ones_like(x)
for call in (x.clone, x.clone, x.clone, lambda: out.copy_(x)):
    print(faults(call))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another allocator")
def test_every_clone_of_64_mib_touches_new_pages_and_a_copy_into_its_place_does_not():
    *clones, copy = map(int, in_a_process(FAULTS, OMP_NUM_THREADS="1"))
    pages = 2**26 // 2**21                                          # if they are huge ones
    assert min(clones) >= pages > copy, (clones, copy)


# ---- sections beside them ------------------------------------------------------------------------

def test_an_elementwise_result_keeps_the_order_and_closes_the_gaps():
    gaps = torch.zeros(2, 6, 4, 5).to(memory_format=torch.channels_last)[:, ::2]
    assert gaps.stride() == (120, 2, 30, 6)
    assert (gaps * 2).stride() == (60, 1, 15, 3)
    assert F.logsigmoid(gaps).is_contiguous()                       # the exception in the text


def test_copies_cross_devices_and_other_operators_do_not():
    meta, here = torch.zeros(2, device="meta"), torch.ones(2)
    meta[:] = here
    assert meta.copy_(here).is_meta
    assert raises(lambda: meta + here)


def test_a_0_dim_tensor_of_uint8_is_a_mask_and_of_any_other_integer_type_an_index():
    t = torch.arange(12).reshape(3, 4)
    for name in ("int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "uint8"):
        index = torch.tensor(1, dtype=getattr(torch, name))
        assert t[index].shape == ((1, 3, 4) if name == "uint8" else (4,)), name


def test_writes_by_apply_do_not_move_the_version_so_a_gradient_is_silently_wrong():
    w, data = torch.ones(2, requires_grad=True), torch.ones(2)
    loss = (w * data).sum()
    data.apply_(lambda value: value * 10)
    loss.backward()
    assert data._version == 0
    assert w.grad.tolist() == [10, 10]


def test_out_of_a_sum_keeps_integers_narrow():
    hundreds = torch.full((3,), 100, dtype=torch.int8)
    assert hundreds.sum().dtype == torch.int64
    assert torch.sum(hundreds, 0, out=torch.empty(0, dtype=torch.int8)).item() == 44


def test_a_function_mode_misses_calls_that_cannot_be_overridden():
    import numpy

    class Above(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    names = []
    with Above():
        torch.from_numpy(numpy.ones(2)).contiguous()
        torch.is_grad_enabled()
    assert names == ["contiguous"]
