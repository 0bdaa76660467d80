"""What serves each call of a compiled function: a new graph, an old one, or no graph at all.

    from inside.compile.observe.recompiles import recompile_log, serve
    f = serve(fn)               # torch.compile(fn, backend="eager"), with a record
    f(x, 2); f(x, 2)
    f.history                   # ["new 0", "graph 0"]

`recompile_log` gives the lines that TORCH_LOGS="recompiles" prints, cut to what is the same on
every machine.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch

from inside.compile.observe.breaks import quiet

EAGER = "eager"
LOGGER = "torch._dynamo.guards.__recompiles"


class Served:
    """A compiled callable; `history` has "new K", "graph K" or "eager" for each call.

    K counts the graphs from 0. A call that ran several graphs has them joined with spaces.
    """

    def __init__(self, fn: Callable | torch.nn.Module, **options: Any):
        self.history: list[str] = []
        self.made = 0
        self._ran: list[str] = []
        self._compiled = torch.compile(fn, backend=self._compile, **options)

    def _compile(self, module: torch.fx.GraphModule, inputs: list) -> Callable:
        number, self.made = self.made, self.made + 1
        first = [True]

        def run(*args: Any) -> Any:
            self._ran.append(f"{'new' if first else 'graph'} {number}")
            first.clear()
            return module.forward(*args)
        return run

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._ran.clear()
        with quiet():
            result = self._compiled(*args, **kwargs)
        self.history.append(" ".join(self._ran) or EAGER)
        return result


def serve(fn: Callable | torch.nn.Module, **options: Any) -> Served:
    """`fn`, compiled from an empty cache, with a record of what served each call."""
    torch._dynamo.reset()
    return Served(fn, **options)


@contextlib.contextmanager
def recompile_log() -> Iterator[list[str]]:
    """The lines of the log of recompilations, collected instead of printed to stderr."""
    lines: list[str] = []
    torch._logging.set_logs(recompiles=True)
    logger = logging.getLogger(LOGGER)
    handlers, propagate = logger.handlers[:], logger.propagate
    logger.handlers, logger.propagate = [Keep(lines)], False
    try:
        yield lines
    finally:
        logger.handlers, logger.propagate = handlers, propagate
        torch._logging.set_logs()


class Keep(logging.Handler):
    """Keeps what matters of each record: no file, no line number, no stack."""

    def __init__(self, lines: list[str]):
        super().__init__()
        self.lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        for line in record.getMessage().split("\n"):
            if re.match(r"\s*- (User stack|  )", line):
                continue
            line = re.sub(r"\s+# .*$| in \S+:\d+$", "", line.rstrip())
            self.lines.append(re.sub(r"\b\d+/(\d+): ", r"0/\1: ", line))
