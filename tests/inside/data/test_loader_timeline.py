"""The loader's timeline: its simulation decides as torch does, page and table tell the same."""

import json
import multiprocessing
import random
import re
import threading
import time
from collections import Counter
from html import unescape
from itertools import chain

import pytest
from torch.utils.data import DataLoader, Dataset
from traitlets import TraitError

from benchmarks import loader_traces
from inside.data.observe import virtual_loader
from inside.widgets import loader_timeline
from inside.widgets.loader_timeline import ESM, RANGES, LoaderTimeline
from inside.widgets.web_module import joined_module
from oracles.web.javascript import evaluate
from tests.helpers import depth
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.programs("book/web/**/*", "package-lock.json")

CASES = depth.cases(200)
LIMIT = 600  # seconds that anything may wait; nothing comes near
DEFAULTS = LoaderTimeline().settings


def draw(seed):
    """Random settings; times that are alike come often, so that much happens at one moment."""
    rng = random.Random(seed)
    settings = {
        "num_workers": rng.choice([0, 1, 2, 2, 3, 4, 6]),
        "prefetch_factor": rng.choice([1, 2, 3, 8]),
        "batches": rng.randint(1, 24), "fetch": rng.choice([1, 2, 10, rng.randint(1, 999)]),
        "step": rng.choice([0, 1, 5, 10, 200, rng.randint(0, 999)]),
        "spread": rng.choice([0, 0, 100, rng.randint(1, 99)]),
        "startup": rng.choice([0, 0, 10, rng.randint(1, 9999)]),
        "pin": rng.choice([0, 0, 1, 10, rng.randint(1, 999)]), "megabytes": rng.randint(1, 999),
        "in_order": rng.random() < 0.5, "slow": rng.choice(["none", "worker", "batch"]),
        "factor": rng.randint(2, 20), "at": rng.randint(0, 500),
    }
    most = {"worker": max(1, settings["num_workers"])}.get(settings["slow"], settings["batches"])
    return settings | {"which": rng.randrange(most)}


def books(iterator):
    """What torch's iterator has written down: its tasks, its counts."""
    out = [sorted(k for k, task in iterator._task_info.items() if task == (worker,))
           for worker in range(iterator._num_workers)]
    return {
        "out": out, "early": sorted(k for k, task in iterator._task_info.items() if len(task) == 2),
        "sent": iterator._send_idx, "outstanding": iterator._tasks_outstanding,
        "turn": iterator._rcvd_idx if iterator._in_order else None,
    }


def run_watched(settings):
    """torch's epoch on the virtual clock, and its books at each moment at which they were read."""
    seen = {}

    def watch(now, iterator):
        if settings["num_workers"]:
            assert iterator._workers_num_tasks == counts(iterator)
            seen[now] = books(iterator)

    return virtual_loader.run(settings, watch), seen


def counts(iterator):
    """How many batches each worker has that are not handed over."""
    whom = Counter(task[0] for task in iterator._task_info.values())
    return [whom[worker] for worker in range(iterator._num_workers)]


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """Evaluate JavaScript over `m`, the module that a notebook gets, and `data`."""
    file = tmp_path_factory.mktemp("timeline") / "joined.mjs"
    file.write_text(joined_module(ESM), encoding="utf-8")
    return lambda expression, data=None: evaluate(file, expression, data)


@pytest.fixture(scope="module")
def cases(module):
    """(settings, torch's batches in order of delivery, torch's books, what the page makes)."""
    drawn = [draw(seed) for seed in range(CASES)]
    theirs = [run_watched(settings) for settings in drawn]
    ours = module("""data.map(([settings, times]) => {
      const run = m.simulate(settings), rows = run.order.map((n) => run.tasks[n]);
      return { ...run, rows, figures: m.figures(run), times: m.timesOf(run),
        states: times.map((time) => m.stateAt(run, time)),
        all: run.moments.map((time) => m.stateAt(run, time)) };
    })""", [[settings, list(seen)] for settings, (_, seen) in zip(drawn, theirs, strict=True)])
    return list(zip(drawn, *zip(*theirs, strict=True), ours, strict=True))


