"""The script that kills the loader's workers: its judges see what they must, and it records only
what is without a fault."""

import itertools
import json
import mmap
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest
import torch

import mini_loader
import mini_loader_pool
import mini_loader_worker
from benchmarks import loader_chaos as bench
from benchmarks import report
from book.pipeline.ground.paths import ROOT
from inside.recorded import Recorded
from mini_loader_lending import LentSlots
from oracles import leftovers, loader_datasets

pytestmark = pytest.mark.usefixtures("start_by_fork")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks in /proc for what stays")
QUICK = bench.Fire(5, 0.01, 0.0005, 2)
METHODS = ("fork", "forkserver", "spawn")
NONE = dict.fromkeys(bench.FAULTS, 0)


def batch(first):
    """As of `Draws`: tensor, indices, draws."""
    i = torch.tensor([first, first + 1])
    return [i.double(), i, {"torch": i / 3, "random": i / 5}]


def epoch():
    return [batch(first) for first in (4, 0, 6, 2)]


def faults(batches):
    """The faults that the judge sees in these, instead of an epoch in peace."""
    counts = bench.Judge(epoch(), random.Random(0)).watch(batches)
    return {name: counts[name] for name in bench.FAULTS if counts[name]}


# ---- the judge ----------------------------------------------------------------------------------

def test_an_epoch_as_in_peace_has_no_fault():
    assert faults(epoch()) == {}
    counts = bench.Judge(epoch(), random.Random(0)).watch(epoch())
    assert (counts["batches"], counts["epochs"]) == (4, 1)


@pytest.mark.parametrize(("order", "found"), [
    ([0, 1, 3], {"lost": 1}),
    ([0, 1, 2], {"lost": 1}),
    ([], {"lost": 4}),
    ([0, 1, 1, 2, 3], {"repeated": 1}),
    ([0, 1, 2, 3, 0], {"repeated": 1}),
    ([0, 2, 1, 3], {"disordered": 1}),
    ([3, 0, 1, 2], {"disordered": 3}),
    ([0, 2, 0, 3], {"lost": 1, "repeated": 1}),
])
def test_a_lost_a_repeated_and_a_disordered_batch_are_counted(order, found):
    assert faults([epoch()[place] for place in order]) == found


def test_an_epoch_that_never_ends_is_left():
    assert faults(itertools.repeat(epoch()[0])) == {"lost": 3, "repeated": 7}


@pytest.mark.parametrize("change", [
    lambda one: one[0].add_(1), lambda one: one.__setitem__(0, one[0].float()),
    lambda one: one.__setitem__(0, None)])
def test_a_batch_with_other_content_is_counted(change):
    batches = epoch()
    change(batches[2])
    assert faults(batches) == {"altered": 1}


def test_a_batch_of_other_indices_is_one_more_and_one_less():
    batches = epoch()
    batches[1][1].add_(1)
    assert faults(batches) == {"altered": 1, "lost": 1}


@pytest.mark.parametrize("kind", ["torch", "random"])
def test_a_batch_with_other_draws_is_counted(kind):
    batches = epoch()
    batches[3][2][kind] += 1e-6
    assert faults(batches) == {"redrawn": 1}


def test_a_batch_that_changes_while_it_is_held_is_counted():
    def overwriting():
        batches = epoch()
        yield from batches
        for one in batches:
            one[0].zero_()
    judge = bench.Judge(epoch(), random.Random(0))
    counts = judge.watch(overwriting())
    assert counts["altered"] == len(judge.held) > 0
    assert not counts["lost"]


# ---- the loader, whole and broken ---------------------------------------------------------------

def test_the_number_of_batches_is_that_of_an_epoch():
    dataset = loader_datasets.Draws(bench.BATCHES * bench.BATCH_SIZE - 4)
    assert len(mini_loader.DataLoader(dataset, bench.BATCH_SIZE)) == bench.BATCHES


def test_enough_workers_are_killed_and_nothing_is_found():
    counts = bench.chaos("fork", QUICK.kills, QUICK)
    assert counts["kills"] >= counts["restarts"] >= QUICK.kills
    assert counts["resent"] > 0
    assert counts["batches"] == counts["epochs"] * bench.BATCHES > 0
    assert {name: counts[name] for name in NONE} == NONE
    assert counts["seconds"] > 0


