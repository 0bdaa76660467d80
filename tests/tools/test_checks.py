"""`make test` and `make check` say what is missing, which step failed and how to go on."""

import importlib.util
import os
import re
import subprocess
import sys
from collections import defaultdict
from types import SimpleNamespace

import nbformat
import pytest

import conftest
from book.pipeline import checks
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import notebook
from book.pipeline.suite import lanes
from book.pipeline.suite.steps import Step

# ---- tools of this machine ---------------------------------------------------------------------


BROWSER, COMPILER, FONT = ("a Chromium browser (chromium)", "a C++ compiler (g++)",
                           "a Chinese font (fonts-noto-cjk)")
FONTS = "echo '/fonts/noto.ttc: Noto Sans CJK'"


@pytest.fixture
def machine(tmp_path):
    """`on(program, TOOL=script, …)`: run Python where no other tools are: (status, out, err)."""

    def on(program, **tools):
        for name, script in tools.items():
            file = tmp_path / name.replace("_", "-").replace("gxx", "g++")
            file.write_text(f"#!/bin/sh\n{script}\n")
            file.chmod(0o755)
        done = subprocess.run([sys.executable, *program], cwd=ROOT, text=True, check=False,
                              capture_output=True, env={**os.environ, "PATH": str(tmp_path)})
        return done.returncode, done.stdout, done.stderr

    return on


@pytest.mark.parametrize(("tools", "missing"), [
    ({"chromium": "", "gxx": "", "fc_list": FONTS}, []),
    ({"google_chrome": "", "gxx": "", "fc_list": FONTS}, []),
    ({"gxx": "", "fc_list": FONTS}, [BROWSER]),
    ({"chromium": "", "fc_list": FONTS}, [COMPILER]),
    ({"chromium": "", "gxx": ""}, [FONT]),
    ({"chromium": "", "gxx": "", "fc_list": ""}, [FONT]),       # fonts, but none for Chinese
])
@pytest.mark.skipif(sys.platform != "linux", reason="asks fc-list, which others lack")
def test_missing_tools_are_named_with_their_packages(machine, tools, missing):
    program = "from book.pipeline import checks; print(checks.missing_tools())"
    assert machine(["-c", program], **tools) == (0, f"{missing}\n", "")


