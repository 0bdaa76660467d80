"""The two languages of the book say the same, and each keeps to its rules.

Each bad text differs from a good one in one thing, and the lint names that thing at its line.
"""

from __future__ import annotations

import json
import re

import pytest
import yaml

from book.pipeline import lint
from book.pipeline.cards import book as cards
from book.pipeline.text import prose

GOOD = """\
---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3}
---

# 存储与步长 · Storage and strides

+++ {"lang": "zh"}

`view` 不搬数据，步长是 $s_d$，元素占 4 字节，共 1,024 个。参见[文档](https://example.org/a)。

- **拆开**总是可以，快 1.5 倍；
- 合并要看条件（见下）：“能否走完”。

+++ {"lang": "en"}

`view` moves no data; the stride is $s_d$. Elements take 4 bytes, 1024 in all, see
[the manual](https://example.org/a).

- **Splitting** always works, 1.5× as fast;
- merging depends on a condition (below): "can it be walked".

+++

## `view` 的规则 · The rule of `view`

| `a` | 12 |
|---|---|
| PyTorch | 4 MB |

![12 · 4](storage.svg)

```{code-cell} python
---
tags: [pinned-torch]
alt: {zh: 三个格子, en: Three boxes}
predict:
  options:
    - {match: "4", zh: 是 `4`, en: It is `4`}
    - {match: "1", zh: 报错, en: It raises, why: {zh: 不对。, en: It does not.}}
---
print(4)  # elements
```

+++ {"lang": "zh", "fold": "source"}

源码。

+++ {"lang": "en", "fold": "source"}

Source.
"""
ZH = '+++ {"lang": "zh"}'
EN = '+++ {"lang": "en"}'
FENCE = "```{code-cell} python"
PICTURE = "![12 · 4](storage.svg)"
TITLE = "# 存储与步长 · Storage and strides"


def found(text: str) -> list[tuple[int, str]]:
    return lint.lint_source(text)


def test_good_text_has_no_finding():
    assert found(GOOD) == []