def test_workers_are_spared_until_as_many_batches_came_as_died():
    killed, statistics = [], mini_loader.Statistics()
    killer = bench.Killer(1000.0, 100)
    killer.loader, killer.set_alarm = SimpleNamespace(statistics=statistics), lambda: None
    killer.kill_one = lambda: killed.append(1)
    for restarts, batches, kills in [(bench.AHEAD, 0, 1), (bench.AHEAD + 1, 0, 1),
                                     (bench.AHEAD + 1, 1, 2), (99, 98, 3), (100, 100, 3)]:
        statistics.restarts, statistics.batches = restarts, batches
        killer.strike()
        assert len(killed) == kills


def drops_tasks(monkeypatch):
    def replace(pool, worker):
        worker.end()
        pool.statistics.restarts += 1
        worker.start(pool.context, pool.job)
        mini_loader_pool.release(worker, pool.slots)
    monkeypatch.setattr(mini_loader_pool.Pool, "replace", replace)


def never_seeds(monkeypatch):
    monkeypatch.setattr(mini_loader_worker, "seed_everything", lambda seed: None)


def frees_slots_early(monkeypatch):
    def unpack(slots, number, offset, length):
        reply = whole(slots, number, offset, length)
        slots.free.append(slots.slots[number])
        return reply
    whole = LentSlots.unpack
    monkeypatch.setattr(LentSlots, "unpack", unpack)
    monkeypatch.setattr(LentSlots, "give_back", lambda slots, slot: None)


@pytest.mark.parametrize(("break_it", "fault"), [
    (drops_tasks, "lost"), (never_seeds, "redrawn"), (frees_slots_early, "altered")])
def test_a_loader_that_is_broken_is_found_out(break_it, fault, monkeypatch):
    break_it(monkeypatch)
    assert bench.chaos("fork", 10, QUICK)[fault] > 0


def test_another_result_than_torchs_is_counted(monkeypatch):
    assert bench.equality("fork", 3)["differing"] == 0
    monkeypatch.setattr(mini_loader.DataLoader, "draw_seed", lambda loader: 5)
    counts = bench.equality("fork", 3)
    assert (counts["cases"], counts["differing"]) == (3, 3)
    assert counts["compared"] > 3


# ---- what stays ---------------------------------------------------------------------------------

@contextmanager
def process():
    child = subprocess.Popen(["sleep", "60"])
    yield str(child.pid)
    child.kill()
    child.wait()


@contextmanager
def dead_process_that_nobody_waits_for():
    child = os.fork()
    if child == 0:
        os._exit(0)
    yield str(child)
    os.waitpid(child, 0)


@contextmanager
def descriptor():
    fd = os.open(os.devnull, os.O_RDONLY)
    yield f"{fd} {os.devnull}"
    os.close(fd)


@contextmanager
def shared_file(name="loader-chaos-test-{}", maker=None):
    file = Path("/dev/shm") / name.format(maker or os.getpid())
    file.touch()
    yield file.name
    file.unlink()


def shared_file_of_torch():
    return shared_file("torch_{}_1_0")


@contextmanager
def mapping():
    fd = os.memfd_create("loader-chaos-test")
    os.ftruncate(fd, mmap.PAGESIZE)
    with mmap.mmap(fd, mmap.PAGESIZE):
        os.close(fd)
        yield "memfd:loader-chaos-test"


@contextmanager
def temporary_file():
    with tempfile.NamedTemporaryFile() as file:
        yield file.name


@linux
@pytest.mark.parametrize(("kind", "leak"), [
    ("processes", process), ("processes", dead_process_that_nobody_waits_for),
    ("descriptors", descriptor), ("shared", shared_file),
    ("shared", shared_file_of_torch), ("mappings", mapping),
    ("temporary", temporary_file)])
def test_what_stays_is_seen(kind, leak):
    with leftovers.own_temporary_folder():
        before = leftovers.holdings()
        assert set(before) == set(leftovers.HOLDINGS)
        with leak() as name:
            left = leftovers.left_behind(before, {os.getpid()}, 0.0)
        assert any(name in thing for thing in left[kind])
        left = leftovers.left_behind(before, {os.getpid()}, 5.0)
        assert not any(name in thing for thing in left[kind])   # others may use /dev/shm, too


