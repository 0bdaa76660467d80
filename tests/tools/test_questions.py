"""Every section has one short question in its head; what is wrong there is one line."""

import pytest

from book.pipeline import lint
from book.pipeline.content import heads, questions
from book.pipeline.notebooks import notebook
from tests.helpers.card_examples import line_of

HEAD = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {display_name: Python 3, name: python3}
%s---

# 缓存 · Cache
"""
ZH, EN = "`x` 占了多少显存？", "How much memory does `x` take?"
CACHE = "chapters/06-memory/cache"
PAGES = ["book/index", "chapters/06-memory/index", CACHE, "chapters/06-memory/cheat-sheet"]


def write(root, document=CACHE, own="", zh=None, en=None):
    asked = "".join(f'  {lang}: "{text}"\n' for lang, text in (("zh", zh), ("en", en)) if text)
    path = root / f"{document}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD % ((f"question:\n{asked}" if asked else "") + own), encoding="utf-8")
    return path


def found(root):
    return [str(one) for one in questions.problems(PAGES, root)]


def test_a_section_says_its_question_and_whether_it_is_a_draft(tmp_path):
    path = write(tmp_path, zh=ZH, en=EN)
    assert found(tmp_path) == []
    assert heads.read(path, tmp_path) == ((ZH, EN), False)
    assert heads.drafts(PAGES, tmp_path) == []
    write(tmp_path, own="draft: true\n", zh=ZH, en=EN)
    write(tmp_path, "chapters/06-memory/index", own="draft: true\n")
    assert found(tmp_path) == []
    assert heads.drafts(PAGES, tmp_path) == PAGES[1:3]


def test_a_section_without_a_question_is_named_and_openings_and_sheets_need_none(tmp_path):
    for document in PAGES[1:]:
        write(tmp_path, document)
    [problem] = found(tmp_path)
    assert problem.startswith(f"{CACHE}.md:1: the section has no question; ")


def test_the_question_of_an_opening_and_of_what_is_not_in_the_book_are_named(tmp_path):
    opening = write(tmp_path, "chapters/06-memory/index", zh=ZH, en=EN)
    write(tmp_path, "chapters/06-memory/gone", zh=ZH, en=EN)
    line = line_of(opening, "question:")
    assert found(tmp_path) == [
        "chapters/06-memory/gone.md:1: the section is not in _toc.yml; add it there",
        f"chapters/06-memory/index.md:{line}: only a section has a question; take it out"]


@pytest.mark.parametrize(("lang", "text", "fault"), [
    ("zh", "显" * 30 + "？", "31 characters; at most 30"),
    ("en", "Why " * 14 + "not?", "15 words; at most 14"),
    ("zh", "显存占了多少", "ask one question, which ends in ？"),
    ("en", "Memory? Why?", "ask one question, which ends in ?"),
])
def test_a_question_is_one_and_short(tmp_path, lang, text, fault):
    path = write(tmp_path, **({"zh": ZH, "en": EN} | {lang: text}))
    [problem] = found(tmp_path)
    assert problem == f"{CACHE}.md:{line_of(path, f'  {lang}:')}: question, {lang}: {fault}"


@pytest.mark.parametrize("text", ["`" * 2 + "显" * 29 + "？", "显" * 29 + "？"])
def test_marks_of_code_do_not_count(tmp_path, text):
    write(tmp_path, zh=text, en=EN)
    assert found(tmp_path) == []


@pytest.mark.parametrize(("own", "zh", "at", "text"), [
    ("", "为什么？", "question:", "question.en is missing"),
    ("drafd: true\n", "为什么？", "drafd:", "unknown key 'drafd': did you mean 'draft'"),
    ("draft: soon\n", "为什么？", "draft:", "draft must be true or false"),
    ("draft: [\n", None, "---\n\n", "not valid YAML"),
])
def test_what_is_wrong_in_a_head_is_one_line_and_no_page_is_made_of_it(tmp_path, own, zh, at, text):
    path = write(tmp_path, own=own, zh=zh)
    said = next(line for line in found(tmp_path) if text in line)
    if at in path.read_text("utf-8").splitlines():
        assert said.startswith(f"{CACHE}.md:{line_of(path, at)}: ")
    with pytest.raises(ValueError, match=r"^chapters/06-memory/cache\.md:\d+: "):
        heads.read(path, tmp_path)


def test_both_texts_of_a_question_are_linted_as_a_pair(tmp_path):
    path = write(tmp_path, zh="为什么?", en="Why `x`?")
    findings = lint.lint_source(path.read_text("utf-8"))
    assert {line for line, text in findings if text.startswith("question: ")} >= {
        line_of(path, "  zh:")}
    assert lint.lint_source(write(tmp_path, zh=ZH, en=EN).read_text("utf-8")) == []


def test_another_question_or_mark_of_a_draft_leaves_the_notebook_as_it_is(tmp_path):
    bare = notebook.source_digest(write(tmp_path))
    assert notebook.source_digest(write(tmp_path, own="draft: true\n", zh=ZH, en=EN)) == bare
    path = write(tmp_path, zh=ZH, en=EN)
    assert notebook.source_digest(path) == bare
    path.write_text(path.read_text("utf-8") + "\nquestion: of the text\n", "utf-8")
    assert notebook.source_digest(path) != bare
