"""A chapter is a room of `inside`, too: what only it uses lies there, and no other chapter uses it.

A module that no page and no card uses is no chapter's, and is wrong anywhere.
"""

from functools import cache

import pytest

from book.pipeline.cards import book
from book.pipeline.ground.paths import CHAPTERS, CODE
from book.pipeline.notebooks import depends, notebook

KINDS = ("observe", "pictures")
PROGRAMS = ("code", "fixed", "proof")
FOLDERS = {folder.name.partition("-")[2]: folder for folder in sorted(CHAPTERS.glob("[0-9]*-*"))}
MODULES = sorted(file.relative_to(CODE / "inside").as_posix()
                 for kind in KINDS for file in (CODE / "inside").glob(f"**/{kind}/*.py")
                 if file.name != "__init__.py")


@cache
def programs(chapter):
    """The programs of a chapter's pages and cards, as they are written."""
    folder = FOLDERS[chapter]
    pages = [cell.source for page in sorted(folder.glob("*.md"))
             for cell in notebook.code_cells(notebook.read_source(page))]
    return pages + [card.data[key] for part in book.load()[0].chapters if part.folder == folder
                    for card in part.cards for key in PROGRAMS if key in card.data]


@cache
def used():
    """{chapter: the modules of `inside` that it uses, also through one another}"""
    return {chapter: {file.relative_to(CODE / "inside").as_posix()
                      for file in depends.files(programs(chapter))
                      if file.is_relative_to(CODE / "inside")} for chapter in FOLDERS}


def room_of(chapters):
    """The folder for what these chapters use; None for what none uses."""
    return {0: None, 1: next(iter(chapters), None)}.get(len(chapters), "")


@pytest.mark.parametrize("module", MODULES)
def test_a_module_lies_where_those_who_use_it_are(module):
    users = [chapter for chapter, modules in used().items() if module in modules]
    assert module.rpartition("/")[0].rpartition("/")[0] == room_of(users), f"used by {users}"


@pytest.mark.parametrize("chapter", FOLDERS)
def test_a_chapter_imports_modules_by_the_names_they_have(chapter):
    """`inside.earlier_names` is for readers' older notebooks."""
    names = {name for program in programs(chapter) for name in depends.uses(program).modules
             if name.startswith("inside.") and {*KINDS} & {*name.split(".")}}
    folders = [name for name in names if name.rpartition(".")[2] in KINDS]
    known = {".".join(("inside", *module.removesuffix(".py").split("/"))) for module in MODULES}
    wrong = [name for name in names - {*folders}
             if not {name, name.rpartition(".")[0]} & known]
    assert programs(chapter)
    assert wrong == []


def test_what_one_chapter_uses_and_what_two_use_have_different_places():
    assert [room_of(chapters) for chapters in ([], ["data"], ["data", "compile"])] == [
        None, "data", ""]
