"""What torch.compile makes of the corpus: graphs, breaks and skipped frames of each case.

Each break writes one record to torch's log of graph breaks, whatever its cause; the counter
`graph_break` leaves out branches on data, and `torch._dynamo.explain` is for one call only. A frame
that torch gives up writes such a record, too: it counts as skipped, not as a break. Sizes are taken
as constants (dynamic=False), as mini_dynamo takes them.
"""

import contextlib
import logging
from collections import Counter
from typing import NamedTuple

import torch
import torch._dynamo
from torch._dynamo import symbolic_convert

from oracles import dynamo_cases

SKIPPED = "Skipping the function and falling back to eager"


class Counts(NamedTuple):
    """How often a compiler did what."""

    graphs: int
    breaks: int
    skipped: int


class Breaks(logging.Handler):
    """Counts the records of the log of graph breaks."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.seen = Counter()

    def emit(self, record):
        self.seen["skipped" if SKIPPED in record.getMessage() else "breaks"] += 1


@contextlib.contextmanager
def silence():
    """Nothing of torch goes to stderr. Each level that is set makes all loggers forget what they
    have decided, so this is for all cases at once."""
    log = symbolic_convert.graph_break_log
    before = log.propagate
    others = [one for name, one in logging.root.manager.loggerDict.items() if one is not log
              and name.startswith("torch") and isinstance(one, logging.Logger)]
    levels = [(one, one.level) for one in (logging.getLogger("torch"), *others)]
    log.propagate = False
    for one, _ in levels:
        one.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.propagate = before
        for one, level in levels:
            one.setLevel(level)


@contextlib.contextmanager
def listening():
    """Breaks are counted."""
    log, handler = symbolic_convert.graph_break_log, Breaks()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        yield handler.seen
    finally:
        log.removeHandler(handler)
        log.setLevel(before)


def compiled_by_torch(case):
    """(Counts, what the calls of the case show) under torch.compile with an empty cache."""
    graphs = []

    def backend(graph_module, inputs):
        graphs.append(graph_module)
        return graph_module.forward

    torch._dynamo.reset()
    with listening() as seen:
        shown, _ = dynamo_cases.run(
            case, lambda fn: torch.compile(fn, backend=backend, dynamic=False))
    return Counts(len(graphs), seen["breaks"], seen["skipped"]), shown
