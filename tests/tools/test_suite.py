"""The suite goes on after a failure, runs what is independent side by side, ends what it started,
and remembers a step only by what it was seen to look at."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from book.pipeline import checks
from book.pipeline.ground.paths import ROOT, write_atomic
from book.pipeline.suite import lanes, record, steps
from book.pipeline.suite.lanes import FAILED, KNOWN, PASSED, SKIPPED, Lanes, Result
from book.pipeline.suite.passed import files_of
from book.pipeline.suite.steps import STEPS, Step


def step(name, program="", **fields):
    return Step(name, [sys.executable, "-c", program], fields.pop("advice", "mend it"), **fields)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run steps in a folder of their own: {name: state}."""
    monkeypatch.setattr(lanes, "LOGS", tmp_path / "_build" / "log")
    (tmp_path / "in.txt").write_text("one")

    def call(*chosen, **options):
        call.results = Lanes(chosen, root=tmp_path, tell=lambda line: None, **options).run()
        return {result.step.name: result.state for result in call.results}

    return call


# ---- lanes -------------------------------------------------------------------------------------

MEET = ("import pathlib, time\nmine, other = map(pathlib.Path, {!r})\n"
        "mine.touch()\nwhile not other.exists(): time.sleep(0.01)\n")


def test_two_independent_steps_run_side_by_side(run):
    both = [step("a", MEET.format(["a", "b"])), step("b", MEET.format(["b", "a"]))]
    assert run(*both) == {"a": PASSED, "b": PASSED}  # each waits until the other has begun


def test_a_step_waits_for_what_it_comes_after_if_that_is_chosen(run):
    site = step("site", "import time; time.sleep(0.3); open('made', 'w')")
    pages = step("pages", "open('made')", after=("site", "not chosen"))
    assert run(site, pages) == {"site": PASSED, "pages": PASSED}


def test_a_failure_stops_only_what_builds_on_it_and_all_is_told(run, capsys):
    run(step("unit", "print('FAILED a_test'); print('2 failed, 5 passed in 1.20s'); exit(1)"),
        step("site", "exit(2)", advice="mend the page"), step("visit", after=("site",)),
        step("later", after=("visit",)), Step("none", ["/no/such/program"], ""),
        step("fine", "print('7.50s call     tests/x.py::slow'); print('3 passed in 9.00s\\n"
                     "1 passed in 2.00s')"))
    assert [result.state for result in run.results] == [FAILED, FAILED, SKIPPED, SKIPPED, FAILED,
                                                        PASSED]
    checks.report(run.results, 12.3)
    said = capsys.readouterr().out
    for part in ("1 of 6 steps passed in 12 s; not: unit, site, visit, later, none.",
                 "7.5 s  tests/x.py::slow", "FAILED a_test", "it needs: site", "no/such/program",
                 "To go on: mend the page, then run it again alone: ", "python -c 'exit(2)'\n",
                 " s  site: failed\n"):
        assert part in said, part
    assert said.endswith("9 passed, 2 failed\n")


def test_a_long_line_of_digits_is_counted_at_once():
    started = time.process_time()
    lanes.COUNT.findall("1" * 20_000)
    assert time.process_time() - started < 0.2


def test_two_steps_of_one_name_and_a_circle_are_refused(run):
    with pytest.raises(ValueError, match="a"):
        run(step("a"), step("a"))
    with pytest.raises(ValueError, match="wait for one another: a"):
        run(step("a", after=("a",)))


# ---- what is remembered ------------------------------------------------------------------------

READS = "open('runs', 'a').write(open('in.txt').read() + ' ')"
NAMED = {"inputs": ("*.txt",)}


