"""What only the exercises of one companion have: answers that hang, numbers that are stored, a deep
graph, the list on a page. What holds of all exercises is in test_exercises.py.
"""

import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup

from book.extension import exercises
from book.pipeline.ground.paths import CHAPTERS, CODE
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import load, put_back, run, sources, teller, write_files

SLEEP = f"283.{os.getpid()}"           # seconds; an argument that only processes of this run have
HANGS = 5.0                           # seconds for one function, where one hangs by intent


class Exercises:
    """A list of exercises, its check, and what the check tells of a text."""

    def __init__(self, chapter, folder, capsys):
        self.list = CHAPTERS / chapter / "exercises.yaml"
        self.read = faded.read(self.list)
        self.sources = sources(self.read)
        self.check = load(self.read.check)
        self.told = teller(self.read, self.check, folder, capsys)

    def page(self, folder):
        return BeautifulSoup(exercises.listing(self.read, folder), "html.parser")


@pytest.fixture
def tensor(tmp_path, capsys):
    return Exercises("01-tensors", tmp_path, capsys)


@pytest.fixture(params=["with torch", "without torch"])
def scalar(request, tmp_path, capsys, monkeypatch):
    found = Exercises("02-autograd", tmp_path, capsys)
    monkeypatch.setattr(found.check, "DEPTH", 5_000)  # beyond any recursion limit, and quick
    if request.param == "without torch":
        monkeypatch.setattr(found.check, "torch", None)
    return found


@pytest.fixture
def modules(tmp_path, capsys):
    return Exercises("03-modules", tmp_path, capsys)


@pytest.fixture
def loader(tmp_path, capsys):
    return Exercises("04-data", tmp_path, capsys)


# ---- mini_tensor -------------------------------------------------------------------------------

def test_a_function_waits_for_the_one_that_is_still_to_write(tensor):
    text = faded.fade(tensor.sources["mini_tensor_layout"], "packed_strides", "tests")
    assert tensor.told("mini_tensor_layout", text) == {
        "packed_strides": "write", "contiguous_strides": "waits",
        "broadcast_strides": "passes", "result_strides": "waits"}
    own = faded.fade(text, "result_strides", "tests")
    assert tensor.told("mini_tensor_layout", own)["result_strides"] == "write"


def test_a_view_rule_that_asks_for_contiguity_fails(tensor):
    body = """
def view_strides(sizes, strides, shape):
    return contiguous_strides(shape) if strides == contiguous_strides(sizes) else None
"""
    before = tensor.sources["mini_tensor"].partition("# --- 7.")[0]
    assert tensor.told("mini_tensor", before + body)["view_strides"] == "fails"


def test_strides_of_size_one_that_reach_nothing_are_not_asked_for(tensor):
    body = """
def view_strides(sizes, strides, shape, rule=view_strides):
    found = rule(sizes, strides, shape)
    return found and tuple(7 if n == 1 else s for n, s in zip(shape, found))
"""
    text = tensor.sources["mini_tensor"].partition("# --- 9.")[0] + body
    assert tensor.told("mini_tensor", text)["view_strides"] == "passes"


def test_stored_results_are_those_of_torch(tensor):
    check = tensor.check
    assert check.torch is torch
    for name, cases in check.VIEWS.items():
        for layout, arguments, stored in cases:
            assert check.expected_view(name, layout, arguments, None) == stored
    for name, cases in check.STRIDES.items():
        for arguments, stored in cases:
            assert check.expected_strides(name, arguments, 0) == stored, (name, arguments)


def test_what_was_expected_is_labelled(tensor, tmp_path, capsys):
    for file in tensor.read.companions:
        shutil.copy(file, tmp_path)
    for companion, old, new in [
            ("mini_tensor", "stride[dim] *= step", "stride[dim] = step"),
            ("mini_tensor_layout", "return (0,) * missing", "return (1,) * missing"),
            ("mini_tensor_layout", "return first if same", "return None if same")]:
        practice = tmp_path / f"{companion}_blanks.py"
        practice.write_text(tensor.sources[companion].replace(old, new))
        tensor.check.CHECKER.check_file(practice)
    told = capsys.readouterr().out
    assert ("fails   Tensor.slice: slice(0, slice(1, 3, None)) of size (4, 6), stride (6, 1), "
            "offset 3: expected size (2, 6), stride (6, 1), offset 9; found size (2, 6), "
            "stride (1, 1), offset 9\n") in told
    assert ("fails   broadcast_strides: broadcast_strides(<size (3,), stride (2,)>, (4, 3)): "
            "expected stride (0, 2); found (1, 2)\n") in told


