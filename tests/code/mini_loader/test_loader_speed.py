"""The script that times mini_loader: what it counts, checks and records."""

import itertools
import json

import pytest
import torch
from torch.utils import data

from benchmarks import loader as bench


class Tiny(data.Dataset):
    def __init__(self, size=8, order=None):
        self.order = order or list(range(size))

    def __len__(self):
        return len(self.order)

    def __getitem__(self, i):
        return torch.zeros(1, 2, 2), self.order[i]


def tiny(key="cheap"):
    return bench.Workload(key, "小", "Tiny", Tiny(), 3)


def one_round(torch_rates, our_rates, copies=(4.0, 8.0)):
    return {("copy", 1): copies[0], ("copy", 2): copies[1],
            **{("torch", n): rate for n, rate in enumerate(torch_rates)},
            **{("ours", n): rate for n, rate in enumerate(our_rates)}}


def test_the_rate_counts_samples_between_first_and_last_look_at_the_clock():
    clock = iter([10.0, 12.0])
    assert bench.epoch(data.DataLoader(Tiny(), 3), 8, clock=lambda: next(clock)) == 4.0


@pytest.mark.parametrize("order", [[1, 0, 2], [0, 1, 1], [0, 1]])
def test_an_epoch_with_wrong_labels_ends_the_script(order):
    with pytest.raises(SystemExit, match=r"not 0 … 2"):
        bench.epoch(data.DataLoader(Tiny(order=order), 2), 3)


def test_the_rate_of_copying_counts_what_all_threads_copied(monkeypatch):
    clock = itertools.count(0.0, 2.0)
    monkeypatch.setattr(bench.time, "perf_counter", lambda: next(clock))
    assert bench.copy_rate(2, megabytes=1, times=3) == 2 * 3 * 1e6 / 2.0 / 1e9


def test_a_round_times_both_loaders_in_turn_with_each_number_of_workers(monkeypatch):
    order = []
    monkeypatch.setattr(bench, "loaders", lambda workload, n: {"torch": ("torch", n),
                                                               "ours": ("ours", n)})
    monkeypatch.setattr(bench, "epoch", lambda loader, size: order.append(loader) or size)
    found = bench.rounds_of(tiny(), 2, copy=lambda threads: threads)
    warm_up = [(kind, n) for n in bench.WORKERS for kind in ("torch", "ours")]
    assert order[:6] == warm_up
    assert order[6:12] == [(kind, n) for n in bench.WORKERS for kind in ("ours", "torch")]
    assert order[12:] == warm_up
    assert found == [one_round((8, 8, 8), (8, 8, 8), (1, 2))] * 2


def test_ratios_are_medians_of_the_rounds_and_know_torchs_best_row():
    found = [one_round((100, 50, 80), (90, 100, 160)),
             one_round((100, 40, 80), (90, 100, 240)),
             one_round((200, 50, 80), (90, 100, 400))]
    rows = bench.rows(tiny(), found)
    assert [row["key"] for row in rows] == ["0", "1", "2"]
    assert [row["ratio"] for row in rows] == [0.9, 2.0, 3.0]
    assert [row["to_best"] for row in rows] == [0.9, 1.0, 2.0]
    assert [row["torch"] for row in rows] == [100, 50, 80]
    gb = 240 * 16 / 1e9
    assert rows[2]["gb"] == pytest.approx(gb, rel=0.01)
    assert rows[2]["share"] == pytest.approx(gb / 8, rel=0.01)
    assert rows[1]["share"] == pytest.approx(100 * 16 / 1e9 / 4, rel=0.01)


def test_the_budgets_look_at_two_workers():
    def verdict(key, ratio, share):
        row = {"key": "2", "ratio": ratio, "share": share}
        return bench.verdicts({"tables": {key: {"rows": [{"key": "1"}, row]}}})
    assert [line[:6] for line in verdict("cheap", 2.5, 0)] == ["within"]
    assert [line[:4] for line in verdict("cheap", 2.4, 0)] == ["OVER"]
    assert [line[:6] for line in verdict("large", 4.0, 0.9)] == ["within", "within"]
    assert [line[:4] for line in verdict("large", 3.9, 0.8)] == ["OVER", "OVER"]
    assert [line[:4] for line in verdict("heavy", 0.9, 0)] == ["OVER"]


def test_the_workloads_are_those_that_the_budgets_name():
    assert {one.key for one in bench.all_workloads()} == set(bench.BUDGETS)
    cheap, heavy, large = bench.all_workloads()
    assert (len(cheap.dataset), cheap.batch_size, cheap.sample_bytes()) == (20_000, 256, 12_288)
    assert (heavy.batch_size, large.batch_size, large.sample_bytes()) == (32, 32, 602_112)
    assert heavy.dataset[3][1] == 3


def test_the_script_records_only_on_request_and_what_it_measured(
    monkeypatch, capsys, tmp_path, one_thread
):
    monkeypatch.setattr(bench.report.records, "RESULTS", tmp_path)
    monkeypatch.setattr(bench, "all_workloads", lambda: [tiny()])
    monkeypatch.setattr(bench, "copy_rate", lambda threads: 1.0)
    monkeypatch.setattr(bench, "BUDGETS", {"cheap": 0.0})
    monkeypatch.setattr(bench.rounds_of, "__defaults__", (lambda threads: 1.0,))
    assert bench.main(["--rounds", "1"]) == 0
    assert not list(tmp_path.iterdir())
    assert bench.main(["--rounds", "1", "--record"]) == 0
    written = json.loads((tmp_path / "loader.json").read_text(encoding="utf-8"))
    assert [row["key"] for row in written["tables"]["cheap"]["rows"]] == ["0", "1", "2"]
    assert written["copy"] == {"1": 1.0, "2": 1.0}
    assert all(row["ours"] > 0 for row in written["tables"]["cheap"]["rows"])
    assert {column["key"] for column in written["columns"]} < set(
        written["tables"]["cheap"]["rows"][0])
    assert "2 workers" in capsys.readouterr().out


def test_only_one_workload_is_never_recorded(capsys):
    with pytest.raises(SystemExit):
        bench.main(["--only", "cheap", "--record"])
    assert "leave out --only" in capsys.readouterr().err
