"""The exercises of chapter 5: the check tells what passes, fails or is still to write."""

import shutil
import subprocess
import sys

import pytest

from book.pipeline.notebooks import faded
from book.pipeline.paths import CHAPTERS, CODE
from tests.helpers.exercise_checks import cuts, load, sources, teller

LIST = CHAPTERS / "05-compile/exercises.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)
CHECKED = sorted({home.stem for home in EXERCISES.homes.values()})


@pytest.fixture
def check():
    return load(EXERCISES.check)


@pytest.fixture
def told(check, tmp_path, capsys):
    return teller(EXERCISES, check, tmp_path, capsys)


@pytest.mark.parametrize("companion", CHECKED)
def test_the_solution_passes(told, check, companion):
    names = check.CHECKER.checks[companion]
    assert told(companion, SOURCES[companion]) == dict.fromkeys(names, "passes")


def test_every_function_of_the_list_is_checked_and_no_other(check):
    checks = check.CHECKER.checks
    assert {name for names in checks.values() for name in names} == set(EXERCISES.homes)
    for companion, names in checks.items():
        assert all(EXERCISES.homes[name].stem == companion for name in names)
        beside = [file.name for file in EXERCISES.imports(CODE / f"{companion}.py")]
        assert check.CHECKER.imports.get(companion, []) == beside


@pytest.mark.parametrize(("name", "companion", "text"), list(cuts(EXERCISES)))
def test_what_is_cut_is_reported_as_still_to_write(told, name, companion, text):
    found = told(companion, text)
    assert [other for other, word in found.items() if word == "write"] == [name]
    assert "fails" not in found.values(), "a function that nobody touched"


@pytest.mark.parametrize(("name", "old", "new"), [
    ("Session.entry", "            if entry.holds(state):\n                return entry\n",
     "            return entry\n"),
    ("Session.entry", "if entry.holds(state):", "if False:"),
    ("Session.entry", "if len(point.entries) >= RECOMPILE_LIMIT:",
     "if len(point.entries) > RECOMPILE_LIMIT:"),
    ("Session.entry", "if len(point.entries) >= RECOMPILE_LIMIT:", "if False:"),
    ("Session.entry", "point.entries[-1].why(state)", "point.entries[0].why(state)"),
    ("Session.entry", "        if point.entries:\n            self.stats.recompile",
     "        if True:\n            self.stats.recompile"),
    ("Session.entry", "        return self.capture(frame, point)\n",
     "        self.capture(frame, point)\n"),
    ("filled", "        run.made.setdefault(key, made)\n        fill(made, run)\n",
     "        fill(made, run)\n        run.made.setdefault(key, made)\n"),
    ("filled", "run.made.setdefault(key, made)", "run.made[key] = made"),
    ("filled", "        fill(made, run)\n        return made", "        return made"),
    ("filled", "        made = kind()\n        run.made.set",
     "        made = run.made.get(key) or kind()\n        run.made.set"),
    ("equals", "lambda now: type(now) is kind and (now is value or repr(now) == text)",
     "lambda now: now == value"),
    ("equals", "(now is value or repr(now) == text)", "now == value"),
    ("equals", "type(now) is kind and (now is value or repr(now) == text)",
     "isinstance(now, kind) and now == value"),
    ("equals", "(now is value or repr(now) == text)", "now is value"),
    ("equals", 'f"{source} == {text}"', 'f"{source} == {value}"'),
    ("exception_table", "(value << 6)", "(value << 7)"),
    ("exception_table", "(byte & 63)", "byte"),
    ("exception_table", "            value = 0\n", "            pass\n"),
    ("exception_table", "2 * (start + length)", "2 * length"),
    ("exception_table", "Handler(2 * start,", "Handler(start,"),
    ("exception_table", "2 * target", "target"),
    ("exception_table", "depth >> 1", "depth"),
    ("exception_table", "bool(depth & 1)", "depth & 1"),
    ("Program.loops_around", "inst.argval < here", "inst.argval > here"),
    ("Program.loops_around", "inst.argval < here", "True"),
])
def test_a_usual_mistake_fails_by_its_name(told, name, old, new):
    companion = EXERCISES.homes[name].stem
    text = SOURCES[companion]
    assert text.count(old) == 1
    assert told(companion, text.replace(old, new))[name] == "fails"


# ---- the files in a folder, as a reader has them -------------------------------------------------

@pytest.fixture
def folder(tmp_path):
    for name, text in faded.files(LIST).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def run(*arguments):
    return subprocess.run([sys.executable, "-E", "-s", *map(str, arguments)], capture_output=True,
                          text=True, encoding="utf-8", cwd="/", check=False)


def test_the_files_work_alone_in_a_folder(folder):
    made = sorted(path.name for path in folder.glob("*.py")
                  if path.stem.endswith(("_blanks", "_from_tests")))
    assert made == ["mini_dynamo_blanks.py", "mini_dynamo_bytecode_from_tests.py",
                    "mini_dynamo_effects_blanks.py", "mini_dynamo_guards_from_tests.py"]
    done = run(folder / "mini_dynamo_blanks.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mini_dynamo；下一步 · next: python3 check_dynamo.py\n"
    script = folder / "check_dynamo.py"
    done = run(script)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("fails") == 0
    assert done.stdout.count("still to write") == sum(
        exercise.form != "worked" for exercise in EXERCISES.functions)
    for name in made:
        companion = name.removesuffix(".py").removesuffix("_blanks").removesuffix("_from_tests")
        shutil.copy(CODE / f"{companion}.py", folder / name)
    done = run(script)
    assert (done.returncode, done.stdout.count("passes")) == (0, len(EXERCISES.functions))


def test_without_torch_it_says_so_in_one_line(folder):
    (folder / "torch.py").write_text("raise ImportError\n")
    done = run(folder / "check_dynamo.py")
    assert (done.returncode, done.stdout) == (1, "要装 torch · this needs torch\n")
