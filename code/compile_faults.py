"""Compilers that round differently, compilers that are wrong, and faults planted stage by stage.

Chapter 5, "From symptom to tool". Two back ends stand for what a compiler may do to a result:

    fused   multiplies and subtracts with one rounding, as a fused multiply-add does: allowed
    lossy   reads its inputs through float16: a fault

Three functions carry a planted fault, each in another stage of `torch.compile`:

    told_wrong_by_dynamo    a substitute that Dynamo traces in the place of `twice` is wrong
    lost_by_autograd        an operator writes to its argument without declaring it
    wrong_when_decomposed   a decomposition that Inductor's table holds is wrong

`stages(fn, *args)` runs a function through the back ends that stop after each stage.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch._inductor.decomposition import register_decomposition

STAGES = ("eager", "aot_eager", "aot_eager_decomp_partition")


# ---------------------------------------------------------------- rounding, and a fault
def fused_multiply_subtract(a: Any, b: Any, c: torch.Tensor) -> torch.Tensor:
    """`a * b - c` with one rounding at the end, for float32: float64 holds the product exactly."""
    wide = [each.double() if isinstance(each, torch.Tensor) else each for each in (a, b, c)]
    return (wide[0] * wide[1] - wide[2]).to(c.dtype)


def calls(node: Any, name: str) -> bool:
    """Whether a node is this operation; a default device makes Dynamo write it as a method."""
    return isinstance(node, torch.fx.Node) and node.target in (name, getattr(operator, name))


def fused(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable:
    """A back end that joins each product with the subtraction that reads it."""
    for node in graph.graph.nodes:
        if calls(node, "sub") and calls(node.args[0], "mul"):
            node.op, node.target = "call_function", fused_multiply_subtract
            node.args = (*node.args[0].args, node.args[1])
    graph.graph.eliminate_dead_code()
    graph.recompile()
    return graph.forward


def lossy(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable:
    """A back end with a fault: tensors lose 13 bits on their way in."""
    return lambda *args: graph.forward(*(each.half().float() for each in args))


# ---------------------------------------------------------------- a fault in each stage
def twice(n: int) -> int:
    """The true function, for which Dynamo traces `wrong_twice`."""
    return 2 * n


@torch._dynamo.substitute_in_graph(twice)
def wrong_twice(n: int) -> int:
    return 2 * n + 1


@torch.library.custom_op("faults::fill_", mutates_args=())  # the lie: it does mutate x
def fill_(x: torch.Tensor) -> None:
    x.fill_(7)


@fill_.register_fake
def _(x: torch.Tensor) -> None:
    pass


@torch.library.custom_op("faults::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@register_decomposition(torch.ops.faults.double.default)
def wrong_double(x: torch.Tensor) -> torch.Tensor:
    return x * 2.001


def told_wrong_by_dynamo(x: torch.Tensor) -> torch.Tensor:
    return x * twice(3)


def lost_by_autograd(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    fill_(y)
    return y


def wrong_when_decomposed(x: torch.Tensor) -> torch.Tensor:
    return double(x)


def stages(fn: Callable, *args: Any, backends: tuple[str, ...] = STAGES) -> dict[str, bool]:
    """{back end: whether the compiled function gives what eager mode gives}.

    Args as for `fn`; floating-point results are compared as `torch.testing.assert_close` does it,
    so a difference that is only rounding counts as right.
    """
    wanted, right = fn(*args), {}
    for backend in backends:
        torch._dynamo.reset()
        got = torch.compile(fn, backend=backend)(*args)
        try:
            torch.testing.assert_close(got, wanted)
            right[backend] = True
        except AssertionError:
            right[backend] = False
    return right


def first_wrong(fn: Callable, *args: Any) -> str | None:
    """The first back end whose result is wrong, None if each of them is right."""
    return next((name for name, right in stages(fn, *args).items() if not right), None)

