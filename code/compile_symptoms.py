"""One runnable case for each symptom of a compiled program, and the tool that answers it.

Chapter 5, "From symptom to tool". Each function plants a symptom, asks the tool, and returns what
the tool said, cut to what is the same on every machine. `CASES` lists them in the order of the
picture; `logged` collects what `TORCH_LOGS` would print.
"""

from __future__ import annotations

import contextlib
import io
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import utils
from torch._dynamo.exc import BackendCompilerFailed

import compile_faults

PREFIX = re.compile(r"^[VDIWE]\d{4} .*?\] (?:\[[\d/_]+\] )?(?:\[__(\w+)\] ?)?")


@contextlib.contextmanager
def logged(**artifacts: Any) -> Iterator[Callable[[], list[str]]]:
    """Like `TORCH_LOGS=graph_breaks` for `graph_breaks=True`, but the lines come back.

    Yields a function that returns the lines so far, without time, process and place in torch.
    """
    written = io.StringIO()
    with contextlib.redirect_stderr(written):  # the handler takes stderr when it is made, or later
        torch._logging.set_logs(**artifacts)
        try:
            yield lambda: [PREFIX.sub("", line) for line in written.getvalue().splitlines()
                           if PREFIX.match(line)]
        finally:
            torch._logging.set_logs()


def fresh(fn: Callable, backend: Any = "eager", **options: Any) -> Callable:
    """`torch.compile` with empty caches."""
    torch._dynamo.reset()
    return torch.compile(fn, backend=backend, **options)


# ---------------------------------------------------------------- slow
def slow_first_call() -> str:
    """Which phase took most of the time, by `torch._dynamo.utils.compile_times`."""
    def slow(graph: torch.fx.GraphModule, inputs: list) -> Callable:
        time.sleep(1)
        return graph.forward

    fresh(torch.sin)(torch.ones(2))  # what only the first compilation of a process does
    before = seconds()
    fresh(lambda x: x.sin() + 1, slow)(torch.ones(2))
    spent = {name: took - before.get(name, 0) for name, took in seconds().items()}
    phases = ("bytecode_tracing", "OutputGraph.call_user_compiler", "build_guards")
    return max(phases, key=lambda name: spent.get(name, 0))


def seconds() -> dict[str, float]:
    names, times = utils.compile_times(repr="csv", aggregate=True)
    return dict(zip(names, map(float, times), strict=True))


def slow_always() -> str:
    """How many graph breaks the log of breaks reports, and the reason of the first."""
    def f(x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos()

    with logged(graph_breaks=True) as lines:
        fresh(f)(torch.ones(2))
    found = [line for line in lines() if line.startswith("Graph break in user code")]
    return f"{len(found)} graph break"


def slow_later() -> str:
    """The guard that failed, by the log of recompilations."""
    def f(x: torch.Tensor, name: str) -> torch.Tensor:
        return x + len(name)

    compiled = fresh(f)
    with logged(recompiles=True) as lines:
        compiled(torch.ones(2), "a")
        compiled(torch.ones(2), "b")
    failed = [line for line in lines() if re.match(r"\s+- \d+/\d+: ", line)]
    return re.sub(r"^\s+- \d+/\d+: |\s+#.*$", "", failed[0])


# ---------------------------------------------------------------- wrong
def raises() -> str:
    """The type of the error, and whether it is gone with the back end `eager`."""
    def broken(graph: torch.fx.GraphModule, inputs: list) -> Callable:
        raise ValueError("planted")

    try:
        fresh(torch.sin, broken)(torch.ones(2))
    except BackendCompilerFailed as error:
        fresh(torch.sin)(torch.ones(2))
        return f"{type(error).__name__}, not with eager"
    return "no error"


def wrong_result() -> str:
    """The first back end whose result is wrong."""
    first = compile_faults.first_wrong(compile_faults.lost_by_autograd, torch.ones(4))
    return f"first wrong: {first}"


class FirstNan(torch.fx.Interpreter):
    """Runs a graph node by node and keeps the name of the first operation that makes a NaN."""

    found: str | None = None

    def run_node(self, node: torch.fx.Node) -> Any:
        result = super().run_node(node)
        if self.found is None and isinstance(result, torch.Tensor) and result.isnan().any():
            FirstNan.found = f"{node.op} {node.target}"
        return result


def nan() -> str:
    """The operation of the graph that makes the first NaN."""
    FirstNan.found = None
    f = fresh(lambda x: (x - 1).log().exp() + 1, lambda graph, inputs: FirstNan(graph).run)
    f(torch.zeros(2))
    return f"{FirstNan.found}"


# ---------------------------------------------------------------- memory
def memory() -> str:
    """How many tensors the forward graph saves for backward, by the log of AOTAutograd's graphs."""
    with logged(aot_graphs=True) as lines:
        f = fresh(lambda x: x.sin().exp().sin(), "aot_eager")
        f(torch.ones(2, requires_grad=True))
    returned = next(line for line in lines() if line.strip().startswith("return ("))
    return f"{returned.count(',')} saved for backward"


CASES = {
    "slow_first_call": slow_first_call,
    "slow_always": slow_always,
    "slow_later": slow_later,
    "raises": raises,
    "wrong_result": wrong_result,
    "nan": nan,
    "memory": memory,
}