# (what is replaced, by what, what the lint says, where it points: by default where the new begins)
BREACHES = [
    (f"{EN}\n\n`view` moves", "\n`view` moves", "zh cell without an en cell", "`view` 不搬"),
    (f"{ZH}\n\n`view` 不搬", "+++\n\n`view` 不搬", "en cell without a zh cell", "`view` moves"),
    ("Source.\n", f"Source.\n\n{EN}\n\nMore.\n", "en cell without a zh cell", "More."),
    ("源码。", "", "empty cell with metadata", '+++ {"lang": "zh", "fold'),
    ("Source.\n", "", "empty cell with metadata", '+++ {"lang": "en", "fold'),
    ('"zh", "fold"', '"zh", "color": 1, "fold"', "unknown key 'color'", "源码。"),
    ('"zh", "fold": "source"', '"zh", "fold": "hidden"', "fold is 'hidden'", "源码。"),
    ('"en", "fold": "source"', '"en"', "fold on one cell of a pair", "源码。"),
    ("+++\n\n## `", '+++ {"fold": "source"}\n\n## `', "fold on a cell without lang", "## `view`"),
    (ZH, '+++ {"lang": "cn"}', "lang is 'cn'", "`view` 不搬"),
    (ZH, '+++ {"lang": "zh", "tags": ["setup"]}', "unknown tag 'setup'", "`view` 不搬"),
    (ZH, "+++ {lang: zh}", "cell metadata is not JSON"),
    (ZH, '+++ ["zh"]', "cell metadata is not JSON"),
    (ZH, '+++ {"lang": "zh", "tags": "setup"}', "tags is no list"),
    ("[pinned-torch]", "[pined-torch]", "unknown tag 'pined-torch'", FENCE),
    ("[pinned-torch]", "[predict]", "the key predict", FENCE),
    ("[pinned-torch]", "pinned-torch", "tags is no list", FENCE),
    ("[pinned-torch]", "[pinned-torch", "are not YAML", FENCE),
    ("tags: [pinned-torch]", "tag: [pinned-torch]", "unknown key 'tag'", FENCE),
    ("# elements", "# 元素", "Chinese in code, line 1 of the cell: 元素", FENCE),
    (FENCE, "```{raw-cell}", "raw cell"),
    ("源码。", "### 源码 · Source", "heading '源码 · Source' among prose"),
    ("| `a` | 12 |", "Words.\n\n| `a` | 12 |", "prose in a cell without lang"),
    (PICTURE, "下图。", "prose in a cell without lang"),
    (PICTURE, "- `a`", "bullet_list in a cell without lang"),
    (PICTURE, "```\na\n```", "fence in a cell without lang"),
    ("| PyTorch | 4 MB |", "| before | 4 MB |", "prose in a cell without lang"),
    ("| PyTorch | 4 MB |", "| 之前 | 4 MB |", "prose in a cell without lang"),
    (PICTURE, "<!-- later -->", "raw HTML"),
    (PICTURE, "![](storage.svg)", "image without alt text"),
    ("源码。", "<b>源码</b>。", "raw HTML"),
    ("源码。", "{ref}`a` 源码。", "MyST role {ref}"),
    ("源码。", ":::{note}\n源码。\n:::", "MyST directive"),
    ("源码。", "```{note}\na\n```", "MyST directive {note}"),
    ("源码。", "(label)=\n\n源码。", "MyST label (label)="),
    ("源码。", "% later\n\n源码。", "MyST comment"),
    ("源码。", "源码。[^1]", "footnote [^1]"),
    ("源码。", "{{ name }}", "MyST substitution {{ name }}"),
    ("源码。", "`x`](torch:torch.nn.Module) 源码。", "not read as a link"),
    ("- **拆开**总是", "- **“拆开”**总是", "does not read as bold"),
    ("# 存储与步长 · Storage and strides\n", "", "no page title", "`view` 不搬"),
    ("# 存储", "![1](a.svg)\n\n# 存储", "no page title"),
    ("## `view`", "# `view`", "a second # heading"),
    ("## `view`", "### `view`", "level 3 after level 1"),
    (TITLE, "# 存储与步长 - Storage", "exactly one ' · '"),
    (TITLE, "# 存储 · Storage · strides", "exactly one ' · '"),
    (TITLE, "# stride · stride", "the same half twice"),
    (TITLE, "# Memory · Storage", "no Chinese before"),
    (TITLE, "# 存储 · Storage 步长", "Chinese 步长 in English text"),
    (TITLE, "# 存储空间stride · Storage of stride", "no space in 「间s」"),
    ("The rule of `view`", "The rule of views", "inline code only in Chinese", "## `view`"),
    (PICTURE, "## 又 `view` · The rule of `view`", "in another heading too"),
]


@pytest.mark.parametrize("breach", BREACHES, ids=lambda breach: breach[2])
def test_breach_of_form_is_found_at_its_line(breach):
    old, new, what, *anchor = breach
    assert GOOD.count(old) == 1, "the case must change one place of the good text"
    text = GOOD.replace(old, new)
    at = text.index(anchor[0]) if anchor else GOOD.index(old)
    findings = found(text)
    assert any(line == text.count("\n", 0, at) + 1 and what in finding
               for line, finding in findings), findings
    assert all("; " in finding for _, finding in findings), "a finding says how to mend it"


PREDICT = {
    "one option": (lambda p: p["options"].pop(), "1 options; give 2 to 5"),
    "six options": (lambda p: p.update(options=[option(i) for i in range(6)]), "6 options"),
    "no options": (lambda p: p.pop("options"), "must hold exactly `options`"),
    "other key": (lambda p: p.update(title="x"), "must hold exactly `options`"),
    "option no mapping": (lambda p: p["options"].append("x"), "option 3: not a mapping"),
    "option key": (lambda p: p["options"][0].update(right=True), "option 1: unknown key 'right'"),
    "match a number": (lambda p: p["options"][0].update(match=4), "option 1: match is 4"),
    "match empty": (lambda p: p["options"][0].update(match=" "), "option 1: match is ' '"),
    "match twice": (lambda p: p["options"][0].update(match="1"), "two options have the same"),
    "no zh": (lambda p: p["options"][1].pop("zh"), "option 2: zh is missing"),
    "en a boolean": (lambda p: p["options"][1].update(en=True), "option 2: en is missing"),
    "no why": (lambda p: p["options"][1].pop("why"), "more than one option has no why"),
    "why no pair": (lambda p: p["options"][1].update(why="x"), "option 2: why: must hold exactly"),
    "why third": (lambda p: p["options"][1]["why"].update(fr="x"), "option 2: why: must hold"),
    "texts differ": (lambda p: p["options"][0].update(en="It is `5`"), "option 1: inline code"),
    "maths": (lambda p: p["options"][0].update(zh="是 $x$", en="It is $x$"), "option 1: $maths$"),
    "why style": (lambda p: p["options"][1]["why"].update(en="No!"), "option 2: why: exclamation"),
}


