"""The front page's machines, lists and ways in say what exists, from the files of the chapters."""

import json

import nbformat
import pytest
from bs4 import BeautifulSoup

from book.extension import front
from book.pipeline.content import planned
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


def draft(root, page):
    """Say in the head of a section that it is being written."""
    (root / f"{page}.md").write_text("---\njupytext: {}\nkernelspec: {}\ndraft: true\n---\n")


def words(number):
    return nbformat.v4.new_markdown_cell("word " * number, metadata={"lang": "en"})


def machines(root):
    """Write the five chapters of the map; three of them stand inside the step."""
    for folder, line in LINES.items():
        machine = {"line": line, "job": {"zh": "做事", "en": "Works"},
                   "in_step": folder < "04"}
        write_chapter(root, folder, machine=machine)


class Page:
    """The parts of the front page, of the sections and other pages that are in the book."""

    def __init__(self, root, *pages):
        self.book = front.book(root, ["book/index", *pages])

    def machines(self):
        return {one.select_one("b .lang-en").text: one
                for one in html(front.machine_map(self.book)).select(".machine")}

    def lists(self):
        """Name of a chapter -> the English words of its sections."""
        return {one.select_one("h3 .lang-en").text: [english(item) for item in one.select("li")]
                for one in html(front.section_lists(self.book)).select(".chapter-list")}


def html(text):
    return BeautifulSoup(text, "html.parser")


def english(item):
    return " ".join(part.text for part in item.select(".lang-en"))


def targets(item):
    return [link["href"] for link in item.select("a")]


@pytest.fixture
def page(tmp_path):
    machines(tmp_path)
    section(tmp_path, "02-autograd", "draft", "草稿 · A draft")  # not in the table of contents
    return Page(tmp_path,
                section(tmp_path, "01-tensors", "storage", "存储 · Storage", [words(1000)]),
                section(tmp_path, "02-autograd", "graph", "计算图 · The graph"))


# ---- the machines ------------------------------------------------------------------------------

def test_the_machines_stand_in_the_order_of_the_step_and_say_what_is_being_written(page):
    found = page.machines()
    assert list(found) == ["Compile", "Data", "Modules", "Autograd", "Tensors"]
    assert [one.code.text for one in found.values()] == list(LINES.values())
    planned = [name for name, one in found.items() if "is-planned" in one["class"]]
    assert planned == ["Compile", "Data", "Modules"]
    assert [name for name, one in found.items() if "being written" in one.text] == planned
    assert "Chapter 1" in found["Tensors"].text


def test_the_lines_that_get_compiled_are_marked(page):
    marked = [name for name, one in page.machines().items() if one.select(".in-step")]
    assert marked == ["Modules", "Autograd", "Tensors"]


def test_a_machine_leads_to_its_chapter_if_that_has_an_opening(tmp_path):
    machines(tmp_path)
    found = Page(tmp_path, "chapters/01-tensors/index").machines()
    assert found["Tensors"].name == "a"
    assert found["Tensors"]["href"] == "../chapters/01-tensors/index.html"
    assert [one.name for name, one in found.items() if name != "Tensors"] == ["div"] * 4


def test_a_machine_shows_the_drawing_that_lies_in_its_folder_and_its_chapters_hue(tmp_path):
    machines(tmp_path)
    (tmp_path / "chapters/02-autograd/machine.svg").write_text('<svg viewBox="0 0 9 9"></svg>\n')
    found = Page(tmp_path).machines()
    assert [name for name, one in found.items() if one.svg] == ["Autograd"]
    assert found["Autograd"].svg["aria-hidden"] == "true"  # the words beside it say what it shows
    assert found["Autograd"]["data-chapter"] == "2"


# ---- the sections ------------------------------------------------------------------------------

def test_opening_and_cheat_sheet_are_no_sections(tmp_path):
    write_chapter(tmp_path, "01-tensors")
    section(tmp_path, "01-tensors", "storage", "存储 · Storage")
    pages = [f"chapters/01-tensors/{name}" for name in ("index", "storage", "cheat-sheet")]
    found = front.sections(tmp_path, ["book/index", *pages, "chapters/drafts"])
    assert [one.document for ready in found.values() for one in ready] == [pages[1]]


def test_every_section_in_the_contents_is_listed_with_its_time(page):
    assert page.lists() == {"Tensors": ["Storage 6 min"], "Autograd": ["The graph 1 min"]}
    listed = html(front.section_lists(page.book))
    assert [link["href"] for link in listed.select("li a")] == [
        "../chapters/01-tensors/storage.html", "../chapters/02-autograd/graph.html"]


def test_a_chapter_says_its_size_and_leads_to_opening_self_test_and_sheet(tmp_path):
    machines(tmp_path)
    pages = [section(tmp_path, "01-tensors", name, f"甲 · {name}", [words(3000)]) for name in "ab"]
    bare = html(front.section_lists(Page(tmp_path, *pages).book))
    assert english(bare.section.p) == "2 sections, about 34 min, 6 cards"
    assert targets(bare.h3) == targets(bare.section.p) == []
    folder = "chapters/01-tensors"
    full = html(front.section_lists(
        Page(tmp_path, f"{folder}/index", *pages, f"{folder}/cheat-sheet").book))
    assert targets(full.h3) == [f"../{folder}/index.html"]
    assert targets(full.section.p) == [f"../{folder}/index.html#a-five-minute-self-test",
                               f"../{folder}/cheat-sheet.html"]