@pytest.mark.parametrize("how", [NAMED, {"seen": True}])
def test_a_step_that_passed_runs_again_only_when_what_it_reads_changes(run, tmp_path, how):
    one = step("a", READS, **how)
    time.sleep(0.1)  # what was written this moment counts as changed meanwhile
    assert [run(one)["a"], run(one)["a"]] == [PASSED, KNOWN]
    (tmp_path / "in.txt").touch()  # a new time is no new content
    assert run(one)["a"] == KNOWN
    (tmp_path / "in.txt").write_text("two")
    time.sleep(0.1)
    assert [run(one)["a"], run(one)["a"]] == [PASSED, KNOWN]
    assert (tmp_path / "runs").read_text() == "one two "
    assert run(one, fresh=True)["a"] == PASSED
    (tmp_path / "in.txt").unlink()
    assert run(one)["a"] == FAILED
    (tmp_path / "in.txt").write_text("two")
    assert run(one)["a"] == PASSED  # the failure was not forgotten again


def test_a_step_that_is_seen_does_not_run_for_what_it_did_not_read(run, tmp_path):
    one = step("a", READS, seen=True)
    time.sleep(0.1)
    run(one)
    (tmp_path / "other.txt").write_text("")
    assert run(one)["a"] == KNOWN
    named = step("b", READS, **NAMED)
    run(named)
    (tmp_path / "more.txt").write_text("")  # a new input is a change
    assert run(named)["b"] == PASSED


def test_a_program_that_takes_no_notes_has_to_be_named(run):
    shell = ("import subprocess, shutil; open('in.txt')\n"
             "for closes in (True, False):  # the second is started by posix_spawn\n"
             "    subprocess.run([shutil.which('sh'), '-c', 'cat in.txt'], close_fds=closes)")
    time.sleep(0.1)
    unnamed, named = step("a", shell, seen=True), step("b", shell, seen=True, programs=("sh",))
    blind = step("c", "import subprocess, sys; open('in.txt'); "
                      "subprocess.run([sys.executable, '-I', '-c', ''])", seen=True)
    assert [run(unnamed)["a"], run(unnamed)["a"]] == [PASSED, PASSED]
    assert "not remembered: nobody knows what it reads: sh" in run.results[0].output
    assert [run(blind)["c"], run(blind)["c"]] == [PASSED, PASSED]
    assert [run(named)["b"], run(named)["b"]] == [PASSED, KNOWN]
    nothing = step("d", seen=True)  # of which nothing at all is known
    assert [run(nothing)["d"], run(nothing)["d"]] == [PASSED, PASSED]


@pytest.mark.parametrize("how", [NAMED, {"seen": True}])
def test_what_was_mended_while_its_step_ran_has_not_passed(run, tmp_path, how):
    file = tmp_path / "in.txt"
    file.write_text("broken")
    reads = step("a", "import pathlib, time; pathlib.Path('begun').touch(); time.sleep(1); "
                      "assert open('in.txt').read() == 'mended'", **how)

    def mend():
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        file.write_text("mended")

    author = threading.Thread(target=mend)
    author.start()
    assert run(reads) == {"a": PASSED}
    author.join()
    file.write_text("broken")  # the mending was taken back
    assert run(reads) == {"a": FAILED}


def test_a_product_that_was_changed_is_made_again(run, tmp_path):
    site = step("site", "open('page.html', 'w').write(open('in.txt').read())",
                products=("*.html",), **NAMED)
    assert [run(site)["site"], run(site)["site"]] == [PASSED, KNOWN]
    for change in (lambda page: page.write_text("edited"), Path.unlink):
        change(tmp_path / "page.html")
        assert run(site)["site"] == PASSED


def test_a_step_that_names_nothing_always_runs(run):
    assert [run(step("a"))["a"], run(step("a"))["a"]] == [PASSED, PASSED]


def test_a_memory_that_cannot_be_written_hides_no_failure(run, tmp_path):
    (tmp_path / ".cache").write_text("")
    assert run(step("a", "print('why'); exit(1)", **NAMED), step("b", **NAMED)) == {
        "a": FAILED, "b": PASSED}
    assert "why" in run.results[0].output