def option(number: int) -> dict:
    return {"match": f"{number}", "zh": "是", "en": "Yes", "why": {"zh": "不。", "en": "No."}}


@pytest.mark.parametrize("name", PREDICT)
def test_malformed_prediction_is_found(name):
    change, what = PREDICT[name]
    head, _, rest = GOOD.partition("predict:\n")
    block, _, tail = rest.partition("---\n")
    predict = yaml.safe_load(block)
    assert found(GOOD.replace(block, f"  {json.dumps(predict, ensure_ascii=False)}\n")) == []
    change(predict)
    text = f"{head}predict: {json.dumps(predict, ensure_ascii=False)}\n---\n{tail}"
    assert {at for at, message in found(text) if f"predict: {what}" in message} == {33}


@pytest.mark.parametrize(("alt", "what"), [
    ("{zh: 三个格子}", "alt: must hold exactly zh and en"),
    ("Three boxes", "alt: must hold exactly zh and en"),
    ("{zh: 三个格子, en: ''}", "alt: en is missing"),
    ("{zh: 三个格子, en: 'Boxes `a`'}", "alt: inline code only in English"),
])
def test_malformed_alt_text_is_found(alt, what):
    text = GOOD.replace("{zh: 三个格子, en: Three boxes}", alt)
    assert {at for at, message in found(text) if what in message} == {33}


@pytest.mark.parametrize(("code", "what"), [
    ("x = 1\n" * 16, "17 lines in a code cell"),
    (f"x = {'1' * 77}\n", "line 1 of the cell has 81 characters"),
])
def test_code_that_does_not_fit_the_page_is_found(code, what):
    findings = found(GOOD.replace("print(4)  # elements", f"{code}print(4)  # elements"))
    assert [what in finding for _, finding in findings] == [True]


# ---- the two compared --------------------------------------------------------------------------

@pytest.mark.parametrize(("zh", "en", "what"), [
    ("用 `a`。", "Use `b`.", "inline code only in Chinese: `a`"),
    ("用 `a`。", "Use it.", "inline code only in Chinese: `a`"),
    ("用它。", "Use `b`.", "inline code only in English: `b`"),
    ("$a + b$", "$a - b$", "maths only in Chinese: `a + b`"),
    ("[甲](torch:a.b)", "[A](torch:a.c)", "link only in English: `torch:a.c`"),
    ("![甲](a.svg)", "![A](b.svg)", "image only in Chinese: `a.svg`"),
    ("```\na\n```", "```\nb\n```", "code block only in Chinese: `a`"),
    ("共 12 个。", "There are 13.", "number only in Chinese: `12`"),
    ("共 12 个。", "There are some.", "number only in Chinese: `12`"),
    ("约 0.5。", "About 0.6.", "number only in English: `0.6`"),
    ("占 4 字节。", "It takes some bytes.", "number only in Chinese: `4`"),
    ("占 4 字节。", "It takes 4 KB.", "4 is in B in Chinese and in KB in English"),
    ("快 3 倍。", "It is fast.", "number only in Chinese: `3`"),
    ("慢 5%。", "It is slower by 6%.", "number only in English: `6`"),
    ("有 2 万个。", "There are 2000.", "number only in Chinese: `20000`"),
    ("torch 2.13.0 起。", "Since torch 2.12.0.", "number only in Chinese: `2.13.0`"),
])
def test_fact_that_stands_in_one_language_only_is_found(zh, en, what):
    assert any(what in text for _, _, text in prose.pair(zh, en))


