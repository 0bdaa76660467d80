"""What holds of all exercises: a check tells what passes, what fails and what is still to write, a
usual mistake fails by its name, and the files that a reader downloads work alone. What only one of
them has is in test_exercises_of_one.py.
"""

import ast
import shutil
from dataclasses import dataclass

import pytest

from book.pipeline.ground.paths import CHAPTERS, CODE
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import cuts, load, run, sources, teller, write_files
from tests.helpers.exercise_mistakes import MISTAKES

TENSOR, SCALAR, MODULES, LOADER = (
    f"{chapter}/exercises.yaml" for chapter in ("01-tensors", "02-autograd", "03-modules",
                                                "04-data"))
LISTS = {path.relative_to(CHAPTERS).as_posix(): path
         for path in sorted(CHAPTERS.glob("*/exercises*.yaml"))}
EXERCISES = {name: faded.read(path) for name, path in LISTS.items()}
STORED = (TENSOR, SCALAR)  # their checks have stored numbers for a reader without torch
CASES = [(name, torch) for name in LISTS
         for torch in ("with torch", *(["without torch"] if name in STORED else []))]


def each(rows):
    """A parameter of every row of a list, in each case of its list."""
    return [(name, torch, *row) for name, torch in CASES for row in rows(name)]


@pytest.fixture
def torch():
    """What a test says that says nothing of it."""
    return "with torch"


@pytest.fixture
def check(name, torch, monkeypatch):
    module = load(EXERCISES[name].check)
    if torch == "without torch":
        monkeypatch.setattr(module, "torch", None)
    if name == SCALAR:
        monkeypatch.setattr(module, "DEPTH", 5_000)  # beyond any recursion limit, and quick
    if name == LOADER:
        module.LIMIT = 6.0
    return module


@pytest.fixture
def told(name, check, tmp_path, capsys):
    return teller(EXERCISES[name], check, tmp_path, capsys)


def companions(name):
    return [(stem,) for stem in sorted({home.stem for home in EXERCISES[name].homes.values()})]


@pytest.mark.parametrize(("name", "torch", "companion"), each(companions))
def test_the_solution_passes(name, told, check, companion):
    names = check.CHECKER.checks[companion]
    assert told(companion, sources(EXERCISES[name])[companion]) == dict.fromkeys(names, "passes")


@pytest.mark.parametrize(("name", "torch"), CASES)
def test_every_function_of_the_list_is_checked_and_no_other(name, check):
    exercises, checks = EXERCISES[name], check.CHECKER.checks
    assert {one for names in checks.values() for one in names} == set(exercises.homes)
    for companion, names in checks.items():
        assert all(exercises.homes[one].stem == companion for one in names)
        beside = [file.name for file in exercises.imports(CODE / f"{companion}.py")]
        assert check.CHECKER.imports.get(companion, []) == beside


def test_every_list_has_its_planted_mistakes():
    assert MISTAKES.keys() == LISTS.keys()


@pytest.mark.parametrize(("name", "torch", "function", "old", "new"), each(MISTAKES.__getitem__))
def test_a_usual_mistake_fails_by_its_name(name, told, function, old, new):
    companion = EXERCISES[name].homes[function].stem
    text = sources(EXERCISES[name])[companion]
    assert text.count(old) == 1
    assert told(companion, text.replace(old, new))[function] == "fails"


@pytest.mark.parametrize(("name", "torch", "function", "companion", "text"),
                         each(lambda name: cuts(EXERCISES[name])))
def test_what_is_cut_is_reported_as_still_to_write(told, check, function, companion, text):
    found = told(companion, text)
    assert [other for other, word in found.items() if word == "write"] == [function]
    assert "fails" not in found.values(), "a function that nobody touched"
    needed = {other for names in check.CHECKER.needs.values() for other in names}
    assert ("waits" in found.values()) == (function in needed)


