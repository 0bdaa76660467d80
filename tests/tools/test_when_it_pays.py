"""The record says what "When does it pay?" says, with slack for the machine, and how it is made."""

import json
import math
import mmap
import resource
import subprocess

import pytest
import torch

from benchmarks import report, when_it_pays
from benchmarks.when_it_pays import NOISE, RECORD, WORKLOADS, break_even
from book.pipeline.ground.paths import RESULTS
from inside.observe.traffic import traffic
from pays_workloads import ELEMENTS, LIBRARY, ROWS, SIDE, WIDTH, branches, chain, norm

STORED = {device: json.loads(file.read_text(encoding="utf-8")) for device, name in RECORD.items()
          if (file := RESULTS / f"{name}.json").is_file()}
CPU = {row["key"]: row for row in STORED["cpu"]["tables"]["cpu"]["rows"]}

FOUND = {"first": 9.0, "eager": 3.0, "compiled": 2.0, "library": 0.0, "faults_eager": 0,
         "faults_compiled": 0}


# ---- what the section says ---------------------------------------------------------------------

def test_the_chain_gains_several_times_and_the_matmul_next_to_nothing():
    assert CPU["chain"]["factor"] > 2.5
    assert 0.8 < CPU["matmul"]["factor"] < 1.25
    assert max(CPU.values(), key=lambda row: row["factor"])["key"] in ("chain", "adam")


def test_one_addition_on_four_elements_loses_and_never_pays():
    assert CPU["tiny"]["factor"] < 0.9
    assert "even_cold" not in CPU["tiny"]
    assert "even_warm" not in CPU["tiny"]


def test_a_job_of_a_hundred_calls_is_too_short_for_a_cold_start():
    row = CPU["chain"]
    assert 150 < row["even_cold"] < 7000
    assert row["warm"] < row["cold"] / 2


def test_bytes_explain_a_part_of_what_the_chain_saved_and_new_pages_are_another():
    row, copy = CPU["chain"], STORED["cpu"]["copy_gb_s"] * 1e6
    moved = traffic(chain, (ELEMENTS,))
    assert 0.1 < (moved.bytes - moved.least) / copy / (row["eager"] - row["compiled"]) < 1
    assert row["faults_compiled"] < row["faults_eager"]
    assert 2 * 4 * SIDE**2 / copy < CPU["matmul"]["eager"] / 5  # a small part of its time


def test_a_branch_in_a_loop_leaves_nothing_compiled():
    assert 0.7 < CPU["branch"]["factor"] < 1.15
    torch._dynamo.reset()
    graphs = []
    compiled = torch.compile(branches, backend=lambda graph, _: graphs.append(graph) or graph)
    x = torch.ones(10)
    assert torch.equal(compiled(x), branches(x))
    assert graphs == []


def test_what_calls_libraries_is_mostly_libraries():
    for name in ("mlp", "block", "matmul"):
        assert CPU[name]["library"] > 50
        assert CPU[name]["factor"] < 1.3 / (CPU[name]["library"] / 100)
    for name in ("chain", "norm", "adam", "tiny"):
        assert CPU[name]["library"] == 0


@pytest.mark.parametrize("device", STORED)
def test_break_even_counts_follow_from_the_other_columns(device):
    for row in STORED[device]["tables"][device]["rows"]:
        for cache in ("cold", "warm"):
            assert (f"even_{cache}" in row) is (row["spread"][0] > NOISE)
            if f"even_{cache}" in row:
                counted = break_even(row[cache], row["eager"], row["compiled"])
                assert math.isclose(counted, row[f"even_{cache}"], rel_tol=0.05)  # rounded columns


# ---- how it is made ----------------------------------------------------------------------------

@pytest.mark.parametrize(("first", "eager", "compiled", "calls"), [
    (10.0, 5.0, 4.0, 9996), (0.004, 5.0, 4.0, 1), (0.0001, 5.0, 4.0, 1),
    (10.0, 4.0, 5.0, None), (10.0, 4.0, 4.0, None), (0.1, 10.0, 0.0, 10)])
def test_break_even_is_the_first_total_that_is_no_longer(first, eager, compiled, calls):
    assert break_even(first, eager, compiled) == calls
    if calls and calls > 1:
        def total(n):
            return first * 1e3 + (n - 1) * compiled
        assert total(calls) <= calls * eager
        assert total(calls - 1) > (calls - 1) * eager


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_gives_the_same_tensors_each_time_it_is_prepared(name):
    first, again = (WORKLOADS[name].prepare("cpu") for _ in range(2))
    for one, other in zip(first[1](first[0]), again[1](again[0]), strict=True):
        assert torch.equal(one, other)
        assert not one.requires_grad or one.is_leaf