@pytest.mark.parametrize(("zh", "en"), [
    ("先 `a` 后 `b`。", "`b` after `a`."),
    ("$a  + b$", "$a + b$"),
    ("共 1,024 个。", "1024 in all."),
    ("有 2 万个，不是 2000 万。", "There are 20,000, not 20 million."),
    ("有 192 万个，约 1.5 千种。", "There are 1.92 million, of about 1,500 kinds."),
    ("占 4 字节，快 3 倍。", "It takes four bytes and is 3× as fast."),
    ("快 2 倍。", "It is twice as fast."),
    ("一共四个字节。", "It takes 4 bytes."),
    ("步长是 4 和 1。", "The strides are those."),  # small and without unit: may be said in words
    ("12 和 3×4。", "12 and 3×4."),
    ("`float32` 在 H100 上。", "`float32` on H100."),
    ("32 位。", "32-bit."),
    ("每个 1 字节。", "A byte each."),
])
def test_same_fact_written_otherwise_is_accepted(zh, en):
    assert prose.pair(zh, en) == []


# ---- each language -----------------------------------------------------------------------------

@pytest.mark.parametrize(("zh", "what"), [
    ("步长,偏移。", "half-width punctuation in 「长,」"),
    ("步长: 偏移。", "half-width punctuation"),
    ("步长。偏移.", "half-width punctuation"),
    ("用 `a`, 再用 `b`。", "half-width punctuation in 「`…`,」"),
    ("步长(偏移)。", "half-width bracket"),
    ("用 stride (步长)。", "half-width bracket"),
    ("步长stride。", "no space in 「长s」"),
    ("第3行。", "no space in 「第3」"),
    ("用`a`。", "no space in 「用`…`」"),
    ("`a`的值。", "no space in 「`…`的」"),
    ("共$n$个。", "no space in 「共$…$」"),
    ("用 `a` ，再看。", "space beside full-width punctuation"),
    ("步长， 偏移。", "space beside full-width punctuation"),
    ('步长叫"步"。', 'quotation mark "'),
    ("步长叫「步」。", "quotation mark 「"),
    ("如此...", "for an ellipsis"),
    ("如此--这般。", "for a dash"),
    ("共１２个。", "full-width １"),
    ("太快了！", "exclamation mark"),
    ("您看。", "address the reader as 你"),
    ("进行计算。", "padding 进行"),
    ("使得步长为零。", "padding 使得"),
    ("值得注意的是，步长为零。", "padding 值得注意的是"),
    ("对于张量来说，步长为零。", "padding 「对于张量来说」"),
    ("当步长为零时，报错。", "write 「…时」 without 当"),
    ("步长是\n元素数。", "line break inside Chinese"),
    ("<b>步长</b>。", "raw HTML"),
    ("## 步长", "heading '步长' among prose"),
])
def test_slip_in_chinese_is_found(zh, what):
    assert any(what in text for _, _, text in prose.pair(zh, "Text."))


@pytest.mark.parametrize("zh", [
    "`a`、`b` 和 $n$；“步长”是 1：见 [文档](https://example.org)。",
    "正在进行中，当前、相当长的时间、当时。",
    "比例 3:4，`x.t(), y`，快 5%。",
    "**步长**总是 `dim=1` 的。",
    "- 步长\n- 偏移",
    "步长是 `a`\n和 `b`。",
    "如此……这般——没有。",
])
def test_right_chinese_is_accepted(zh):
    assert list(prose.alone("zh", zh)) == []


@pytest.mark.parametrize(("en", "what"), [
    ("The 步长 matters.", "Chinese 步长 in English text"),
    ("First， second.", "Chinese ， in English text"),
    ("Simply call it.", "`Simply`; use the plain word"),
    ("A powerful tool.", "`powerful`"),
    ("We delve into it.", "`delve`"),
    ("It leverages views.", "`leverages`"),
    ("It is worth noting that it copies.", "padding `It is worth noting`"),
    ("Call it in order to copy.", "padding `in order to`"),
    ("It copies!", "exclamation mark"),
    ("A <br> tag.", "raw HTML"),
])
def test_slip_in_english_is_found(en, what):
    assert any(what in text for _, _, text in prose.pair("文字。", en))


@pytest.mark.parametrize("en", [
    "Use `a != b` and `simply`.",
    "Simplify it; power of 2.",
    'It says "works", [see](https://example.org/simply!).',
])
def test_right_english_is_accepted(en):
    assert list(prose.alone("en", en)) == []


