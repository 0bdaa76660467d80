"""The C++ kernel of chapter 1: it compiles, registers itself and behaves like an operator."""

import os
import subprocess
import sys

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

import kernel_in_cpp
from book.pipeline.ground.paths import CODE

DTYPES = torch.float32, torch.float64


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The path of the library, compiled once for all tests of this file."""
    return kernel_in_cpp.build(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def decay(library):
    """The operator, loaded into this process."""
    kernel_in_cpp.load(library)
    return torch.ops.book_cpp.decay.default


def layouts(dtype):
    """Tensors in several memory layouts, empty ones included."""
    base = torch.randn(4, 6, dtype=dtype, generator=torch.Generator().manual_seed(0))
    return [base, base.t(), base[:, ::2], base[:1].expand(3, 6), base[1:, 2:], base[0],
            base[:0], base.view(2, 2, 6).permute(2, 0, 1)]


def test_the_compiler_s_file_registers_schema_and_kernel(decay):
    assert str(decay._schema) == "book_cpp::decay(Tensor x, float rate) -> Tensor"
    dump = torch._C._dispatch_dump("book_cpp::decay")
    assert "CPU: registered at" in dump
    assert "[ boxed unboxed ]" in dump


@pytest.mark.parametrize("dtype", DTYPES)
def test_it_agrees_with_torch_operators_whatever_the_strides(decay, dtype):
    for x in layouts(dtype):
        torch.testing.assert_close(decay(x, 0.5), kernel_in_cpp.in_python(x, 0.5))
        assert decay(x, 0.5).is_contiguous()


def test_it_refuses_what_it_cannot_compute(decay):
    with pytest.raises(RuntimeError, match="at least one dimension"):
        decay(torch.tensor(1.0), 0.5)
    for dtype, name in ((torch.int64, "Long"), (torch.half, "Half"), (torch.bfloat16, "BFloat16")):
        with pytest.raises(RuntimeError, match=f"not implemented for '{name}'"):
            decay(torch.ones(3, dtype=dtype), 0.5)


def test_the_fake_kernel_refuses_the_same(decay):
    refused = [torch.tensor(1.0), *(torch.ones(3, dtype=dtype) for dtype in
                                    (torch.int64, torch.half, torch.bfloat16, torch.complex64))]
    for x in refused:
        for device in "cpu", "meta":
            with pytest.raises(RuntimeError, match=r"at least one dimension|not implemented for"):
                decay(x.to(device), 0.5)
    for x in layouts(torch.float32):
        assert decay(x.to("meta"), 0.5).stride() == decay(x, 0.5).stride()


def test_autocast_casts_nothing_for_it(decay):
    layer = torch.nn.Linear(3, 3)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(RuntimeError, match="BFloat16"):
        decay(layer(torch.ones(2, 3)), 0.5)


def test_no_steps_give_an_empty_result(decay):
    for call in decay, kernel_in_cpp.in_python:
        assert call(torch.ones(3, 0), 0.5).shape == (3, 0)


def test_gradients_are_right_twice(decay):
    for x in layouts(torch.float64):
        if 0 in x.stride():         # gradcheck cannot move such an element by itself
            continue
        x = x.detach().requires_grad_()
        assert gradcheck(lambda x: decay(x, 0.5), x)
        assert gradgradcheck(lambda x: decay(x, 0.5), x)


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:FutureWarning")
def test_the_forward_mode_derivative_is_zero_and_reverse_mode_in_torch_func_raises(decay):
    x = torch.ones(4)
    tangent = torch.func.jvp(lambda x: decay(x, 0.5), (x,), (x,))[1]
    assert torch.equal(tangent, torch.zeros(4))         # right is [1, 1.5, 1.75, 1.875]
    with pytest.raises(RuntimeError, match="setup_context"):
        torch.func.grad(lambda x: decay(x, 0.5).sum())(x)


# torch 2.14.1 lets opcheck trace clones of its inputs and reads their `grad`; it hides the warning
# of this from being shown, not from being made an error. Without this filter aten.sin fails too.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf Tensor is "
                            r"being accessed:UserWarning:torch\._subclasses\.meta_utils")
def test_fake_schema_and_compilation_agree_with_the_kernel(decay):
    for x in layouts(torch.float32):
        torch.library.opcheck(decay, (x.detach().requires_grad_(), 0.5))


@pytest.mark.filterwarnings("ignore")
def test_vmap_falls_back_to_one_call_a_row(decay):
    torch._C._functorch._set_vmap_fallback_warning_enabled(False)
    x = layouts(torch.float64)[0]
    assert torch.equal(torch.vmap(lambda row: decay(row, 0.5))(x), decay(x, 0.5))


def test_a_second_copy_is_refused_before_it_can_end_the_process(decay, tmp_path):
    with pytest.raises(RuntimeError, match="book_cpp::decay is registered already"):
        kernel_in_cpp.load(tmp_path / "another.so")


def test_a_taken_namespace_is_refused_with_its_place_before_it_can_end_the_process(library):
    code = """
import sys, torch, kernel_in_cpp
beside = torch.library.Library("book_cpp", "FRAGMENT")      # which leaves room for a DEF
taken = torch.library.Library("book_cpp", "DEF")            # line 4, with nothing defined in it
try:
    kernel_in_cpp.load(sys.argv[1])
except RuntimeError as error:
    print(error)
taken._destroy()
kernel_in_cpp.load(sys.argv[1])
print(torch.ops.book_cpp.decay(torch.ones(3), 0.5).tolist())
"""
    done = subprocess.run([sys.executable, "-c", code, library], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(CODE)}, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("book_cpp is held by another library of this process, "
                           "made at <string>:4\n[1.0, 1.5, 1.75]\n")


def test_a_source_with_an_error_says_in_a_line_what_the_compiler_said(tmp_path, monkeypatch):
    monkeypatch.setattr(kernel_in_cpp, "SOURCE", "int f( {\n")
    with pytest.raises(RuntimeError, match=r"decay\.cpp:1:\d+: error: .+$") as error:
        kernel_in_cpp.build(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("compiler", "said"), [
    ("no-such-compiler", "No such file or directory"), ("/dev/null", "Permission denied"),
    ("false", "no library, exit status 1"), ("true", "no library, exit status 0")])
def test_a_compiler_that_makes_no_library_is_named(tmp_path, monkeypatch, compiler, said):
    monkeypatch.setenv("CXX", compiler)
    (tmp_path / "decay.so").touch()                     # an older one, which is no success
    with pytest.raises(RuntimeError) as error:
        kernel_in_cpp.build(tmp_path)
    assert str(error.value) == f"{compiler}: {said}; CXX names the compiler"


def test_cxx_may_be_empty_or_hold_options(monkeypatch):
    for value, words in (("", ["g++"]), (" ", ["g++"]), ("ccache clang++", ["ccache", "clang++"])):
        monkeypatch.setenv("CXX", value)
        assert kernel_in_cpp.command("decay.cpp", "decay.so")[:len(words)] == words