def test_other_systems_are_not_asked_for_a_font(machine):
    program = "import sys; sys.platform = 'darwin'; from book.pipeline import checks; " \
              "print(checks.missing_tools())"
    assert machine(["-c", program], chromium="", gxx="") == (0, "[]\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="asks fc-list, which others lack")
def test_make_test_stops_before_any_step_and_points_to_test_core(machine):
    assert machine(["-m", "book.pipeline.checks", "all"]) == (1, "", (
        f"test: this machine lacks {BROWSER}, {COMPILER}, {FONT}; install the package in brackets, "
        "or run `make test-core`, which needs none of them\n"))


# ---- steps -------------------------------------------------------------------------------------

@pytest.fixture
def run(monkeypatch, capfd, tmp_path):
    """Run the checks of a group on these steps: (what ends it, stdout)."""

    def call(group, *steps):
        for name in ("ONLY", "FRESH"):  # of the run that this test belongs to
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(checks, "STEPS", steps)
        monkeypatch.setattr(lanes, "LOGS", tmp_path / "log")
        monkeypatch.setattr(checks, "missing_tools", list)
        monkeypatch.setattr(sys, "argv", ["checks", *group.split()])
        try:
            ended = checks.main()
        except SystemExit as stop:
            ended = stop.code
        return ended, capfd.readouterr().out

    return call


def python(program):
    return [sys.executable, "-c", program]


def test_steps_that_pass_are_counted_each_with_its_time(run):
    steps = [Step("one", python("print('said')"), ""), Step("two", python(""), "")]
    ended, out = run("quick", *steps)
    assert ended == 0
    assert sorted(re.findall(r"^\[[12]/2\] (\w+): passed, \d+ s$", out, re.M)) == ["one", "two"]
    assert re.search(r"^2 of 2 steps passed in \d+ s\. Logs: ", out, re.M)
    assert "said" not in out  # what passed is in its log


def test_a_failing_step_leaves_the_others_running_and_says_how_to_go_on(run, tmp_path):
    later = tmp_path / "later"
    steps = [Step("good", python(""), ""),
             Step("bad", python("import sys; print('why'); sys.exit(3)"), "mend the thing"),
             Step("later", python(f"open({str(later)!r}, 'w')"), "")]
    ended, out = run("all", *steps)
    assert ended == 1
    assert later.exists()
    told = re.search(r"^why\n\nTo go on: mend the thing, then run it again alone: (.*)$", out, re.M)
    again = subprocess.run(["sh", "-c", told[1]], cwd=ROOT, capture_output=True, check=False)
    assert again.returncode == 3  # the command as it is told can be pasted


def test_a_group_runs_its_own_steps_only(run):
    steps = [Step("first", python(""), "", "quick"), Step("second", python(""), ""),
             Step("third", python(""), "", "core all")]
    for group, names in {"quick": {"first", "second"}, "core": {"second", "third"}}.items():
        ended, out = run(group, *steps)
        assert ended == 0
        assert set(re.findall(r"(\w+): passed", out)) == names


@pytest.mark.parametrize("group", ["", "everything", "quick all"])
def test_an_unknown_group_is_refused(run, group):
    assert run(group) == ("checks: say which: quick, core or all", "")


@pytest.mark.parametrize(("group", "left_out"), [
    ("quick", {"slow", "browser", "compiler"}), ("core", {"browser", "compiler"}), ("all", set()),
])
def test_each_group_runs_the_tests_that_its_tools_allow(group, left_out):
    chosen = [step.command for step in checks.STEPS if group in step.groups.split()
              and {"pytest", "book.pipeline.suite.files"}.intersection(step.command)
              and "--nbval" not in step.command]
    marks = [command[command.index("-m", 2) + 1] if "-m" in command[2:] else "True"
             for command in (command[1:] for command in chosen)]
    browser = any(part in ("tests/pages", "tests/specimen") for command in chosen
                  for part in command)
    assert chosen
    assert browser == ("browser" not in left_out)
    for mark in {"slow", "compiler"}:
        runs = [eval(choice, {"slow": mark == "slow", "compiler": mark == "compiler"})
                for choice in marks]
        assert all(runs) if mark not in left_out else not any(runs)


def test_every_command_of_make_is_there():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    named = re.findall(r"(?:\$\(RUN\)|book\.pipeline)\.([\w.]+)", makefile)
    named += [step.command[2].removeprefix("book.pipeline.") for step in checks.STEPS
              if step.command[2].startswith("book.pipeline.")]
    assert {"sync", "prove", "site", "serve", "checks", "desk"} <= set(named)
    for name in named:
        assert importlib.util.find_spec(f"book.pipeline.{name}"), name
    for group in re.findall(r"book\.pipeline\.checks (\w+)", makefile):
        assert any(group in step.groups.split() for step in checks.STEPS)


# ---- notebooks under another torch -------------------------------------------------------------

def item(*tags):
    options = defaultdict(bool, check=True)
    return SimpleNamespace(cell=SimpleNamespace(metadata={"tags": list(tags)}), options=options)


def here(monkeypatch, torch, python):
    """Pretend that torch and Python have these versions; what the hook makes of two cells."""
    monkeypatch.setattr(notebook, "version", lambda name: {"torch": torch}[name])
    monkeypatch.setattr(notebook, "sys", SimpleNamespace(version_info=(*python, 7)))
    items = [item("pinned-torch"), item("other"), SimpleNamespace(name="a test, not a cell")]
    conftest.pytest_collection_modifyitems(items)
    return [cell.options["check"] for cell in items[:2]]


PINNED = notebook.pinned_torch()


@pytest.mark.parametrize(("torch", "python", "compared"), [
    (PINNED, notebook.PINNED_PYTHON, [True, True]),
    (f"{PINNED}+cpu", notebook.PINNED_PYTHON, [True, True]),
    (f"{PINNED}+cu130", notebook.PINNED_PYTHON, [True, True]),
    ("2.11.0", notebook.PINNED_PYTHON, [False, True]),
    (f"{PINNED}1", notebook.PINNED_PYTHON, [False, True]),
    (PINNED, (3, 12), [False, True]),
])
def test_pinned_cells_are_compared_under_the_pinned_torch_and_python_only(
    monkeypatch, torch, python, compared
):
    assert here(monkeypatch, torch, python) == compared


@pytest.fixture
def cells(tmp_path):
    """A notebook: right, wrong, wrong and pinned, raising and pinned, raising as stored."""
    v4, pinned = nbformat.v4, {"tags": ["pinned-torch"]}

    def cell(source, **metadata):
        one = v4.new_output("stream", text="1\n")
        return v4.new_code_cell(source, outputs=[one], metadata=metadata, execution_count=1)

    last = cell("1 / 0", tags=["raises-exception"])
    # as sync stores an error: the frames are left out, and nbval does not miss them
    last.outputs = [v4.new_output("error", ename="ZeroDivisionError", evalue="division by zero",
                                  traceback=["one line"])]
    cells = [cell("print(1)"), cell("print(2)"), cell("print(2)", **pinned),
             cell("1 / 0", **pinned), last]
    nbformat.write(v4.new_notebook(cells=cells), tmp_path / "cells.ipynb")
    return tmp_path / "cells.ipynb"


@pytest.mark.slow
@pytest.mark.parametrize(("pinned_here", "result"), [
    ("True", "3 failed, 2 passed"), ("False", "2 failed, 3 passed"),
])
def test_nbval_runs_pinned_cells_elsewhere_and_compares_them_here(cells, pinned_here, result):
    (cells.parent / "conftest.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"import importlib.util as u\n"
        f"spec = u.spec_from_file_location('root_conftest', {str(ROOT / 'conftest.py')!r})\n"
        f"root = u.module_from_spec(spec); spec.loader.exec_module(root)\n"
        f"root.notebook.outputs_are_pinned_here = lambda: {pinned_here}\n"
        f"pytest_collection_modifyitems = root.pytest_collection_modifyitems\n")
    command = [sys.executable, "-m", "pytest", "-q", "--nbval", "--nbval-current-env",
               "-p", "no:cacheprovider", "--rootdir", cells.parent, cells]
    ran = subprocess.run(command, cwd=cells.parent, capture_output=True, text=True, check=False)
    assert result in ran.stdout.splitlines()[-1]
