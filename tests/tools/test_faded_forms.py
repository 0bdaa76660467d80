"""Faded forms: only what the list names is cut, and the check tells what is not written yet."""

import ast
import shutil
import subprocess
import sys

import pytest

from book.pipeline.ground.paths import CHAPTERS, CODE
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import put_back

LISTS = sorted(CHAPTERS.glob("*/exercises*.yaml"))
CHAPTER = CHAPTERS / "02-autograd"
LIST = CHAPTER / "exercises.yaml"
ENGINE = (CODE / "pytorch_deep_dive.py").read_text(encoding="utf-8")
EXERCISES = faded.read(LIST).functions

SOURCE = '''\
import math  # kept

# a comment
class Box:
    """Kept."""

    @property
    def size(self):  # its header
        """What it holds.

        In full.
        """
        # a hint that must go
        if self.items:
            return len(self.items)   # odd  spacing

        return 0
    # after it

    def plain(self):
        a = 1
        return a

    def empty(self):
        """Nothing else."""

    def short(self): return 1

def last():
    return math.pi'''


def fade(name, form, *lines):
    return faded.fade(SOURCE, name, form, lines)


# ---- the cut -----------------------------------------------------------------------------------

def test_from_tests_alone_the_body_goes_and_the_docstring_stays():
    before, after = SOURCE.index("        # a hint"), SOURCE.index("    # after it")
    cut = '        raise NotImplementedError("Box.size is yours to write")\n'
    assert fade("Box.size", "tests") == SOURCE[:before] + cut + SOURCE[after:]


def test_a_body_without_docstring_and_the_end_of_the_file_can_be_cut():
    assert fade("Box.plain", "tests") == SOURCE.replace(
        "        a = 1\n        return a\n",
        '        raise NotImplementedError("Box.plain is yours to write")\n')
    assert fade("last", "tests") == SOURCE.replace(
        "return math.pi", 'raise NotImplementedError("last is yours to write")')


def test_blanks_keep_their_place_and_every_other_line():
    assert fade("Box.size", "blanks", "return len", "return 0") == SOURCE.replace(
        "return len(self.items)   # odd  spacing", "...  # blank",
    ).replace("return 0", "...  # blank")


def test_a_worked_function_is_left_whole():
    assert fade("Box.size", "worked") == SOURCE


def test_ends_of_lines_stay_as_they_are():
    source = SOURCE.replace("\n", "\r\n")
    for form, lines in (("blanks", ["return 0"]), ("tests", [])):
        expected = fade("Box.size", form, *lines).replace("\n", "\r\n")
        assert faded.fade(source, "Box.size", form, lines) == expected


@pytest.mark.parametrize(("name", "form", "lines", "what"), [
    ("Box.sise", "tests", [], "no function 'Box.sise' in the companion; near to it: Box.size"),
    ("size", "tests", [], "no function 'size' in the companion"),
    ("Box", "tests", [], "no function 'Box' in the companion"),
    ("Box.size", "gone", [], "'Box.size': no form 'gone'; write worked, blanks or tests"),
    ("Box.empty", "tests", [], "'Box.empty' has no body to cut"),
    ("Box.short", "tests", [], "'Box.short' stands on one line"),
    ("Box.size", "blanks", [], "'Box.size': 0 lines; name 1 to 6"),
    ("Box.size", "blanks", ["return 1"], "'Box.size': 0 lines begin with 'return 1'"),
    ("Box.size", "blanks", ["return"], "'Box.size': 2 lines begin with 'return'"),
    ("Box.size", "blanks", ["return math"], "0 lines begin"),
    ("Box.size", "blanks", ["What it"], "0 lines begin"),
    ("Box.size", "blanks", ["if self"], "'Box.size': what is left is no Python"),
])
def test_a_cut_that_cannot_be_made_is_named_in_one_line(name, form, lines, what):
    with pytest.raises(faded.FadeError) as caught:
        fade(name, form, *lines)
    assert what in str(caught.value)
    assert "; " in str(caught.value)
    assert "\n" not in str(caught.value)


# ---- the list ----------------------------------------------------------------------------------

def run(*arguments, folder=None):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True,
                          cwd=folder, check=False)


