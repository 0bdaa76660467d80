"""The exercises on mini_tensor: the check tells what passes, what fails and what is not written."""

import ast
import shutil

import pytest
import torch
from bs4 import BeautifulSoup

from book.extension import exercises
from book.pipeline.ground.paths import CHAPTERS, CODE
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import cuts, load, run, sources, teller

LIST = CHAPTERS / "01-tensors/exercises.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)


@pytest.fixture(params=["with torch", "without torch"])
def check(request, monkeypatch):
    module = load(EXERCISES.check)
    if request.param == "without torch":
        monkeypatch.setattr(module, "torch", None)
    return module


@pytest.fixture
def told(check, tmp_path, capsys):
    return teller(EXERCISES, check, tmp_path, capsys)


@pytest.mark.parametrize("companion", ["mini_tensor", "mini_tensor_layout"])
def test_the_solution_passes(told, check, companion):
    names = check.CHECKER.checks[companion]
    assert told(companion, SOURCES[companion]) == dict.fromkeys(names, "passes")


def test_every_function_of_the_list_is_checked_and_no_other(check):
    checks = check.CHECKER.checks
    assert {name for names in checks.values() for name in names} == set(EXERCISES.homes)
    for companion, names in checks.items():
        assert all(EXERCISES.homes[name].stem == companion for name in names)


@pytest.mark.parametrize(("name", "companion", "text"), list(cuts(EXERCISES)))
def test_what_is_cut_is_reported_as_still_to_write(told, name, companion, text):
    found = told(companion, text)
    assert found[name] == "write"
    assert [other for other, word in found.items() if word == "write"] == [name]
    assert "fails" not in found.values(), "a function that nobody touched"


