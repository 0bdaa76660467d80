"""The exercises on mini_loader: usual mistakes fail by name, what hangs ends, a page names all.

What holds of all exercises is in test_exercises.py.
"""

import ast
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from book.extension import exercises
from book.pipeline.ground.paths import CHAPTERS, CODE
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import load, run, sources, teller, write_files

LIST = CHAPTERS / "04-data/exercises.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)
CHECKED = sorted({home.stem for home in EXERCISES.homes.values()})
SLEEP = "83.25"                       # seconds; an argument by which a process is known


@pytest.fixture
def check():
    return load(EXERCISES.check)


@pytest.fixture
def told(check, tmp_path, capsys):
    return teller(EXERCISES, check, tmp_path, capsys)


def test_the_list_fades_from_worked_over_blanks_to_tests_alone():
    assert [exercise.form for exercise in EXERCISES.functions] == [
        "worked", "blanks", "blanks", "blanks", "tests", "tests"]
    assert all(len(exercise.lines) in range(3, 7) for exercise in EXERCISES.functions
               if exercise.form == "blanks")


def test_what_a_function_needs_is_what_it_calls(check):
    for names in check.CHECKER.checks.values():
        methods = {name.split(".")[1]: name for name in names}
        for place, name in enumerate(names):
            tree = faded._find(ast.parse(SOURCES[EXERCISES.homes[name].stem]), name)
            called = {methods[node.attr] for node in ast.walk(tree)
                      if isinstance(node, ast.Attribute) and node.attr in methods}
            assert sorted(check.CHECKER.needs.get(name, [])) == sorted(called), name
            assert called <= set(list(names)[:place])


@pytest.mark.parametrize(("name", "old", "new"), [
    ("MapFetcher.__call__", 'if self.batched and getattr(self.dataset, "__getitems__", None):',
     "if False:"),
    ("MapFetcher.__call__", "samples.append(self.dataset[index])",
     "samples.insert(0, self.dataset[index])"),
    ("MapFetcher.__call__", "except StopIteration as error:\n            raise RuntimeError(f",
     "except ZeroDivisionError as error:\n            raise RuntimeError(f"),
    ("IterableFetcher.__call__", "[] if self.ended else list", "list"),
    ("IterableFetcher.__call__", "list(itertools.islice(self.samples, size))",
     "list(self.samples)[:size]"),
    ("IterableFetcher.__call__", "itertools.islice(self.samples, size))",
     "itertools.islice(self.samples, size + 1))[:size]"),
    ("IterableFetcher.__call__", "self.ended = len(samples) < size", "self.ended = not samples"),
    ("IterableFetcher.__call__", "return Kind.END", "return None"),
    ("WithWorkers.dispatch", "self.pool.under_way() + len(self.pool.replies) < self.limit",
     "self.pool.under_way() < self.limit"),
    ("WithWorkers.dispatch", "self.pool.under_way() + len(self.pool.replies) < self.limit",
     "len(self.pool.replies) < self.limit"),
    ("WithWorkers.dispatch", "len(self.pool.replies) < self.limit",
     "len(self.pool.replies) <= self.limit"),
    ("WithWorkers.dispatch", "numbered = next(self.tasks, None) if worker else None",
     "numbered = next(self.tasks, None)"),
    ("WithWorkers.dispatch", "if numbered is None:", "if not numbered or not numbered[1]:"),
    ("WithWorkers.dispatch", "self.epoch, numbered[0])", "0, numbered[0])"),
    ("WithWorkers.dispatch", "self.pool.give(worker, Task(self.epoch, *numbered, seed))", "pass"),
    ("WithWorkers.dispatch", "self.pool.give(worker, Task(self.epoch, *numbered, seed))",
     "self.pool.give('worker 0', Task(self.epoch, *numbered, seed))"),
    ("WithWorkers.next_reply", "if self.loader.in_order else", "if True else"),
    ("WithWorkers.next_reply", "self.number if self.loader.in_order else next",
     "next"),
    ("WithWorkers.next_reply", "                self.number += 1\n", ""),
    ("WithWorkers.next_reply", "self.dispatch()                # before", "# before"),
    ("WithWorkers.next_reply", "if reply.kind is Kind.BATCH:", "if True:"),
    ("WithWorkers.next_reply", "if reply.kind is not Kind.END:", "if True:"),
    ("WithWorkers.next_reply", "if reply.kind is not Kind.END:",
     "if reply.kind is Kind.BATCH:"),
    ("WithWorkers.next_reply", "late = True", "late = False"),
    ("WithWorkers.next_reply", "late = self.pool.replies, False", "late = self.pool.replies, True"),
    ("WithWorkers.next_reply", "                    self.pool.close()", "                    pass"),
    ("WithWorkers.next_reply", "if not self.loader.persistent_workers:", "if True:"),
    ("Pool.replace", "exit_code = worker.end(LIVENESS_CHECK)", "exit_code = 1"),
    ("Pool.replace", "self.check_restart(worker, exit_code)\n        self.statistics",
     "self.statistics"),
    ("Pool.replace", "worker.start(self.context, self.job)\n        if", "if"),
    ("Pool.replace", "if worker.ended:   ", "if False:   "),
    ("Pool.replace", "            release(worker, self.slots)\n        for", "        for"),
    ("Pool.replace", "task._replace(state=worker.state)", "task"),
    ("Pool.replace", "self.statistics.resent += 1", "pass"),
    ("Pool.replace", "self.statistics.restarts += 1", "pass"),
    ("Pool.replace", "worker.tasks.values():\n            worker.send(",
     "list(worker.tasks.values())[:1]:\n            worker.send("),
    ("Slot.reserve", "offset = -(-self.used // ALIGNMENT) * ALIGNMENT", "offset = self.used"),
    ("Slot.reserve", "-(-self.used // ALIGNMENT)", "(self.used // ALIGNMENT + 1)"),
    ("Slot.reserve", "-(-self.used // ALIGNMENT)", "(self.used // ALIGNMENT)"),
    ("Slot.reserve", "self.reach(offset + nbytes)\n        self.used", "self.used"),
    ("Slot.reserve", "self.reach(offset + nbytes)\n        self.used", "self.reach(nbytes)\n"
     "        self.used"),
    ("Slot.reserve", "self.used = offset + nbytes\n", "self.used += nbytes\n"),
    ("Slot.reserve", "self.reach(offset + nbytes)\n        self.used = offset + nbytes",
     "self.used = offset + nbytes\n        self.reach(self.used)"),
])
def test_a_usual_mistake_fails_by_its_name(told, check, name, old, new):
    check.LIMIT = 6.0
    companion = EXERCISES.homes[name].stem
    text = SOURCES[companion]
    assert text.count(old) == 1
    assert told(companion, text.replace(old, new))[name] == "fails"


