"""What the README and the front page show and tell a newcomer to type."""

import re

import pytest
import torch

from book.pipeline.paths import FRONT_PAGE, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.S)


@pytest.mark.parametrize("example", EXAMPLES)
def test_of_the_two_writes_one_raises_and_the_other_works_without_a_word(example, recwarn):
    first, *writes = filter(None, example.splitlines())
    raised = []
    for write in writes:
        names = {"torch": torch}
        exec(first, names)
        assert names["e"].shape == (3, 4)
        try:
            exec(write, names)
        except RuntimeError:
            raised.append(write)
    assert len(writes) == 2
    assert len(raised) == 1
    assert not recwarn


def test_both_languages_show_the_example():
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("file", [ROOT / "README.md", FRONT_PAGE], ids=lambda file: file.name)
def test_every_command_that_is_named_exists(file):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"\bmake ([a-z][a-z-]+)\b", file.read_text(encoding="utf-8"))) - {"them"}
    assert "lab" in named
    assert named <= targets
