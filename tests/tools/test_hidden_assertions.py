"""No proof hides a dead assertion, and no text makes the reader of YAML raise."""

import textwrap
from types import SimpleNamespace

import pytest

from book.pipeline.cards import rules
from book.pipeline.proofs.reached import SelfTest
from book.pipeline.text import marked_yaml
from tests.helpers.quick_trials import quick_trials

PROOFS = {
    "its own text": """
        import inspect
        def f(x):
            if x > 10:
                assert x == 99
            return x  # kept
        assert "# kept" in inspect.getsource(f)
        assert f(1) == 1
    """,
    "its own lines": """
        import sys

        def f(x):
            if x > 10:
                assert x == 99
            return sys._getframe().f_lineno
        assert f(1) == 7
    """,
    "its own code": """
        def f(x):
            if x:
                assert x == 5
            return 1
        assert f.__code__.co_names == ()
        assert f(0) == 1
    """,
}


@pytest.mark.parametrize("name", PROOFS)
def test_a_proof_that_looks_at_itself_hides_no_dead_assertion(tmp_path, name):
    proof = textwrap.dedent(PROOFS[name])
    card = SimpleNamespace(data={"proof": proof}, variants=[{}], line_within=lambda *_: 1,
                           problem=lambda text, line: text)
    with quick_trials(tmp_path) as ground:
        assert ground.run(proof).failure is None
        assert SelfTest(card, ground, 60).problems() != []


@pytest.mark.parametrize("test", ["[1 == 2]", "{1 == 2}", "{'a': 1 == 2}", "lambda: 1 == 2",
                                  "(x for x in [])", "(1 == 2, 'text')"])
def test_an_assertion_that_always_holds_is_refused(test):
    assert list(rules.content_errors({"proof": f"assert {test}"}))


@pytest.mark.parametrize("text", ["a: 2026-02-30", "a: !!int x", "a: !!bool maybe",
                                  "a: !!timestamp x", "a: &a [*a]", "a: !!float x"])
def test_no_text_makes_the_reader_of_yaml_raise(text):
    assert marked_yaml.parse(text).problems
