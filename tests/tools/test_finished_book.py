"""The book at its finished size is made of the real one: same programs, words dealt anew."""

import re

import pytest

from benchmarks import finished_book as made

SOURCE = '''---
question: {zh: "？", en: "?"}
---

# 视图 · Views

+++ {"lang": "zh"}

一段话，见[别处](copies.ipynb)。

+++ {"lang": "en"}

A paragraph, see [elsewhere](copies.ipynb).

```{code-cell} python
x = 1
```

+++ {"lang": "zh"}

- 一行

+++ {"lang": "en"}

- a line, [below](copies.ipynb)

+++

## 尾 · End
'''
CARDS = """# head
- id: tensors-a
  section: views
  confusable: [tensors-b, tensors-a-longer]
- id: tensors-b
  section: views
  after: [tensors-a]
"""


@pytest.fixture
def source(tmp_path):
    (tmp_path / "01-tensors").mkdir()
    file = tmp_path / "01-tensors" / "views.md"
    file.write_text(SOURCE, encoding="utf-8")
    return file


def test_sources_come_in_turn_over_the_new_chapters_and_no_name_twice(tmp_path):
    found = made.plan([tmp_path / "a.md", tmp_path / "b.md"], 7)
    assert [one.name for one in found] == ["a-2", "b-2", "a-3", "b-3", "a-4", "b-4", "a-5"]
    assert [one.chapter[:2] for one in found] == ["06", "06", "07", "08", "08", "09", "10"]


def test_plain_paragraphs_are_dealt_anew_and_the_rest_stays(source):
    pool = made.Pool([source])
    assert [en.strip() for _, en in pool.pairs] == [
        "A paragraph, see [elsewhere](../01-tensors/copies.ipynb)."]
    pool.pairs = [("\n另一段。\n", "\nAnother one.\n")]
    text = made.text_of(made.Made(source, "06-made-6", "views-2"), pool)
    assert "# 视图 2 · Views 2" in text
    assert "A paragraph" not in text
    assert "Another one." in text
    assert "- a line, [below](../01-tensors/copies.ipynb)" in text
    assert re.findall(r"^(?:```.*|x = 1|## .*|question.*)$", text, re.M) == [
        'question: {zh: "？", en: "?"}', "```{code-cell} python", "x = 1", "```", "## 尾 · End"]


def test_cards_get_ids_of_their_chapter_and_name_one_another_by_them(source):
    text = made.copied(CARDS, made.Made(source, "06-made-6", "views-2"), "b", 9)
    assert text == """- id: made-6-tensors-a-2b
  section: views-2
  confusable: [made-6-tensors-b-2b, tensors-a-longer]
- id: made-6-tensors-b-2b
  section: views-2
  after: [made-6-tensors-a-2b]
"""
    assert made.MADE.sub(r"\1", "made-6-tensors-b-2b") == "tensors-b"


def test_no_more_cards_than_are_wanted(source):
    one = made.Made(source, "06-made-6", "views-2")
    assert made.CARD.findall(made.copied(CARDS, one, "", 1)) == ["made-6-tensors-a-2"]


def test_a_folder_that_holds_something_is_refused_in_a_line(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr("sys.argv", ["finished_book", str(tmp_path)])
    with pytest.raises(SystemExit, match="is not empty; name a new folder"):
        made.main()
