"""`make test-torch` counts every card, also beside a red one, and takes no silence for success."""

import pytest

from book.pipeline import other_torch

RED = "chapters/02-autograd/cards.yaml:9: card 'autograd-two': proof line 1: AssertionError"


@pytest.fixture
def python(tmp_path):
    """A Python whose prover or pytest prints these texts and ends with this status."""

    def write(status, out="", err=""):
        script = tmp_path / "python"
        script.write_text(f"#!/bin/sh\necho \"{out}\"\necho \"{err}\" >&2\nexit {status}\n")
        script.chmod(0o755)
        return script

    return write


@pytest.mark.parametrize(("status", "out", "err", "result"), [
    (0, "182 of 182 cards proved in 9.1 s", "", {"proved": 182, "failed": []}),
    (1, "181 of 182 cards proved in 9.1 s", RED, {"proved": 181, "failed": [RED]}),
    (1, "", "prove: the process has ended", {"proved": 0,
                                             "failed": ["cards: prove: the process has ended"]}),
    (1, "", "", {"proved": 0, "failed": ["cards: no message"]}),
])
def test_cards_are_counted_and_each_red_one_named(python, status, out, err, result):
    assert other_torch.run_proofs(python(status, out, err)) == result