@linux
def test_a_file_that_another_program_has_left_meanwhile_is_not_ours():
    with leftovers.own_temporary_folder(), leftovers.noting_processes() as own:
        before = leftovers.holdings()
        started = multiprocessing.get_context("fork").Process(target=int)
        started.start()
        started.join()
        with (shared_file("torch_{}_1_0", os.getppid()) as theirs,
              shared_file("sem.mp-abcd{}") as semaphore,
              shared_file(".org.browser.abcd{}") as browsers,
              shared_file("torch_{}_1_0", started.pid) as ours):
            held = multiprocessing.get_context("spawn").Lock()
            left = leftovers.left_behind(before, own, 0.0)["shared"]
            mine = f"sem.{held._semlock.name.strip('/')}"
    assert left & {theirs, semaphore, browsers, ours, mine} == {ours, mine}


@linux
def test_a_process_of_a_process_is_seen():
    with leftovers.own_temporary_folder():
        before = leftovers.holdings()
        child = subprocess.Popen(["sh", "-c", "sleep 60 & echo $!; wait"], text=True,
                                 stdout=subprocess.PIPE)
        grandchild = child.stdout.readline().strip()
        left = leftovers.left_behind(before, (), 0.0)["processes"]
        os.kill(int(grandchild), signal.SIGKILL)
        child.communicate()
    assert left == {str(child.pid), grandchild}


@linux
def test_what_goes_within_the_time_has_not_stayed():
    with leftovers.own_temporary_folder():
        before = leftovers.holdings()
        child = subprocess.Popen(["sleep", "0.3"])
        reaper = threading.Thread(target=child.wait)
        reaper.start()
        left = leftovers.left_behind(before, (), 10.0)
        reaper.join()
    assert not left["processes"]


@linux
def test_a_loader_that_leaks_is_found_out(monkeypatch):
    kept = []

    def start(worker, context, job):
        kept.append(os.dup(job.file.fd))
        whole(worker, context, job)
    whole = mini_loader_pool.WorkerProcess.start
    monkeypatch.setattr(mini_loader_pool.WorkerProcess, "start", start)
    with leftovers.own_temporary_folder():
        before = leftovers.holdings()
        bench.chaos("fork", 2, QUICK)
        left = leftovers.left_behind(before, (), 0.0)
    for fd in kept:
        os.close(fd)
    assert sum("memfd:mini_loader" in thing for thing in left["descriptors"]) == len(kept) > 0


def test_temporary_files_go_to_a_folder_of_their_own_and_after_it_to_the_usual_one():
    before = tempfile.gettempdir(), os.environ.get("TMPDIR")
    with leftovers.own_temporary_folder():
        folder = tempfile.gettempdir()
        assert folder == os.environ["TMPDIR"] != before[0]
        assert not list(Path(folder).iterdir())
    assert (tempfile.gettempdir(), os.environ.get("TMPDIR")) == before
    assert not Path(folder).exists()


# ---- what is recorded ---------------------------------------------------------------------------

def labelled(**properties):
    words = {"type": "string", "minLength": 1}
    return {"type": "object", "additionalProperties": False,
            "properties": {"zh": words, "en": words, **properties},
            "required": ["zh", "en", *properties]}


def table(labels, least):
    """Schema of a table: its rows in order, each with a number for each method."""
    def row(key):
        none = key in labels and any(key in keys for keys in bench.MUST_BE_NONE.values())
        value = {"const": 0} if none else {"type": "number", "minimum": least.get(key, 0)}
        return labelled(key={"const": key}, **dict.fromkeys(METHODS, value))
    rows = [row(key) for key in labels]
    return labelled(rows={"type": "array", "prefixItems": rows, "items": False,
                          "minItems": len(rows)})


def schema(least):
    word = {"type": "string", "minLength": 1}
    tables = {"deaths": table(bench.COUNTS, least), "left": table(leftovers.HOLDINGS, least),
              "equality": table(bench.EQUALITY, least)}
    properties = {"machine": word, "python": word, "torch": word, "threads": {"const": 1},
                  "load": {"type": "number", "minimum": 0},
                  "date": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
                  "measured": {"type": "object", "minProperties": 1,
                               "additionalProperties": {"type": "string"}},
                  "columns": {"type": "array", "minItems": 3, "maxItems": 3,
                              "items": labelled(key={"enum": list(METHODS)})},
                  "tables": {"type": "object", "properties": tables, "required": list(tables),
                             "additionalProperties": False}}
    required = [name for name in properties if name != "measured"]  # an older record has none
    return {"type": "object", "properties": properties, "required": required,
            "additionalProperties": False}


