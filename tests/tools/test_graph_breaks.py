"""The measured numbers say what "Graph breaks" says, with slack for the machine."""

import json

import torch

from benchmarks import graph_breaks
from book.pipeline.ground.paths import RESULTS

RECORD = json.loads((RESULTS / "graph-breaks.json").read_text(encoding="utf-8"))
ROWS = {table: {row["key"]: row for row in RECORD["tables"][table]["rows"]}
        for table in RECORD["tables"]}


def test_a_break_costs_some_ten_microseconds():
    calls = ROWS["calls"]
    assert 4 < (calls["15"]["us"] - calls["0"]["us"]) / 15 < 25
    assert 4 < (calls["7"]["us"] - calls["0"]["us"]) / 7 < 25


def test_one_break_hardly_matters_for_large_tensors_and_one_in_a_loop_loses_everything():
    chain = ROWS["chain"]
    assert 0.6 < chain["1"]["us"] / chain["0"]["us"] < 1.5
    assert 0.7 < chain["loop"]["us"] / chain["plain"]["us"] < 1.4
    assert chain["loop"]["us"] / chain["0"]["us"] > 4


def test_the_recorded_graphs_are_those_of_the_functions():
    for name, row in ROWS["calls"].items():
        assert row["graphs"] == (0 if name == "plain" else int(name) + 1)
    assert ROWS["chain"]["loop"]["graphs"] == 0


def test_all_chains_compute_the_same():
    x = torch.ones(4)
    expected = graph_breaks.chain(0)(x)
    for fn in (graph_breaks.chain(15), graph_breaks.chain(0, loop=True)):
        assert torch.equal(fn(x), expected)