@pytest.mark.parametrize(("old", "new", "what"), [
    ("Scalar.backward", "Scalar.backwards",
     "no function 'Scalar.backwards' in the companion; near to it: Scalar.backward"),
    ("form: tests", "form: test", "no form 'test'"),
    ("form: tests", "shape: tests", "write companion, check and functions"),
    ("functions:", "function:", "write companion, check and functions"),
    ("check_scalar.py", "check_vector.py", "check_vector.py; name one that exists"),
    ("pytorch_deep_dive.py", "deep.py", "no file code/deep.py; name one that exists"),
    ("functions:", "functions: [", "write companion, check and functions"),
])
def test_a_wrong_list_is_named_in_one_line_and_nothing_is_written(tmp_path, old, new, what):
    shutil.copy(CHAPTER / "check_scalar.py", tmp_path)
    text = LIST.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "exercises.yaml").write_text(text.replace(old, new), encoding="utf-8")
    done = run("-m", "book.pipeline.notebooks.faded", tmp_path / "exercises.yaml", tmp_path / "out",
               folder=CODE.parent)
    assert done.returncode == 1
    assert what in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith(f"{tmp_path}/exercises.yaml: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.parent.name)
def test_the_files_of_every_chapter_are_python_and_differ_from_the_companion_by_their_cuts(path):
    exercises, made = faded.read(path), faded.files(path)
    originals = {}
    assert made.pop(exercises.check.name)
    for file in exercises.companions:
        assert made.pop(file.name) == file.read_text(encoding="utf-8")
        originals[file] = file.read_text(encoding="utf-8")
    cut = {exercises.file(form, companion): originals[companion]
           for form in faded.CUT for companion in exercises.cut(form)}
    assert set(made) == set(cut)
    for name, text in made.items():
        ast.parse(text)
        added = set(text.splitlines()) - set(cut[name].splitlines())
        assert all("...  # blank" in line or "NotImplementedError" in line for line in added)
        assert added


def test_a_function_is_cut_in_the_companion_it_is_in():
    path = CHAPTERS / "01-tensors/exercises.yaml"
    exercises, made = faded.read(path), faded.files(path)
    assert len(exercises.companions) == 2
    needed = {file.name: [other.name for other in exercises.imports(file)]
              for file in exercises.companions}
    assert needed == {"mini_tensor.py": ["mini_tensor_layout.py"], "mini_tensor_layout.py": []}
    assert [file.name for file in exercises.solutions()] == [
        "mini_tensor.py", "mini_tensor_layout.py"]
    for exercise in exercises.functions:
        home = exercises.homes[exercise.name]
        text = made[exercises.file(exercise.form, home)]
        whole = put_back(text, exercise.name, home.read_text(encoding="utf-8")) == text
        assert whole == (exercise.form == "worked")
    assert {home.name for home in exercises.homes.values()} == {
        "mini_tensor.py", "mini_tensor_layout.py"}


@pytest.mark.parametrize(("old", "new", "what"), [
    ("Tensor.slice", "Tensor.slices", "no function 'Tensor.slices' in the companion; near to it: "
                                      "Tensor.slice"),
    ("name: packed_strides", "name: packed_stride", "near to it: packed_strides"),
    ("mini_tensor_layout.py]", "mini_tensor_layout.py, mini_tensor.py]",
     "'Tensor.permute' is in mini_tensor.py and mini_tensor.py; choose a function"),
    ("mini_tensor_layout.py]", "mini_tensor_op.py]", "no file code/mini_tensor_op.py; name one"),
])
def test_a_wrong_list_of_several_companions_is_named_in_one_line(tmp_path, old, new, what):
    chapter = CHAPTERS / "01-tensors"
    shutil.copy(chapter / "check_mini_tensor.py", tmp_path)
    text = (chapter / "exercises.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "exercises.yaml").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(faded.FadeError) as caught:
        faded.read(tmp_path / "exercises.yaml")
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_companion_needs_what_it_imports_and_not_its_tour():
    shown = {name: CODE / name for name in ("pytorch_deep_dive.py", "scalar_tour.py")}
    assert "from scalar_tour import" in ENGINE
    exercises = faded.Exercises([*shown.values()], LIST, [], {})
    assert exercises.imports(shown["pytorch_deep_dive.py"]) == []
    assert exercises.imports(shown["scalar_tour.py"]) == [shown["pytorch_deep_dive.py"]]


def test_a_worked_function_is_whole_in_its_file_and_what_the_steps_ask_for_is_not():
    exercises, made = faded.read(LIST), faded.files(LIST)
    for exercise in exercises.functions:
        text = made[exercises.file(exercise.form, exercises.companions[0])]
        assert (put_back(text, exercise.name, ENGINE) == text) == (exercise.form == "worked")
        assert text != ENGINE


def test_without_a_cut_a_worked_function_is_read_in_the_companion(tmp_path):
    shutil.copy(CHAPTER / "check_scalar.py", tmp_path)
    (tmp_path / "exercises.yaml").write_text(
        "companion: pytorch_deep_dive.py\ncheck: check_scalar.py\n"
        "functions: [{name: Scalar.sigmoid, form: worked}]\n")
    exercises = faded.read(tmp_path / "exercises.yaml")
    assert exercises.file("worked", exercises.companions[0]) == "pytorch_deep_dive.py"
    assert set(faded.files(tmp_path / "exercises.yaml")) == {
        "pytorch_deep_dive.py", "check_scalar.py"}


def test_a_file_downloaded_alone_names_the_next_step_in_one_line(tmp_path):
    exercises, made = faded.read(LIST), faded.files(LIST)
    del made[exercises.check.name]
    assert len(made) == 3
    for number, (name, text) in enumerate(made.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / name).write_text(text, encoding="utf-8")
        done = run("-E", folder / name, folder=folder)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert "The Scalar engine; next: python3 check_scalar.py" in done.stderr


def test_the_list_of_the_engine_fades_from_worked_over_blanks_to_tests_alone():
    assert [exercise.form for exercise in EXERCISES] == [
        "worked", "blanks", "blanks", "blanks", "tests"]
    assert any(len(exercise.lines) in range(3, 7) for exercise in EXERCISES)


def test_the_check_of_a_reader_is_one_file_with_the_harness_below_what_it_checks():
    for path in LISTS:
        exercises = faded.read(path)
        text = faded.files(path)[exercises.check.name]
        assert "exercise_harness import" not in text
        assert text.index("\ndef check_") < text.index("\nclass Checker:") < text.index("CHECKER =")
        assert text.startswith(exercises.check.read_text(encoding="utf-8")[:200])


@pytest.mark.parametrize(("old", "new", "what"), [
    ("from exercise_harness import Checker", "from harness import Checker", "imports"),
    ("CHECKER = Checker(", "checker = Checker(", "ends with CHECKER"),
    ("def close(", "def outcome(", "also defines outcome; rename it"),
])
def test_a_check_that_the_harness_does_not_fit_is_refused_in_one_line(old, new, what):
    text = (CHAPTER / "check_scalar.py").read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(faded.FadeError, match=what) as caught:
        faded.with_harness(text.replace(old, new))
    assert "\n" not in str(caught.value)