def test_chapters_without_a_machine_are_listed_and_not_on_the_map(tmp_path):
    machines(tmp_path)
    for folder in ("00-start", "06-memory", "10-systems"):
        write_chapter(tmp_path, folder)
    pages = [section(tmp_path, folder, "a", "甲 · A") for folder in
             ("10-systems", "01-tensors", "06-memory", "00-start")]
    page = Page(tmp_path, *pages)
    assert list(page.lists()) == ["Start", "Tensors", "Memory", "Systems"]
    assert not {"Start", "Memory", "Systems"} & page.machines().keys()


def test_a_section_without_cards_counts_none_and_a_chapter_without_sections_is_left_out(tmp_path):
    write_chapter(tmp_path, "00-start")
    write_chapter(tmp_path, "06-memory")
    page = Page(tmp_path, section(tmp_path, "00-start", "a", "甲 · A", cards=0))
    assert page.lists() == {"Start": ["A 1 min"]}
    assert "1 section, about 1 min, 0 cards" in front.section_lists(page.book)


def test_a_book_without_sections_has_five_planned_machines_and_no_lists(tmp_path):
    machines(tmp_path)
    page = Page(tmp_path)
    assert page.lists() == {}
    assert ["is-planned" in one["class"] for one in page.machines().values()] == [True] * 5


def test_a_draft_has_no_time_and_counts_in_no_sum(tmp_path):
    machines(tmp_path)
    pages = [section(tmp_path, "01-tensors", name, f"甲 · {name}", [words(3000)]) for name in "ab"]
    draft(tmp_path, pages[1])
    page = Page(tmp_path, *pages)
    assert page.lists() == {"Tensors": ["a 17 min", "b being written"]}
    lists = html(front.section_lists(page.book))
    assert english(lists.section.p) == "1 section, about 17 min, 3 cards"
    assert english(lists.select_one(".progress-summary")) == "1 section, about 17 min"
    draft(tmp_path, pages[0])
    assert english(html(front.section_lists(Page(tmp_path, *pages).book)).section.p) == \
        "being written"


def test_an_opening_without_sections_is_listed_as_being_written(tmp_path):
    write_chapter(tmp_path, "06-memory")
    lists = html(front.section_lists(Page(tmp_path, "chapters/06-memory/index").book))
    assert targets(lists.h3) == ["../chapters/06-memory/index.html"]
    assert "being written" in english(lists.p)
    assert lists.ol is None


# ---- what is planned -----------------------------------------------------------------------------

PLAN = """10:
  name: {zh: 排错, en: Finding out}
  about: {zh: 性能, en: profiles}
8:
  name: {zh: 分布式训练, en: Distributed training}
  about: {zh: 多卡, en: "several GPUs"}
"""


def plan(root, text=PLAN):
    (root / "book").mkdir()
    (root / "book/planned.yaml").write_text(text, "utf-8")


def test_chapters_without_a_folder_stand_last_each_with_its_number_and_an_id(tmp_path):
    plan(tmp_path)
    write_chapter(tmp_path, "01-tensors")
    page = Page(tmp_path, section(tmp_path, "01-tensors", "a", "甲 · A"))
    *_, last = html(front.section_lists(page.book)).select(".chapter-list")
    assert english(last.h3) == "Chapters being written"
    assert {item["id"]: english(item) for item in last.select("li")} == {
        "distributed-training": "Chapter 8 Distributed training: several GPUs",
        "finding-out": "Chapter 10 Finding out: profiles"}


def test_a_chapter_that_has_got_a_folder_is_planned_no_more(tmp_path):
    plan(tmp_path)
    write_chapter(tmp_path, "08-distributed")
    assert [one.number for one in planned.read(tmp_path)] == [10]
    write_chapter(tmp_path, "10-finding-out")
    assert "being written" not in front.section_lists(Page(tmp_path).book)


@pytest.mark.parametrize("text", ["8: distributed", "8: {name: {zh: 分布式, en: x}}",
                                  "8: {name: {zh: 分布式}, about: {zh: 多卡, en: y}}"])
def test_a_planned_chapter_without_its_words_is_told_in_one_line(tmp_path, text):
    plan(tmp_path, text)
    with pytest.raises(ValueError, match=r"^book/planned.yaml: chapter 8: write name: [^\n]*$"):
        planned.read(tmp_path)


# ---- the ways in -------------------------------------------------------------------------------

def test_self_tests_sheets_and_the_glossary_are_linked_where_they_exist(tmp_path):
    machines(tmp_path)
    openings = ["chapters/01-tensors/index", "chapters/02-autograd/index"]
    sheets = ["chapters/02-autograd/cheat-sheet"]
    lines = html(front.ways_in(Page(tmp_path, *openings, *sheets, "book/glossary").book))
    assert [targets(line) for line in lines.select("p")] == [
        [f"../{page}.html#a-five-minute-self-test" for page in openings],
        ["../chapters/02-autograd/cheat-sheet.html", "../book/glossary.html"]]
    assert front.ways_in(Page(tmp_path).book) == ""
