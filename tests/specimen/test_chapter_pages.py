"""A chapter's opening leads to all that is in the chapter; its cheat sheet prints on one page."""

import re

import pytest
from bs4 import BeautifulSoup

from book.pipeline.pages import chapters
from book.pipeline.pages.built import Site
from tests.specimen.conftest import CHAPTER, PAGES, SOURCE

pytestmark = pytest.mark.browser

SECTIONS = ["section", "stride-explorer", "graph-stepper", "torch-graph", "loader-timeline",
            "module-inspector", "pipeline-explorer"]
A4 = "[0 0 594.95996 841.91998]"  # points, as Chromium rounds 210 mm by 297 mm


@pytest.fixture(scope="module")
def soup(specimen):
    return lambda name: BeautifulSoup((specimen / PAGES[name]).read_text("utf-8"), "html.parser")


# ---- the opening --------------------------------------------------------------------------------

def test_the_opening_lists_every_section_once_and_the_sheet(soup):
    rows = soup("opening").select("#sections-of-this-chapter tbody tr")
    links = [row.select_one("a")["href"] for row in rows]
    assert links == [f"../../{CHAPTER}/{name}.html" for name in (*SECTIONS, "cheat-sheet")]
    minutes, cards = (cell.get_text() for cell in rows[0].select("td")[1:])
    assert re.fullmatch(r"\d+ 分钟（连做题 \d+） · \d+ min \(\d+ with exercises\)", minutes)
    assert rows[0].select_one(".section-question .lang-en").text.startswith("Can one page hold")
    assert cards == "7"


def test_the_contents_nest_the_sections_below_the_opening(soup):
    for name in ("opening", "section"):
        chapter = soup(name).select_one("#contents li.chapter.current")
        assert len(chapter.select("details li > a")) == len(SECTIONS) + 1
        assert chapter.select_one("details[open]")
        assert chapter.select_one("summary .visually-hidden").get_text().strip()


def test_the_front_page_leads_to_the_opening_by_its_machine_and_to_each_section(soup):
    box = soup("front").select_one("a.machine")
    assert box["href"].endswith(PAGES["opening"])
    assert box.select_one("b .lang-en").text == "Tensors"
    rows = [row["href"].rpartition("/")[2] for row in soup("front").select("#tensors li a")]
    assert rows == [f"{name}.html" for name in SECTIONS]


# ---- a chapter without a machine, and drafts ----------------------------------------------------

def test_the_front_page_leads_to_a_chapter_without_a_machine_by_its_list(soup, specimen):
    memory = soup("front").select_one("#memory")
    assert memory.h3.a["href"] == f"../{PAGES['no machine']}"
    assert [f"chapters{row['href'].partition('chapters')[2]}" for row in memory.select("li a")] == [
        PAGES["written"], PAGES["unwritten"]]
    assert [row.select_one("small .lang-en").text for row in memory.select("li")] == [
        "1 min", "being written"]
    assert memory.p.select_one(".lang-en").text == "1 section, about 1 min, 0 cards"
    assert list(chapters.of_site(Site(specimen, SOURCE))) == []


def test_a_draft_says_so_on_its_page_and_wherever_a_list_leads_to_it(soup):
    for name in ("no machine", "written", "unwritten"):
        page = soup(name)
        assert bool(page.select_one("article > .draft-note")) == (name != "written")
        assert bool(page.select_one('meta[name="robots"][content="noindex"]')) == (
            name != "written")
        marked = page.select("#contents a:has(.draft-mark)")
        assert [one["data-page"] + ".html" for one in marked] == [
            PAGES["no machine"], PAGES["unwritten"]]
    rows = soup("no machine").select("#sections-of-this-chapter tbody tr")
    assert [row.select("td")[1].select_one(".lang-en").text for row in rows] == [
        "1 min", "being written"]
    assert "being written" in soup("written").select_one(".right-next").text
    assert "being written" in soup("unwritten").select_one(".kicker").text
    assert soup("unwritten").select_one(".read-toggle") is None


def test_search_finds_what_is_written_and_no_draft(specimen):
    index = "".join(file.read_text("utf-8")
                    for file in (specimen / "_static/search").glob("*.json"))
    assert "so four of them take 16" in index
    assert "Platypus" not in index


# ---- the cheat sheet ----------------------------------------------------------------------------

@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_cheat_sheet_prints_on_exactly_one_a4_page(page_of, lang):
    pdf = page_of("sheet", lang=lang).pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) == 1
    assert set(re.findall(rb"/MediaBox\s*(\[[^\]]*\])", pdf)) == {A4.encode()}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_on_paper_there_are_all_lines_in_one_language_and_no_proofs(page_of, lang):
    page = page_of("sheet", lang=lang)
    page.emulate_media(media="print")
    shown = page.locator("td:first-child code").locator("visible=true").all_inner_texts()
    assert shown == ["A1", "A2", "B7"]
    assert page.locator(".proof, pre, nav, .lang-switch").locator("visible=true").count() == 0
    small = page.locator("td").locator("visible=true").evaluate_all(
        "cells => Math.min(...cells.map((c) => parseFloat(getComputedStyle(c).fontSize)))")
    assert small >= 9  # CSS px: 6.8 points, as small as a reference card may be


WIDTH = """(e, text) => {
  e.textContent = text;
  const all = document.createRange();
  all.selectNodeContents(e);
  return all.getBoundingClientRect().width / parseFloat(getComputedStyle(e).fontSize);
}"""


@pytest.mark.parametrize("lang", ["en", "both"])
def test_on_paper_an_english_apostrophe_is_narrow_on_any_machine(page_of, lang):
    """As on one that has a Chinese face and neither Helvetica nor Arial."""
    page = page_of("sheet", lang=lang)
    page.emulate_media(media="print")
    for part in ("h1 .lang-en", "div.lang-en td"):
        shown = page.locator(f".cheat-sheet {part}").locator("visible=true").last
        assert shown.evaluate(WIDTH, "’" * 10) / 10 < 0.45, part


@pytest.mark.parametrize(("lang", "heads"), [
    ("zh", ["证明：A1–A2、B7", "准备"]),
    ("en", ["Proofs: A1–A2, B7", "Set-up"])])
def test_a_table_has_one_fold_of_proofs_and_what_comes_before_all_stands_last(page_of, lang, heads):
    page = page_of("sheet", lang=lang)
    assert page.locator("details.proof > summary").all_inner_texts() == heads


def test_on_screen_the_proofs_are_folded_and_can_be_opened(page_of):
    proofs = page_of("sheet", lang="en").locator("details.proof").first
    assert not proofs.locator("pre").last.is_visible()
    proofs.locator("summary").click()
    assert proofs.locator("pre").last.inner_text().strip() == "3 lines checked"


@pytest.mark.parametrize(("lang", "columns"), [("zh", "2"), ("en", "2"), ("both", "auto")])
def test_a_wide_screen_holds_the_sheet_in_two_columns(page_of, lang, columns):
    sheet = page_of("sheet", lang=lang).locator(".cheat-sheet")
    assert sheet.evaluate("e => getComputedStyle(e).columnCount") == columns
