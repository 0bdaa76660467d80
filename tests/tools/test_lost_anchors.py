"""No anchor is lost unnoticed when sections are split and cards move."""

import subprocess

import pytest

from book.pipeline import lost_anchors
from book.pipeline.content.moved import Moved, Target

OLD, NEW, OTHER = (f"chapters/01-tensors/{name}" for name in ("old", "new", "other"))
SECTION = """# 旧 · Old

## 一 · One `view`, two names

```{code-cell}
# 注 · no heading
```

## 说出来 · Say it
"""
FILES = {f"{OLD}.md": SECTION, "chapters/01-tensors/cards/old.yaml": "- id: a-card\n- id: b-card\n"}


def test_anchors_are_those_of_headings_and_cards():
    assert lost_anchors.of_files(FILES) == {
        OLD: {"old", "one-view-two-names", "say-it", "a-card", "b-card"}}


def lost(after, *known):
    return list(lost_anchors.lost(lost_anchors.of_files(FILES), after, list(known)))


def test_nothing_is_lost_while_all_stands_where_it_stood():
    assert lost(lost_anchors.of_files(FILES)) == []


def test_a_page_that_was_split_is_told_with_the_new_place_of_each_card():
    after = {NEW: {"one-view-two-names", "a-card"}, OTHER: {"b-card"}}
    assert lost(after) == [
        f"{OLD}:", "  to: ?", "  anchors:", f"    a-card: {NEW}", f"    b-card: {OTHER}",
        "    old: ?", f"    one-view-two-names: {NEW}"]


def test_what_is_forwarded_already_is_not_told_again():
    after = {NEW: {"one-view-two-names", "a-card"}, OTHER: {"b-card"}}
    one = Moved(OLD, NEW, {"b-card": Target(OTHER, "b-card"), "old": Target(NEW, "new")})
    assert lost(after, one) == []


def test_a_card_that_left_a_page_that_is_still_there_is_told():
    after = {OLD: {"old", "one-view-two-names", "a-card"}, OTHER: {"b-card"}}
    assert lost(after) == [f"{OLD}:", "  anchors:", f"    b-card: {OTHER}"]


def test_the_texts_of_a_commit_are_read_and_an_unknown_one_is_one_line(tmp_path):
    def git(*arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
                       cwd=tmp_path, check=True, capture_output=True)
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "one")
    assert lost_anchors.at("HEAD", tmp_path) == lost_anchors.now(tmp_path) == FILES
    with pytest.raises(SystemExit, match=r"lost_anchors: .*nowhere"):
        lost_anchors.at("nowhere", tmp_path)