def test_mini_tensors_files_work_alone_in_a_folder(tensor, tmp_path):
    folder = write_files(tensor.list, tmp_path)
    (folder / "torch.py").write_text("raise ImportError\n")  # a machine without torch
    assert set(faded.files(tensor.list)) == {
        "mini_tensor.py", "mini_tensor_layout.py", "check_mini_tensor.py",
        "mini_tensor_blanks.py", "mini_tensor_layout_blanks.py", "mini_tensor_from_tests.py",
        "mini_tensor_layout_from_tests.py"}
    for name in ("mini_tensor_blanks.py", "mini_tensor_from_tests.py", "mini_tensor.py"):
        done = run(folder / name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.splitlines() == [
            "mini_tensor；下一步 · next: python3 check_mini_tensor.py"]
    told = run(folder / "check_mini_tensor.py").stdout.splitlines()
    assert told[0].endswith("stored numbers (torch is not installed)")
    assert [line for line in told if "waits" in line] == [
        "  先等 · waits   result_strides: needs contiguous_strides, broadcast_strides first"]


def links(element):
    return [link.get_text() for link in element.select("a[download]")]


def test_the_page_links_the_files_that_are_made_and_no_other(tensor):
    listing = tensor.page("folder")
    assert {link["href"] for link in listing.select("a")} == {
        f"folder/{name}" for name in faded.files(tensor.list)}
    files = [links(row) for row in listing.select("tbody tr")]
    assert files == [["mini_tensor_blanks.py"], ["mini_tensor_layout_blanks.py"]] * 2 + [
        ["mini_tensor_from_tests.py"], ["mini_tensor_layout_from_tests.py"]]


def test_the_page_names_each_function_beside_the_file_it_is_written_in(tensor):
    listing = tensor.page("folder")
    rows = [[cell.get_text() for cell in row.select("td")[1:]]
            for row in listing.select("tbody tr")]
    assert rows[2:] == [
        ["Tensor.slice, Tensor.expand", "mini_tensor_blanks.py"],
        ["contiguous_strides, broadcast_strides", "mini_tensor_layout_blanks.py"],
        ["view_strides", "mini_tensor_from_tests.py"],
        ["result_strides", "mini_tensor_layout_from_tests.py"]]


def test_the_page_says_what_is_imported_and_what_is_a_solution(tensor):
    listing = tensor.page("folder")
    put, _, where = listing.select("li .lang-en")
    assert links(put) == ["check_mini_tensor.py"] * 2 + ["mini_tensor_layout.py"]
    assert links(where) == ["mini_tensor.py", "mini_tensor_layout.py"]
    assert ("Put mini_tensor_layout.py there too, for the imports in "
            "mini_tensor_blanks.py and mini_tensor_from_tests.py.") in put.get_text()
    assert ("it holds the answers of mini_tensor_layout_blanks.py and "
            "mini_tensor_layout_from_tests.py") in where.get_text()
    chinese = listing.select_one("li .lang-zh").get_text()
    assert "还要导入 mini_tensor_layout.py" in chinese


def test_a_companion_of_one_file_imports_nothing_of_the_book():
    engine = faded.read(CHAPTERS / "02-autograd/exercises.yaml")
    page = BeautifulSoup(exercises.listing(engine, "folder"), "html.parser")
    put, how, where = page.select("li .lang-en")
    assert (links(put), links(where)) == (["check_scalar.py"] * 2, ["pytorch_deep_dive.py"])
    assert "import" not in put.get_text() + how.get_text() + where.get_text()


# ---- Scalar --------------------------------------------------------------------------------------

def test_a_cut_file_passes_once_the_original_lines_are_back(scalar):
    engine = scalar.sources["pytorch_deep_dive"]
    made = faded.files(scalar.list)
    for form in faded.CUT:
        text = made[f"pytorch_deep_dive_{faded.CUT[form]}.py"]
        assert "write" in scalar.told("pytorch_deep_dive", text).values()
        kept, original = text.splitlines(), engine.splitlines()
        assert len(kept) == len(original) or form == "tests"
        for exercise in scalar.read.of(form):
            text = put_back(text, exercise.name, engine)
        assert text == engine


def test_a_walk_that_calls_itself_fails_on_the_deep_graph(scalar):
    engine = scalar.sources["pytorch_deep_dive"]
    recursive = """
def walk(node):
    operands = [x for x in (node.left, node.right) if isinstance(x, Scalar)]
    return set().union({node}, *map(walk, operands))

Scalar.nodes = lambda self: sorted(walk(self), key=lambda node: -node.number)
"""
    found = scalar.told("pytorch_deep_dive", engine.partition("# --- 5.")[0] + recursive)
    assert [name for name, word in found.items() if word == "fails"] == ["Scalar.backward"]


def test_a_derivative_off_by_a_little_fails_and_what_was_expected_is_told(scalar, tmp_path, capsys):
    engine = scalar.sources["pytorch_deep_dive"]
    wrong = engine.replace("(1 - t) * (1 + t)", "(1 - t) * (1 + t) * (1 + 1e-8)")
    (tmp_path / "pytorch_deep_dive_blanks.py").write_text(wrong, encoding="utf-8")
    assert not scalar.check.CHECKER.check_file(tmp_path / "pytorch_deep_dive_blanks.py")
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "fails" in line)
    assert "  没过 · fails   Scalar.tanh: derivative of tanh(0.7): expected 0.63" in line
    assert math.isclose(float(line.split()[-1]), 0.634739589982459, rel_tol=2e-8)