def test_what_a_function_needs_is_what_it_calls():
    check = load(EXERCISES.check)
    for companion, names in check.CHECKER.checks.items():
        text = SOURCES[companion]
        for place, name in enumerate(names):
            calls = {node.func.id for node in ast.walk(faded._find(ast.parse(text), name))
                     if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
            assert sorted(check.CHECKER.needs.get(name, [])) == sorted(calls & set(names)), name
            assert calls & set(names) <= set(list(names)[:place]), name
        beside = [file.name for file in EXERCISES.imports(CODE / f"{companion}.py")]
        assert check.CHECKER.imports.get(companion, []) == beside


def test_a_function_waits_for_the_one_that_is_still_to_write(told):
    text = faded.fade(SOURCES["mini_tensor_layout"], "packed_strides", "tests")
    assert told("mini_tensor_layout", text) == {
        "packed_strides": "write", "contiguous_strides": "waits",
        "broadcast_strides": "passes", "result_strides": "waits"}
    own = faded.fade(text, "result_strides", "tests")
    assert told("mini_tensor_layout", own)["result_strides"] == "write"



@pytest.mark.parametrize(("name", "old", "new"), [
    ("Tensor.permute", "[self._stride[dim] for dim in order])", "self._stride)"),
    ("Tensor.permute", "[self.shape[dim] for dim in order]",
     "[self.shape[order.index(dim)] for dim in order]"),
    ("Tensor.slice", "size[dim] = len(range(start, stop, step))",
     "size[dim] = (stop - start) // step"),
    ("Tensor.slice", "size[dim] = len(range(start, stop, step))", "size[dim] = stop - start"),
    ("Tensor.slice", "size[dim] = len(range(start, stop, step))",
     "size[dim] = -((start - stop) // step)"),
    ("Tensor.slice", "stride[dim] *= step", "stride[dim] = step"),
    ("Tensor.slice", "stride[dim] *= step", "pass"),
    ("Tensor.slice", "self._offset + start * self._stride[dim])",
     "self._offset + start * stride[dim])"),
    ("Tensor.slice", "self._offset + start * self._stride[dim])", "self._offset + start)"),
    ("Tensor.slice", "self._offset + start * self._stride[dim])", "start * self._stride[dim])"),
    ("Tensor.slice", "return self.as_strided(size, stride, self._offset + start",
     "return self.clone().as_strided(size, stride, self._offset + start"),
    ("Tensor.expand", "(step if want == size else 0, *stride)", "(step, *stride)"),
    ("Tensor.expand", "(step if want == size else 0, *stride)",
     "(0 if size == 1 else step, *stride)"),
    ("Tensor.expand", "(step if want == size else 0, *stride)",
     "(step if dim >= new else 0, *stride)"),
    ("Tensor.expand", "shape, stride = (want, *shape), (step",
     "shape, stride = (size, *shape), (step"),
    ("Tensor.expand", "shape, stride = (want, *shape), (step if want == size else 0, *stride)",
     "shape, stride = (*shape, want), (*stride, step if want == size else 0)"),
    ("Tensor.expand", "want = size if sizes[dim] == -1 and dim >= new else sizes[dim]",
     "want = size if sizes[dim] == -1 else sizes[dim]"),
    ("Tensor.expand", "want = size if sizes[dim] == -1 and dim >= new else sizes[dim]",
     "want = sizes[dim]"),
    ("Tensor.expand", "want = size if sizes[dim] == -1 and dim >= new else sizes[dim]",
     "want = max(size, sizes[dim])"),
    ("Tensor.expand", "size, step = self.shape[dim - new], self._stride[dim - new]",
     "size, step = self.shape[dim], self._stride[dim]"),
    ("Tensor.expand", "size, step = self.shape[dim - new], self._stride[dim - new]",
     "size = self.shape[dim - new]"),
    ("packed_strides", "= step\n        step *= sizes[dim]", "= step\n        step += sizes[dim]"),
    ("packed_strides", "= step\n        step *= sizes[dim]", "= step\n        step = sizes[dim]"),
    ("packed_strides", "strides[dim] = step\n        step *= sizes[dim]",
     "step *= sizes[dim]\n        strides[dim] = step"),
    ("packed_strides", "strides[dim] = step", "strides[fastest_first[dim]] = step"),
    ("broadcast_strides", "missing = len(sizes) - len(operand.shape)",
     "missing = len(operand.shape) - len(sizes)"),
    ("broadcast_strides", "missing = len(sizes) - len(operand.shape)", "missing = 0"),
    ("broadcast_strides", "return (0,) * missing + tuple(stretched)", "return tuple(stretched)"),
    ("broadcast_strides", "return (0,) * missing + tuple(stretched)",
     "return tuple(stretched) + (0,) * missing"),
    ("broadcast_strides", "return (0,) * missing", "return (1,) * missing"),
    ("contiguous_strides", "sizes], reversed(range(len(sizes))))",
     "sizes], range(len(sizes)))"),
    ("contiguous_strides", "[max(size, 1) for size in sizes]", "sizes"),
    ("contiguous_strides", "return packed_strides([max", "packed_strides([max"),
    ("view_strides", "if numel % size:", "if False:"),
    ("view_strides", "if 0 in sizes:", "if False:"),
    ("view_strides", "(numel > 1 or wanted[-1] == 1)", "numel > 1"),
    ("view_strides", "step * size", "step"),
    ("view_strides", "found = (step, *found)", "found = (*found, step)"),
    ("view_strides", "return strides if sizes == shape else contiguous_strides(shape)",
     "return None"),
    ("view_strides", "for numel, step in blocks(sizes, strides):",
     "for numel, step in list(zip(sizes, strides))[::-1] or [(1, 1)]:"),
    ("view_strides", "for numel, step in blocks(sizes, strides):",
     "for numel, step in blocks([n for n in sizes if n > 1],"
     " [s for n, s in zip(sizes, strides) if s]):"),
    ("result_strides", "if strides is not None:", "if False:"),
    ("result_strides", "if all(operand.shape == sizes for operand in operands):", "if True:"),
    ("result_strides", "    return packed_strides(sizes, order)\n\n\ndef shared",
     "    return contiguous_strides(sizes)\n\n\ndef shared"),
    ("result_strides", "    if order == list(reversed(range(len(sizes)))):\n"
                       "        return contiguous_strides(sizes)\n", ""),
    ("result_strides", "[broadcast_strides(operand, sizes) for operand in operands])",
     "[broadcast_strides(operand, sizes) for operand in operands[:1]])"),
    ("result_strides", "[broadcast_strides(operand, sizes) for operand in operands])",
     "[broadcast_strides(operand, sizes) for operand in operands[::-1]])"),
    ("result_strides", "sizes = broadcast_shapes(*(operand.shape for operand in operands))",
     "sizes = operands[0].shape"),
    ("result_strides", "order = fastest_first(sizes, [broadcast",
     "order = sorted(range(len(sizes)), key=lambda d: (operands[0].stride()[d], -d)); ([broadcast"),
])
def test_a_usual_mistake_fails_by_its_name(told, name, old, new):
    companion = EXERCISES.homes[name].stem
    text = SOURCES[companion]
    assert text.count(old) == 1
    assert told(companion, text.replace(old, new))[name] == "fails"


def test_a_view_rule_that_asks_for_contiguity_fails(told):
    body = """
def view_strides(sizes, strides, shape):
    return contiguous_strides(shape) if strides == contiguous_strides(sizes) else None
"""
    before = SOURCES["mini_tensor"].partition("# --- 7.")[0]
    assert told("mini_tensor", before + body)["view_strides"] == "fails"


def test_strides_of_size_one_that_reach_nothing_are_not_asked_for(told):
    body = """
def view_strides(sizes, strides, shape, rule=view_strides):
    found = rule(sizes, strides, shape)
    return found and tuple(7 if n == 1 else s for n, s in zip(shape, found))
"""
    text = SOURCES["mini_tensor"].partition("# --- 9.")[0] + body
    assert told("mini_tensor", text)["view_strides"] == "passes"


def test_stored_results_are_those_of_torch():
    check = load(EXERCISES.check)
    assert check.torch is torch
    for name, cases in check.VIEWS.items():
        for layout, arguments, stored in cases:
            assert check.expected_view(name, layout, arguments, None) == stored
    for name, cases in check.STRIDES.items():
        for arguments, stored in cases:
            assert check.expected_strides(name, arguments, 0) == stored, (name, arguments)


# ---- the files in a folder, as a reader has them -------------------------------------------------

@pytest.fixture
def folder(tmp_path):
    """All downloads, on a machine without torch, and without the tour."""
    for name, text in faded.files(LIST).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "torch.py").write_text("raise ImportError\n")
    return tmp_path


