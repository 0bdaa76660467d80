"""The exercises on mini_dynamo: usual mistakes fail by name.

What holds of all exercises is in test_exercises.py.
"""


import pytest

from book.pipeline.ground.paths import CHAPTERS
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import load, sources, teller

LIST = CHAPTERS / "05-compile/exercises.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)


@pytest.fixture
def told(tmp_path, capsys):
    return teller(EXERCISES, load(EXERCISES.check), tmp_path, capsys)


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
