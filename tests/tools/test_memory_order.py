"""The measured numbers say what "Order in memory and speed" says, with slack for the machine."""

import json
import resource
import sys

import pytest
import torch

from benchmarks import memory_order
from book.pipeline.ground.paths import RESULTS

RECORD = json.loads((RESULTS / "memory-order.json").read_text(encoding="utf-8"))

# table, row, the row it is compared with, least and greatest quotient that the text allows
DIRECTIONS = [
    ("lines", "sixteenth", "all", 0.6, None),        # hardly cheaper than adding up all
    ("lines", "few", "sixteenth", None, 0.5),        # a fraction of the time
    ("loop", "columns", "rows", 0.6, 1.6),           # both directions take the same time
    ("loop", "rows", "operator", 100, None),         # more than a hundred times faster
    ("sum", "dim0", "dim1", 1.3, 8),                 # slower, by far less than 16 times
    ("sum", "dim0_of_t", "dim1", 0.6, 1.6),          # the same time
    ("small", "dim0", "dim1", 0.5, 1.5),             # the difference is gone
    ("copy", "matrix", "straight", 2, None),         # several times slower
    ("copy", "batch", "matrix", 1.5, None),          # slower by another factor
    ("copy", "clone", "straight", 2, None),          # several times as long
    ("copy", "contiguous", "clone", 1.1, None),      # pays for both
    ("copy", "contiguous", "matrix", 1.3, None),
    ("add", "columns", "rows", 0.6, 1.6),            # the transpose costs nothing
    ("add", "mixed", "rows", 3, None),               # mixed orders are slow
    ("add", "two_steps", "rows", 2, None),           # the prediction calls this slow
    ("add", "two_steps", "mixed", None, 0.5),        # several times faster than mixed
    ("small_add", "mixed", "rows", 2, None),         # still several times slower in cache
    ("small_add", "two_steps", "mixed", 0.8, None),  # nor does copying first save it
    ("sizes", "1040", "1024", None, 0.8),            # more elements in less time
    ("mm", "left", "plain", 0.7, 1.4),               # little difference
    ("mm", "right", "plain", 0.7, 1.4),
    ("mm", "gaps", "plain", 0.7, 1.5),               # only a little more
    ("conv64", "last", "nchw", 0.6, 1.5),            # little difference
    ("conv3", "last", "nchw", None, 0.9),            # faster
]


def quotients(record):
    """(table, row, other) -> quotient of their times, for each direction of the text."""
    ms = {(name, row["key"]): row["ms"] for name, table in record["tables"].items()
          for row in table["rows"]}
    return {(table, row, other): ms[table, row] / ms[table, other]
            for table, row, other, _, _ in DIRECTIONS}


@pytest.mark.parametrize(("table", "row", "other", "least", "most"), DIRECTIONS)
def test_each_direction_that_the_text_states_was_measured(table, row, other, least, most):
    quotient = quotients(RECORD)[table, row, other]
    assert least is None or quotient >= least
    assert most is None or quotient <= most


def test_every_recorded_row_stands_in_a_direction():
    named = {(table, row) for table, row, *_ in DIRECTIONS}
    named |= {(table, other) for table, _, other, *_ in DIRECTIONS}
    assert named == {(name, row["key"]) for name, table in RECORD["tables"].items()
                     for row in table["rows"]}


def test_the_recorded_tables_are_those_that_the_script_measures():
    tables = {table.key: table for table in memory_order.all_tables()}
    assert set(RECORD["tables"]) == set(tables)
    for name, table in RECORD["tables"].items():
        assert [row["key"] for row in table["rows"]] == [c.key for c in tables[name].cases]
        assert [row["mib"] for row in table["rows"]] == [
            round(case.bytes / memory_order.MIB, 4) for case in tables[name].cases]
        assert table["rows"][0]["ratio"] == 1


def test_the_loop_down_columns_needs_a_new_cache_line_for_every_element(monkeypatch):
    seen = []

    class Matrix:
        def __getitem__(self, place):
            seen.append(place)
            return torch.zeros(1)
    monkeypatch.setattr(memory_order, "N", 128)
    monkeypatch.setattr(memory_order.torch, "randn", lambda *sizes: Matrix())
    columns = next(case for case in memory_order.loops().cases if case.key == "columns")
    seen.clear()
    columns.run()
    lines = {(i * 128 + j) * 4 // 64 for i, j in seen}
    assert len(lines) == len(seen) == 4 * 128
    assert columns.bytes == 64 * len(lines)


def test_small_values_keep_their_digits():
    table = memory_order.Table("t", "", "", [memory_order.same(c, c, 0, None) for c in "ab"])
    shown = memory_order.rows(table, {("t", "a"): 95.03, ("t", "b"): 0.0730712})
    assert [row["ms"] for row in shown] == [95.03, 0.07307]
    assert [row["ratio"] for row in shown] == [1, 0.0007689]


def test_the_script_records_only_on_request_and_what_it_measured(
    monkeypatch, capsys, tmp_path, one_thread
):
    monkeypatch.setattr(memory_order.report.records, "RESULTS", tmp_path)
    monkeypatch.setattr(memory_order, "all_tables", lambda: [memory_order.small_sums()])
    assert memory_order.main(["--rounds", "1"]) == 0
    assert not list(tmp_path.iterdir())
    assert memory_order.main(["--rounds", "1", "--record"]) == 0
    written = json.loads((tmp_path / "memory-order.json").read_text(encoding="utf-8"))
    assert list(written["tables"]) == ["small"]
    assert written["threads"] == torch.get_num_threads() == 1
    assert all(row["ms"] > 0 for row in written["tables"]["small"]["rows"])
    assert "x.sum(dim=0)" in capsys.readouterr().out


def test_the_median_is_of_the_rounds_after_the_first(monkeypatch):
    seconds = iter([0.0, 9.0, 0.0, 0.003, 0.0, 0.001, 0.0, 0.002])
    monkeypatch.setattr(memory_order.time, "perf_counter", lambda: next(seconds))
    table = memory_order.Table("t", "", "", [memory_order.same("c", "", 0, lambda: None)])
    assert memory_order.measure([table], rounds=3) == {("t", "c"): 2.0}


@pytest.mark.skipif(sys.platform != "linux", reason="the text says it of Linux only")
def test_new_memory_is_touched_for_the_first_time_in_each_large_result():
    def faults(run):
        run()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        run()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    x = torch.zeros(4096, 4096)
    out = torch.zeros(4096, 4096)
    assert faults(lambda: x.clone()) > 10 * max(1, faults(lambda: out.copy_(x)))
