"""A kernel in C++, from its source to `torch.ops`: what `load_inline` does, one step at a time.

    import kernel_in_cpp
    kernel_in_cpp.load(kernel_in_cpp.build(folder))     # needs a C++ compiler, takes seconds
    torch.ops.book_cpp.decay(torch.ones(4), 0.5)

The operator is the recurrence y[t] = x[t] + rate * y[t - 1] along the last dimension.
"""

import os
import shlex
import subprocess
from pathlib import Path

import torch

SOURCE = """\
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>

at::Tensor decay(const at::Tensor& x, double rate) {
  TORCH_CHECK(x.dim() > 0, "decay: x needs at least one dimension");
  at::Tensor rows = x.contiguous();
  at::Tensor out = at::empty_like(rows);
  AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "decay", [&] {
    const scalar_t* from = rows.const_data_ptr<scalar_t>();
    scalar_t* to = out.mutable_data_ptr<scalar_t>();
    const int64_t count = rows.numel(), steps = rows.size(-1);
    scalar_t carry = 0;
    for (int64_t i = 0; i < count; i++) {
      if (i % steps == 0) carry = 0;
      to[i] = carry = from[i] + static_cast<scalar_t>(rate) * carry;
    }
  });
  return out;
}

TORCH_LIBRARY(book_cpp, m) {
  m.def("decay(Tensor x, float rate) -> Tensor");
}

TORCH_LIBRARY_IMPL(book_cpp, CPU, m) {
  m.impl("decay", &decay);
}
"""


def command(source, library):
    """The compiler's command line: a list of words. CXX names the compiler, g++ otherwise."""
    from torch.utils import cpp_extension as extension

    return [*(shlex.split(os.environ.get("CXX", "")) or ["g++"]), "-O1", "-shared", "-fPIC",
            "-std=c++20", str(source), "-o", str(library),
            *[f"-I{path}" for path in extension.include_paths()],
            *[f"-L{path}" for path in extension.library_paths()], "-ltorch_cpu", "-lc10"]


def build(folder):
    """Compile SOURCE in `folder`; the path of the library. RuntimeError in a line, if it fails."""
    source, library = Path(folder) / "decay.cpp", Path(folder) / "decay.so"
    source.write_text(SOURCE, encoding="utf-8")
    library.unlink(missing_ok=True)                     # an older one is no success
    words = command(source, library)
    try:
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode == 0 and library.exists():
            return library
        said = done.stderr.splitlines() or [f"no library, exit status {done.returncode}"]
    except OSError as error:                            # no such compiler, or no right to run it
        said = [error.strerror]
    first = next((line for line in said if "error:" in line), said[0])
    raise RuntimeError(f"{words[0]}: {first}; CXX names the compiler")


def load(library):
    """Load the library, whose TORCH_LIBRARY blocks run now, and add a fake and a gradient.

    RuntimeError, if this process has the operator already, or another library, be it empty, of
    the same namespace; torch would end the process.
    Left out: forward mode, whose derivative comes out as zero without an error, and reverse mode
    in torch.func (`grad`, `vjp`, `jacrev`), which raises. torch.autograd.grad is right twice.
    """
    if hasattr(torch.ops.book_cpp, "decay"):
        raise RuntimeError("book_cpp::decay is registered already in this process")
    check_namespace()
    torch.ops.load_library(str(library))
    torch.library.register_fake("book_cpp::decay", fake)
    torch.library.register_autograd("book_cpp::decay", backward, setup_context=keep_rate)


def check_namespace():
    """RuntimeError in a line with the place, if another library holds `book_cpp`. Only taking the
    namespace tells: in Python torch then raises, so it is taken here and given back."""
    try:
        torch.library.Library("book_cpp", "DEF")._destroy()
    except RuntimeError as error:
        place = str(error).partition(" was registered at ")[2].partition("; latest")[0]
        raise RuntimeError("book_cpp is held by another library of this process, made at "
                           f"{place or error}") from None


def fake(x, rate):
    """Shape and dtype of the result; what the kernel refuses is refused here as well."""
    torch._check(x.dim() > 0, lambda: "decay: x needs at least one dimension")
    torch._check(x.dtype in (torch.float32, torch.float64),
                 lambda: f"decay: not implemented for {x.dtype}")
    return x.new_empty(x.shape)


def keep_rate(ctx, inputs, output):
    """The derivative needs no tensor: the recurrence is linear in x."""
    ctx.rate = inputs[1]


def backward(ctx, grad):
    """The gradient of x is the same recurrence, run from the last step to the first."""
    return torch.ops.book_cpp.decay(grad.flip(-1), ctx.rate).flip(-1), None


def in_python(x, rate):
    """The recurrence in torch operators, two or three for each step; dtype and shape of `x`,
    which is of floating point and has at least one dimension."""
    steps, carry = [], x.new_zeros(x.shape[:-1])
    for step in x.unbind(-1):
        carry = step + rate * carry
        steps.append(carry)
    return torch.stack(steps, -1) if steps else x.clone()
