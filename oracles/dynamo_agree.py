"""mini_dynamo beside Python and beside torch.compile, over the whole corpus.

`Survey().rows` has one Row for each case: where mini_dynamo differs from Python (None is what is
wanted), where torch does, and how many graphs, breaks and skipped frames each had.
"""

from collections import defaultdict
from functools import cached_property
from typing import NamedTuple

import mini_dynamo
from oracles import dynamo_corpus, dynamo_torch
from oracles.dynamo_cases import CASES, difference, run
from oracles.dynamo_torch import Counts

assert dynamo_corpus.__doc__  # importing it has filled CASES


def plain(fn):
    return fn


def compiled(case):
    """(Counts, what the calls show) under mini_dynamo, counted as torch's are: a frame given up is
    skipped, not broken."""
    shown, fn = run(case, mini_dynamo.compile)
    told = mini_dynamo.stats(fn)
    return Counts(told.graphs, told.breaks, len(told.skipped)), shown


def unlike_python(case):
    """Where mini_dynamo differs from Python first, or None."""
    return difference(run(case, plain)[0], compiled(case)[1])


class Row(NamedTuple):
    """What is found of one case."""

    kind: str
    name: str
    wrong: str | None
    torch_wrong: str | None
    mini: Counts
    torch: Counts


def row(case):
    """One case under Python, mini_dynamo and torch."""
    expected, _ = run(case, plain)
    counts, shown = compiled(case)
    torch_counts, torch_shown = dynamo_torch.compiled_by_torch(case)
    return Row(case.kind, case.name, difference(expected, shown),
               difference(expected, torch_shown), counts, torch_counts)


class Survey:
    """Everything is run once and kept."""

    @cached_property
    def rows(self):
        with dynamo_torch.silence():
            return [row(case) for case in CASES]

    def by_kind(self):
        """{kind: cases, equal to Python, counts equal to torch's, graphs and breaks of torch}."""
        table = defaultdict(lambda: dict.fromkeys(
            ("cases", "like_python", "torch_like_python", "counts_like_torch", "graphs", "breaks",
             "torch_graphs", "torch_breaks"), 0))
        for row in self.rows:
            kind = table[row.kind]
            for name, number in (
                    ("cases", 1), ("like_python", row.wrong is None),
                    ("torch_like_python", row.torch_wrong is None),
                    ("counts_like_torch", same_counts(row)),
                    ("graphs", row.mini.graphs), ("breaks", row.mini.breaks),
                    ("torch_graphs", row.torch.graphs), ("torch_breaks", row.torch.breaks)):
                kind[name] += int(number)
        return dict(table)


def same_counts(row):
    """Graphs and breaks are compared; a frame that is given up shows in both."""
    return row.mini[:2] == row.torch[:2]
