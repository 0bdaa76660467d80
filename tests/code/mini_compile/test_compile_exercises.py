"""The exercises on mini_compile: usual mistakes fail by name.

What holds of all exercises is in test_exercises.py.
"""


import pytest

from book.pipeline.ground.paths import CHAPTERS
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import load, sources, teller

LIST = CHAPTERS / "05-compile/exercises-mini-compile.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)


@pytest.fixture
def told(tmp_path, capsys):
    return teller(EXERCISES, load(EXERCISES.check), tmp_path, capsys)


@pytest.mark.parametrize(("name", "old", "new"), [
    ("step", "places.stage.get(first, 0)", "places.stage[first]"),
    ("step", "stage + (first in places.space and not", "stage + (not"),
    ("step", "and not places.linked(first, then))", "and places.linked(first, then))"),
    ("step", "return stage + (first in places.space and not places.linked(first, then))",
     "return stage"),
    ("step", "(first in places.space and not places.linked(first, then))",
     "(first in places.space)"),
    ("stage_all", "default=0)\n        if alone", "default=0) * 0\n        if alone"),
    ("stage_all", "if inside and all(", "if False and all("),
    ("stage_all", "if inside and all(places.linked(node, user) for user in node.users):",
     "if inside:"),
    ("strides_of", "0 if same(n, 1) else s for", "s for"),
    ("strides_of", "found = [0] * missing + [", "found = ["),
    ("strides_of", "(rank - split if role == \"short row\" else rank)", "rank"),
    ("strides_of", "(rank - split if role == \"short row\" else rank)", "(rank - split)"),
    ("strides_of", "        found += [0] * split\n", "        found += [1] * split\n"),
    ("strides_of", "        found += [0] * split\n", "        found = [0] * split + found\n"),
    ("convert", 'return f"({text} != 0)"', 'return f"(int){text}"'),
    ("convert", 'return f"as_{CPP[target][0]}({text})"', "return text"),
    ("convert", 'return f"as_{CPP[target][0]}({text})"',
     'return f"to_{CPP[target][0]}({text})"'),
    ("convert", "target == torch.uint8 and source.is_floating_point", "False"),
    ("convert", "target == torch.uint8 and source.is_floating_point", "target == torch.uint8"),
    ("convert", "text if variable(source) == variable(target) else ", ""),
    ("Writer.finish", "        if rule.divides:\n", "        if True:\n"),
    ("Writer.finish", "        if rule.divides:\n", "        if False:\n"),
    ("Writer.finish", "range(self.space.rows, len(self.space.sizes)))\n            text",
     "range(len(self.space.sizes)))\n            text"),
    ("Writer.finish", "range(self.space.rows, len(self.space.sizes)))\n            text",
     "range(self.space.rows))\n            text"),
    ("Writer.finish", 'text = convert(f"(float)({text})", torch.float32, dtype)', "pass"),
    ("Writer.finish", " = {text};\")\n        self.store(node)\n\n    # ---",
     " = {text};\")\n\n    # ---"),
    ("key_of", "source.encode(), ", ""),
    ("key_of", "source.encode(), ", "source[:64].encode(), "),
    ("key_of", '" ".join(flags(path)).encode(), ', ""),
    ("key_of", ", says_of_itself(path)]", "]"),
    ("key_of", "says_of_itself(path)]", "says_of_itself(path), path.encode()]"),
    ("key_of", 'b"\\0".join([source', 'b"".join([source'),
    ("key_of", "hashlib.sha256(text).hexdigest()[:32]\n\n\ndef checksum",
     "str(hash(text))\n\n\ndef checksum"),
])
def test_a_usual_mistake_fails_by_its_name(told, name, old, new):
    companion = EXERCISES.homes[name].stem
    text = SOURCES[companion]
    assert text.count(old) == 1
    assert told(companion, text.replace(old, new))[name] == "fails"
