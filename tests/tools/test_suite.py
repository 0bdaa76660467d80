"""The suite goes on after a failure, runs what is independent side by side, and remembers only
what passed with the content that was tested."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from book.pipeline import checks
from book.pipeline.ground.paths import ROOT
from book.pipeline.suite import lanes, passed, steps, watch
from book.pipeline.suite.lanes import FAILED, KNOWN, PASSED, SKIPPED, Lanes
from book.pipeline.suite.passed import Passed, digest, files_of
from book.pipeline.suite.steps import Step


def step(name, program="", **fields):
    return Step(name, [sys.executable, "-c", program], fields.pop("advice", "mend it"), **fields)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run steps in a folder of their own: {name: state}."""
    monkeypatch.setattr(lanes, "LOGS", tmp_path / "_build" / "log")

    def call(*chosen, **options):
        options.setdefault("tell", lambda line: None)
        done = Lanes(chosen, root=tmp_path, **options).run()
        call.results = done
        return {result.step.name: result.state for result in done}

    return call


# ---- lanes -------------------------------------------------------------------------------------

MEET = ("import pathlib, time\nmine, other = map(pathlib.Path, {!r})\n"
        "mine.touch()\nwhile not other.exists(): time.sleep(0.01)\n")


def test_two_independent_steps_run_side_by_side(run):
    both = [step("a", MEET.format(["a", "b"])), step("b", MEET.format(["b", "a"]))]
    assert run(*both) == {"a": PASSED, "b": PASSED}  # each waits until the other has begun


def test_a_failure_stops_only_what_builds_on_it(run):
    done = run(step("site", "import sys; sys.exit(3)"), step("pages", after=("site",)),
               step("visit", after=("pages",)), step("other"))
    assert done == {"site": FAILED, "pages": SKIPPED, "visit": SKIPPED, "other": PASSED}


def test_a_step_begins_when_those_it_comes_after_have_ended(run):
    done = run(step("site", "import time; time.sleep(0.3); open('made', 'w')"),
               step("pages", "open('made')", after=("site",)))
    assert done == {"site": PASSED, "pages": PASSED}


def test_a_step_that_is_not_chosen_is_not_waited_for(run):
    assert run(step("pages", after=("site",))) == {"pages": PASSED}


def test_what_a_step_leaves_running_is_ended(run):
    child = "import subprocess, sys; print(subprocess.Popen(['sleep', '3600']).pid)"
    assert run(step("a", child)) == {"a": PASSED}
    number = int(run.results[0].output)
    deadline = time.monotonic() + 300
    while Path(f"/proc/{number}/cmdline").exists() and time.monotonic() < deadline:
        if not Path(f"/proc/{number}/cmdline").read_bytes():
            break  # dead, not yet collected
        time.sleep(0.01)
    else:
        assert not Path(f"/proc/{number}").exists()


def test_a_step_that_cannot_be_started_fails(run):
    assert run(Step("none", ["/no/such/program"], "")) == {"none": FAILED}
    assert "no/such/program" in run.results[0].output


def test_the_report_tells_every_failure_and_counts_the_tests(run, capsys):
    run(step("unit", "print('FAILED a_test'); print('2 failed, 5 passed in 1.20s'); exit(1)"),
        step("site", "exit(2)", advice="mend the page"), step("visit", after=("site",)),
        step("fine", "print('7.50s call     tests/x.py::slow'); print('3 passed in 9.00s')"))
    checks.report(run.results, 12.3)
    said = capsys.readouterr().out
    assert said.endswith("8 passed, 2 failed\n")
    assert "1 of 4 steps passed in 12 s; not: unit, site, visit." in said
    assert "7.5 s  tests/x.py::slow" in said
    assert "FAILED a_test" in said
    assert "it needs: site" in said
    assert "To go on: mend the page, then run it again alone: " in said
    assert "python -c 'exit(2)'\n" in said


# ---- what is remembered ------------------------------------------------------------------------