def test_a_text_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(UnicodeEncodeError):
        write_atomic(tmp_path / "a.json", "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_recorded_with_each_step_unless_one_failed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(record.records, "whole_suite", lambda: {"cards": "1"})
    good = Result(step("site"), PASSED, 1.23, "3 passed in 0.5s\n2 passed in 0.5s")
    told = record.of_run([good], 9.6, fresh=True)
    assert told["steps"] == {"site": {"passed": True, "seconds": 1.2, "counts": "5 passed"}}
    assert (told["total"], told["clean"]) == (10, True)
    assert not record.of_run([Result(step("a"), KNOWN)], 1, fresh=True)["clean"]
    assert {"machine", "torch", "python", "date", "depth"} < told.keys()
    record.store([good, Result(step("b"), FAILED)], 1, True, tmp_path)
    assert list(tmp_path.iterdir()) == []
    record.store([good], 1, True, tmp_path)
    assert (tmp_path / "suite.json").exists()
    assert "not recorded: a step did not pass" in capsys.readouterr().out


# ---- ending ------------------------------------------------------------------------------------

MAIN = """
import sys, time
from pathlib import Path
from book.pipeline.suite import lanes, seen
from book.pipeline.suite.steps import Step
here = Path(sys.argv[1]); lanes.LOGS = here / "log"
if "slow" in sys.argv:
    real = seen.patterns
    seen.patterns = lambda *a, **k: (time.sleep(2), real(*a, **k))[1]
program = '''
import os, subprocess, sys
process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(25)"],
                           start_new_session=True)
try:
    open("pid.part", "w").write(str(process.pid)); os.rename("pid.part", "pid")
    process.wait()
finally: process.kill()
'''
print("begun", flush=True)
lanes.Lanes([Step("a", [sys.executable, "-c", program], "")], root=here).run()
"""


def lives(number):
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(number):
    """Whether a process has ended soon; it is ended here if not."""
    deadline = time.monotonic() + 10
    while (left := lives(number)) and time.monotonic() < deadline:
        time.sleep(0.05)
    if left:
        os.kill(number, signal.SIGKILL)
    return not left


IGNORING = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]  # as `command &` does in a script


@pytest.mark.parametrize(("sign", "shell"), [
    (signal.SIGINT, []), (signal.SIGTERM, []), (signal.SIGHUP, []), (signal.SIGTERM, IGNORING)])
def test_whoever_ends_the_suite_ends_all_that_it_started(tmp_path, sign, shell):
    process = subprocess.Popen([*shell, sys.executable, "-c", MAIN, tmp_path], cwd=ROOT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(sign)
    process.wait(60)
    assert ends(int((tmp_path / "pid").read_text()))


def test_no_step_begins_after_the_suite_was_ended(tmp_path):
    with subprocess.Popen([sys.executable, "-c", MAIN, tmp_path, "slow"], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
    assert not (tmp_path / "pid").exists()


def test_what_a_step_leaves_running_is_ended(run):
    child = "import subprocess, sys; print(subprocess.Popen(['sleep', '3600']).pid)"
    assert run(step("a", child)) == {"a": PASSED}
    assert ends(int(run.results[0].output))


# ---- the steps of the book ---------------------------------------------------------------------

def test_every_pattern_of_a_step_names_something():
    for chosen in STEPS:
        for pattern in chosen.inputs:
            assert pattern.startswith("_build/") or any(True for _ in files_of([pattern])), \
                f"{chosen.name}: {pattern}"


def test_every_test_file_is_run_by_a_step_of_make_test():
    run = {part for chosen in STEPS if "all" in chosen.groups.split()
           for part in chosen.command if part.startswith("tests/")}
    found = {file.relative_to(ROOT).as_posix() for file in (ROOT / "tests").rglob("test_*.py")}
    assert set(steps.FLOORS.values()) < run
    assert found
    assert not {file for file in found if not file.startswith(tuple(f"{part}/" for part in run))}


def test_only_brings_what_the_step_comes_after_and_names_what_there_is():
    assert [found.name for found in checks.chosen("all", "pages")] == ["site", "pages"]
    for found in checks.chosen("core"):
        assert found in checks.chosen("core", found.name)
    with pytest.raises(SystemExit, match="ONLY=pagse: no step pagse; there are: desk"):
        checks.chosen("all", "pagse")
    for nothing in (",", " "):
        with pytest.raises(SystemExit):
            checks.chosen("all", nothing)