def test_stored_numbers_are_those_of_torch():
    check = load(CHAPTERS / "02-autograd/check_scalar.py")
    assert check.torch is torch
    assert set(check.NUMBERS) == set(check.CASES)
    for case, numbers in check.NUMBERS.items():
        assert numbers == pytest.approx(check.expected(case), rel=1e-12)


# ---- the modules ---------------------------------------------------------------------------------

def test_a_check_finds_the_practice_files_of_each_companion(
    modules, tmp_path, monkeypatch, capsys
):
    check = modules.check
    monkeypatch.setattr(check, "__file__", str(tmp_path / "check.py"))
    monkeypatch.setattr(sys, "argv", ["check.py"])
    for name in ("one_blanks.py", "two_from_tests.py", "three_blanks.py", "two.py"):
        (tmp_path / name).write_text("")
    assert check.Checker({"one": {}, "two": {}}).main() == 0
    assert capsys.readouterr().out.splitlines()[:-1] == ["one_blanks.py", "two_from_tests.py"]


def test_a_function_that_is_gone_is_still_to_write_and_the_others_are_checked(modules):
    text = modules.sources["mini_module"].replace("def _apply(self", "def apply_(self")
    found = modules.told("mini_module", text)
    assert found["Module._apply"] == "write"
    assert found["Module.named_modules"] == "passes"


