"""The Triton kernels that Inductor writes for a GPU, printed without one: chapter 5, "Reading".

    PYTHONPATH=FOLDER python -m benchmarks.triton_code             print them, about ten seconds
    PYTHONPATH=FOLDER python -m benchmarks.triton_code --record    also store what is shown

The code is generated and never compiled or run. It needs the `triton` package, which torch's CPU
builds leave out; unpack it into a folder of its own:

    python -m pip install --no-deps --target FOLDER triton==3.7.0

The tensors are fake ones on "cuda", and the device is made up: its properties (`Device`) are those
that Inductor asks for, with the values of an H100. Two lines of settings in each kernel's
decorator are cut (`triton_meta` and `inductor_meta`); `configurations` are the launch sizes among
which the first call of the kernel would choose by timing. `split` names the kernels for 2 rows of
50,000: there Inductor splits the sum.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any
from unittest import mock

import torch
from torch._dynamo.device_interface import CudaInterface
from torch._inductor import config
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.compile_fx import compile_fx_inner
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.graph import GraphLowering
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta

from benchmarks import report

KERNEL = re.compile(r"^(\w+) = async_compile\.triton\('\w+', '''\n(.*?)'''", re.M | re.S)
SETTINGS = re.compile(r"^    (triton_meta|inductor_meta)=.*\n", re.M)
HEURISTICS = "torch._inductor.runtime.triton_heuristics"


class Device:
    """A device with compute capability 9.0 that does not exist here."""

    type, index, name, gcnArchName = "cuda", 0, "make-believe", ""
    major, minor, cc, warp_size, multi_processor_count = 9, 0, 90, 32, 132
    regs_per_multiprocessor, max_threads_per_multi_processor = 65536, 2048
    max_threads_per_block, shared_memory_per_block_optin = 1024, 232448
    total_memory, L2_cache_size = 80 << 30, 50 << 20


def pointwise(x, b):
    return (torch.relu(x + b) * 2,)


def share(x):
    h = torch.relu(x)
    return (h / (h.sum(-1, keepdim=True) + 1),)


def row_sums(x):
    return (x.sum(-1),)


LISTINGS = {"pointwise": (pointwise, (60, 50), (50,)),
            "persistent": (share, (60, 50)),
            "looped": (share, (60, 5000)),
            "sums": (row_sums, (60, 5000)),
            "huge": (share, (4096, 50000))}


@contextmanager
def made_up_device() -> Iterator[None]:
    """torch believes in one CUDA device with the properties of `Device`."""
    answers: dict[str, Any] = {
        "is_available": True, "current_device": 0, "device_count": 1,
        "get_device_properties": Device, "get_device_capability": (9, 0), "_exchange_device": 0,
        "_maybe_exchange_device": 0, "get_rng_state": torch.zeros(1), "set_rng_state": None,
        "synchronize": None}
    with ExitStack() as stack:
        for name, answer in answers.items():
            stack.enter_context(mock.patch(f"torch.cuda.{name}", return_value=answer))
        for name, answer in (("is_available", True), ("current_device", 0),
                             ("get_device_properties", Device), ("get_compute_capability", 90)):
            stack.enter_context(mock.patch.object(CudaInterface, name, return_value=answer))
        for name, answer in (("get_device_properties", Device), ("current_device", 0)):
            stack.enter_context(mock.patch.object(CudaInterface.Worker, name, return_value=answer))
        for name in ("triton_hash_with_backend", "triton_backend"):
            stack.enter_context(mock.patch(f"torch.utils._triton.{name}", return_value="0"))
        yield


def module_text(fn: Any, *sizes: tuple[int, ...]) -> str:
    """The module that Inductor writes for `fn` of float32 tensors of these sizes on the device."""
    texts: list[str] = []

    def keep(graph: GraphLowering, code: Any) -> None:
        texts.append(code.value)
        raise InterruptedError  # the text is there; nothing is compiled

    with made_up_device(), mock.patch.object(AsyncCompile, "triton"), \
            mock.patch.object(GraphLowering, "_compile_to_module_lines", keep), \
            config.patch(fx_graph_cache=False, comprehensive_padding=False):
        with FakeTensorMode(), preserve_node_meta():  # or the names would list no operators
            fakes = [torch.empty(size, device="cuda") for size in sizes]
            graph = make_fx(fn, decomposition_table=select_decomp_table())(*fakes)
        try:
            compile_fx_inner(graph, fakes)
        except Exception:
            if not texts:
                raise
    return texts[0]


def configurations(source: str) -> list[dict[str, int]]:
    """The launch sizes that the kernel's decorator would try: block sizes, warps, stages."""
    found: list[dict[str, int]] = []

    def autotune(hints: Any, configs: list[Any], **more: Any) -> Any:
        found.extend({**each.kwargs, "num_warps": each.num_warps} for each in configs)
        return lambda function: function

    with made_up_device(), mock.patch(f"{HEURISTICS}.cached_autotune", autotune), \
            mock.patch("torch._inductor.runtime.triton_helpers.set_driver_to_gpu"), \
            mock.patch("triton.jit", side_effect=lambda function: function):
        exec(compile(source, "kernel", "exec"), {"__file__": "kernel"})
    return [each for at, each in enumerate(found) if each not in found[:at]]


def listing(fn: Any, *sizes: tuple[int, ...]) -> dict[str, Any]:
    """One kernel: its code from the decorator on, its configurations."""
    (_, source), = KERNEL.findall(module_text(fn, *sizes))
    start = source.index("@triton_heuristics")
    return {"code": SETTINGS.sub("", source[start:]).strip(),
            "configurations": configurations(source)}


def result() -> dict[str, Any]:
    return {"columns": [], "tables": {}, "torch": version("torch"), "triton": version("triton"),
            "device": "compute capability 9.0, 132 multiprocessors",
            "date": datetime.date.today().isoformat(),
            "split": [name for name, _ in KERNEL.findall(module_text(share, (2, 50000)))],
            "listings": {name: listing(*given) for name, given in LISTINGS.items()}}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="print Inductor's Triton kernels without a GPU")
    parser.add_argument("--record", action="store_true", help="store the result")
    chosen = parser.parse_args(arguments)
    if find_spec("triton") is None:
        print("bench: triton is missing, so no kernel is printed; the docstring of "
              "benchmarks/triton_code.py says how to get it", file=sys.stderr)
        return int(chosen.record)
    found = result()
    for name, one in found["listings"].items():
        print(f"--- {name}\n{one['code']}\n{one['configurations']}")
    if chosen.record:
        report.write("triton-code", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
