"""The benchmark of Scalar measures the demo it names, its verdicts can fail, and the measured
numbers say what "A faster Scalar" says, with slack for the machine."""

import gc
import itertools
import json
import random

import pytest

import scalar_mlp
from benchmarks import scalar_speed
from book.pipeline.ground.paths import RESULTS
from pytorch_deep_dive import Scalar


@pytest.mark.parametrize("engine", ["eager", "fused", "python", "torch"])
def test_an_engine_of_the_benchmark_starts_as_the_demo(engine, one_thread):
    found = scalar_speed.run(engine, 2, collector=True)
    assert found["losses"] == pytest.approx([0.8958441028683222, 1.7235905336972022], rel=1e-12)
    assert found["seconds"] > 0


def test_torch_number_by_number_is_the_same_step(monkeypatch, one_thread):
    few = scalar_mlp.two_moons(6)
    monkeypatch.setattr(scalar_mlp, "two_moons", lambda: few)
    found = [scalar_speed.run(engine, 3, collector=True)["losses"]
             for engine in ("torch_numbers", "eager")]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_a_graph_is_freed_by_its_counts_before_the_next_is_built():
    random.seed(1337)
    model, few = scalar_mlp.MLP(2, 4, 1), scalar_mlp.two_moons(6)
    alive = []

    def loss(*arguments):
        alive.append(sum(type(one) is Scalar for one in gc.get_objects()))
        return scalar_mlp.loss(*arguments)

    gc.collect()
    gc.disable()
    try:
        list(itertools.islice(scalar_mlp.steps(model, *few, loss), 3))
    finally:
        gc.enable()
    assert alive == [alive[0]] * 3


def measured(seconds):
    """The record of one round in which each engine took `seconds[engine]` a step."""
    found = {(engine, collector): [{"losses": [1.0], "seconds": seconds[engine], "prepare": 0.5,
                                    "nodes": 7}]
             for engine in scalar_speed.ENGINES for collector in (True, False)}
    return scalar_speed.result(found, dict.fromkeys(scalar_speed.ENGINES, 0.0))


FAST = {"micrograd": 1.0, "eager": 0.09, "fused": 0.015, "python": 0.002, "c": 0.00004,
        "torch_numbers": 0.5, "torch": 0.001}


def test_a_row_holds_milliseconds_and_the_ratio_to_micrograd():
    rows = {row["key"]: row for row in measured(FAST)["tables"]["steps"]["rows"]}
    assert (rows["fused"]["ms"], rows["fused"]["ratio"]) == (15.0, 66.67)
    assert rows["eager"]["nodes"] == 7
    assert "nodes" not in rows["c"]


@pytest.mark.parametrize("engine", list(scalar_speed.BUDGETS))
def test_an_engine_below_its_budget_is_said(engine):
    assert not [line for line in scalar_speed.verdicts(measured(FAST)) if "OVER" in line]
    slow = scalar_speed.verdicts(measured(FAST | {engine: 0.9}))
    assert {line.split(": ")[1].split()[0] for line in slow if "OVER" in line} == {engine}


def test_other_losses_than_micrograds_are_seen():
    assert scalar_speed.differing([1.0, 2.0], [1.0, 2.0, 3.0]) == 0.0
    assert scalar_speed.differing([1.0, 2.0 + 1e-9], [1.0, 2.0]) > scalar_speed.TOLERANCE


# ---------------------------------------------------------------- what was recorded
RECORD = json.loads((RESULTS / "scalar-speed.json").read_text(encoding="utf-8"))
ROWS = {row["key"]: row for table in RECORD["tables"].values() for row in table["rows"]}

SEVERAL = 2.5, 12

# quantity, row, the row it is divided by, least and greatest quotient that the text allows
DIRECTIONS = [
    ("ms_off", "micrograd", None, 0.05, 0.15),      # "about nine tenths" is the collector
    ("ms", "micrograd", "eager", 10, None),         # "more than ten times faster"
    ("ms_off", "micrograd", "eager", 1, 3),         # "less than three times"; 3 * 3 < 10: "most"
    ("ms", "eager", "fused", *SEVERAL),             # "several times faster than node by node"
    ("ms_off", "eager", "fused", *SEVERAL),         # "with the collector off as well"
    ("ms", "fused", "python", *SEVERAL),            # "several times faster again"
    ("ms", "python", "c", 20, None),                # "dozens of times faster again, or more"
    ("ms", "micrograd", "c", 10_000, None),         # "more than ten thousand times"
    ("ms_off", "micrograd", "c", 1_000, None),      # "with the collector off ... still ..."
    ("ms", "eager", "c", 1_000, None),              # "more than a thousand times" than Scalar
    ("ms_off", "c", None, 1.2, None),               # "slower with the collector off"
    ("ms_off", "torch", None, 1.2, None),           # "and so is torch on the batch"
    ("ms", "torch_numbers", "eager", *SEVERAL),     # "several times slower"
    ("ms", "torch_numbers", "torch", 1_000, None),  # "spread thousands of times thinner"
    ("ms", "eager", "torch", 20, None),             # the order of the prediction
    ("ms", "torch", "c", 2, None),
    ("prepare", "c", "python", 5, None),            # C waits for the compiler
]


@pytest.mark.parametrize(("quantity", "row", "other", "least", "most"), DIRECTIONS)
def test_each_direction_that_the_text_states_was_measured(quantity, row, other, least, most):
    below = ROWS[other][quantity] if other else ROWS[row]["ms"]
    quotient = ROWS[row][quantity] / below
    assert quotient >= least
    assert most is None or quotient <= most


def test_every_recorded_engine_is_measured_stands_in_a_direction_and_has_the_same_losses():
    named = {row for _, row, *_ in DIRECTIONS} | {other for *_, other, _, _ in DIRECTIONS if other}
    assert set(ROWS) == set(scalar_speed.ENGINES) == named
    assert all(row["largest_difference"] <= scalar_speed.TOLERANCE for row in ROWS.values())


def test_the_recorded_tables_are_those_that_the_script_makes():
    assert {key: [row["key"] for row in table["rows"]]
            for key, table in RECORD["tables"].items()} == {
                key: engines for key, (_, _, engines) in scalar_speed.TABLES.items()}
    assert RECORD["columns"] == scalar_speed.COLUMNS


def test_the_recorded_graphs_have_the_nodes_that_the_text_counts():
    wrapped = 200 + 100 + 100 + 2 + 2  # coordinates, labels, each "1 +", starts of sums, factors
    assert {key: row["nodes"] for key, row in ROWS.items() if "nodes" in row} == {
        "micrograd": 65_414 + wrapped, "eager": 65_414, "fused": 7_479}
