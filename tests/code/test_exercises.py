"""What holds of the exercises of several companions: a check tells what passes, what fails and what
is still to write, and the files that a reader downloads work alone. Usual mistakes, and what only
one of them has, are in the test of each.
"""

import shutil
from dataclasses import dataclass

import pytest

from book.pipeline.ground.paths import CHAPTERS, CODE
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import cuts, load, run, sources, teller, write_files

LISTS = {name: CHAPTERS / name for name in (
    "01-tensors/exercises-writing-by-index.yaml", "03-modules/exercises.yaml",
    "04-data/exercises.yaml", "05-compile/exercises-mini-compile.yaml",
    "05-compile/exercises.yaml")}
EXERCISES = {name: faded.read(path) for name, path in LISTS.items()}
CHECKED = [(name, companion) for name, exercises in EXERCISES.items()
           for companion in sorted({home.stem for home in exercises.homes.values()})]
CUTS = [(name, *cut) for name, exercises in EXERCISES.items() for cut in cuts(exercises)]


@pytest.fixture
def check(name):
    return load(EXERCISES[name].check)


@pytest.fixture
def told(name, check, tmp_path, capsys):
    return teller(EXERCISES[name], check, tmp_path, capsys)


@pytest.mark.parametrize(("name", "companion"), CHECKED)
def test_the_solution_passes(name, told, check, companion):
    names = check.CHECKER.checks[companion]
    assert told(companion, sources(EXERCISES[name])[companion]) == dict.fromkeys(names, "passes")


@pytest.mark.parametrize("name", LISTS)
def test_every_function_of_the_list_is_checked_and_no_other(name, check):
    exercises, checks = EXERCISES[name], check.CHECKER.checks
    assert {one for names in checks.values() for one in names} == set(exercises.homes)
    for companion, names in checks.items():
        assert all(exercises.homes[one].stem == companion for one in names)
        beside = [file.name for file in exercises.imports(CODE / f"{companion}.py")]
        assert check.CHECKER.imports.get(companion, []) == beside


@pytest.mark.parametrize(("name", "function", "companion", "text"), CUTS)
def test_what_is_cut_is_reported_as_still_to_write(told, check, function, companion, text):
    found = told(companion, text)
    assert [other for other, word in found.items() if word == "write"] == [function]
    assert "fails" not in found.values(), "a function that nobody touched"
    needed = {other for names in check.CHECKER.needs.values() for other in names}
    assert ("waits" in found.values()) == (function in needed)


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
