"""What AOTAutograd makes of a function: the graphs, and what its wrapper does around them.

    from inside.compile.observe.aot import trace
    seen = trace(f, x)      # one call of torch.compile(f) with AOTAutograd and no code generation
    seen.forward            # lines such as `mul = mul(x, 2)`, arguments under the names Dynamo knew
    seen.after              # what the wrapper does when the forward graph has run

Values that the graph made for the backward, and gradients that come in, keep torch's own names
(`tangents_1`). Devices, layouts and overloads are left out, since they differ between machines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo import compiled_autograd
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.schemas import MutationType, OutputType
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import default_partition
from torch._guards import TracingContext
from torch.fx import GraphModule, Node

from inside.compile.observe.compile_machine import no_default_device
from inside.compile.observe.compiled import body


@dataclass
class Traced:
    """One function as AOTAutograd sees it; lists of lines as text."""

    result: Any = None
    inputs: list[str] = field(default_factory=list)  # names of the graph's tensors, in order
    dynamo: list[str] = field(default_factory=list)  # the graph that Dynamo handed on
    joint: list[str] = field(default_factory=list)  # empty unless something needs a gradient
    forward: list[str] = field(default_factory=list)
    backward: list[str] = field(default_factory=list)
    saved: list[str] = field(default_factory=list)  # outputs of forward that only backward reads
    after: list[str] = field(default_factory=list)

    def operators(self) -> set[str]:
        """The names of the ATen operators in the forward and the backward graph."""
        return {found[1] for line in self.forward + self.backward
                if (found := re.search(r"= (\w+)\(", line))}


def trace(fn: Callable, *args: Any, **options: Any) -> Traced:
    """Compile `fn` from an empty cache, call it once, and read its graphs.

    `options` go to `aot_autograd`. Raises whatever the call raises.
    """
    made = Traced()

    def partition(joint: GraphModule, inputs: Any, **kwargs: Any) -> tuple:
        made.joint = lines(joint, made.inputs)
        forward, backward = default_partition(joint, inputs, **kwargs)
        made.backward = lines(backward, made.inputs)
        return forward, backward

    def compiler(module: GraphModule, inputs: Any) -> Callable:
        made.forward = lines(module, made.inputs)
        read_wrapper(made, module)
        return make_boxed_func(module.forward)

    def backend(module: GraphModule, inputs: Any) -> Callable:
        found = module.graph.find_nodes(op="placeholder")
        made.inputs = [short(node.name) for node in found]
        made.dynamo = [re.sub(r"\bl_(\w+?)_\b", r"\1", line) for line in body(module)
                       if not re.fullmatch(r"l_\w+_ = L_\w+_", line)]
        return aot(module, inputs)

    aot = aot_autograd(fw_compiler=compiler, bw_compiler=run_as_is, partition_fn=partition,
                       **options)
    torch._dynamo.reset()
    with no_default_device():
        made.result = torch.compile(fn, backend=backend)(*args)
    return made


def run_as_is(module: GraphModule, _inputs: Any) -> Callable:
    """A compiler that generates nothing."""
    return make_boxed_func(module.forward)


def read_wrapper(made: Traced, module: GraphModule) -> None:
    """Fill in `saved` and `after` from the metadata that AOTAutograd's own wrapper reads."""
    known = TracingContext.get().fw_metadata
    names = renaming(module, made.inputs)
    returned = [names.get(str(node), str(node)) for node in module.graph.output_node().args[0]]
    changed = [name for name, info in zip(made.inputs, known.input_info, strict=True)
               if info.mutation_type == MutationType.MUTATED_OUT_GRAPH]
    made.after = [f"{name}.copy_({new})" for name, new in zip(changed, returned)]  # noqa: B905
    outputs = returned[len(changed):]
    for at, (info, value) in enumerate(zip(known.output_info, outputs)):  # noqa: B905
        alias = info.output_type == OutputType.alias_of_input
        source = f"view of {made.inputs[info.base_idx]} like {value}" if alias else value
        made.after.append(f"output {at} = {source}")
    made.saved = outputs[len(known.output_info):]


def lines(module: GraphModule, inputs: list[str]) -> list[str]:
    """A graph of ATen operators, a line each, and what it returns."""
    names = renaming(module, inputs)
    found = []
    for node in module.graph.nodes:
        if node.op == "call_function":
            found.append(f"{names[node.name]} = {operator(node)}({spelled(node.args, names)})")
    values = module.graph.output_node().args[0]
    return [*found, f"return {spelled(values, names)}"]


def operator(node: Node) -> str:
    """`mul` of `aten.mul.Tensor`, `getitem` of a Python function."""
    name = str(node.target)
    return name.split(".")[1] if isinstance(node.target, torch._ops.OpOverload) else (
        node.target.__name__)


def spelled(args: Iterable[Any], names: dict[str, str]) -> str:
    """Arguments as text, nodes under the reader's names."""
    return ", ".join(names.get(str(arg), str(arg)) for arg in args)


def renaming(module: GraphModule, inputs: list[str]) -> dict[str, str]:
    """{a node's name: the name shown}; the graph's inputs are those of Dynamo, in its order."""
    names = {node.name: node.name for node in module.graph.nodes}
    for node in module.graph.find_nodes(op="placeholder"):
        found = re.fullmatch(r"(?:primals_|arg)(\d+)(_1)?", node.name)
        if found:
            at = int(found[1]) - (node.name.startswith("primals"))
            names[node.name] = inputs[at]
    return names


def short(name: str) -> str:
    """`x` of Dynamo's `l_x_`."""
    return re.sub(r"^[lL]_(\w+?)_$", r"\1", name)


def autograd_nodes(result: torch.Tensor) -> list[str]:
    """The names of the nodes that a backward from `result` visits, leaves left out."""
    found, todo = [], [result.grad_fn]
    while todo:
        node = todo.pop(0)
        if node is not None and node not in found:
            found.append(node)
            todo += [each for each, _ in node.next_functions]
    return [node.name() for node in found if not node.name().endswith("AccumulateGrad")]


def backward_as_one_graph(loss: torch.Tensor) -> list[list[str]]:
    """Run `loss.backward()` under compiled autograd; for each graph, what it computes."""
    graphs = []

    def record(module: GraphModule, _inputs: Any) -> Callable:
        names = [getattr(node.target, "__name__", str(node.target)).split(".")[0]
                 for node in module.graph.nodes if node.op.startswith("call")]
        graphs.append([name.rpartition("_ops_")[2] for name in names
                       if not re.search("getitem|size|validate|prologue|epilogue", name)])
        return module.forward

    with no_default_device(), compiled_autograd._enable(torch.compile(backend=record)):
        loss.backward()
    return graphs
