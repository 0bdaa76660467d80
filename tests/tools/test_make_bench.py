"""`make bench STALE=1` renews what is out of date, on a quiet machine only, and tells the rest."""

import json
import re
import subprocess
import sys

import pytest

from book.pipeline import bench
from book.pipeline.state import quiet, records


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Four scripts: one is current, one of two records is; a fifth record needs another command."""
    monkeypatch.setattr(records, "RESULTS", tmp_path)
    monkeypatch.setattr(quiet, "busy", str)
    benches = {"fresh": records.Bench(("fresh",), 1), "twins": records.Bench(("one", "two"), 2),
               "old": records.Bench(("old",), 12), "gpu": records.Bench(("gpu",), 4)}
    monkeypatch.setattr(records, "BENCHES", benches)
    subjects = {name: {name: "now"} for name in ("fresh", "one", "two", "old", "gpu", "other")}
    monkeypatch.setattr(records, "RECORDS", {name: records.Record(
        f"make {name}", lambda name=name: subjects[name],
        (lambda: "a GPU") if name == "gpu" else str) for name in subjects})
    for name in ("fresh", "one", "old", "gpu"):
        records.write(name, {"date": "2026-01-02"})
    subjects["old"] = subjects["gpu"] = {"a file": "changed"}
    return tmp_path


@pytest.fixture
def ran(monkeypatch):
    """The scripts that were run; each writes its records, "twins" fails after its first."""
    names = []

    def run(name, record):
        assert record
        names.append(name)
        written = records.BENCHES[name].records
        for one in written[:1] if name == "twins" else written:
            records.write(one, {"date": "2026-01-03"})
        return int(name == "twins")
    monkeypatch.setattr(bench, "run", run)
    return names


def said(text, title):
    """The lines of a part of the summary."""
    found = re.search(rf"bench: {title}: \d+\n((?:  .*\n?)*)", text)
    return [line.strip() for line in found[1].splitlines()]


def test_what_is_not_current_is_renewed_and_a_failure_does_not_keep_the_next_from_it(
    results, ran, capsys
):
    assert bench.main(["--stale"]) == 1
    assert ran == ["twins", "old"]
    text = capsys.readouterr().out
    assert said(text, "renewed") == ["old"]
    assert said(text, "failed") == ["twins: exit status 1, its messages stand above"]
    assert said(text, "not renewed here") == ["gpu: make gpu; needs a GPU", "other: make other"]
    assert records.current("old")
    assert not records.current("two")


@pytest.mark.parametrize("content", [{}, {"date": "2026-01-02"},
                                     {"date": "2026-01-02", "measured": {"fresh": "then"}}])
def test_never_recorded_unsaid_and_changed_are_all_not_current(results, content):
    assert bench.stale("fresh") == []
    (results / "fresh.json").write_text(json.dumps(content), encoding="utf-8")
    assert bench.stale("fresh") == ["fresh"]


def test_a_busy_machine_is_refused_in_a_line_and_nothing_runs(results, ran, monkeypatch):
    monkeypatch.setattr(quiet, "busy", lambda: "chromium (process 7) keeps 1.4 busy")
    with pytest.raises(SystemExit, match=r"^bench: this machine is busy: chromium .*measured$"):
        bench.main(["--stale"])
    assert ran == []


def test_a_machine_that_gets_busy_on_the_way_puts_off_what_is_left(
    results, ran, monkeypatch, capsys
):
    answers = iter(["", "", "make (process 9) keeps 1.0 busy"])
    monkeypatch.setattr(quiet, "busy", lambda: next(answers))
    assert bench.main(["--stale"]) == 1
    assert ran == ["twins"]
    assert "old: this machine is busy: make (process 9)" in said(capsys.readouterr().out,
                                                                "failed")[1]


def test_a_script_over_its_budget_has_renewed_its_record_and_is_told(results, monkeypatch, capsys):
    monkeypatch.setattr(bench, "run", lambda name, record: records.write(
        "old", {"date": "2026-01-03"}) and 1)
    assert bench.main(["--stale", "--only", "old"]) == 1
    text = capsys.readouterr().out
    assert said(text, "renewed") == ["old"]
    assert said(text, "failed") == ["old: renewed, but exit status 1, its messages stand above"]


def test_how_long_each_takes_is_listed_with_the_long_ones_pointed_out(results, ran, capsys):
    assert bench.main(["--list"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:5] == ["fresh 1 min fresh (current)",
                         "twins 2 min one (current), two (not current)",
                         "old 12 min (long) old (not current)", "gpu 4 min gpu (not current)",
                         "4 scripts, about 19 min on two idle cores"]
    assert ran == []


def test_a_script_may_be_named_by_a_record_that_it_writes(results, ran):
    assert bench.main(["--record", "--only", "two", "twins", "old"]) == 1
    assert ran == ["twins", "old"]


def test_a_name_that_is_no_script_is_refused_in_a_line(results):
    with pytest.raises(SystemExit, match=r"^bench: ONLY=tables is none of: fresh twins old gpu$"):
        bench.main(["--only", "tables"])


# ---- a quiet machine ---------------------------------------------------------------------------

def test_a_share_of_a_core_decides_and_the_greediest_process_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(quiet, "PROC", tmp_path)

    def uses(ticks):
        for pid, (name, taken) in ticks.items():
            (tmp_path / str(pid)).mkdir(exist_ok=True)
            (tmp_path / str(pid) / "stat").write_text(
                f"{pid} ({name}) S 1 1 1 0 -1 0 0 0 0 0 {taken} 0 0 0 20 0 1 0 9\n")
    uses({7: ("idle", 5), 8: ("a (b) c", 0)})

    def taken():
        uses({7: ("idle", 5), 8: ("a (b) c", 10 ** 9)})
        return 0.5
    monkeypatch.setattr(quiet, "reference", taken)
    assert re.fullmatch(r"a loop on each of \d+ cores gets 50% of one; "
                        r"a \(b\) c \(process 8\) keeps [\d.]+ busy", quiet.busy())
    monkeypatch.setattr(quiet, "reference", lambda: 0.95)
    assert quiet.busy() == ""


def test_beside_others_that_want_the_cores_a_loop_gets_less_of_one(monkeypatch):
    monkeypatch.setattr(quiet, "LOOP", 0.2)
    monkeypatch.setattr(quiet, "SPIN", quiet.SPIN.replace("+ 0.5", "+ 0.2"))
    command = [sys.executable, "-S", "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(2 * (quiet.os.cpu_count() or 1))]
    try:
        assert quiet.reference() < quiet.SHARE
    finally:
        for other in others:
            other.kill()
            other.wait()
