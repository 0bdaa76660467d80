"""What the README and the page on how to use the book show and tell a newcomer to type."""

import re

import pytest
import torch

from book.pipeline import environment
from book.pipeline.content import publication
from book.pipeline.ground.paths import ROOT

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


def test_example_and_picture_come_before_both_languages_and_the_example_asks_in_both():
    assert len(EXAMPLES) == 1
    head = README[:README.index("\n## ")].splitlines()
    assert len(head) <= 20
    question = head[head.index("```python") - 2]
    assert question.endswith("Which one?")
    assert "哪一次？" in question
    [picture] = re.findall(r"!\[.*\]\((.*)\)", "\n".join(head))
    content = (ROOT / picture).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) <= 150_000


@pytest.mark.parametrize("language", ["中文", "English"])
def test_the_table_names_what_each_command_installs_as_the_makefile_sets_it_up(language):
    part = README[README.index(f"\n## {language}\n"):].split("\n## ", 2)[1]
    rows = re.findall(r"^\| `make (\w+)` \|.*\| ([^|]*\d GB.*) \|$", part, re.M)
    makefile = (ROOT / "Makefile").read_text()
    assert [name for name, _ in rows] == ["book", "lab", "test"]
    for target, wanted in (("site: setup-site", "site"), ("test: setup-full", "full")):
        assert f"\n{target} " in makefile
        assert f"environment.py {wanted}\n" in makefile
    assert "environment.py lab\n" in makefile
    installs_torch = ["torch" in (ROOT / environment.WANTED[name]).read_text().splitlines()
                      for name in ("site", "lab")]
    assert installs_torch == [False, True]


@pytest.mark.parametrize("without", ["仓库还没有公开的地址", "no public address yet"])
def test_a_newcomer_is_told_where_the_code_comes_from_until_there_is_an_address(without):
    assert (without in README) == (not publication.REPOSITORY)
    assert publication.REPOSITORY in README


def test_what_the_picture_is_made_with_exists():
    named = set(re.findall(r"python -m ([\w.]+)", README))
    assert named == {"book.pictures.page"}
    assert all((ROOT / f"{name.replace('.', '/')}.py").is_file() for name in named)


@pytest.mark.parametrize("name", ["README.md", "book/how-to-use.md"])
def test_every_command_that_is_named_exists(name):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"\bmake ([a-z][a-z-]+)\b", (ROOT / name).read_text("utf-8"))) - {"them"}
    assert "lab" in named
    assert named <= targets
