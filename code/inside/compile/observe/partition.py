"""How a joint graph is cut into forward and backward, and why: read from torch's own partitioners.

    from inside.compile.observe.partition import MIN_CUT, partitioned
    cut = partitioned(f, x, w)      # by Inductor's partition function, after its decompositions
    cut.saved                       # {name of a result: bytes}, apart from f's inputs
    cut.recomputed                  # operations that are in both graphs
    cut.values["mm"].capacity       # what it would cost to save that result

Nothing is compiled to machine code: both graphs run as they are. The numbers of the cut are those
of the network that the partitioner hands to `networkx.minimum_cut`; with `default_partition` there
is none. Views are counted as the tensor whose memory they show.

Inductor also rewrites the joint graph before it cuts, for example attention into one operator
(`torch._inductor.compile_fx.partition_fn`). That is left out here, so there it may save less.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import networkx
import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import partitioners
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition as MIN_CUT
from torch._inductor.decomposition import select_decomp_table

# Where torch looks the algorithm up: its own one from torch 2.15 on.
CUTS = partitioners if hasattr(partitioners, "minimum_cut") else networkx
NEVER = 10**9  # the partitioner's distance to backward where no path leads there
VIEWS = ("alias", "detach", "t", "permute", "transpose", "view", "unsqueeze", "squeeze", "expand")


class Value(NamedTuple):
    """A value of the forward pass in the flow network.

    `nbytes` is its size, `steps` the number of operations from it to the nearest one of backward,
    `capacity` the cost of saving it, and `never` the reason why it may not be recomputed.
    """

    nbytes: int
    steps: int
    capacity: float
    never: str | None


class Partitioned:
    """A compiled callable whose joint graph was cut by `partition`; call it like the original."""

    def __init__(self, fn: Callable, partition: Callable, **options: Any):
        torch._dynamo.reset()
        self.partition = partition
        self.saved: dict[str, int] = {}
        self.recomputed: list[str] = []
        self.values: dict[str, Value] = {}
        self.edges: list[tuple[str, str]] = []
        self.graphs: list[tuple[torch.fx.GraphModule, torch.fx.GraphModule]] = []
        self.inputs: list[str] = []
        compiler = aot_autograd(fw_compiler=run, bw_compiler=run, partition_fn=self._cut,
                                decompositions=select_decomp_table())

        def backend(module: torch.fx.GraphModule, inputs: list) -> Callable:
            names = [node.name for node in module.graph.find_nodes(op="placeholder")]
            self.inputs = [re.sub(r"^l_(?:self_)?(.*?)_?$", r"\1", name) for name in names]
            return compiler(module, inputs)

        self.compiled = torch.compile(fn, backend=backend, **options)

    def __call__(self, *args: Any) -> Any:
        return self.compiled(*args)

    def _cut(self, joint: torch.fx.GraphModule, inputs: Any, **options: Any) -> tuple:
        networks, minimum_cut = [], CUTS.minimum_cut

        def keep(network: networkx.DiGraph, *args: Any, **more: Any) -> tuple:
            networks.append(network.copy())
            return minimum_cut(network, *args, **more)

        with mock.patch.object(CUTS, "minimum_cut", keep):
            forward, backward = self.partition(joint, inputs, **options)
        self.graphs.append((forward, backward))
        self.saved |= {self.called(each): nbytes(each)
                       for each in saved_nodes(forward, options["num_fwd_outputs"])}
        self.recomputed += recomputed(forward, backward)
        if networks:
            self._read(joint.graph, networks[-1])
        return forward, backward

    def _read(self, graph: torch.fx.Graph, network: networkx.DiGraph) -> None:
        """Take over what the network says of each value that backward can use."""
        for node in graph.nodes:
            ends = f"{node.name}_in", f"{node.name}_out"
            if base(node) is node and network.has_edge(*ends) and 0 < node.dist_from_bw < NEVER:
                banned = network.get_edge_data("source", ends[0], {}).get("reason", "")
                self.values[self.called(node)] = Value(
                    nbytes(node), node.dist_from_bw, network.edges[ends]["capacity"],
                    banned.removeprefix("cannot recompute: ") or None)
        for node in graph.nodes:
            for user in node.users:
                ends = self.called(node), self.called(user)
                if user.dist_from_bw == 0:
                    ends = ends[0], "backward"
                known = ends[0] in self.values and ends[1] in (*self.values, "backward")
                if known and ends[0] != ends[1] and ends not in self.edges:
                    self.edges.append(ends)

    def called(self, node: torch.fx.Node) -> str:
        """The name of the tensor whose memory a node shows; an input has its name in `fn`."""
        name = base(node).name
        number = re.fullmatch(r"primals_(\d+)", name)
        return self.inputs[int(number[1]) - 1] if number else name


def partitioned(fn: Callable, *args: Any, partition: Callable = MIN_CUT,
                **options: Any) -> Partitioned:
    """`fn` compiled from an empty cache and called once, with a record of the cut.

    `options` go to `torch.compile`. A result that is an input of the backward graph only as a size
    is left out of `saved`.
    """
    cut = Partitioned(fn, partition, **options)
    cut(*args)
    return cut


def run(module: torch.fx.GraphModule, inputs: list) -> Callable:
    """The compiler that compiles nothing."""
    return make_boxed_func(module.forward)


def base(node: torch.fx.Node) -> torch.fx.Node:
    """The node whose memory `node` shows."""
    while node.op == "call_function" and packet(node) in VIEWS:
        node = node.args[0]
    return node


def packet(node: torch.fx.Node) -> str:
    """The operator of a node without its overload: `permute` for `aten.permute.default`."""
    return getattr(getattr(node.target, "overloadpacket", node.target), "__name__", "")


def nbytes(node: torch.fx.Node) -> int:
    """The bytes of the tensor that a node stands for; 0 for a size or for unknown sizes."""
    value = node.meta.get("val")
    known = isinstance(value, torch.Tensor) and all(isinstance(n, int) for n in value.shape)
    return value.numel() * value.dtype.itemsize if known else 0


def saved_nodes(forward: torch.fx.GraphModule, outputs: int) -> list[torch.fx.Node]:
    """What the forward graph returns besides its outputs, inputs of the graph left out."""
    returned = next(iter(forward.graph.find_nodes(op="output"))).args[0][outputs:]
    return [each for each in returned
            if base(each).op != "placeholder" and isinstance(each.meta.get("val"), torch.Tensor)]


def recomputed(forward: torch.fx.GraphModule, backward: torch.fx.GraphModule) -> list[str]:
    """Operations, views apart, that are in both graphs, in the order of the forward pass."""
    again = {node.name for node in backward.graph.nodes if node.op == "call_function"}
    return [node.name for node in forward.graph.nodes
            if node.op == "call_function" and node.name in again and packet(node) not in VIEWS]