@pytest.mark.parametrize(("zh", "en", "what"), [
    ("步幅是 1。", "The stride is 1.", "「步幅」 for stride; write 步长"),
    ("操作符是它。", "It is the operator.", "「操作符」 for operator; write 算子"),
    ("第 1 维。", "The dimension.", "「第 1 维」 for dimension"),
    ("第二维。", "The dimension.", "「第二维」 for dimension"),
    ("后向传播。", "The backward pass.", "「后向」 for backward"),
    ("调度器选它。", "The dispatcher picks it.", "「调度器」 for dispatcher"),
    ("核心跑完了。", "The kernel is done.", "「核心」 for kernel"),
    ("切片放在两处。", "Shards lie in two places.", "「切片」 for shard"),
])
def test_refused_term_is_found(zh, en, what):
    assert any(what in text for _, _, text in prose.pair(zh, en))


@pytest.mark.parametrize(("zh", "en"), [
    ("卷积步幅是 2。", "The stride of a convolution is 2."),
    ("`步幅` 是代码。", "`步幅` is code."),
    ("学习率调度器。", "The learning-rate scheduler."),
    ("核心思想。", "The core idea."),
    ("切片不复制。", "A slice does not copy."),
    ("然后向前走，后向量化。", "Then walk on, then vectorise."),
    ("降低开销。", "It reduces overhead."),
])
def test_refused_form_is_accepted_in_its_other_meaning(zh, en):
    assert prose.pair(zh, en) == []


def test_terms_do_not_refuse_what_they_ask_for():
    for term in prose.terms():
        offered = re.sub(r"（.*?）|`.*?`", "", term.zh)
        assert list(term.allowed.sub("", offered) if term.allowed else offered)
        assert not term.refused.search(offered), term


# ---- cards and files ---------------------------------------------------------------------------

CARDS = """\
- id: one
  question: {zh: 步长是什么？, en: What is a stride?}
  answer:
    zh: 用`a`。
    en: Use `a`.
  points:
  - {must: true, zh: 一步, en: one step}
  - {must: true, zh: 两步}
  follow_ups:
  - q: {zh: 为何？, en: Why?}
    a: {zh: 占 12 字节。, en: It takes 16 bytes.}
  distractors:
  - text: {zh: 复制, en: copied}
    why: {zh: 不。, en: No!}
    corrects: T01
"""


def test_cards_are_checked_pair_by_pair(tmp_path):
    path = tmp_path / "cards.yaml"
    path.write_text(CARDS, encoding="utf-8")
    findings = [finding.removeprefix(f"{path}:") for finding in lint.lint_files([path])]
    assert [finding.partition(";")[0] for finding in findings] == [
        "4: card 'one': answer: no space in 「用`…`」",
        "8: card 'one': points[1]: en is missing or no text",
        "11: card 'one': follow_ups[0].a: number only in Chinese: `12`",
        "11: card 'one': follow_ups[0].a: number only in English: `16`",
        "14: card 'one': distractors[0].why: exclamation mark",
    ]


def test_a_chapter_is_checked_like_cards(tmp_path):
    path = tmp_path / "chapter.yaml"
    path.write_text("name: {zh: 张量, en: Tensors}\nmachine:\n  line: x\n"
                    "  job: {zh: 用`a`。, en: Use `a`.}\n", encoding="utf-8")
    [finding] = lint.lint_files([path])
    assert finding.startswith(f"{path}:4: machine.job: no space in")


def test_cards_that_are_not_yaml_are_reported(tmp_path):
    path = tmp_path / "cards.yaml"
    path.write_text("- id: [\n", encoding="utf-8")
    assert "not valid YAML" in lint.lint_cards(path)[0]


def test_command_prints_file_and_line_and_fails(tmp_path, capsys):
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text(GOOD, encoding="utf-8")
    bad.write_text(GOOD.replace("源码。", "您看。"), encoding="utf-8")
    assert lint.main([str(good)]) == 0
    assert capsys.readouterr().out == ""
    assert lint.main([str(good), str(bad)]) == 1
    assert capsys.readouterr().out == f"{bad}:47: 您; address the reader as 你\n"


def test_lint_of_everything_names_what_the_loader_of_cards_refuses(monkeypatch, capsys):
    problem = cards.Problem("chapters/01-x/cards/a.yaml", 8, "kind is 'predikt'", "x-a")
    monkeypatch.setattr(cards, "load", lambda: (None, [problem]))
    monkeypatch.setattr(lint, "default_files", list)
    assert lint.main([]) == 1
    assert "chapters/01-x/cards/a.yaml:8: card 'x-a': kind is 'predikt'" in capsys.readouterr().out