def counting(tmp_path):
    """A step that reads in.txt and notes each run."""
    (tmp_path / "in.txt").write_text("one")
    return step("a", "open('runs', 'a').write(open('in.txt').read() + ' ')",
                inputs=("*.txt",))


def test_a_step_that_passed_runs_again_only_when_an_input_changes(run, tmp_path):
    one = counting(tmp_path)
    assert [run(one)["a"], run(one)["a"]] == [PASSED, KNOWN]
    (tmp_path / "in.txt").touch()  # a new time is no new content
    assert run(one)["a"] == KNOWN
    (tmp_path / "in.txt").write_text("two")
    assert run(one)["a"] == PASSED
    assert (tmp_path / "runs").read_text() == "one two "
    assert run(one, fresh=True)["a"] == PASSED


def test_a_new_or_removed_input_is_a_change(run, tmp_path):
    one = counting(tmp_path)
    run(one)
    (tmp_path / "more.txt").write_text("")
    assert run(one)["a"] == PASSED
    (tmp_path / "more.txt").unlink()
    assert run(one)["a"] == PASSED


def test_a_file_edited_while_its_step_runs_is_not_remembered_as_passed(run, tmp_path):
    (tmp_path / "in.txt").write_text("one")
    edits = step("a", "read = open('in.txt').read(); open('in.txt', 'w').write('two')",
                 inputs=("*.txt",))
    assert [run(edits)["a"], run(edits)["a"], run(edits)["a"]] == [PASSED, PASSED, KNOWN]


def test_a_failure_is_forgotten(run, tmp_path):
    (tmp_path / "in.txt").write_text("good")
    one = step("a", "import sys, pathlib; sys.exit(pathlib.Path('bad').exists())",
               inputs=("*.txt",))
    run(one)
    (tmp_path / "bad").touch()
    assert run(one, fresh=True)["a"] == FAILED
    assert run(one)["a"] == FAILED


def test_a_product_that_was_changed_is_made_again(run, tmp_path):
    (tmp_path / "in.txt").write_text("x")
    site = step("site", "open('page.html', 'w').write('made')", inputs=("*.txt",),
                products=("*.html",))
    assert [run(site)["site"], run(site)["site"]] == [PASSED, KNOWN]
    (tmp_path / "page.html").write_text("edited")
    assert run(site)["site"] == PASSED
    (tmp_path / "page.html").unlink()
    assert run(site)["site"] == PASSED


def test_a_step_that_names_no_inputs_always_runs(run):
    assert [run(step("a"))["a"], run(step("a"))["a"]] == [PASSED, PASSED]


@pytest.mark.parametrize("content", ["", "{", "[]", '"text"'])
def test_an_unreadable_memory_costs_one_more_run(tmp_path, content):
    memory = Passed("steps", tmp_path)
    memory.file.parent.mkdir(parents=True)
    memory.file.write_text(content)
    assert not Passed("steps", tmp_path).holds("a", "1")
    Passed("steps", tmp_path).add({"a": "1"})
    assert Passed("steps", tmp_path).holds("a", "1")


