"""The reading gate: what warns, what is wrong, and the list of old sections that only shrinks."""

import pytest

from book.pipeline.reading import check, lights, universals

OLD, NEW = "chapters/01-tensors/old", "chapters/01-tensors/new"
HEAD = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  name: python3
---

# 新 · New
"""
PAIR = '\n+++ {{"lang": "zh"}}\n\n{zh}\n\n+++ {{"lang": "en"}}\n\n{en}\n'
PREDICT = """
```{code-cell} python
---
predict:
  options:
    - {match: "1", zh: "都对", en: "All of them"}
---
print(1)
```
"""


def source(zh="一句话。", en="A sentence.", predictions=0):
    return HEAD + PAIR.format(zh=zh, en=en) + PREDICT * predictions


def write(root, sections, on_the_list=()):
    """A book of sections by their names, and the list of those that are old."""
    (root / "book").mkdir(exist_ok=True)
    (root / check.LIST).write_text("".join(f"- {name}\n" for name in on_the_list) or "[]", "utf-8")
    for name, text in sections.items():
        path = root / f"chapters/01-tensors/{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def problems(root):
    return [str(one) for one in check.problems(root)]


LONG, ASKING = source(en="word " * 4600), source(predictions=5)
FULL = source(en="word " * 3300, predictions=4)  # 18.3 minutes of words and 6.2 at the cells


# ---- length -------------------------------------------------------------------------------------

def test_a_section_of_25_minutes_and_4_predictions_passes(tmp_path):
    write(tmp_path, {"new": FULL})
    [one] = check.sections(tmp_path)
    assert (one.minutes, one.predictions) == (25, 4)
    assert problems(tmp_path) == []


@pytest.mark.parametrize(("text", "words"), [
    (LONG, "30 minutes, at most 25: "), (ASKING, "5 predictions, at most 4: "),
    (source(en="word " * 4600, predictions=5),
     "35 minutes, at most 25 and 5 predictions, at most 4: ")])
def test_a_new_section_that_is_longer_is_an_error(tmp_path, text, words):
    write(tmp_path, {"new": text})
    assert problems(tmp_path) == [
        f"{NEW}.md:1: {words}where a second question begins, begin a second section"]


def test_an_old_section_may_be_longer(tmp_path):
    write(tmp_path, {"old": LONG, "new": FULL}, on_the_list=[OLD])
    assert problems(tmp_path) == []


def test_the_list_of_old_sections_keeps_none_that_is_within_the_limits_or_gone(tmp_path):
    write(tmp_path, {"new": FULL}, on_the_list=[OLD, NEW])
    assert problems(tmp_path) == [f"{check.LIST}:1: {OLD} is gone: take its line out",
                                  f"{check.LIST}:2: {NEW} is within the limits now: take its line "
                                  "out"]


@pytest.mark.parametrize("text", ["5", "- a: b", "a: b", "- 5", "- [a]"])
def test_a_list_of_another_form_is_told(tmp_path, text):
    write(tmp_path, {"new": FULL})
    (tmp_path / check.LIST).write_text(text)
    assert problems(tmp_path) == [
        f"{check.LIST}:1: write a list of sections, as in - chapters/01-tensors/views"]


def test_openings_and_sheets_are_no_sections(tmp_path):
    write(tmp_path, {"index": LONG, "cheat-sheet": LONG})
    assert check.sections(tmp_path) == []


def test_a_section_is_named_by_its_last_part_its_document_or_its_file(tmp_path):
    write(tmp_path, {"new": FULL})
    for name in ("new", NEW, f"{NEW}.md", str(tmp_path / f"{NEW}.md")):
        assert [one.document for one in check.named([name], tmp_path)] == [NEW]
    with pytest.raises(SystemExit, match="no section is called 'ew'"):
        check.named(["ew"], tmp_path)


# ---- lights -------------------------------------------------------------------------------------

def figures(lang, *cells):
    return {light.name: round(value, 1) for light, value in lights.measured(lang, cells)}


def test_chinese_figures_are_per_thousand_characters():
    text = "因为甲乙：丙丁；如果戊己庚辛，就壬癸。" * 10
    count = lights.size_zh(text)
    assert figures("zh", text) == {
        "colons": round(10_000 / count, 1), "semicolons": round(10_000 / count, 1),
        "connectives": round(20_000 / count, 1), "characters a clause": round(count / 40, 1)}


def test_english_figures_are_per_thousand_words():
    text = "We wait, because it is late: for example now; otherwise we go. Say, ten words more."
    assert lights.size_en(text) == 16
    assert figures("en", text) == {"colons": 62.5, "semicolons": 62.5, "reasons": 125.0,
                                   "examples": 125.0}


def test_to_say_something_is_no_example():
    assert figures("en", "What does the manual say about it? They say so.")["examples"] == 0


def test_code_and_links_are_no_text():
    zh = "前面有`a：b；c`，后面有[`x`](torch:torch.nn.Module)。"
    assert lights.size_zh(lights.plain([zh])) == 6
    assert figures("zh", zh)["colons"] == 0
    en = "See [the `x`](torch:torch.nn.Module) and\n\n```python\na: int = 1; b\n```\n"
    assert lights.size_en(lights.plain([en])) == 4
    assert figures("en", en)["colons"] == figures("en", en)["semicolons"] == 0


def test_colons_in_english_lists_are_apart():
    assert figures("en", "One two three four five.\n\n- **Junior**: what?\n")["colons"] == 0
    assert figures("en", "One two three four: five.")["colons"] == 200


@pytest.mark.parametrize(("lang", "name", "inside", "outside"), [
    ("zh", "colons", 8, 8.1), ("zh", "semicolons", 4, 4.1), ("zh", "connectives", 8, 7.9),
    ("zh", "characters a clause", 8.5, 8.4), ("en", "colons", 6, 6.1),
    ("en", "semicolons", 2, 2.1), ("en", "reasons", 3, 2.9), ("en", "examples", 0.96, 0.94)])
def test_a_light_is_lit_outside_its_range_only(lang, name, inside, outside):
    [light] = [light for light in lights.LIGHTS[lang] if light.name == name]
    assert not light.is_lit(inside)
    assert light.is_lit(outside)


def test_a_text_without_words_divides_by_nothing():
    assert set(figures("zh", "`x`").values()) == set(figures("en", "。").values()) == {0.0}


def test_the_report_says_minutes_predictions_and_both_languages(tmp_path):
    write(tmp_path, {"new": source(zh="甲：乙。", en="A: b.", predictions=5)})
    [one] = check.sections(tmp_path)
    head, zh, en = check.report(one)
    assert head == f"{NEW}: 10 minutes, 5 predictions!"
    assert zh.startswith("  zh     2 characters, per 1,000: colons 500.0! (≤8), ")
    assert en.startswith("  en     2 words, per 1,000: colons 500.0! (≤6), ")


# ---- universal words ----------------------------------------------------------------------------

@pytest.mark.parametrize(("lang", "line", "expected"), [
    ("en", "It only reads. It writes.", [(["only"], "It only reads.")]),
    ("en", "Any tensor, all of them, no exception.", [(["Any", "all", "no"], None)]),
    ("en", "It is no longer there, not at all, and not any more.", []),
    ("en", "Run `all(x)` and see [it](every.md).", []),
    ("en", 'He said, "It never fails." So it goes.', []),
    ("en", "He said, “It never fails.” It always does.", [(["always"], None)]),
    ("zh", "任何张量都可以。有的不行。", [(["任何", "都"], "任何张量都可以。")]),
    ("zh", "为什么也要这样？", []),
    ("zh", "他说：“从不出错。”这里有 `每` 一个 $都$。", []),
])
def test_a_universal_word_is_found_with_its_sentence(lang, line, expected):
    found = list(universals.in_line(lang, line))
    assert [words for words, _ in found] == [words for words, _ in expected]
    assert all(said == sentence for (_, sentence), (_, said) in zip(found, expected, strict=True)
               if said)


def test_each_universal_word_of_a_section_is_told_with_its_line(tmp_path):
    text = source("这句没有。\n\n这句都有。", "None here.\n\n```python\nall\n```", predictions=1)
    write(tmp_path, {"new": text})
    [one] = check.sections(tmp_path)
    lines = text.splitlines()
    found = [(row.lang, row.line, row.words) for row in universals.in_section(one)]
    fence = lines.index("```{code-cell} python") + 1
    assert found == [("zh", lines.index("这句都有。") + 1, ["都"]),
                     ("en", lines.index("None here.") + 1, ["None"]),
                     ("zh", fence, ["都"]), ("en", fence, ["All"])]
