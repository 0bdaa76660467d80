"""Every file of the repository can be used on any machine, and what texts refer to is checked."""

import re
import subprocess

import pytest

from book.pipeline import sources
from book.pipeline.ground.paths import ROOT
from tests.helpers.places import FOLDER, HOST


def texts():
    """Each text file of the repository, tracked or about to be."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        file = ROOT / name
        content = file.read_bytes() if file.is_file() else b""
        if b"\0" not in content:
            yield name, content.decode("utf-8")


@pytest.mark.parametrize("pattern", [HOST, FOLDER], ids=["registry host", "machine path"])
def test_no_file_names_a_place_of_one_machine(pattern):
    seen = list(texts())
    assert "pyproject.toml" in [name for name, _ in seen]
    found = [f"{name}: {match[0]}" for name, text in seen for match in pattern.finditer(text)]
    assert found == []


def test_references_are_checked_in_sections_pages_cards_and_companions():
    names = {file.relative_to(ROOT).as_posix() for file in sources.all_files()}
    assert {"book/index.md", "code/pytorch_deep_dive.py"} <= names
    assert any(re.fullmatch(r"chapters/\d\d-\w+/[\w-]+\.md", name) for name in names)
    assert any(re.fullmatch(r"chapters/\d\d-\w+/cards/[\w-]+\.yaml", name) for name in names)
