"""The front page's map and table say what exists, from the files of the chapters."""

import json

import nbformat
import pytest
from bs4 import BeautifulSoup

from book.extension import front
from book.pipeline import chapters
from tests.helpers.card_examples import write_chapter

LINES = {"05-compile": "step = torch.compile(step)", "04-data": "for x, y in loader:",
         "03-modules": "loss = model(x)", "02-autograd": "loss.backward()",
         "01-tensors": "optimizer.step()"}


def section(root, chapter, name, title, cells=(), cards=3):
    """Write a section's notebook below `root`; its page is `chapters/CHAPTER/NAME`."""
    folder = root / "chapters" / chapter
    (folder / "cards").mkdir(parents=True, exist_ok=True)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"# {title}"), *cells])
    nbformat.write(book, folder / f"{name}.ipynb")
    if cards:
        rows = {f"card-{number}": {} for number in range(cards)}
        (folder / "cards" / f"{name}.json").write_text(json.dumps({"cards": rows}))
    return f"chapters/{chapter}/{name}"


def words(number):
    return nbformat.v4.new_markdown_cell("word " * number, metadata={"lang": "en"})


def machines(root):
    """Write the five chapters of the map; three of them stand inside the step."""
    for folder, line in LINES.items():
        machine = {"line": line, "job": {"zh": "做事", "en": "Works"},
                   "in_step": folder < "04"}
        write_chapter(root, folder, machine=machine)


class Book:
    """The parts of the front page, of the sections that are pages of the book."""

    def __init__(self, root, *pages):
        self.chapters = chapters.read(root).values()
        self.sections = front.sections(root, ["book/index", *pages])

    def boxes(self, *documents):
        html = front.machine_map(self.chapters, self.sections, list(documents))
        return boxes(html)

    def rows(self):
        html = front.section_table(self.chapters, self.sections)
        return [[cell.select_one(".lang-en").text if cell.select_one(".lang-en") else cell.text
                 for cell in row.select("td")]
                for row in BeautifulSoup(html, "html.parser").select("tbody tr")]


@pytest.fixture
def book(tmp_path):
    machines(tmp_path)
    section(tmp_path, "02-autograd", "draft", "草稿 · A draft")  # not in the table of contents
    return Book(tmp_path,
                section(tmp_path, "01-tensors", "storage", "存储 · Storage", [words(1000)]),
                section(tmp_path, "02-autograd", "graph", "计算图 · The graph"))


def boxes(html):
    return {box.select_one("b .lang-en").text: box
            for box in BeautifulSoup(html, "html.parser").select(".machine")}


def test_a_machine_with_sections_links_to_them_and_the_others_are_being_written(book):
    found = book.boxes()
    assert list(found) == ["Compile", "Data", "Modules", "Autograd", "Tensors"]
    links = {name: [a["href"] for a in box.select("a")] for name, box in found.items()}
    assert links["Tensors"] == ["../chapters/01-tensors/storage.html"]
    assert links["Autograd"] == ["../chapters/02-autograd/graph.html"]
    planned = [name for name, box in found.items() if "is-planned" in box["class"]]
    assert planned == ["Compile", "Data", "Modules"]
    assert all("being written" in found[name].text for name in planned)
    assert "being written" not in found["Tensors"].text
    assert "Chapter 1" in found["Tensors"].text


def test_the_name_of_a_machine_leads_to_its_chapter_and_the_sheet_stands_last(book):
    documents = ["chapters/01-tensors/index", "chapters/01-tensors/cheat-sheet"]
    found = book.boxes(*documents)
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


def test_what_is_compiled_stands_in_the_frame_in_the_order_of_the_step(book):
    page = BeautifulSoup(front.machine_map(book.chapters, {}, []), "html.parser")
    framed = [box.code.text for box in page.select(".machine-frame .machine")]
    assert framed == [LINES[folder] for folder in ("03-modules", "02-autograd", "01-tensors")]
    assert [box.code.text for box in page.select(".machine")] == list(LINES.values())


def test_every_section_in_the_contents_has_its_title_time_and_number_of_cards(book):
    assert book.rows() == [["Tensors", "Storage", "about 10 min", "3"],
                           ["Autograd", "The graph", "about 5 min", "3"]]


def test_chapters_without_a_machine_are_in_the_table_and_not_on_the_map(tmp_path):
    machines(tmp_path)
    for folder in ("00-start", "06-memory", "10-systems"):
        write_chapter(tmp_path, folder)
    pages = [section(tmp_path, folder, "a", "甲 · A") for folder in
             ("10-systems", "01-tensors", "06-memory", "00-start")]
    book = Book(tmp_path, *pages)
    assert [row[0] for row in book.rows()] == ["Start", "Tensors", "Memory", "Systems"]
    assert not {"Start", "Memory", "Systems"} & book.boxes().keys()


def test_a_section_without_cards_counts_none_and_a_chapter_without_sections_is_left_out(tmp_path):
    write_chapter(tmp_path, "00-start")
    write_chapter(tmp_path, "06-memory")
    book = Book(tmp_path, section(tmp_path, "00-start", "a", "甲 · A", cards=0))
    assert book.rows() == [["Start", "A", "about 5 min", "0"]]


def test_a_book_without_sections_says_so(tmp_path):
    machines(tmp_path)
    book = Book(tmp_path)
    assert ">None</span>" in front.section_table(book.chapters, {})
    assert len(book.boxes()) == 5
    assert all("is-planned" in box["class"] for box in book.boxes().values())