def calls(source, name):
    """The last words of what a function calls or asks of an object."""
    nodes = [*ast.walk(faded._find(ast.parse(source), name))]
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)} | {
        node.func.id for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


@pytest.mark.parametrize(("name", "prefix", "exact"), [
    (TENSOR, "mini", True), (LOADER, "mini", True),
    (MODULES, "mini_module", False)])  # mini_layers waits for what is called further down
def test_a_function_waits_for_those_that_it_calls(name, check, prefix, exact):
    for companion, names in check.CHECKER.checks.items():
        words = {one.split(".")[-1]: one for one in names}
        for place, one in enumerate(names):
            called = {words[word] for word in words.keys() & calls(
                sources(EXERCISES[name])[companion], one)} - {one}
            needed = set(check.CHECKER.needs.get(one, []))
            assert needed <= called or not companion.startswith(prefix), one
            assert needed <= set([*names][:place])
            assert needed == called or not exact, one


# ---- the files in a folder, as a reader has them -------------------------------------------------

@dataclass
class Files:
    """The check, a file that only says what to do next, and the files to write in."""

    check: str
    says: str
    made: tuple[str, ...]

    @property
    def next(self):
        companion = companion_of(self.says)
        return f"{companion}；下一步 · next: python3 {self.check}\n"


def companion_of(file):
    return file.removesuffix(".py").removesuffix("_blanks").removesuffix("_from_tests")


def both(*companions):
    return tuple(f"{name}_{end}.py" for name in companions for end in ("blanks", "from_tests"))


FILES = {
    "01-tensors/exercises-writing-by-index.yaml": Files(
        "check_mini_index.py", "mini_index.py", both("mini_index")),
    "03-modules/exercises.yaml": Files(
        "check_modules.py", "mini_module_blanks.py",
        both("mini_layers", "mini_layers_attention", "mini_module", "mini_module_state")),
    "04-data/exercises-packing.yaml": Files("check_samples.py", "mini_samples_blanks.py", (
        "mini_samples_blanks.py", *both("mini_samples_order", "mini_samples_batch"))),
    "04-data/exercises-caching.yaml": Files("check_cache.py", "mini_cache.py", both("mini_cache")),
    "04-data/exercises-shards.yaml": Files(
        "check_shards.py", "mini_shards.py", both("mini_shards")),
    "05-compile/exercises-mini-compile.yaml": Files("check_compile.py", "mini_compile.py", (
        "mini_compile_build_from_tests.py", "mini_compile_dtypes_blanks.py",
        "mini_compile_groups_from_tests.py", "mini_compile_loops_blanks.py",
        "mini_compile_write_blanks.py")),
    "05-compile/exercises.yaml": Files("check_dynamo.py", "mini_dynamo_blanks.py", (
        "mini_dynamo_blanks.py", "mini_dynamo_bytecode_from_tests.py",
        "mini_dynamo_effects_blanks.py", "mini_dynamo_guards_from_tests.py")),
}


@pytest.fixture
def folder(name, tmp_path):
    return write_files(LISTS[name], tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_the_files_work_alone_in_a_folder(name, folder, check):
    files = FILES[name]
    assert {path.name for path in folder.glob("*.py") if companion_of(path.name) != path.stem} == {
        *files.made}
    done = run(folder / files.says)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", files.next)
    script = [folder / files.check, *(folder / made for made in files.made)]
    done = run(*script)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("fails") == 0
    assert done.stdout.count("still to write") == sum(
        exercise.form != "worked" for exercise in EXERCISES[name].functions)
    for made in files.made:
        shutil.copy(CODE / f"{companion_of(made)}.py", folder / made)
    done = run(*script)
    assert (done.returncode, done.stdout.count("passes")) == (
        0, sum(len(check.CHECKER.checks[companion_of(made)]) for made in files.made))


@pytest.mark.parametrize("name", FILES)
def test_the_check_finds_the_files_to_write_in(name, folder):
    done = run(folder / FILES[name].check)
    assert [line for line in done.stdout.splitlines() if line.endswith(".py")] == sorted(
        FILES[name].made)


@pytest.mark.parametrize("name", FILES)
def test_without_torch_it_says_so_in_one_line(name, folder):
    (folder / "torch.py").write_text("raise ImportError\n")
    done = run(folder / FILES[name].check)
    assert (done.returncode, done.stdout) == (1, "要装 torch · this needs torch\n")


@pytest.mark.parametrize(("name", "companion", "script", "writes"), [
    (TENSOR, "mini_tensor", "check_mini_tensor.py", 6),
    (SCALAR, "pytorch_deep_dive", "check_scalar.py", 4), (LOADER, "mini_loader", "check_loader.py",
                                                          5)])
def test_the_program_tells_by_its_status_what_passes(name, companion, script, writes, tmp_path):
    folder = write_files(LISTS[name], tmp_path)
    if name in STORED:
        (folder / "torch.py").write_text("raise ImportError\n")  # a machine without torch
    done = run(folder / script)
    assert (done.returncode, done.stderr) == (1, "")
    assert [done.stdout.count(words) for words in ("still to write", "waits", "fails")] == [
        writes, 1, 0]
    assert done.stdout.splitlines()[-1] == "还有没过的 · not all passed yet"
    practice = [file for file in folder.glob("*.py") if companion_of(file.name) != file.stem]
    for file in practice:
        shutil.copy(CODE / f"{companion_of(file.name)}.py", file)
    done = run(folder / script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "全部通过 · all passed"
    (folder / f"{companion}_blanks.py").write_text("def broken(:\n")
    done = run(folder / script, folder / f"{companion}_blanks.py")
    assert (done.returncode, done.stdout.count("cannot be loaded: SyntaxError")) == (1, 1)
    for file in practice:
        file.unlink()
    done = run(folder / script)
    assert (done.returncode, done.stdout.count("no file to check")) == (1, 1)


@pytest.mark.parametrize("name", [TENSOR, LOADER])
@pytest.mark.parametrize("file", ["blank.py", "notes.txt", ".", "other.py"])
def test_a_file_that_is_not_there_is_named_in_one_line(name, tmp_path, file):
    folder = write_files(LISTS[name], tmp_path)
    for made in ("notes.txt", "other.py"):
        (folder / made).write_text("")
    done = run(next(folder.glob("check_*.py")), folder / file)
    assert (done.returncode, done.stderr) == (1, "")
    named = [line for line in done.stdout.splitlines() if "no such file" in line]
    assert len(named) == 1
    assert f"no such file: {(folder / file).resolve()}; name a practice file" in named[0]
