"""A chapter says in its chapter.yaml what it is; what is wrong there is one line."""

import pytest

from book.pipeline.cards import book as cards
from book.pipeline.content import chapters
from tests.helpers.card_examples import card, line_of, write_book, write_chapter

FILE = "chapters/06-memory/chapter.yaml"
MACHINE = {"line": "loss.backward()", "job": {"zh": "倒着走", "en": "Walks back"}}


def found(root):
    return [str(problem) for problem in chapters.problems(root)]


def test_a_chapter_is_its_number_its_name_and_perhaps_a_machine(tmp_path):
    write_chapter(tmp_path, "10-systems", complete=True)
    write_chapter(tmp_path, "00-start", machine=MACHINE | {"in_step": True})
    (tmp_path / "chapters/drafts").mkdir()
    start, systems = chapters.read(tmp_path).values()
    assert list(chapters.read(tmp_path)) == ["00-start", "10-systems"]
    assert (start.number, start.slug, start.name) == (0, "start", ("章", "Start"))
    assert start.machine == chapters.Machine("loss.backward()", True, ("倒着走", "Walks back"))
    assert not start.complete
    assert (systems.number, systems.complete, systems.machine) == (10, True, None)


@pytest.mark.parametrize(("content", "at", "text"), [
    ({"name": {"zh": "内存"}}, "name:", "name.en is missing"),
    ({"name": None}, "name:", "name must be a mapping"),
    ({"name": {"zh": "Memory", "en": "Memory"}}, "zh:", "write Chinese text"),
    ({"title": "x"}, "title:", "unknown key 'title'"),
    ({"complete": "yes"}, "complete:", "complete must be true or false"),
    ({"machine": {"line": "x = 1"}}, "machine:", "machine.job is missing"),
    ({"machine": MACHINE | {"in-step": True}}, "in-step:",
     "unknown key 'machine.in-step': did you mean 'in_step'"),
])
def test_what_is_wrong_is_one_line_with_its_place(tmp_path, content, at, text):
    path = write_chapter(tmp_path, "06-memory", **content)
    [problem] = found(tmp_path)
    assert problem.startswith(f"{FILE}:{line_of(path, at)}: ")
    assert text in problem
    with pytest.raises(ValueError, match=r"chapter\.yaml:"):
        chapters.read(tmp_path)


def test_a_chapter_without_its_file_and_one_in_a_misnamed_folder_are_named(tmp_path):
    (tmp_path / "chapters/06-memory").mkdir(parents=True)
    write_chapter(tmp_path, "7-debugging")
    assert found(tmp_path) == [
        f"{FILE}:1: the file is missing: write the chapter's name, as in name: "
        "{zh: 张量, en: Tensors}",
        "chapters/7-debugging/chapter.yaml:1: rename the folder to two digits and a slug, as in "
        "06-memory"]


def test_no_yaml_is_said_with_its_line(tmp_path):
    write_chapter(tmp_path, "06-memory").write_text("name: [\n", encoding="utf-8")
    assert "not valid YAML" in found(tmp_path)[0]


def test_whoever_reads_cards_hears_of_it(tmp_path):
    write_book(tmp_path, card())
    (tmp_path / "chapters/01-tensors/chapter.yaml").unlink()
    assert [str(problem) for problem in cards.load(tmp_path)[1]] == found(tmp_path)
