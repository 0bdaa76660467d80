"""The dispatcher as the book shows it: tables, kernels that run, calls below autograd, picture."""

import xml.etree.ElementTree as ET
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F

from inside.tensors.observe.dispatch import LAYERS, Spy, Trace, active, kernels, key_names, slots
from inside.tensors.pictures.dispatch import draw_dispatch

SVG = "{http://www.w3.org/2000/svg}"
MODES = {
    "plain": nullcontext,
    "no_grad": torch.no_grad,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "inference_mode": torch.inference_mode,
}


def square(**options):
    return torch.ones(2, 2, **options)


CALLS = {
    "mm": lambda: (square(), square(requires_grad=True)),
    "add.Tensor": lambda: (square(), square()),
    "add_.Tensor": lambda: (square(), square()),
    "relu": lambda: (square(requires_grad=True),),
    "t": lambda: (square(),),
    "linear": lambda: (square(), square()),
}


def call(op, args):
    name, _, overload = op.partition(".")
    return getattr(getattr(torch.ops.aten, name), overload or "default")(*args)


def keys_of(spy):
    return [step.key for step in spy.steps]


def situations():
    x, w = square(), square(requires_grad=True)
    return {
        "plain": (nullcontext(), (x, x)),
        "requires_grad": (nullcontext(), (x, w)),
        **{name: (MODES[name](), (x, w)) for name in ("no_grad", "autocast", "inference_mode")},
    }


# ---------------------------------------------------------------- which kernel
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("op", CALLS)
def test_kernels_names_those_that_run_in_their_order(op, mode):
    args = CALLS[op]()
    with Spy(op) as spy, MODES[mode]():
        call(op, args)
    with MODES[mode]():
        worked_out = kernels(op, *args)
    ran = keys_of(spy)
    if slots(op)[ran[-1]] == "math kernel":  # it calls other operators and does not redispatch
        worked_out = worked_out[: len(ran)]
    assert worked_out == ran


def test_autocast_takes_part_only_where_it_has_a_kernel():
    assert kernels("mm", square())[0] == kernels("relu", square())[0] == "AutogradCPU"
    with MODES["autocast"]():
        assert key_names(active(square()))[0] == kernels("mm", square())[0] == "AutocastCPU"
        assert kernels("relu", square())[0] == "AutogradCPU"


def test_keys_of_several_tensors_are_united():
    ordinary = square()
    with torch.inference_mode():
        bare = square()
        assert kernels("t", bare) == ["CPU"]
        assert kernels("t", bare, ordinary) == ["ADInplaceOrView", "CPU"]
    assert not active(bare).has(torch.DispatchKey.AutogradCPU)
    assert kernels("mm", bare, ordinary) == ["AutogradCPU", "CPU"]


def test_a_key_set_is_named_from_the_highest_priority_down():
    keys = torch._C.DispatchKeySet(torch.DispatchKey.CPU)
    for name in ("BackendSelect", "AutocastCPU", "ADInplaceOrView", "AutogradCPU"):
        keys = keys.add(getattr(torch.DispatchKey, name))
    assert key_names(keys) == list(LAYERS)


@pytest.mark.parametrize("op", CALLS)
def test_each_kernel_hands_down_a_key_set_without_its_own_layer(op):
    with Spy(op) as spy, MODES["autocast"]():
        call(op, CALLS[op]())
    for step in spy.steps:
        assert step.key == next(k for k in LAYERS if step.keys.has(getattr(torch.DispatchKey, k)))
    order = [LAYERS.index(key) for key in keys_of(spy)]
    assert order == sorted(set(order))


def test_spy_changes_no_result_and_puts_the_kernels_back():
    before, x = torch._C._dispatch_dump("aten::mm"), torch.randn(3, 3)
    w = torch.randn(3, 3, requires_grad=True)
    want = torch.mm(x, w)
    with Spy("mm") as spy:
        seen = torch.mm(x, w)
    assert torch.equal(seen, want)
    assert seen.grad_fn.name() == want.grad_fn.name()
    assert torch._C._dispatch_dump("aten::mm") == before
    torch.mm(x, w)
    assert keys_of(spy) == ["AutogradCPU", "CPU"]


def test_spy_puts_the_kernels_back_after_an_error():
    before = torch._C._dispatch_dump("aten::mm")
    with pytest.raises(RuntimeError), Spy("mm") as spy:
        torch.mm(torch.ones(2, 3), torch.ones(2, 3))
    assert keys_of(spy) == ["AutogradCPU", "CPU"]
    assert torch._C._dispatch_dump("aten::mm") == before


def test_spy_writes_no_warning(recwarn, capfd):
    with Spy("mm"):
        torch.mm(square(), square())
    assert not recwarn.list
    assert capfd.readouterr().err == ""


