"""The section "Build Dynamo yourself" says of its companion what is true."""

import json

from book.pipeline.ground.paths import CHAPTERS, RESULTS
from oracles.dynamo_cases import CASES
from tests.code.mini_dynamo import test_mini_dynamo_wrong_rules as wrong

SECTION = CHAPTERS / "05-compile/mini-dynamo.md"


def test_it_counts_the_programs_the_random_ones_and_the_wrong_rules():
    text = SECTION.read_text(encoding="utf-8")
    claims = json.loads((RESULTS / "random-cases.json").read_text(encoding="utf-8"))["claims"]
    drawn = next(claim["cases"] for name, claim in claims.items() if "mini_dynamo" in name)
    rules = len(wrong.WRONG)
    for said in (f"{len(CASES)} small programs", f"{len(CASES)} 个小程序",
                 f"{drawn:,} random programs", f"{drawn} 个程序",
                 f"{rules} wrong rules", f"{rules} 条规则"):
        assert said in text, said


def test_the_recorded_agreement_is_that_of_the_programs_there_are():
    recorded = json.loads((RESULTS / "mini-dynamo.json").read_text(encoding="utf-8"))
    assert str(len(CASES)) in json.dumps(recorded)
