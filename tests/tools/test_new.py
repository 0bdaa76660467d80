"""A new chapter and a new section have all that the desk wants; on an error nothing is written."""

import shutil

import pytest
from sphinx_external_toc.parsing import parse_toc_yaml

from book.pipeline import lint, new, sources, sync
from book.pipeline.cards import book as cards
from book.pipeline.cards import results
from book.pipeline.content import heads, questions
from book.pipeline.reading import check as gate
from tests.helpers.card_examples import write_chapter

MACHINE = {"line": "loss.backward()", "job": {"zh": "倒着走", "en": "Walks back"}}
TOC = """format: jb-book
root: book/index
parts:
  - caption: 机器 · Machines
    chapters:
      - file: chapters/05-compile/index
        sections:
          - file: chapters/05-compile/cheat-sheet
  - caption: 练习 · Drill
    chapters:
      - file: book/drill
"""
SECTION = "chapters/06-memory/allocator"
ROWS = f"""      - file: chapters/06-memory/index
        sections:
          - file: {SECTION}
"""


def empty_book(root):
    (root / "book").mkdir()
    for name in ("errata", "retired-cards"):
        (root / f"book/{name}.yaml").write_text("{}\n")
    (root / "_toc.yml").write_text(TOC, "utf-8")
    write_chapter(root, "05-compile", machine=MACHINE)
    return root


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A book with a new chapter and a new section in it."""
    root = empty_book(tmp_path_factory.mktemp("begun"))
    assert new.main(["chapter", "06-memory"], root) == 0
    assert new.main(["section", "06-memory/allocator"], root) == 0
    return root


@pytest.fixture
def book(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "book")


def desk(root):
    """What the desk says of a book."""
    written = sorted(root.glob("chapters/*/*.md"))
    yamls = sorted(root.glob("chapters/**/*.yaml"))
    loaded, problems = cards.load(root)
    documents = list(parse_toc_yaml(root / "_toc.yml"))
    return [*lint.lint_files([*written, *yamls]), *map(str, problems or results.stale(loaded)),
            *map(str, questions.problems(documents, root)), *map(str, gate.problems(root)),
            *sources.check_all([*written, *yamls]), *filter(None, map(sync.stale, written))]


def contents(root):
    return {one.relative_to(root): one.read_bytes() for one in root.rglob("*") if one.is_file()}


@pytest.mark.slow
def test_what_is_begun_passes_the_desk_and_says_that_it_is_a_draft(begun):
    assert desk(begun) == []
    assert heads.drafts(parse_toc_yaml(begun / "_toc.yml"), begun) == [
        "chapters/06-memory/index", SECTION]
    assert (begun / f"{SECTION}.ipynb").is_file()


@pytest.mark.slow
def test_a_chapter_that_is_no_machine_begins_a_part_of_its_own(begun):
    toc = (begun / "_toc.yml").read_text("utf-8")
    assert toc == TOC.replace("  - caption: 练习", f"{new.PART}{ROWS}  - caption: 练习")


@pytest.mark.slow
def test_a_second_section_stands_before_the_sheet_and_its_line_below_the_first(book):
    toc, opening = (book / name for name in ("_toc.yml", "chapters/06-memory/index.md"))
    sheet = "          - file: chapters/06-memory/cheat-sheet\n"
    toc.write_text(toc.read_text("utf-8").replace(f"{SECTION}\n", f"{SECTION}\n{sheet}"), "utf-8")
    assert new.main(["section", "06-memory/pinned-memory"], book) == 0
    assert list(parse_toc_yaml(toc))[3:6] == [
        "chapters/06-memory/index", SECTION, "chapters/06-memory/pinned-memory"]
    lines = [line for line in opening.read_text("utf-8").splitlines() if line.startswith("- ")]
    assert lines == ["- 待写。[待写](allocator.ipynb)", "- 待写。[待写](pinned-memory.ipynb)",
                     "- To be written. [Allocator](allocator.ipynb)",
                     "- To be written. [Pinned memory](pinned-memory.ipynb)"]
    assert desk(book) == []


PIECES = {
    "the notebook": (f"{SECTION}.ipynb", None, "missing; run `make sync`"),
    "the results of its cards": ("chapters/06-memory/cards/allocator.json", None,
                                 "the file is missing"),
    "its line in the contents": ("_toc.yml", "".join(ROWS.splitlines(True)[1:]),
                                 "not in _toc.yml"),
    "its question": (f"{SECTION}.md", new.QUESTION, "the section has no question"),
    "a language of its text": (f"{SECTION}.md", '+++ {"lang": "en"}\n\nTo be written.\n',
                               "zh cell without an en cell"),
    "the name of the chapter": ("chapters/06-memory/chapter.yaml", None, "the file is missing"),
}


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
def test_the_desk_misses_each_piece(book, piece):
    name, text, words = PIECES[piece]
    if text is None:
        (book / name).unlink()
    else:
        whole = (book / name).read_text("utf-8")
        assert whole.count(text) == 1
        (book / name).write_text(whole.replace(text, ""), "utf-8")
    assert any(words in line for line in desk(book))


@pytest.mark.parametrize(("what", "name", "said"), [
    ("chapter", "6-memory", "'6-memory' is no name of a chapter: write two digits and a slug"),
    ("chapter", "05-memory", "the number 05 is taken by 05-compile"),
    ("chapter", "05-compile", "chapters/05-compile/chapter.yaml is there already"),
    ("chapter", "04-data", "_toc.yml: no chapter stands before 04-data"),
    ("section", "05-compile", "'05-compile' is no name of a section"),
    ("section", "05-compile/Guards", "'05-compile/Guards' is no name of a section"),
    ("section", "05-compile/cheat-sheet", "'05-compile/cheat-sheet' is no name of a section"),
    ("section", "05-compile/../../x", "is no name of a section"),
    ("section", "06-memory/allocator", "there is no chapter 06-memory: begin with"),
    ("section", "05-compile/guards", "chapters/05-compile/index.md is missing"),
])
def test_what_cannot_be_begun_is_one_line_and_nothing_is_written(
        tmp_path, capsys, what, name, said):
    root = empty_book(tmp_path)
    before = contents(root)
    assert new.main([what, name], root) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("new: ")
    assert said in line
    assert contents(root) == before


@pytest.mark.slow
def test_a_section_that_is_there_is_left_as_it_is(book, capsys):
    before = contents(book)
    assert new.main(["section", "06-memory/allocator"], book) == 1
    assert capsys.readouterr().err == f"new: {SECTION}.md is there already; nothing was written\n"
    assert contents(book) == before


def test_where_no_notebook_can_be_made_all_is_as_before(tmp_path, monkeypatch, capsys):
    def fail(path):
        raise sync.SyncError(f"{path.name}: a cell raised\nmore lines")

    root = empty_book(tmp_path)
    before, folders = contents(root), sorted(root.rglob("*"))
    monkeypatch.setattr(sync, "sync", fail)
    assert new.main(["chapter", "06-memory"], root) == 1
    assert capsys.readouterr().err == "new: index.md: a cell raised\n"
    assert (contents(root), sorted(root.rglob("*"))) == (before, folders)