def test_a_download_that_belongs_beside_is_no_practice_file(modules, tmp_path):
    folder = write_files(modules.list, tmp_path)
    done = run(folder / "check_modules.py", folder / "mini_module_hooks.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert "no such file" in done.stdout
    assert "cannot be loaded" not in done.stdout


def test_a_function_waits_for_one_of_another_class(modules):
    text = faded.fade(modules.sources["mini_module"], "Module.named_modules", "tests")
    assert modules.told("mini_module", text)["Module._named_members"] == "waits"


# ---- mini_loader ---------------------------------------------------------------------------------

def test_the_list_fades_from_worked_over_blanks_to_tests_alone(loader):
    assert [exercise.form for exercise in loader.read.functions] == [
        "worked", "blanks", "blanks", "blanks", "tests", "tests"]
    assert all(len(exercise.lines) in range(3, 7) for exercise in loader.read.functions
               if exercise.form == "blanks")


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
     "pass\n            else", "no end after 5 seconds"),
    ("WithWorkers.next_reply", "self.wait()\n            else",
     "self.pool.collect(1)\n            else", "no end after 5 seconds"),
    ("Slot.reserve", "self.reach(offset + nbytes)\n        self.used",
     "__import__('os')._exit(0)\n        self.used", "the process ended amid the check"),
    ("Slot.reserve", "self.reach(offset + nbytes)\n        self.used",
     "raise SystemExit('bye')\n        self.used", "SystemExit: bye"),
])
def test_an_answer_that_hangs_or_ends_the_process_fails_and_nothing_stays(
    loader, name, old, new, why
):
    loader.check.LIMIT = HANGS if "no end" in why else loader.check.LIMIT
    companion = loader.read.homes[name].stem
    text = loader.sources[companion]
    assert text.count(old) == 1
    child = f'__import__("subprocess").Popen(["sleep", "{SLEEP}"])\n'
    lines, begin = [], time.monotonic()
    assert loader.told(companion, child + text.replace(old, new), lines)[name] == "fails"
    assert why in " ".join(lines)
    assert time.monotonic() - begin < float(SLEEP) - 3  # it did not wait for what was started
    end = time.monotonic() + 10                # a killed process shows for a moment
    while (left := living(SLEEP)) and time.monotonic() < end:
        time.sleep(0.01)
    assert left == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_the_search_for_processes_finds_one():
    sleeping = subprocess.Popen(["sleep", SLEEP])
    try:
        end = time.monotonic() + 60            # its arguments show a moment after it has started
        while not (found := living(SLEEP)) and time.monotonic() < end:
            time.sleep(0.01)
        assert found == [str(sleeping.pid)]
    finally:
        sleeping.kill()
        sleeping.wait()


def test_a_file_that_never_ends_cannot_be_loaded(loader):
    loader.check.LIMIT, lines = 1.0, []
    loader.told("mini_loader_slots", "while True:\n    pass\n", lines)
    assert lines == ["  读不进来 · cannot be loaded: no end after 1 seconds: "
                     "it loops, or waits for what never comes"]


def test_the_files_work_alone_in_a_folder(loader, tmp_path):
    folder = write_files(loader.list, tmp_path)
    assert set(faded.files(loader.list)) == {
        "mini_loader.py", "mini_loader_arguments.py", "mini_loader_fetch.py",
        "mini_loader_errors.py",
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


def test_a_practice_file_needs_only_what_it_imports(loader, tmp_path):
    folder = write_files(loader.list, tmp_path)
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


def test_the_page_names_each_function_and_file(loader):
    page = loader.page("x")
    named_in = [code.text for code in page.select(".exercises td:nth-child(2) code")]
    assert sorted(named_in) == sorted(exercise.name for exercise in loader.read.functions)
    assert len(page.select(".exercise-steps > li")) == 3
    named = {code.text for code in page.select("code")}
    assert {exercise.name for exercise in loader.read.functions} <= named
    links = {link["href"].removeprefix("x/") for link in page.select("a")}
    assert links == set(faded.files(loader.list))


def test_the_page_says_that_only_this_check_cannot_do_without_torch():
    pages = {chapter: exercises.listing(faded.read(CHAPTERS / chapter / "exercises.yaml"), "x")
             for chapter in ("02-autograd", "04-data")}
    for stored, needed in (("存好的数", "要装有 PyTorch"), ("stored numbers", "needs PyTorch")):
        found = {chapter: (stored in page, needed in page) for chapter, page in pages.items()}
        assert found == {"02-autograd": (True, False), "04-data": (False, True)}


def test_without_torch_the_check_says_so_in_one_line(loader, tmp_path):
    folder = write_files(loader.list, tmp_path)
    (folder / "torch.py").write_text("raise ImportError\n")
    done = run(folder / "check_loader.py")
    assert (done.returncode, done.stdout, done.stderr) == (
        1, "要装 torch，要用 Linux 或 macOS · this needs torch, and Linux or macOS\n", "")
