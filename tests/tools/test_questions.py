"""Every section has one short question in each language; what is wrong is one line."""

import pytest

from book.pipeline.content import chapters, questions
from tests.helpers.card_examples import line_of, write_chapter

FILE = "chapters/06-memory/chapter.yaml"
PAGES = ["book/index", "chapters/06-memory/index", "chapters/06-memory/cache",
         "chapters/06-memory/cheat-sheet"]
GOOD = {"zh": "`x` 占了多少显存？", "en": "How much memory does `x` take?"}


def found(root, **asked):
    path = write_chapter(root, "06-memory", questions=asked)
    return path, [str(one) for one in questions.problems(PAGES, root)]


def test_a_chapter_knows_the_questions_of_its_sections(tmp_path):
    assert found(tmp_path, cache=GOOD)[1] == []
    [chapter] = chapters.read(tmp_path).values()
    assert chapter.questions == {"cache": (GOOD["zh"], GOOD["en"])}


def test_a_section_without_a_question_is_named_and_openings_and_sheets_need_none(tmp_path):
    _, [problem] = found(tmp_path)
    assert problem.startswith(f"{FILE}:1: section 'cache' has no question; ")


def test_a_question_of_what_is_no_section_is_named_with_its_line(tmp_path):
    path, [problem] = found(tmp_path, cache=GOOD, gone=GOOD)
    line = line_of(path, "gone:")
    assert problem == f"{FILE}:{line}: 'gone' is no section of the book; take its question out"


@pytest.mark.parametrize(("lang", "text", "fault"), [
    ("zh", "显" * 30 + "？", "31 characters; at most 30"),
    ("en", "Why " * 14 + "not?", "15 words; at most 14"),
    ("zh", "显存占了多少", "ask one question, which ends in ？"),
    ("en", "Memory? Why?", "ask one question, which ends in ?"),
])
def test_a_question_is_one_and_short(tmp_path, lang, text, fault):
    path, [problem] = found(tmp_path, cache=GOOD | {lang: text})
    lines = path.read_text("utf-8").splitlines()
    line = max(at for at, one in enumerate(lines, 1) if one.strip().startswith(f"{lang}:"))
    assert problem == f"{FILE}:{line}: question of 'cache', {lang}: {fault}"


@pytest.mark.parametrize("text", ["`" * 2 + "显" * 29 + "？", "显" * 29 + "？"])
def test_marks_of_code_do_not_count(tmp_path, text):
    assert found(tmp_path, cache=GOOD | {"zh": text})[1] == []


def test_a_question_in_one_language_is_refused_by_the_schema(tmp_path):
    write_chapter(tmp_path, "06-memory", questions={"cache": {"zh": "为什么？"}})
    assert "questions.cache.en is missing" in str(next(chapters.problems(tmp_path)))