def test_the_files_work_alone_in_a_folder(folder):
    names = set(faded.files(LIST))
    assert names == {
        "mini_tensor.py", "mini_tensor_layout.py", "check_mini_tensor.py",
        "mini_tensor_blanks.py", "mini_tensor_layout_blanks.py", "mini_tensor_from_tests.py",
        "mini_tensor_layout_from_tests.py"}
    for name in ("mini_tensor_blanks.py", "mini_tensor_from_tests.py", "mini_tensor.py"):
        done = run(folder / name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.splitlines() == [
            "mini_tensor；下一步 · next: python3 check_mini_tensor.py"]


def test_the_program_tells_by_its_status_what_passes(folder):
    script = folder / "check_mini_tensor.py"
    done = run(script)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("still to write") == 6
    assert done.stdout.count("fails") == 0
    assert done.stdout.count("compared with") == 1
    assert done.stdout.splitlines()[0].endswith("stored numbers (torch is not installed)")
    waiting = [line for line in done.stdout.splitlines() if "waits" in line]
    assert waiting == [
        "  先等 · waits   result_strides: needs contiguous_strides, broadcast_strides first"]
    assert done.stdout.splitlines()[-1] == "还有没过的 · not all passed yet"
    for name in ("mini_tensor", "mini_tensor_layout"):
        for end in faded.CUT.values():
            shutil.copy(CODE / f"{name}.py", folder / f"{name}_{end}.py")
    done = run(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "全部通过 · all passed"
    (folder / "mini_tensor_blanks.py").write_text("def broken(:\n")
    done = run(script)
    assert done.returncode == 1
    assert "cannot be loaded: SyntaxError" in done.stdout
    for file in folder.glob("mini_tensor*_*.py"):
        file.unlink()
    done = run(script)
    assert (done.returncode, done.stdout.count("no file to check")) == (1, 1)


def test_a_practice_file_needs_only_what_it_imports(folder):
    for name in ("mini_tensor", "mini_tensor_layout"):
        shutil.copy(CODE / f"{name}.py", folder / f"{name}_blanks.py")
    (folder / "mini_tensor.py").unlink()
    script = folder / "check_mini_tensor.py"
    assert run(script, folder / "mini_tensor_blanks.py").returncode == 0
    (folder / "mini_tensor_layout.py").unlink()
    assert run(script, folder / "mini_tensor_layout_blanks.py").returncode == 0
    done = run(script, folder / "mini_tensor_blanks.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert ("cannot be loaded: missing beside mini_tensor_blanks.py: download "
            "mini_tensor_layout.py\n") in done.stdout


@pytest.mark.parametrize("name", ["mini_tensor_blank.py", "notes.txt", "."])
def test_a_file_that_is_not_there_is_named_in_one_line(folder, name):
    (folder / "notes.txt").write_text("")
    done = run(folder / "check_mini_tensor.py", folder / name)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert f"no such file: {folder / name}; name a practice file, mini_tensor_*.py" in lines[2]


def test_what_was_expected_is_labelled(check, tmp_path, capsys):
    for file in EXERCISES.companions:
        shutil.copy(file, tmp_path)
    for companion, old, new in [
            ("mini_tensor", "stride[dim] *= step", "stride[dim] = step"),
            ("mini_tensor_layout", "return (0,) * missing", "return (1,) * missing"),
            ("mini_tensor_layout", "return first if same", "return None if same")]:
        (tmp_path / f"{companion}_blanks.py").write_text(SOURCES[companion].replace(old, new))
        check.CHECKER.check_file(tmp_path / f"{companion}_blanks.py")
    told = capsys.readouterr().out
    assert ("fails   Tensor.slice: slice(0, slice(1, 3, None)) of size (4, 6), stride (6, 1), "
            "offset 3: expected size (2, 6), stride (6, 1), offset 9; found size (2, 6), "
            "stride (1, 1), offset 9\n") in told
    assert ("fails   broadcast_strides: broadcast_strides(<size (3,), stride (2,)>, (4, 3)): "
            "expected stride (0, 2); found (1, 2)\n") in told


# ---- the list on the page ------------------------------------------------------------------------

@pytest.fixture
def listing():
    return BeautifulSoup(exercises.listing(EXERCISES, "folder"), "html.parser")


def links(element):
    return [link.get_text() for link in element.select("a[download]")]


def test_the_page_links_the_files_that_are_made_and_no_other(listing):
    assert {link["href"] for link in listing.select("a")} == {
        f"folder/{name}" for name in faded.files(LIST)}
    files = [links(row) for row in listing.select("tbody tr")]
    assert files == [["mini_tensor_blanks.py"], ["mini_tensor_layout_blanks.py"]] * 2 + [
        ["mini_tensor_from_tests.py"], ["mini_tensor_layout_from_tests.py"]]


def test_the_page_names_each_function_beside_the_file_it_is_written_in(listing):
    rows = [[cell.get_text() for cell in row.select("td")[1:]]
            for row in listing.select("tbody tr")]
    assert rows[2:] == [
        ["Tensor.slice, Tensor.expand", "mini_tensor_blanks.py"],
        ["contiguous_strides, broadcast_strides", "mini_tensor_layout_blanks.py"],
        ["view_strides", "mini_tensor_from_tests.py"],
        ["result_strides", "mini_tensor_layout_from_tests.py"]]


def test_the_page_says_what_is_imported_and_what_is_a_solution(listing):
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