COUNTED = Counter(kills=9, restarts=5, resent=11, epochs=2, batches=76, seconds=3.5)
COMPARED = Counter(cases=2, compared=30)


@pytest.fixture
def found(monkeypatch, tmp_path):
    """What the next run finds; it takes no time. Results go to a folder of their own."""
    things = {"counts": COUNTED.copy(), "left": {kind: set() for kind in leftovers.HOLDINGS},
              "equal": COMPARED.copy(), "folder": tmp_path}
    monkeypatch.setattr(report.records, "RESULTS", tmp_path)
    monkeypatch.setattr(bench, "chaos_and_after",
                        lambda method, enough, fire: (things["counts"], things["left"]))
    monkeypatch.setattr(bench, "equality", lambda method, cases: things["equal"])
    for owner, name in [(torch, "set_num_threads"), (bench, "set_forkserver_preload")]:
        monkeypatch.setattr(owner, name, lambda given: None)    # else later tests would have it
    return things


@linux
def test_what_is_without_a_fault_is_recorded_on_request(found, capsys):
    assert bench.main([]) == 0
    assert not list(found["folder"].iterdir())
    assert bench.main(["--record"]) == 0
    written = json.loads((found["folder"] / "loader-chaos.json").read_text(encoding="utf-8"))
    jsonschema.validate(written, schema({"kills": 9, "restarts": 5, "compared": 30}))
    out = capsys.readouterr().out
    assert "OVER" not in out
    assert out.count("within") == 2 * (len(bench.FAULTS) + len(leftovers.HOLDINGS) + 1)


@linux
@pytest.mark.parametrize("fault", [*bench.FAULTS, *leftovers.HOLDINGS, "differing"])
def test_a_fault_is_an_exit_status_and_is_not_recorded(fault, found, capsys):
    if fault in leftovers.HOLDINGS:
        found["left"][fault] = {"the one that stayed"}
    else:
        found["counts" if fault in bench.FAULTS else "equal"][fault] = 1
    assert bench.main(["--record"]) == 1
    assert not list(found["folder"].iterdir())
    out = capsys.readouterr().out
    assert len(re.findall(r"^OVER .* 1 \(≤ 0\)", out, re.M)) == len(METHODS)
    assert ("the one that stayed" in out) == (fault in leftovers.HOLDINGS)


@linux
def test_fewer_kills_are_not_recorded(capsys):
    with pytest.raises(SystemExit):
        bench.main(["--record", "--kills", "999"])
    assert "--record needs --kills 1000 or more" in capsys.readouterr().err


def test_the_measurement_kills_a_thousand_under_fork_and_twenty_under_the_others():
    assert tuple(bench.METHODS) == METHODS
    assert bench.scaled(1000) == bench.METHODS
    assert bench.METHODS["fork"].kills >= 1000
    assert min(fire.kills for fire in bench.METHODS.values()) >= 20
    fewer = bench.scaled(100)
    assert [fire.kills for fire in fewer.values()] == [100, 4, 2]
    assert all(fire.kills and fire.cases for fire in bench.scaled(1).values())


def test_the_tables_are_shown_in_both_languages(found):
    shown = Recorded(bench.result(bench.METHODS), ("deaths", "left"))
    text, page = repr(shown), shown._repr_html_()
    for words in ("batches lost", "丢失的批", "files in /dev/shm", "forkserver", "76"):
        assert words in text
        assert words in page
    assert "torch 2." in text


def test_what_is_recorded_has_a_thousand_deaths_and_no_fault():
    stored = json.loads((ROOT / "benchmarks/results/loader-chaos.json").read_text("utf-8"))
    jsonschema.validate(stored, schema({"kills": 20, "restarts": 20, "batches": 1, "cases": 10,
                                        "compared": 10, "epochs": 1}))
    deaths = {row["key"]: row for row in stored["tables"]["deaths"]["rows"]}
    assert deaths["kills"]["fork"] >= deaths["restarts"]["fork"] >= 1000
    assert deaths["epochs"]["fork"] >= 10
    for method in METHODS:
        assert deaths["batches"][method] == deaths["epochs"][method] * bench.BATCHES
