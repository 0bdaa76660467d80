"""The front page's map and table say what exists, from the files of the chapters."""

import json

import nbformat
import pytest
from bs4 import BeautifulSoup

from book.extension import front


def section(root, chapter, name, title, cells=()):
    """Write a section's notebook below `root`; its page is `chapters/CHAPTER/NAME`."""
    folder = root / "chapters" / chapter
    folder.mkdir(parents=True, exist_ok=True)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# {title}"), *cells])
    nbformat.write(book, folder / f"{name}.ipynb")
    (folder / "cards.json").write_text(json.dumps({"cards": [{"section": name}] * 3}))
    return f"chapters/{chapter}/{name}"


def words(number, lang):
    return nbformat.v4.new_markdown_cell("word " * number, metadata={"lang": lang})


def predictions(number, kind="predict"):
    return [nbformat.v4.new_code_cell("1", metadata={kind: {"options": []}})
            for _ in range(number)]


@pytest.fixture
def book(tmp_path):
    section(tmp_path, "02-autograd", "draft", "草稿 · A draft")  # not in the table of contents
    pages = [section(tmp_path, "01-tensors", "storage", "存储 · Storage", [words(1000, "en")]),
             section(tmp_path, "02-autograd", "graph", "计算图 · The graph")]
    return front.sections(tmp_path, ["book/index", *pages])


def boxes(html):
    return {box.select_one("b .lang-en").text: box
            for box in BeautifulSoup(html, "html.parser").select(".machine")}


def test_a_machine_with_sections_links_to_them_and_the_others_are_being_written(book):
    found = boxes(front.machine_map(book, []))
    assert list(found) == ["Compiler", "Data loading", "Modules", "Autograd", "Tensors"]
    links = {name: [a["href"] for a in box.select("a")] for name, box in found.items()}
    assert links["Tensors"] == ["../chapters/01-tensors/storage.html"]
    assert links["Autograd"] == ["../chapters/02-autograd/graph.html"]
    planned = [name for name, box in found.items() if "is-planned" in box["class"]]
    assert planned == ["Compiler", "Data loading", "Modules"]
    assert all("being written" in found[name].text for name in planned)
    assert "being written" not in found["Tensors"].text
    assert "Chapter 1" in found["Tensors"].text


def test_the_name_of_a_machine_leads_to_its_chapter_and_the_sheet_stands_last(book):
    documents = ["chapters/01-tensors/index", "chapters/01-tensors/cheat-sheet"]
    found = boxes(front.machine_map(book, documents))
    name, *links = found["Tensors"].select("a")
    assert name.find_parent("b")
    assert name["href"] == "../chapters/01-tensors/index.html"
    assert [link["href"] for link in links] == ["../chapters/01-tensors/storage.html",
                                                "../chapters/01-tensors/cheat-sheet.html"]
    assert not found["Autograd"].select("b a")


def test_opening_and_cheat_sheet_are_no_sections(tmp_path):
    section(tmp_path, "01-tensors", "storage", "存储 · Storage")
    pages = [f"chapters/01-tensors/{name}" for name in ("index", "storage", "cheat-sheet")]
    found = front.sections(tmp_path, ["book/index", *pages, "chapters/drafts"])
    assert [one.document for ready in found.values() for one in ready] == [pages[1]]


def test_every_section_in_the_contents_has_its_title_time_and_number_of_cards(book):
    rows = BeautifulSoup(front.section_table(book), "html.parser").select("tbody tr")
    english = [[cell.select_one(".lang-en").text if cell.select_one(".lang-en") else cell.text
                for cell in row.select("td")] for row in rows]
    assert english == [["Tensors", "Storage", "about 10 min", "3"],
                       ["Autograd", "The graph", "about 5 min", "3"]]


@pytest.mark.parametrize(("cells", "expected"), [
    ([], 5),
    ([words(1000, "en")], 10),
    ([words(1000, "zh")], 5),  # one language is counted
    ([words(900, "en"), *predictions(6)], 15),
    ([words(900, "en"), *predictions(3, "complete")], 20),  # to write takes longer
    ([words(900, "en"), nbformat.v4.new_code_cell("\n".join(["x = 1"] * 180))], 15),
])
def test_time_grows_with_the_text_and_with_what_the_reader_does(cells, expected):
    assert front.minutes(nbformat.v4.new_notebook(cells=cells)) == expected


def test_a_book_without_sections_says_so():
    assert ">None</span>" in front.section_table({})
    assert all("is-planned" in box["class"] for box in boxes(front.machine_map({}, [])).values())
