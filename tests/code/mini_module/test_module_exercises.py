"""The exercises of chapter 3: usual mistakes fail by name, and a function waits for another.

What holds of all exercises is in test_exercises.py.
"""

import ast
import sys

import pytest

from book.pipeline.ground.paths import CHAPTERS
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import load, run, sources, teller, write_files

LIST = CHAPTERS / "03-modules/exercises.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)


@pytest.fixture
def check():
    return load(EXERCISES.check)


@pytest.fixture
def told(check, tmp_path, capsys):
    return teller(EXERCISES, check, tmp_path, capsys)


def test_a_function_waits_for_the_one_that_it_calls(told, check):
    for companion in ("mini_module", "mini_module_state"):
        names = check.CHECKER.checks[companion]
        for place, name in enumerate(names):
            needed = check.CHECKER.needs.get(name, [])
            tree = faded._find(ast.parse(SOURCES[EXERCISES.homes[name].stem]), name)
            called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            assert all(other.split(".")[-1] in called for other in needed)
            assert set(needed) <= set(list(names)[:place])
    text = faded.fade(SOURCES["mini_module"], "Module.named_modules", "tests")
    assert told("mini_module", text)["Module._named_members"] == "waits"


@pytest.mark.parametrize(("name", "old", "new"), [
    ("Module.named_modules", "            memo.add(self)\n", "            pass\n"),
    ("Module.named_modules", "        if remove_duplicate:\n            memo.add(self)\n",
     "        memo.add(self)\n"),
    ("Module.named_modules", "if child is not None:\n                path", "if True:\n"
     "                path"),
    ("Module.named_modules", 'f"{prefix}.{name}" if prefix else name', "name"),
    ("Module._named_members", "memo.add(tensor)", "pass"),
    ("Module._named_members", "if tensor is None or tensor in memo:", "if tensor in memo:"),
    ("Module._named_members", 'f"{path}.{name}" if path else name', 'f"{path}.{name}"'),
    ("Module._named_members", "modules if recurse else [(prefix, self)]", "modules"),
    ("Module._apply", "            child._apply(fn)\n", "            pass\n"),
    ("Module._apply", "converted(param, fn)", "Parameter(fn(param.detach()))"),
    ("Module._apply", "self._buffers[name] = fn(buffer)", "fn(buffer)"),
    ("Module._apply", "            if buffer is not None:\n", "            if True:\n"),
    ("Module.__setattr__", '"_buffers", "_modules", before="parameters"',
     '"_modules", before="parameters"'),
    ("Module.__setattr__", '"_buffers", "_modules", before="parameters"',
     '"_buffers", before="parameters"'),
    ("Module.__setattr__", '            self._only_none("parameter", name, value, "Parameter")\n',
     ""),
    ("Module.__setattr__", "            self.register_parameter(name, None)\n",
     "            del self._parameters[name]\n"),
    ("Module.__setattr__", '            self._only_none("child module", name, value, "Module")\n',
     ""),
    ("Module.__setattr__", "self.register_buffer(name, value, value.persistent)",
     "self.register_buffer(name, value)"),
    ("Module.__setattr__", "name not in self._non_persistent_buffers_set)", "True)"),
    ("Module.__setattr__", '        elif name in tables.get("_buffers", ()):',
     "        elif False:"),
    ("Stateful.state_dict", "tensor if keep_vars else tensor.detach()", "tensor"),
    ("Stateful.state_dict", "tensor if keep_vars else tensor.detach()",
     "tensor if keep_vars else tensor.detach().clone()"),
    ("Stateful.state_dict", "destination[prefix + name] =", "destination[name] ="),
    ("Stateful.state_dict", 'below = f"{prefix}{name}."\n                child.state',
     'below = f"{name}."\n                child.state'),
    ("Stateful.state_dict", "prefix=below, keep_vars=keep_vars", "prefix=below"),
    ("Stateful._load_own", "report.missing.append(prefix + name)", "report.missing.append(name)"),
    ("Stateful._load_own", "report.unexpected.append(key)", "pass"),
    ("Stateful._load_own", "self._modules if rest else own", "own"),
    ("Stateful._load_own", "self._modules if rest else own", "{*self._modules, *own}"),
    ("Stateful._load_own", "for key in state:", "for key in sorted(state):"),
])
def test_a_usual_mistake_fails_by_its_name(told, name, old, new):
    companion = EXERCISES.homes[name].stem
    text = SOURCES[companion]
    assert text.count(old) == 1
    assert told(companion, text.replace(old, new))[name] == "fails"


# ---- the files in a folder, as a reader has them -------------------------------------------------


def test_a_check_finds_the_practice_files_of_each_companion(check, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(check, "__file__", str(tmp_path / "check.py"))
    monkeypatch.setattr(sys, "argv", ["check.py"])
    for name in ("one_blanks.py", "two_from_tests.py", "three_blanks.py", "two.py"):
        (tmp_path / name).write_text("")
    assert check.Checker({"one": {}, "two": {}}).main() == 0
    assert capsys.readouterr().out.splitlines()[:-1] == ["one_blanks.py", "two_from_tests.py"]


def test_a_function_that_is_gone_is_still_to_write_and_the_others_are_checked(told):
    text = SOURCES["mini_module"].replace("def _apply(self, fn)", "def apply_(self, fn)")
    found = told("mini_module", text)
    assert found["Module._apply"] == "write"
    assert found["Module.named_modules"] == "passes"


def test_a_download_that_belongs_beside_is_no_practice_file(tmp_path):
    folder = write_files(LIST, tmp_path)
    done = run(folder / "check_modules.py", folder / "mini_module_hooks.py")
    assert (done.returncode, done.stderr) == (1, "")
    assert "no such file" in done.stdout
    assert "cannot be loaded" not in done.stdout
