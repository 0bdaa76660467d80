"""Old addresses lead on, and one that leads nowhere is told before a reader meets it."""

import json
import re

import nbformat
import pytest

from book.extension import moved as on_pages
from book.pipeline.content import moved
from book.pipeline.content.moved import Moved, Target
from book.pipeline.finish import forward
from book.pipeline.pages import moved as checks
from book.pipeline.pages.built import Site

OLD, NEW, OTHER = (f"chapters/01-tensors/{name}" for name in ("old", "new", "other"))
SPLIT = f"""{OLD}:
  to: {NEW}
  anchors:
    its-card: {OTHER}
    its-head: {NEW}#a-new-name
"""
GIVEN = f"""{NEW}:
  anchors:
    a-card: {OTHER}
"""
HTML = "<html><body><article>{}</article></body></html>"
TITLES = {NEW: "新节 · New", OTHER: "`另` 一节 · The `other`"}


@pytest.fixture
def root(tmp_path):
    """A book of two pages; what has moved is written by `says`."""
    (tmp_path / "book").mkdir()
    for page, title in TITLES.items():
        file = tmp_path / f"{page}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"---\na: b\n---\n\n# {title}\n", encoding="utf-8")
    return tmp_path


def says(root, text):
    (root / moved.FILE).write_text(text, encoding="utf-8")


def problems(root, text):
    says(root, text)
    return [str(one) for one in moved.problems(TITLES.keys(), root)]


# ---- the file -----------------------------------------------------------------------------------

def test_a_page_that_was_split_and_one_that_gave_an_anchor_away_have_no_problem(root):
    assert problems(root, SPLIT + GIVEN) == []
    assert moved.read(root) == [
        Moved(OLD, NEW, {"its-card": Target(OTHER, "its-card"),
                         "its-head": Target(NEW, "a-new-name")}),
        Moved(NEW, None, {"a-card": Target(OTHER, "a-card")})]


def test_without_the_file_nothing_has_moved(root):
    assert moved.read(root) == []