# ---- answers that do not come to an end ----------------------------------------------------------

def living(argument):
    """The processes that have this argument."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [file.parent.name] * (argument.encode() in file.read_bytes().split(b"\0"))
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize(("name", "old", "new", "why"), [
    ("WithWorkers.next_reply", "self.wait()\n            else",
     "pass\n            else", "no end after 1.5 seconds"),
    ("WithWorkers.next_reply", "self.wait()\n            else",
     "self.pool.collect(1)\n            else", "no end after 1.5 seconds"),
    ("Slot.reserve", "self.reach(offset + nbytes)\n        self.used",
     "__import__('os')._exit(0)\n        self.used", "the process ended amid the check"),
    ("Slot.reserve", "self.reach(offset + nbytes)\n        self.used",
     "raise SystemExit('bye')\n        self.used", "SystemExit: bye"),
])
def test_an_answer_that_hangs_or_ends_the_process_fails_and_nothing_stays(
    told, check, name, old, new, why
):
    check.LIMIT = 1.5
    companion = EXERCISES.homes[name].stem
    text = SOURCES[companion]
    assert text.count(old) == 1
    child = f'__import__("subprocess").Popen(["sleep", "{SLEEP}"])\n'
    lines, begin = [], time.monotonic()
    assert told(companion, child + text.replace(old, new), lines)[name] == "fails"
    assert why in " ".join(lines)
    assert time.monotonic() - begin < 10
    assert living(SLEEP) == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_the_search_for_processes_finds_one():
    sleeping = subprocess.Popen(["sleep", SLEEP])
    try:
        end = time.monotonic() + 10            # its arguments show a moment after it has started
        while not (found := living(SLEEP)) and time.monotonic() < end:
            time.sleep(0.01)
        assert found == [str(sleeping.pid)]
    finally:
        sleeping.kill()
        sleeping.wait()


def test_a_file_that_never_ends_cannot_be_loaded(told, check):
    check.LIMIT, lines = 1.0, []
    told("mini_loader_slots", "while True:\n    pass\n", lines)
    assert lines == ["  读不进来 · cannot be loaded: no end after 1 seconds: "
                     "it loops, or waits for what never comes"]


# ---- the files in a folder, as a reader has them -------------------------------------------------

@pytest.fixture
def folder(tmp_path):
    return write_files(LIST, tmp_path)


def test_the_files_work_alone_in_a_folder(folder):
    assert set(faded.files(LIST)) == {
        "mini_loader.py", "mini_loader_arguments.py", "mini_loader_fetch.py",
        "mini_loader_worker.py", "mini_loader_pool.py", "mini_loader_slots.py",
        "mini_loader_lending.py", "check_loader.py", "mini_loader_blanks.py",
        "mini_loader_fetch_blanks.py",
        "mini_loader_pool_blanks.py", "mini_loader_from_tests.py",
        "mini_loader_slots_from_tests.py"}
    done = run(folder / "mini_loader_blanks.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == ["mini_loader；下一步 · next: python3 check_loader.py"]
    done = run(folder / "check_loader.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "mini_loader_blanks.py",
        "  待写 · still to write  WithWorkers.dispatch",
        "  先等 · waits   WithWorkers.next_reply: needs WithWorkers.dispatch first",
        "mini_loader_fetch_blanks.py",
        "  通过 · passes  MapFetcher.__call__",
        "  待写 · still to write  IterableFetcher.__call__",
        "mini_loader_from_tests.py",
        "  通过 · passes  WithWorkers.dispatch",
        "  待写 · still to write  WithWorkers.next_reply",
        "mini_loader_pool_blanks.py",
        "  待写 · still to write  Pool.replace",
        "mini_loader_slots_from_tests.py",
        "  待写 · still to write  Slot.reserve",
        "还有没过的 · not all passed yet"]


def test_the_program_tells_by_its_status_what_passes(folder):
    script = folder / "check_loader.py"
    for name in SOURCES:
        for end in faded.CUT.values():
            if (folder / f"{name}_{end}.py").exists():
                shutil.copy(CODE / f"{name}.py", folder / f"{name}_{end}.py")
    done = run(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "全部通过 · all passed"
    (folder / "mini_loader_blanks.py").write_text("def broken(:\n")
    done = run(script, folder / "mini_loader_blanks.py")
    assert done.returncode == 1
    assert "cannot be loaded: SyntaxError" in done.stdout
    for file in folder.glob("mini_loader*_*s.py"):
        file.unlink()
    done = run(script)
    assert (done.returncode, done.stdout.count("no file to check")) == (1, 1)
    (folder / "torch.py").write_text("raise ImportError\n")      # a machine without torch
    done = run(script)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        "要装 torch，要用 Linux 或 macOS · this needs torch, and Linux or macOS"]


def test_a_practice_file_needs_only_what_it_imports(folder):
    script = folder / "check_loader.py"
    shutil.copy(CODE / "mini_loader_slots.py", folder / "mini_loader_slots_from_tests.py")
    shutil.copy(CODE / "mini_loader_pool.py", folder / "mini_loader_pool_blanks.py")
    (folder / "mini_loader.py").unlink()
    assert run(script, folder / "mini_loader_pool_blanks.py").returncode == 0
    (folder / "mini_loader_worker.py").unlink()
    (folder / "mini_loader_slots.py").unlink()
    done = run(script, folder / "mini_loader_pool_blanks.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert ("cannot be loaded: missing beside mini_loader_pool_blanks.py: download "
            "mini_loader_worker.py and mini_loader_slots.py\n") in done.stdout
    (folder / "mini_loader_pool.py").unlink()
    assert run(script, folder / "mini_loader_slots_from_tests.py").returncode == 0


@pytest.mark.parametrize("name", ["mini_loader_blank.py", "notes.txt", ".", "other.py"])
def test_a_file_that_is_not_there_is_named_in_one_line(folder, name):
    (folder / "notes.txt").write_text("")
    (folder / "other.py").write_text("")
    done = run(folder / "check_loader.py", folder / name)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert f"no such file: {(folder / name).resolve()}; name a practice file" in lines[1]


def test_the_page_names_each_function_and_file():
    page = BeautifulSoup(exercises.listing(EXERCISES, "x"), "html.parser")
    named_in = [code.text for code in page.select(".exercises td:nth-child(2) code")]
    assert sorted(named_in) == sorted(exercise.name for exercise in EXERCISES.functions)
    assert len(page.select(".exercise-steps > li")) == 3
    named = {code.text for code in page.select("code")}
    assert {exercise.name for exercise in EXERCISES.functions} <= named
    links = {link["href"].removeprefix("x/") for link in page.select("a")}
    assert links == set(faded.files(LIST))


def test_the_page_says_that_only_this_check_cannot_do_without_torch():
    pages = {chapter: exercises.listing(faded.read(CHAPTERS / chapter / "exercises.yaml"), "x")
             for chapter in ("02-autograd", "04-data")}
    for stored, needed in (("存好的数", "要装有 PyTorch"), ("stored numbers", "needs PyTorch")):
        found = {chapter: (stored in page, needed in page) for chapter, page in pages.items()}
        assert found == {"02-autograd": (True, False), "04-data": (False, True)}