def test_the_cases_hold_what_the_claims_are_about(cases):
    found = Counter()
    for settings, rows, _, ours in cases:
        workers = settings["num_workers"]
        found[workers] += 1
        found[settings["slow"], settings["in_order"]] += 1
        found["no step"] += settings["step"] == 0
        found["kept early"] += any(state["early"] for state in ours["all"])
        found["in the result queue"] += any(state["results"] for state in ours["all"])
        found["waits to be pinned"] += settings["pin"] > 0 and any(
            row["pinning"] > row["end"] for row in rows)
        found["pinned ahead"] += any(state["pinned"] for state in ours["all"])
        found["of different lengths"] += len({row["end"] - row["start"] for row in rows}) > 3
        found["starts late"] += min(row["start"] for row in rows) > 0
        found["other order"] += ours["order"] != sorted(ours["order"])
        found["a worker is passed over"] += workers > 1 and any(
            row["worker"] != row["batch"] % workers for row in rows)
        found["fewer batches than the first round"] += (
            settings["batches"] < workers * settings["prefetch_factor"])
        found["two ready at once"] += len({row["end"] for row in rows}) < len(rows)
    assert len(found) == 6 + 6 + 11, found  # numbers of workers, what is slow in which order, words
    assert min(found.values()) >= CASES / 32, found


# ---------------------------------------------------------------- the rules are torch's
def test_who_makes_which_batch_when_is_as_torch_decides(cases):
    for settings, rows, _, ours in cases:
        assert ours["rows"] == rows, settings


def test_sent_kept_and_expected_are_what_stands_in_the_books_of_torch(cases):
    compared = 0
    for settings, _, seen, ours in cases:
        for now, state in zip(seen, ours["states"], strict=True):
            workers = range(settings["num_workers"])
            whom = {row["batch"]: row["worker"] for row in ours["rows"]}
            out = [sorted([*state["queues"][w], *([state["making"][w]] if state["making"][w]
                    is not None else []), *(k for k in here(state) if whom[k] == w)])
                   for w in workers]
            told = {"out": out, "early": state["early"], "sent": state["sent"],
                    "outstanding": sum(map(len, out)),
                    "turn": state["given"] if settings["in_order"] else None}
            assert told == seen[now], (settings, now)
            compared += 1
    assert compared > 10 * CASES


def here(state):
    """What is made and not received: in the queue of results, or with the thread that pins."""
    pinning = [state["pinning"]] if state.get("pinning") is not None else []
    return state["results"] + pinning + state["pinned"]


class Held(Dataset):
    """Sample i is i, once gate i is open."""

    def __init__(self, size):
        self.gates = [multiprocessing.Event() for _ in range(size)]

    def __len__(self):
        return len(self.gates)

    def __getitem__(self, i):
        assert self.gates[i].wait(LIMIT), f"gate {i} stays shut"
        return i


def release(data, iterator, batches):
    """Open the gates one by one, each when the main process has received the batch before."""
    for batch in batches:
        data.gates[batch].set()
        until = time.monotonic() + LIMIT
        while len(iterator._task_info.get(batch, "received")) == 1:
            assert time.monotonic() < until, f"batch {batch} is not received"
            time.sleep(0.001)


REAL = [
    DEFAULTS | {"batches": 10, "slow": "batch", "which": 3, "factor": 9},
    DEFAULTS | {"batches": 10, "slow": "batch", "which": 2, "factor": 6, "in_order": False},
    DEFAULTS | {"num_workers": 3, "prefetch_factor": 1, "batches": 12, "slow": "worker",
                "which": 1, "in_order": False, "step": 5},
    DEFAULTS | {"num_workers": 3, "batches": 12, "slow": "worker", "which": 0, "step": 5},
]


@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # more workers than cores
@pytest.mark.parametrize("settings", REAL)
def test_real_workers_that_take_turns_as_on_the_virtual_clock_get_the_same_batches(settings):
    rows, seen = run_watched(settings)
    arrivals = sorted(rows, key=lambda row: (row["got"], row["end"], row["worker"]))
    data = Held(settings["batches"])
    iterator = iter(DataLoader(
        data, batch_size=None, num_workers=settings["num_workers"],
        prefetch_factor=settings["prefetch_factor"], in_order=settings["in_order"], timeout=LIMIT))
    assert any(row["batch"] != n for n, row in enumerate(arrivals)), "some batch overtakes another"
    for row in rows:
        due = [a["batch"] for a in arrivals if row["asked"] <= a["got"] <= row["given"]]
        helper = threading.Thread(target=release, args=(data, iterator, due))
        helper.start()
        assert next(iterator) == row["batch"]
        helper.join()
        assert books(iterator) == seen[row["given"]]
    assert list(iterator) == []


