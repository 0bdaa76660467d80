"""Which lengths of a dimension the graphs of a compiled function serve, and on what conditions.

    from inside.compile.observe.shapes import compilations, lengths_served, shape_guards
    compilations(f, (8, 12, 30))    # how many graphs there are after each call
    shape_guards(seen)              # the conditions on sizes of the newest cache entry
    lengths_served(seen, 14)        # {graph: the lengths up to 14 that its guards accept}

`f` takes one tensor; a call of length n passes `torch.ones(n)` on the default device.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import torch

from inside.compile.observe.compiled import Watched, normal, watch

CONDITION = re.compile(r"^[| ]*\+- (?:LAMBDA_GUARD|SYMBOLIC_SHAPE_GUARD): (.*size\(\).*)$", re.M)


def compilations(fn: Callable, lengths: Iterable[int], mark: Callable | None = None,
                 **options: Any) -> list[int]:
    """The number of graphs compiled by the end of each call, `fn` being compiled afresh.

    `mark`, for example `torch._dynamo.mark_dynamic`, is applied to dimension 0 of the first tensor.
    """
    seen, counts = watch(fn, **options), []
    for n in lengths:
        x = torch.ones(n)
        if mark and not counts:
            mark(x, 0)
        seen(x)
        counts.append(len(seen.modules))
    return counts


def shape_guards(seen: Watched, entry: int = 0) -> list[str]:
    """The conditions on sizes in a cache entry (0 is the newest), `L['x']` written `x`."""
    tree = str(seen.entries()[entry].guard_manager)
    return [re.sub(r"L\['(\w+)'\]", r"\1", normal(line)) for line in CONDITION.findall(tree)]


def lengths_served(seen: Watched, last: int) -> dict[int, list[int]]:
    """For each graph, the first compiled being 1, the lengths 0 … `last` that its guards accept.

    The guards themselves are asked, each with a tensor of that length as the function's one
    argument. Cache entries are told apart by the graph that their code calls, because a hit moves
    an entry to the front. Raises `ValueError` unless the entries are as many as the graphs.
    """
    entries = sorted(seen.entries(), key=lambda entry: compile_id(entry.code.co_names))
    if len(entries) != len(seen.modules):
        raise ValueError(f"{len(entries)} cache entries for {len(seen.modules)} graphs")
    name = seen.codes[0].co_varnames[0]
    return {graph: [n for n in range(last + 1)
                    if entry.guard_manager.check({name: torch.ones(n)})]
            for graph, entry in enumerate(entries, start=1)}


def compile_id(names: Iterable[str]) -> int:
    """The running number of the compiled function among the names that a code uses."""
    found = (re.match(r"__compiled_fn_(\d+)", name) for name in names)
    return next(int(match[1]) for match in found if match)