def test_a_digest_knows_names_contents_words_tools_and_settings(tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    file.write_text("x")

    def taken(*words):
        return digest([file], *words, root=tmp_path)

    first = taken()
    assert taken() == first
    assert taken("word") != first
    monkeypatch.setenv("DEPTH", "20")
    assert taken() != first
    monkeypatch.undo()
    monkeypatch.setattr(passed, "tools", lambda: "torch==9")
    assert taken() != first
    monkeypatch.undo()
    moved = file.rename(tmp_path / "b.txt")
    assert digest([moved], root=tmp_path) != first


def test_a_file_counts_once_and_caches_never(tmp_path):
    for name in ("a.py", "b.py", "__pycache__/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [file.name for file in files_of(["**/*.py", "b.*"], tmp_path)] == ["a.py", "b.py"]


PLUGIN = """
from pathlib import Path
import sys; sys.path.insert(0, {root!r})
from book.pipeline.suite.passed import Passed
from book.pipeline.suite.remember import Remember
def pytest_configure(config):
    config.addinivalue_line("markers", "remember(*files): what a test looks at")
    here = Path(__file__).parent
    config.pluginmanager.register(Remember(memory=Passed("items", here)), "remembered")
"""
LOOKS = """
import pytest
from pathlib import Path
@pytest.mark.parametrize("page", [
    pytest.param(page, marks=pytest.mark.remember(page)) for page in sorted(Path().glob("*.html"))])
def test_page(page): assert "good" in page.read_text()
def test_always(): assert True
"""


def test_a_page_that_passed_is_left_out_until_it_changes(tmp_path):
    (tmp_path / "conftest.py").write_text(PLUGIN.format(root=str(ROOT)))
    (tmp_path / "test_looks.py").write_text(LOOKS)
    for name in ("a", "b"):
        (tmp_path / f"{name}.html").write_text("good")

    def said():
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                               "-p", "no:xdist", f"--rootdir={tmp_path}"], cwd=tmp_path,
                              env=os.environ, capture_output=True, text=True, check=False)
        return done.stdout.splitlines()[-1]

    assert "3 passed" in said()
    assert "1 passed, 2 deselected" in said()
    (tmp_path / "b.html").write_text("bad")
    assert "1 failed, 1 passed, 1 deselected" in said()
    assert "1 failed, 1 passed, 1 deselected" in said()  # a failure is not remembered
    (tmp_path / "b.html").write_text("good again")
    assert "2 passed, 1 deselected" in said()


# ---- what a step opens -------------------------------------------------------------------------

def test_a_file_that_is_opened_but_not_named_is_found(tmp_path, monkeypatch):
    for name in ("code/a.py", "chapters/b.md", "_build/c.html"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("x")
    monkeypatch.chdir(tmp_path)
    watched = watch.Watch(tmp_path)
    try:
        for name in ("code/a.py", "_build/c.html"):
            (tmp_path / name).read_text()
        assert watched.unnamed(("code/**/*",)) == []
        Path("chapters/b.md").read_bytes()
        assert watched.unnamed(("code/**/*",)) == ["chapters/b.md"]
        assert watched.unnamed(("c*/**/*",)) == []
    finally:
        watched.watching = False


def test_a_module_that_comes_from_its_cache_counts_as_its_source(tmp_path):
    (tmp_path / "a.py").write_text("")
    watched = watch.Watch(tmp_path)
    try:
        cached = tmp_path / "__pycache__" / "a.cpython-311.pyc"
        cached.parent.mkdir()
        cached.write_bytes(b"")
        cached.read_bytes()
        assert watched.unnamed(()) == ["a.py"]
    finally:
        watched.watching = False


# ---- the steps of the book ---------------------------------------------------------------------

def test_every_floor_is_a_folder_and_every_pattern_names_something():
    for name, floor in steps.FLOORS.items():
        assert (ROOT / floor.folder).is_dir(), name
    for chosen in steps.STEPS:
        for pattern in chosen.inputs:
            assert any(True for _ in files_of([pattern])), f"{chosen.name}: {pattern}"


def test_every_test_file_is_run_by_a_step_of_make_test():
    run = {part for chosen in steps.STEPS if "all" in chosen.groups.split()
           for part in chosen.command if part.startswith("tests/")}
    files = {file.relative_to(ROOT).as_posix() for file in (ROOT / "tests").rglob("test_*.py")}
    assert files
    assert not {file for file in files if not file.startswith(tuple(f"{part}/" for part in run))}


def test_only_brings_what_the_step_comes_after():
    chosen = [found.name for found in checks.chosen("all", "pages")]
    assert chosen == ["site", "pages"]
    with pytest.raises(SystemExit, match="ONLY=pagse: no step pagse; there are: desk"):
        checks.chosen("all", "pagse")