def test_the_virtual_loader_starts_no_process_and_takes_no_time(monkeypatch):
    before, slept = multiprocessing.active_children(), []
    monkeypatch.setattr(time, "sleep", slept.append)
    slow = DEFAULTS | {"num_workers": 6, "fetch": 999, "slow": "worker", "factor": 20}
    rows = virtual_loader.run(slow)
    assert multiprocessing.active_children() == before
    assert rows[-1]["done"] > 20_000
    assert slept == [], "the 20 seconds are virtual"


# ---------------------------------------------------------------- figures and states
def test_each_batch_that_is_sent_is_in_one_place(cases):
    for settings, rows, _, ours in cases:
        for now, state in zip(ours["moments"], ours["all"], strict=True):
            places = [*chain(*state["queues"]), *(k for k in state["making"] if k is not None),
                      *here(state), *state["early"]]
            handed = [row["batch"] for row in rows if row["given"] <= now]
            sent = [row["batch"] for row in rows if row["sent"] <= now]
            assert sorted(places + handed) == sorted(sent), (settings, now)
            assert state.get("loop") == (handed[-1] if handed else None)
            assert state["training"] == any(row["given"] <= now < row["done"] for row in rows)


def test_figures_follow_from_the_times_of_torch(cases):
    for settings, rows, _, ours in cases:
        figures, total = ours["figures"], rows[-1]["done"]
        waited = total - settings["step"] * settings["batches"]
        held = [sum(row["start"] <= now < row["given"] for row in rows)
                + any(row["given"] <= now for row in rows)
                for now in {time for row in rows for time in (row["start"], row["given"])}]
        assert (ours["total"], figures["waited"]) == (total, waited)
        assert figures["share"] == pytest.approx(waited / total)
        assert figures["perSecond"] == pytest.approx(1000 * settings["batches"] / total)
        assert figures["memory"] == max(held)
        assert figures["megabytes"] == max(held) * settings["megabytes"]
        assert figures["busy"] == [pytest.approx(sum(
            row["end"] - row["start"] for row in rows if row["worker"] == worker) / total)
            for worker in range(settings["num_workers"])]
        if workers := settings["num_workers"]:
            assert figures["memory"] <= workers * settings["prefetch_factor"] + 1


def test_the_page_fills_in_what_is_missing_and_names_a_worker_that_exists(module):
    wild = {"slow": "worker", "which": 8, "num_workers": 3}
    assert module("data.map(m.settle)", [{"step": 3}, wild]) == [
        DEFAULTS | {"step": 3}, DEFAULTS | wild | {"which": 2}]


def test_page_and_kernel_have_the_same_ranges_and_defaults(module, cases):
    assert module("[m.RANGES, m.DEFAULTS]") == [
        {name: list(pair) for name, pair in RANGES.items()}, DEFAULTS]
    drawn = [settings for settings, *_ in cases]
    assert module("data.map(m.settle)", drawn) == drawn


def test_the_axis_has_few_marks_at_round_times(module):
    totals = [1, 2, 7, 8, 40, 99, 360, 820, 1000, 479_520]
    for total, marks in zip(totals, module("data.map(m.ticks)", totals), strict=True):
        step = marks[1] if len(marks) > 1 else 1
        assert marks == [n * step for n in range(len(marks))]
        assert re.fullmatch("[125]0*", str(step))
        assert 2 <= len(marks) <= 9
        assert total - step < marks[-1] <= total


# ---------------------------------------------------------------- the words
def told(module, *runs):
    """For each settings {moment: (Chinese, English)}."""
    said = module("""data.map(m.simulate).map((run) => run.moments.map((time) => [
        time, m.describe(run, time, m.stateAt(run, time))]))""", [DEFAULTS | run for run in runs])
    return [dict(run) for run in said]


def test_each_moment_is_told_in_both_languages_with_the_same_numbers(module):
    moments, runs = 0, depth.cases(50)
    for run in told(module, *map(draw, range(runs))):
        for now, (zh, en) in run.items():
            assert CHINESE.search(zh)
            assert not CHINESE.search(en)
            assert sorted(re.findall(r"\d+", zh)) == sorted(re.findall(r"\d+", en)), (now, zh, en)
            moments += 1
    assert moments > 15 * runs