def test_the_chain_has_ten_operators_and_layer_norm_with_gelu_two():
    assert len(traffic(chain, (ELEMENTS,)).operators) == 10
    found = traffic(norm, (ROWS, WIDTH), (WIDTH,), (WIDTH,))
    assert [name for name, _ in found.operators] == ["native_layer_norm", "gelu"]
    assert traffic(chain, (ELEMENTS,)).bytes / traffic(chain, (ELEMENTS,)).least == 12


def test_calls_take_turns_and_give_medians(monkeypatch):
    order, now = [], [0.0]
    monkeypatch.setattr(when_it_pays.time, "perf_counter", lambda: now[0])

    def call(name, cost):
        order.append(name)
        now[0] += cost
    found = when_it_pays.alternating({"slow": lambda: call("slow", 0.5),
                                      "fast": lambda: call("fast", 0.25)}, "cpu", 3)
    assert order[10:] == ["slow", "fast"] * 3
    assert found == {"slow": 0.5, "fast": 0.25}


def test_the_share_of_libraries_is_counted_in_eager_mode():
    a = torch.ones(512, 512)
    assert when_it_pays.library(lambda: a @ a, "cpu") > 60  # of the whole time, on a busy machine
    assert when_it_pays.library(lambda: a + a, "cpu") == 0
    assert "mm" in LIBRARY


def test_cold_and_warm_are_two_processes_with_one_folder_of_their_own(monkeypatch):
    asked = []

    def run(command, **options):
        asked.append((command[2], options["env"]["TORCHINDUCTOR_CACHE_DIR"]))
        cold = command[2].endswith("0)))")
        found = FOUND | {"first": 9.0 if cold else 1.0}
        return subprocess.CompletedProcess(command, 0, json.dumps(found), "")
    monkeypatch.setattr(subprocess, "run", run)
    rows = [when_it_pays.row(name, "cpu", 5) for name in ("chain", "norm")]
    each = 1 + when_it_pays.PROCESSES
    assert [row["even_cold"] for row in rows] == [8998, 8998]
    assert [row["even_warm"] for row in rows] == [998, 998]
    assert [", 0)" in program for program, _ in asked] == ([True] + [False] * (each - 1)) * 2
    folders = [folder for _, folder in asked]
    assert len(set(folders[:each])) == len(set(folders[each:])) == 1
    assert len(set(folders)) == 2


@pytest.mark.parametrize(("eager", "told"), [
    ((3.0, 3.0, 3.0), True), ((2.04, 2.04, 2.04), False), ((3.0, 2.1, 4.0), False)])
def test_a_gain_counts_only_where_every_process_found_it(monkeypatch, eager, told):
    times = iter([9.0, *eager])
    monkeypatch.setattr(when_it_pays, "measure",
                        lambda call, caches: FOUND | {"eager": next(times)})
    row = when_it_pays.row("chain", "cpu", 5)
    assert ("even_cold" in row) is ("even_warm" in row) is told
    assert row["eager"] == sorted(eager)[1]
    assert row["spread"] == [min(eager) / 2, max(eager) / 2]


def test_a_call_that_takes_new_memory_has_page_faults():
    if resource.getpagesize() > 2**16:
        pytest.skip("pages are large here")
    assert when_it_pays.faults(lambda: None) == 0
    assert when_it_pays.faults(lambda: mmap.mmap(-1, 2**22).write(bytes(2**22))) > 50


def test_a_process_that_fails_is_told_in_its_own_words(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(
        command, 1, "", "Tensor-likes are not close!"))
    with pytest.raises(SystemExit, match=r"(?s)not close.*workload\('chain'.* failed"):
        when_it_pays.row("chain", "cpu", 5)


def test_a_gpu_gets_tables_of_its_own_and_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(report.records, "RESULTS", tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "GPU 9000")
    monkeypatch.setattr(when_it_pays, "measure", lambda call, caches: {
        "copy": 1.0} | FOUND)
    assert when_it_pays.main(["--record"]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "when-it-pays-cuda.json", "when-it-pays.json"]
    cpu, cuda = (json.loads((tmp_path / f"{RECORD[device]}.json").read_text("utf-8"))
                 for device in ("cpu", "cuda"))
    assert cuda["machine"].startswith("GPU 9000; ")
    assert "GPU 9000" not in cpu["machine"]
    assert len(cuda["tables"]["cuda"]["rows"]) == len(cpu["tables"]["cpu"]["rows"]) == 8


def test_a_gpu_has_finished_before_a_clock_is_read(monkeypatch):
    log = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: log.append("synchronise"))
    monkeypatch.setattr(when_it_pays.time, "perf_counter", lambda: log.append("clock") or 0.0)
    when_it_pays.seconds(lambda: log.append("call"), "cuda", 2)
    assert log == ["synchronise", "clock", "call", "call", "synchronise", "clock"]


def test_without_a_gpu_only_the_cpu_is_measured(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert when_it_pays.devices() == ["cpu"]
