"""The script that turns the knobs of torch's loader: what it counts, and what the page says."""

import json
from itertools import pairwise

import pytest

from benchmarks import loader_knobs as bench
from book.pipeline.ground.paths import RESULTS
from book.pipeline.state import records

FILE = RESULTS / "loader-knobs.json"
ROWS = {row["key"]: row for row in json.loads(FILE.read_text(encoding="utf-8"))["tables"]["knobs"]
        ["rows"]}


def small(workload):
    """The workload with few samples, so that an epoch is short."""
    kind = type(workload.dataset)
    other = {name: {**given, "dataset": kind(6, **({"whole": True} if name == "whole" else {}))}
             for name, given in workload.other.items()}
    return bench.Workload(workload.key, workload.zh, workload.en, kind(6), 2, other)


@pytest.mark.parametrize("workload", bench.all_workloads(), ids=lambda one: one.key)
def test_each_cell_without_workers_yields_every_sample_once(workload):
    loaders = [bench.loader(small(workload), knob) for knob in bench.KNOBS
               if knob.arguments["num_workers"] == 0]
    assert sum(loader is not None for loader in loaders) == 1 + len(workload.other)
    assert all(bench.epoch(loader, 6) > 0 for loader in loaders if loader is not None)


@pytest.mark.filterwarnings("ignore:This DataLoader will create")    # on few cores
def test_a_knob_changes_what_its_name_says():
    rows = bench.all_workloads()[1]
    knobs = {knob.key: bench.loader(rows, knob) for knob in bench.KNOBS}
    assert [knobs[str(n)].num_workers for n in bench.WORKERS] == list(bench.WORKERS)
    assert knobs["prefetch"].prefetch_factor == 8
    assert not knobs["anew"].persistent_workers
    assert knobs["2"].persistent_workers
    assert knobs["batch"].batch_size == 4 * rows.batch_size
    assert hasattr(knobs["whole"].dataset, "__getitems__")
    assert knobs["bytes"] is None


def test_factors_are_medians_of_the_rounds_own_factors():
    rounds = [{"0": 10.0, "2": 20.0}, {"0": 100.0, "2": 50.0}, {"0": 1.0, "2": 4.0}]
    assert bench.factors(rounds) == {"0": 1.0, "2": 2.0}


def test_each_row_and_column_has_its_place_in_the_result(monkeypatch):
    rates = {knob.key: 2.0 for knob in bench.KNOBS}
    monkeypatch.setattr(bench, "rounds_of", lambda workload, rounds: [rates] * rounds)
    measured = bench.result(bench.all_workloads()[:1], 3)
    [table] = measured["tables"].values()
    assert [row["key"] for row in table["rows"]] == ["rate"] + [
        knob.key for knob in bench.KNOBS if knob.key != "0"]
    assert table["rows"][0]["images"] == 2.0
    assert table["rows"][1]["images"] == 1.0
    assert "loader-knobs" in records.RECORDS


# ---- what the section says ----------------------------------------------------------------------
def with_workers(workload):
    return [ROWS[str(n)][workload] for n in bench.WORKERS if n]


def test_sleeping_reads_gain_each_time_the_workers_are_doubled():
    rates = with_workers("slow")
    assert all(twice > 1.3 * once for once, twice in pairwise(rates))


def test_images_gain_little_more_once_there_are_as_many_workers_as_cores():
    cores = json.loads(FILE.read_text(encoding="utf-8"))["cores"]
    counts = [n for n in bench.WORKERS if n]
    enough = min((n for n in counts if n >= cores), default=max(counts))
    more = [ROWS[str(n)]["images"] for n in counts if n >= enough]
    assert max(more) < 1.25 * ROWS[str(enough)]["images"]


def test_rows_gain_nothing_from_workers_but_much_from_whole_batches_without_them():
    assert max(with_workers("rows")) < 1.05
    assert ROWS["1"]["rows"] < 0.5
    assert ROWS["whole-0"]["rows"] > 3


def test_large_samples_gain_more_from_fewer_bytes_than_from_any_number_of_workers():
    assert ROWS["bytes-0"]["large"] > max(1, *with_workers("large"))


def test_a_larger_prefetch_factor_adds_next_to_nothing_where_reads_take_the_same_time():
    assert ROWS["prefetch"]["slow"] < 1.15 * ROWS["2"]["slow"]


def test_one_read_for_a_batch_without_workers_beats_eight_workers():
    assert ROWS["whole-0"]["slow"] > ROWS["8"]["slow"]
