"""The section "Build a tensor yourself" says of its companion what is true."""

import json
import re

from book.pipeline.ground.paths import CHAPTERS, RESULTS
from book.pipeline.notebooks import faded
from tests.code.mini_tensor import test_mini_tensor
from tests.helpers.exercise_checks import cuts, sources

EXERCISES = faded.read(CHAPTERS / "01-tensors/exercises.yaml")
SOURCES = sources(EXERCISES)


def test_it_counts_the_chains_of_the_recorded_full_run_and_the_wrong_rules():
    text = (CHAPTERS / "01-tensors/mini-tensor.md").read_text(encoding="utf-8")
    recorded = json.loads((RESULTS / "random-cases.json").read_text(encoding="utf-8"))
    chains = recorded["claims"]["random chains of mini_tensor"]["cases"]
    assert f"{chains:,} random chains" in text
    assert f"{chains} 条随机操作链" in text
    assert f"{len(test_mini_tensor.WRONG_RULES)} wrong rules" in text
    assert f"{len(test_mini_tensor.WRONG_RULES)} 条错规则" in text


def test_it_prints_nothing_that_a_reader_is_to_write():
    text = (CHAPTERS / "01-tensors/mini-tensor.md").read_text(encoding="utf-8")
    printed = re.findall(r"getsource\((?:mini|layout|ops)\.([\w.]+)\)", text)
    assert printed
    assert text.count("getsource") == len(printed)
    assert not {exercise.name for exercise in EXERCISES.functions} & set(printed)
    notebook = (CHAPTERS / "01-tensors/mini-tensor.ipynb").read_text(encoding="utf-8")
    for name, companion, cut in cuts(EXERCISES):
        left = "\n".join((SOURCES | {companion: cut}).values())    # what the reader has anyway
        gone = {line.strip() for line in SOURCES[companion].splitlines()} - {""}
        gone = {line for line in gone if line not in left}
        assert gone
        assert not {line for line in gone if line in notebook}, name
