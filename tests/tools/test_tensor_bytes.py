"""The recorded memory of a million numbers says what "The bytes of a tensor" says."""

import json

from benchmarks import tensor_bytes
from book.pipeline.ground.paths import RESULTS

RECORD = json.loads((RESULTS / "tensor-bytes.json").read_text(encoding="utf-8"))
EACH = {row["key"]: row["each"] for row in RECORD["tables"]["million"]["rows"]}


def test_one_tensor_takes_four_bytes_a_number():
    assert EACH["tensor"] == 4


def test_a_tensor_for_each_number_takes_over_a_hundred_times_as_much():
    assert 400 < EACH["tensors"] < 700


def test_views_take_more_than_tensors_because_they_remember_their_base():
    assert EACH["views"] > EACH["tensors"] > EACH["inference"]


def test_the_script_measures_the_cases_that_are_recorded():
    assert set(tensor_bytes.CASES) == set(EACH)
    assert RECORD["columns"] == tensor_bytes.COLUMNS
