"""A changed word changes its own page and the search's files, and no other page or shared script.

So no other page has to be visited again, and a reader who keeps the book loads only those again.
"""

import shutil

import pytest

from book.pipeline import site as builder
from tests.specimen.conftest import BUILT, CHAPTER, PAGES, SOURCE

WORD, CHANGED = "A slice has no storage of its own", "A slice has no memory of its own"
# Lists of an edition's files by their digests, and Sphinx's note of its settings.
LISTS = {"edition.json", "offline-files.json", "offline-downloads.json", ".buildinfo"}
SEARCH = "_static/search/"


@pytest.fixture(scope="module")
def edited(tmp_path_factory):
    """The specimen as it is built when one word of a section has changed."""
    folder = tmp_path_factory.mktemp("edited")
    source = shutil.copytree(SOURCE, folder / "source")
    for file in (source / CHAPTER / "section.md", source / CHAPTER / "section.ipynb"):
        text = file.read_text(encoding="utf-8")
        assert text.count(WORD) == 1, file
        file.write_text(text.replace(WORD, CHANGED), encoding="utf-8")
    builder.build(source, folder)
    return folder / BUILT


def files(site):
    return {file.relative_to(site).as_posix(): file.read_bytes()
            for file in site.rglob("*") if file.is_file()}


def test_a_changed_word_changes_only_its_page_and_the_searchs_files(specimen, edited):
    before, after = files(specimen), files(edited)
    changed = {name for name in before.keys() | after.keys()
               if before.get(name) != after.get(name) and name not in LISTS}
    assert PAGES["section"] in changed
    others = {name for name in changed if not name.startswith((SEARCH, "downloads/"))}
    assert others == {PAGES["section"]}
    assert SEARCH + "names.json" in changed
    found = [name for name in changed & after.keys() if name.startswith(SEARCH)]
    assert len(found) == 3, found  # the names, a part of the chapter's index, a page's texts
