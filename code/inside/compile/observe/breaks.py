"""What a graph break leaves: the graphs of a function, why they ended, and which line is in which.

    from inside.compile.observe.breaks import capture, lines_of
    capture(fn, x)              # operations of each graph, and the reason of the first break
    lines_of(fn, x)             # its source lines, each with the graph that it went into
"""

from __future__ import annotations

import contextlib
import inspect
import io
import logging
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch._dynamo.exc import Unsupported
from torch.overrides import TorchFunctionMode

EAGER, PYTHON = "eager", "Python"
DYNAMO = logging.getLogger("torch._dynamo")


class Capture(NamedTuple):
    """The operations of each graph, in the order of compilation, and why fullgraph=True fails.

    `reason` is the first line of that error's text, "" where there is one graph.
    """

    operations: list[list[str]]
    reason: str


class Line(NamedTuple):
    """A source line; `where` is the graph's number from 1, EAGER, PYTHON (`print`) or None."""

    text: str
    where: int | str | None


def graphs_of(fn: Callable, *args: Any, **options: Any) -> list[torch.fx.GraphModule]:
    """The graphs that one call of `fn`, compiled anew, gives a back end; output is swallowed."""
    torch._dynamo.reset()
    modules: list[torch.fx.GraphModule] = []

    def record(module: torch.fx.GraphModule, inputs: list) -> Callable:
        modules.append(module)
        return module.forward

    with quiet():
        torch.compile(fn, backend=record, **options)(*args)
    return modules


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without what the code prints and what Dynamo says about it on stderr."""
    level = DYNAMO.level
    DYNAMO.setLevel(logging.ERROR)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        DYNAMO.setLevel(level)


def capture(fn: Callable, *args: Any) -> Capture:
    """Compile and call `fn` twice: as it is, and with `fullgraph=True` for the reason."""
    operations = [[node.target if isinstance(node.target, str) else node.target.__name__
                   for node in module.graph.nodes if node.op.startswith("call")]
                  for module in graphs_of(fn, *args)]
    try:
        graphs_of(fn, *args, fullgraph=True)
    except Unsupported as error:
        return Capture(operations, str(error).split("\n")[0])
    return Capture(operations, "")


def lines_of(fn: Callable, *args: Any, calls: tuple[Callable, ...] = ()) -> list[Line]:
    """The source lines of `fn` and then of the functions `calls`, each with where it ran.

    A line with tensor operations that is in no graph ran in EAGER. Functions must lie in a file.
    """
    place: dict[int, int | str] = dict.fromkeys(tensor_lines(fn, *args), EAGER)
    for number, module in enumerate(graphs_of(fn, *args), start=1):
        for node in module.graph.nodes:
            if node.op.startswith("call"):
                at = re.findall(r'File "([^"]*)", line (\d+)', node.stack_trace or "")
                # below a default device, the innermost frame is a file of torch
                own = [int(n) for file, n in at if file == fn.__code__.co_filename]
                place |= {n: number for n in own[-1:] if n in place}
    found = []
    for each in (fn, *calls):
        source, first = inspect.getsourcelines(each)
        for n, text in enumerate(source, start=first):
            where = PYTHON if "print(" in text else place.get(n)
            found.append(Line(text.rstrip(), where))
    return found


def tensor_lines(fn: Callable, *args: Any) -> set[int]:
    """The lines of the file of `fn` that call torch on a tensor while `fn` runs without compile."""
    seen: set[int] = set()
    file = fn.__code__.co_filename

    class Look(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            frame = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename != file:
                frame = frame.f_back
            if frame is not None and any(isinstance(each, torch.Tensor) for each in args):
                seen.add(frame.f_lineno)
            return func(*args, **(kwargs or {}))

    with Look(), quiet():
        fn(*args)
    return seen
