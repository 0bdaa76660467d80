"""The section "Build Module yourself" says of its companion what is true."""

import json
import re

from book.pipeline.ground.paths import CHAPTERS, RESULTS
from book.pipeline.notebooks import faded
from tests.code.mini_module import test_mini_module

SECTION = CHAPTERS / "03-modules/mini-module.md"
EXERCISES = faded.read(CHAPTERS / "03-modules/exercises.yaml")


def test_it_counts_the_trees_of_the_recorded_full_run_and_the_wrong_rules():
    text = SECTION.read_text(encoding="utf-8")
    recorded = json.loads((RESULTS / "random-cases.json").read_text(encoding="utf-8"))
    trees = recorded["claims"]["random trees of mini_module"]["cases"]
    assert f"{trees:,} trees" in text
    assert f"{trees} 棵树" in text
    assert f"{len(test_mini_module.WRONG_RULES)} wrong rules" in text
    assert f"{len(test_mini_module.WRONG_RULES)} 条规则" in text


def test_it_prints_nothing_that_a_reader_is_to_write():
    text = SECTION.read_text(encoding="utf-8")
    printed = re.findall(r"getsource\((?:mini|tensors)\.([\w.]+)\)", text)
    assert printed
    assert text.count("getsource") == len(printed)
    assert not {exercise.name for exercise in EXERCISES.functions} & set(printed)


def test_the_class_of_the_opening_has_13_lines():
    cell = re.search(r"\nclass Naive:\n(.*?)```", SECTION.read_text(encoding="utf-8"), re.S)
    assert len(cell.group(0).strip("`\n").splitlines()) == 13