WRONG = {
    "a page again": (f"{NEW}: {{to: {OTHER}}}", 1, f"{NEW} is a page again: take `to` out"),
    "gone without a word": (f"{OLD}: {{anchors: {{a: {NEW}}}}}", 1,
                            f"{OLD} is no page: say in `to` which took its place"),
    "to nowhere": (f"{OLD}:\n  to: chapters/gone", 2, "chapters/gone is no page of _toc.yml"),
    "an anchor to nowhere": (f"{OLD}:\n  to: {NEW}\n  anchors:\n    a: chapters/gone#b", 4,
                             "chapters/gone is no page of _toc.yml"),
    "an anchor to itself": (f"{NEW}:\n  anchors:\n    a: {NEW}#a", 3, "#a moves to where it is"),
    "anchors in a circle": (f"{NEW}:\n  anchors:\n    a: {OTHER}#b\n{OTHER}:\n  anchors:\n"
                            f"    b: {NEW}#a", 3, f"{OTHER}#b has moved on: name its new place"),
    "another key": (f"{OLD}: {{too: {NEW}}}", 1, "write `to`, `anchors` or both"),
    "an anchor of the whole": (f"{OLD}:\n  to: {NEW}#a", 2, "write a page, without an anchor"),
    "no mapping": ("- x", 1, "write a mapping: old page, then"),
    "a page with its ending": ("chapters/old.html: {to: x}", 1, "is no page: write it as in"),
    "a key twice": (f"{OLD}: {{to: {NEW}}}\n{OLD}: {{to: {NEW}}}", 2, "is given twice"),
    "no anchor": (f"{OLD}:\n  to: {NEW}\n  anchors:\n    'A b': {NEW}", 4, "write anchor: page"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_told_with_its_number(root, name):
    text, line, words = WRONG[name]
    found = problems(root, text)
    assert found[0].startswith(f"book/moved.yaml:{line}: ")
    assert words in found[0]


def test_a_file_in_another_encoding_is_told(root):
    (root / moved.FILE).write_bytes(b"\xff\xfe")
    assert [str(one) for one in moved.problems(TITLES.keys(), root)] == [
        "book/moved.yaml:1: is not UTF-8: save it as that"]


# ---- the page at an old address -----------------------------------------------------------------

@pytest.fixture
def site(root):
    """The two pages as a site, with what the build puts at the old address."""
    folder = root / "site"
    for page, ids in ((NEW, ["a-new-name", "a-card"]), (OTHER, ["its-card", "a-card"])):
        file = folder / f"{page}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(HTML.format("".join(f"<i id={name}></i>" for name in ids)), "utf-8")
    says(root, SPLIT + GIVEN)
    forward.write(folder, root)
    return Site(folder, root)


def text_of(site, page=OLD):
    return (site.folder / f"{page}.html").read_text("utf-8")


def test_the_old_address_works_without_scripts(site):
    html = text_of(site)
    assert '<noscript><meta http-equiv="refresh" content="0; url=../../' + NEW + '.html">' in html
    assert re.findall(r'<a href="([^"]*)">', html) == [f"../../{NEW}.html", f"../../{OTHER}.html"]
    for words in ("本页已经搬走", "This page has moved", "新节", "New", "另 一节", "The other"):
        assert words in html


def test_the_old_address_is_kept_out_of_indexes_and_names_the_new_page(site):
    html = text_of(site)
    assert '<meta name="robots" content="noindex">' in html
    assert f'<link rel="canonical" href="../../{NEW}.html">' in html
    assert f"{OLD}.html" not in site.pages


def test_the_script_knows_each_anchor_that_went_elsewhere(site):
    known = json.loads(re.search(r"= (\{.*\});", text_of(site))[1])
    assert known == {"page": f"../../{NEW}.html", "anchors": {
        "its-card": f"../../{OTHER}.html#its-card", "its-head": f"../../{NEW}.html#a-new-name"}}


@pytest.mark.parametrize("variant", ["zh", "en", "both"])
def test_the_old_notebooks_name_the_new_ones(site, variant):
    file = site.folder / f"downloads/01-tensors/old.{variant}.ipynb"
    notebook = nbformat.read(file, 4)
    nbformat.validate(notebook)
    [cell] = notebook.cells
    for name in ("new", "other"):
        assert f"`{name}.{variant}.ipynb`" in cell.source
    assert ("本节已经搬走" in cell.source) == (variant != "en")
    assert ("This section has moved" in cell.source) == (variant != "zh")


def test_no_page_of_the_book_is_written_over(root, site):
    with pytest.raises(ValueError, match=f"{OLD} is a page of the book"):
        forward.write(site.folder, root)


# ---- anchors of a page that is still there ------------------------------------------------------

def test_an_anchor_that_was_given_away_is_a_line_with_a_link_in_both_languages(root):
    one = Moved(NEW, None, {"a-card": Target(OTHER, "a-card")})
    element = on_pages.element(one, root)
    assert element.startswith('<moved-anchors><p class="moved-anchor" id="a-card">')
    assert element.count(f'<a href="../../{OTHER}.html#a-card">') == 2
    assert "搬到" in element
    assert "The other</a>" in element


# ---- the check of the built site ----------------------------------------------------------------

def faults(site):
    return [str(one) for one in checks.of_site(Site(site.folder, site.root))]


def test_a_sound_site_has_no_fault(site):
    assert faults(site) == []


def changed(site, page, old, new):
    html = text_of(site, page)
    assert old in html
    (site.folder / f"{page}.html").write_text(html.replace(old, new), "utf-8")
    return faults(site)


FAULTS = {
    "an anchor that is nowhere": (OTHER, "id=its-card", "id=x",
                                  f"{OTHER}#its-card: no element of that page has the id its-card"),
    "a new name that is nowhere": (NEW, "id=a-new-name", "id=x", "has the id a-new-name"),
    "an old anchor without its line": (NEW, "id=a-card", "id=x", "lacks the old anchors"),
    "a refresh to elsewhere": (OLD, "0; url=../../" + NEW, "0; url=../../" + OTHER, "refreshes to"),
    "another canonical page": (OLD, 'canonical" href="../../' + NEW, 'canonical" href="x',
                               "is canonical"),
    "a link left out": (OLD, f'<a href="../../{OTHER}.html">', "<a>", "lacks links to"),
    "open to indexes": (OLD, "noindex", "index", "is not kept out of indexes"),
    "a real page again": (OLD, "<main>", "<article></article><main>",
                          "is a page of the book again"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_seen(site, name):
    *change, words = FAULTS[name]
    assert any(words in fault for fault in changed(site, *change))


@pytest.mark.parametrize(("name", "words"), [
    (f"{OLD}.html", "nothing stands here"), (f"{OTHER}.html", "no such file in the site"),
    ("downloads/01-tensors/old.en.ipynb", "has no notice in place of its en notebook")])
def test_a_file_that_is_missing_is_seen(site, name, words):
    (site.folder / name).unlink()
    assert any(words in fault for fault in faults(site))


def test_an_old_address_may_not_lead_to_another_old_address(root, site):
    says(root, SPLIT + f"chapters/01-tensors/older: {{to: {OLD}}}\n")
    with pytest.raises(ValueError, match=f"{OLD} is no page of the book"):
        forward.write(root / "again", root)
    assert any(f"{OLD} has moved on: name its new page" in fault for fault in faults(site))
