"""The exercises on Scalar: the check tells what passes, fails, waits or is still to write."""

import math

import pytest
import torch

from book.pipeline.ground.paths import CHAPTERS
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import (
    cuts,
    load,
    put_back,
    run,
    sources,
    teller,
    write_files,
)

LIST = CHAPTERS / "02-autograd/exercises.yaml"
EXERCISES = faded.read(LIST)
ENGINE = sources(EXERCISES)["pytorch_deep_dive"]
AFTER = ["Scalar.backward"]                    # what waits for the functions before it


@pytest.fixture(params=["with torch", "without torch"])
def check(request, monkeypatch):
    module = load(EXERCISES.check)
    monkeypatch.setattr(module, "DEPTH", 5_000)  # beyond any recursion limit, and quick
    if request.param == "without torch":
        monkeypatch.setattr(module, "torch", None)
    return module


@pytest.fixture
def told(check, tmp_path, capsys):
    ask = teller(EXERCISES, check, tmp_path, capsys)
    return lambda text: ask("pytorch_deep_dive", text)


def test_the_engine_itself_passes(told, check):
    assert told(ENGINE) == dict.fromkeys(check.CHECKER.checks["pytorch_deep_dive"], "passes")


def test_every_function_of_the_list_is_checked_and_no_other(check):
    assert list(check.CHECKER.checks["pytorch_deep_dive"]) == [
        exercise.name for exercise in EXERCISES.functions]


@pytest.mark.parametrize(("name", "companion", "text"), list(cuts(EXERCISES)))
def test_what_is_cut_is_reported_as_still_to_write(told, name, companion, text):
    found = told(text)
    assert [other for other, word in found.items() if word == "write"] == [name]
    assert [other for other, word in found.items() if word == "waits"] == [
        other for other in AFTER if other != name]
    assert "fails" not in found.values(), "a function that nobody touched"


def test_a_cut_file_passes_once_the_original_lines_are_back(told):
    made = faded.files(LIST)
    for form in faded.CUT:
        text = made[f"pytorch_deep_dive_{faded.CUT[form]}.py"]
        assert "write" in told(text).values()
        kept, original = text.splitlines(), ENGINE.splitlines()
        assert len(kept) == len(original) or form == "tests"
        for exercise in EXERCISES.of(form):
            text = put_back(text, exercise.name, ENGINE)
        assert text == ENGINE


@pytest.mark.parametrize(("old", "new", "name"), [
    ("(1 - t) * (1 + t)", "1 - t", "Scalar.tanh"),
    ("(1 - s) * s", "1 - s", "Scalar.sigmoid"),
    ("reverse=True", "reverse=False", "Scalar.nodes"),
    ("found.add(operand)", "found.add(node)", "Scalar.nodes"),
    ("found, todo = {self}, [self]", "found, todo = set(), [self]", "Scalar.nodes"),
    ("leaf.grad += before", "leaf.grad = leaf.grad", "Scalar.backward"),
    ("        zero_grad(nodes)\n", "", "Scalar.backward"),
    ("node.left.grad += g", "node.left.grad = g", "Scalar.backward"),
    ("node.right.grad += g * node.dright", "node.right.grad += node.dright", "Scalar.backward"),
    ("        self.grad = 1.0\n", "", "Scalar.backward"),
    ("if node.dleft is not None", "if g and node.dleft is not None", "Scalar.backward"),
])
def test_a_usual_mistake_fails_by_its_name(told, old, new, name):
    assert ENGINE.count(old) == 1
    assert told(ENGINE.replace(old, new))[name] == "fails"


def test_a_walk_that_calls_itself_fails_on_the_deep_graph(told):
    recursive = """
def walk(node):
    operands = [x for x in (node.left, node.right) if isinstance(x, Scalar)]
    return set().union({node}, *map(walk, operands))

Scalar.nodes = lambda self: sorted(walk(self), key=lambda node: -node.number)
"""
    found = told(ENGINE.partition("# --- 5.")[0] + recursive)
    assert [name for name, word in found.items() if word == "fails"] == ["Scalar.backward"]


def test_a_derivative_off_by_a_little_fails_and_what_was_expected_is_told(check, tmp_path, capsys):
    wrong = ENGINE.replace("(1 - t) * (1 + t)", "(1 - t) * (1 + t) * (1 + 1e-8)")
    (tmp_path / "pytorch_deep_dive_blanks.py").write_text(wrong, encoding="utf-8")
    assert not check.CHECKER.check_file(tmp_path / "pytorch_deep_dive_blanks.py")
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "fails" in line)
    assert "  没过 · fails   Scalar.tanh: derivative of tanh(0.7): expected 0.63" in line
    assert math.isclose(float(line.split()[-1]), 0.634739589982459, rel_tol=2e-8)


def test_stored_numbers_are_those_of_torch():
    check = load(EXERCISES.check)
    assert check.torch is torch
    assert set(check.NUMBERS) == set(check.CASES)
    for case, numbers in check.NUMBERS.items():
        assert numbers == pytest.approx(check.expected(case), rel=1e-12)


@pytest.mark.slow
def test_the_program_tells_by_its_status_what_passes(tmp_path):
    write_files(LIST, tmp_path)
    (tmp_path / "torch.py").write_text("raise ImportError\n")  # a machine without torch
    script = tmp_path / "check_scalar.py"
    assert run(script, tmp_path / "pytorch_deep_dive.py").returncode == 0
    done = run(script)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("still to write") == 4
    assert done.stdout.count("waits") == 1
    assert "fails" not in done.stdout
    assert done.stdout.splitlines()[-1] == "还有没过的 · not all passed yet"
    (tmp_path / "pytorch_deep_dive_blanks.py").write_text("def broken(:\n")
    done = run(script)
    assert done.returncode == 1
    assert "cannot be loaded: SyntaxError" in done.stdout
    for end in faded.CUT.values():
        (tmp_path / f"pytorch_deep_dive_{end}.py").unlink()
    done = run(script)
    assert (done.returncode, done.stdout.count("no file to check")) == (1, 1)