def test_the_words_name_what_is_kept_what_is_sent_and_what_is_awaited(module):
    said, any_order, alone, pins = told(
        module, {"slow": "batch", "which": 0, "batches": 8}, {"in_order": False},
        {"num_workers": 0}, {"pin": 7})
    assert said[0][1].startswith("`iter` sends the first 4, in turn.")
    assert said[0][1].endswith("Training waits for batch 0.")
    assert "receives batch 1 early and keeps it." in said[20][1]
    assert "Just before batch 0 is handed over, batch 4 is sent to worker 0." in said[100][1]
    assert said[max(said)][1].endswith("training has ended.")
    assert "any batch" in any_order[0][1]
    assert "its process makes batch 0" in alone[0][1]
    assert "Batch 0 is pinned." in pins[27][1]
    assert not any("pinned" in words for _, words in said.values())


def test_at_full_spread_the_batches_have_the_mean_that_the_reader_sets():
    assert sum(virtual_loader.SPREAD) == pytest.approx(len(virtual_loader.SPREAD))
    assert len(virtual_loader.SPREAD) == RANGES["batches"][1]


# ---------------------------------------------------------------- the table and the widget
def test_page_and_table_without_javascript_tell_the_same_times(cases):
    for settings, rows, _, ours in cases[:50]:
        assert ours["times"] == loader_timeline.rows_of(rows)
        html = loader_timeline.fallback(settings)
        cells = re.findall(r'<t[hd](?: scope="row")?>([^<]*)</t[hd]>', html)
        assert cells == list(chain(*ours["times"]))


def test_html_is_the_element_with_its_settings_and_the_same_each_time():
    first, second = (LoaderTimeline(slow="batch", which=8)._repr_mimebundle_()[0]["text/html"]
                     for _ in range(2))
    assert first == second
    attribute = re.match(r"<loader-timeline settings='([^']*)'>\n<table>", first)[1]
    assert json.loads(unescape(attribute)) == DEFAULTS | {"slow": "batch", "which": 8}
    assert first.count('lang="zh-Hans"') == first.count('lang="en"') == 9


@pytest.mark.parametrize(("change", "words"), [
    ({"num_workers": 7}, "num_workers 7: give a whole number from 0 to 6"),
    ({"fetch": 0.5}, "fetch 0.5: give a whole number from 1 to 999"),
    ({"slow": "both"}, "slow 'both': one of none, worker, batch"),
    ({"slow": "worker", "which": 2}, "which 2: give a whole number from 0 to 1"),
    ({"in_order": None}, "in_order None: True or False"),
])
def test_what_cannot_be_shown_is_refused_in_one_line(change, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        LoaderTimeline(**change)
    widget = LoaderTimeline()
    with pytest.raises(TraitError):
        widget.settings = DEFAULTS | change
    assert widget.settings == DEFAULTS


def test_the_live_widget_runs_torch_on_what_the_reader_set():
    widget = LoaderTimeline()
    widget.settings = {**widget.settings, "in_order": False, "slow": "batch", "which": 0}
    assert [row["batch"] for row in widget.run()][:4] == [1, 3, 4, 5]
    assert eval(repr(widget)).settings == widget.settings


# ---------------------------------------------------------------- real workers beside the model
def test_a_trace_of_real_workers_is_told_beside_the_model_that_starts_when_they_did(monkeypatch):
    monkeypatch.setattr(loader_traces, "RUNS", 1)
    settings = loader_traces.DEFAULTS | {"batches": 4, "slow": "batch", "which": 1}
    begun, waited, total = loader_traces.trace(settings)
    assert 0 < begun < waited < total
    assert total > 4 * settings["step"] + begun, "the loop sleeps for each step"
    told = loader_traces.compared(settings)
    assert told.keys() == {column["key"] for column in loader_traces.COLUMNS}
    assert told["error"] == round(100 * (told["model"] - told["real"]) / told["real"], 1)
    apart = virtual_loader.run(settings)[-1]["done"]
    assert apart < told["model"] <= told["real"] + 1, "what the model leaves out takes time"