def test_step_says_key_dtype_and_key_set():
    with Spy("mm") as spy, MODES["autocast"]():
        torch.mm(square(), square())
    assert str(spy).splitlines() == [
        "AutocastCPU     float32  keys: AutocastCPU AutogradCPU CPU",
        "AutogradCPU     bfloat16 keys: AutogradCPU CPU",
        "CPU             bfloat16 keys: CPU",
    ]


@pytest.mark.parametrize("op", ["no_such_operator", "add"])
def test_unknown_operator_or_missing_overload_is_an_error(op):
    with pytest.raises(ValueError, match=f"aten::{op}: no such operator"), Spy(op):
        pass


# ---------------------------------------------------------------- table
def test_table_names_the_kinds():
    kinds = {
        op: [slots(op)[key] for key in ("AutogradCPU", "ADInplaceOrView", "CPU")]
        for op in ("mm", "linear", "t")
    }
    assert kinds == {
        "mm": ["autograd kernel", "fallthrough", "kernel"],
        "linear": ["math kernel", "fallthrough", "math kernel"],
        "t": ["autograd kernel", "kernel", "default backend kernel"],
    }


# ---------------------------------------------------------------- calls below autograd
def test_trace_sees_the_parts_of_a_composite_operator():
    tensors = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
    with Trace() as trace:
        F.linear(*tensors)
    assert str(trace).splitlines() == [
        "aten::t  (4, 3) -> (3, 4)",
        "aten::addmm  (4,) (2, 3) (3, 4) -> (2, 4)",
    ]


def test_trace_sees_it_whole_where_autograd_is_excluded():
    tensors = torch.ones(2, 3), torch.ones(4, 3)
    with torch.inference_mode(), Trace() as trace:
        F.linear(*tensors)
    assert trace.names == ["linear"]


def test_trace_sees_backward_and_leaves_gradients_as_they_are():
    def gradient():
        w = torch.full((3, 3), 2.0, requires_grad=True)
        (torch.ones(2, 3) @ w).sum().backward()
        return w.grad

    with Trace() as trace:
        traced = gradient()
    assert torch.equal(traced, gradient())
    assert trace.names.count("mm") == 2


def test_trace_writes_calls_without_tensors_and_with_several_results():
    with Trace() as trace:
        torch.zeros(2)
        torch.ones(2, 2).max(0)
    lines = str(trace).splitlines()
    assert lines[0] == "aten::zeros  -> (2,)"
    assert lines[-1] == "aten::max.dim  (2, 2) -> (2,) (2,)"
    assert str(Trace()) == "no operator"


# ---------------------------------------------------------------- picture
def test_picture_shows_what_the_spy_saw():
    rows = [line.split() for line in draw_dispatch("mm", situations()).text.splitlines()]
    assert rows == [
        ["mm", "plain", "requires_grad", "no_grad", "autocast", "inference_mode"],
        ["AutocastCPU", "excluded", "excluded", "excluded", "1", "excluded"],
        ["AutogradCPU", "1", "1", "1", "2", "excluded"],
        ["ADInplaceOrView", *["skipped"] * 5],
        ["BackendSelect", *["skipped"] * 5],
        ["CPU", "2", "2", "2", "3", "1"],
        ["grad_fn", "None", "MmBackward0", "None", "MmBackward0", "None"],
        ["dtype", "float32", "float32", "float32", "bfloat16", "float32"],
    ]


def test_picture_tells_absent_and_not_called_apart():
    with torch.inference_mode():
        new = torch.ones(2, 2)
    composite = {"new": (torch.inference_mode(), (new,)), "old": (nullcontext(), (square(),))}
    rows = [line.split(maxsplit=2) for line in draw_dispatch("t", composite).text.splitlines()]
    assert rows[2] == ["AutogradCPU", "absent", "1"]
    assert rows[3][1] == "absent"
    linear = draw_dispatch("linear", {"plain": (nullcontext(), (square(), square()))})
    assert linear.text.splitlines()[5].split(maxsplit=1) == ["CPU", "not called"]


def test_picture_is_well_formed_and_carries_both_languages():
    root = ET.fromstring(draw_dispatch("mm", situations()).svg)
    words = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    assert {*LAYERS, "grad_fn", "dtype", "inference_mode"} <= set(words)
    signs = [words.count(sign) for sign in ("None", "✓")]  # grad_fn reads alike in both languages
    assert signs == [3, 2]
    langs = [node.get("class") for node in root.iter(f"{SVG}text") if node.get("class")]
    assert langs.count("lang-zh") == langs.count("lang-en") == 2
    assert len(list(root.iter(f"{SVG}circle"))) == 10
