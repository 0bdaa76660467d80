"""The code that Inductor writes for a CPU, without compiling or running it.

`generated(fn, *args)` takes a function through the real stages, Dynamo, AOTAutograd and Inductor,
up to the text of the C++. No C++ compiler is needed: what would ask for one is replaced, and the
vector instructions and the number of threads are fixed, so the text is the same on each machine.
"""
import re
from contextlib import ExitStack
from dataclasses import dataclass
from unittest import mock

import torch
import torch._inductor.compile_fx as compile_fx
from torch._functorch import config as autograd_config
from torch._inductor import config, cpu_vec_isa, ir, scheduler
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.graph import GraphLowering
from torch._ops import OperatorBase

__all__ = ["Generated", "Loop", "generated"]
KERNEL = re.compile(r"^(\w+) = async_compile\.cpp_pybinding\(.*?, r'''\n(.*?)'''\)", re.M | re.S)
CALL = re.compile(r"^    def call\(self, args\):\n(.*?)\n\n", re.M | re.S)
DIFFERS = ("inductor_cpu_integer_div_error", "assert_size_stride", "#include")  # between versions


@dataclass(frozen=True)
class Loop:
    """What the scheduler made one unit of: one nest of loops, or one call of a ready-made kernel.

    `kind` is "loops" or "call"; `buffers` are the scheduler's names of its parts, "op0" and so on,
    `operators` the operators that it came from, in the order of the graph.
    """

    kind: str
    buffers: tuple[str, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True)
class Generated:
    """What Inductor made of one graph: its units, its C++ functions by name, its `call`.

    `ir` is the loop IR by name of the buffer: what one element of it is, as a function of the
    loop variables `i0`, `i1`, … In a reduction the function gives one of the values to be reduced
    and also depends on `r0_0`, … What a library or a template computes has no loop IR, and `ir`
    names its class.
    """

    loops: tuple[Loop, ...]
    kernels: dict[str, str]
    call: str
    ir: dict[str, str]


def generated(fn, *args, vector=True, threads=1, backward=False, **options):
    """The code of each graph that `torch.compile` makes of one call of `fn`; a list of Generated.

    `vector` asks for AVX2 code, 8 float32 at a time, `threads` is what the code is written for, and
    `options` are Inductor's. With `backward` the backward graphs are there too, each behind its
    forward graph. The call itself runs the graphs as they are, not the generated code.
    """
    made = []

    def backend(graph, inputs):
        with ExitStack() as stack:
            for patch in patches(made, vector, {"cpp.threads": threads} | options):
                stack.enter_context(patch)
            compile_fx.compile_fx(graph, inputs)
        return graph.forward

    torch.compiler.reset()
    with autograd_config.patch(force_non_lazy_backward_lowering=backward):
        torch.compile(fn, backend=backend)(*args)
    torch.compiler.reset()
    return made


def patches(made, vector, options):
    """What keeps Inductor from calling a compiler, and what `made` is filled by."""
    instructions = [cpu_vec_isa.VecAVX2()] if vector else []

    def keep(graph, source):
        made.append(Generated(units(graph.scheduler.nodes), kernels(source), call(source),
                              loop_ir(graph.buffers)))

    return [
        mock.patch("torch._inductor.cpp_builder.get_cpp_compiler", return_value="c++"),
        mock.patch.object(cpu_vec_isa, "valid_vec_isa_list", return_value=instructions),
        mock.patch.object(AsyncCompile, "cpp_pybinding"),
        mock.patch.object(GraphLowering, "save_output_code"),
        mock.patch.object(GraphLowering, "_compile_to_module_lines", watching(keep)),
        config.patch({"force_disable_caches": True, "cpp.vec_isa_ok": True} | options),
    ]


def watching(keep):
    """`_compile_to_module_lines`, which also hands the graph and the text to `keep`."""
    real = GraphLowering._compile_to_module_lines

    def compile_lines(graph, wrapper_code):
        keep(graph, wrapper_code.value)
        return real(graph, wrapper_code)

    return compile_lines


def units(nodes):
    """A Loop for each node of Inductor's schedule."""
    found = []
    for node in nodes:
        inner = node.get_nodes()
        kind = "call" if isinstance(node, scheduler.ExternKernelSchedulerNode) else "loops"
        found.append(Loop(kind, tuple(one.get_name() for one in inner), operators(inner)))
    return tuple(found)


def operators(nodes):
    """The names of the operators that the nodes came from, in the order of the graph."""
    origins = {origin for node in nodes if node.node is not None for origin in node.node.origins}
    ordered = sorted(origins, key=lambda origin: list(origin.graph.nodes).index(origin))
    return tuple(origin.target.__name__.split(".")[0] for origin in ordered
                 if isinstance(origin.target, OperatorBase))


def loop_ir(buffers):
    """{name: text} of the loop IR: a line that says what kind of loop, then its `inner_fn`.

    For a library call or a template the text is only the name of its class. Buffers without a name,
    which stand inside a template, are left out.
    """
    found = {}
    for buffer in (buffer for buffer in buffers if buffer.name is not None):
        loops = getattr(getattr(buffer, "data", None), "inner_fn", None) and buffer.data
        if loops:
            sizes = str(list(loops.ranges))
            if isinstance(loops, ir.Reduction):
                sizes = f"{loops.reduction_type} {sizes} over {list(loops.reduction_ranges)}"
            found[buffer.get_name()] = f"{type(loops).__name__} {sizes}\n{loops.inner_fn_str()}"
        else:
            found[buffer.get_name()] = type(buffer).__name__
    return found


def kernels(source):
    """{name: C++ text} of the functions in the generated module."""
    return {name: same(text) for name, text in KERNEL.findall(source)}


def call(source):
    """The lines of the generated `call(args)`, which allocates and calls."""
    return same(CALL.search(source)[1])


def same(text):
    """Without the lines that differ between the versions of torch."""
    kept = (line for line in text.splitlines() if not any(part in line for part in DIFFERS))
    return "\n".join(kept)
