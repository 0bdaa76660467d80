"""A chapter's opening leads to all that is in the chapter; its cheat sheet prints on one page."""

import re

import pytest
from bs4 import BeautifulSoup

from book.pipeline.paths import CHAPTERS, OPENING, SHEET, SITE, is_section

pytestmark = pytest.mark.browser

CHAPTER = "chapters/01-tensors"
SHEET_PAGE, OPENING_PAGE = f"{CHAPTER}/{SHEET}.html", f"{CHAPTER}/{OPENING}.html"
A4 = "[0 0 594.95996 841.91998]"  # points, as Chromium rounds 210 mm by 297 mm


def soup(page):
    return BeautifulSoup((SITE / page).read_text(encoding="utf-8"), "html.parser")


def built_sections():
    pages = sorted((SITE / CHAPTER).glob("*.html"))
    return {page.name for page in pages if is_section(f"{CHAPTER}/{page.stem}")}


def linked(part):
    return {a["href"].partition("#")[0].rpartition("/")[2] for a in part.select("a.internal")}


# ---- the opening -------------------------------------------------------------------------------

def test_the_opening_lists_every_section_once_and_the_sheet():
    rows = soup(OPENING_PAGE).select("#sections-of-this-chapter tbody tr")
    links = [row.select_one("a")["href"] for row in rows]
    assert {link.rpartition("/")[2] for link in links} == built_sections() | {f"{SHEET}.html"}
    assert len(set(links)) == len(links)
    assert not any(link.endswith(f"/{OPENING}.html") for link in links)


def test_each_thing_the_reader_will_be_able_to_do_names_its_section():
    [chinese, english] = soup(OPENING_PAGE).select("#you-can-now ul")
    for items in (chinese.select("li"), english.select("li")):
        assert 8 <= len(items) <= 12
        assert all(len(linked(item)) == 1 for item in items)
    assert linked(chinese) == linked(english) == built_sections()


def test_the_sidebar_nests_the_sections_below_the_opening():
    for page in (OPENING_PAGE, sorted(f"{CHAPTER}/{name}" for name in built_sections())[0]):
        chapter = soup(page).select_one(".bd-links li.toctree-l1.current.has-children")
        nested = chapter.select("li.toctree-l2 > a")
        assert len(nested) == len(built_sections()) + 1
        assert chapter.select_one("details[open]")
        assert chapter.select_one("summary .visually-hidden").get_text().strip()


def test_the_front_page_leads_to_the_opening_by_the_machines_name():
    box = soup("book/index.html").select_one(f".machine b a[href$='{OPENING_PAGE}']")
    assert box.select_one(".lang-en").text == "Tensors"
    rows = soup("book/index.html").select("#sections tbody a")
    assert not [row for row in rows if row["href"].endswith((SHEET_PAGE, OPENING_PAGE))]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_machine_fits_a_phone_without_scrolling_and_stays_legible(visit, lang):
    page = visit(viewport={"width": 390, "height": 800}).open(OPENING_PAGE, lang=lang)
    figure = page.locator("figure.drawing")
    assert figure.count() == 1
    assert figure.evaluate("f => f.scrollWidth - f.clientWidth") <= 0
    sizes = figure.locator("text").evaluate_all("""texts => texts.map((text) =>
      parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.getScreenCTM().a)""")
    assert min(sizes) >= 10.9


def test_the_opening_has_three_predictions(visit):
    assert visit().open(OPENING_PAGE).locator("predict-cell form").count() == 3


# ---- the cheat sheet ---------------------------------------------------------------------------

SHEETS = sorted(path.parent.name for path in CHAPTERS.glob(f"*/{SHEET}.md"))


@pytest.fixture(params=SHEETS)
def chapter(request):
    return request.param


def sheet_page(chapter):
    return f"chapters/{chapter}/{SHEET}.html"


def printed(visit, chapter, lang):
    page = visit().open(sheet_page(chapter), lang=lang)
    pdf = page.pdf(prefer_css_page_size=True)
    return re.findall(rb"/Type\s*/Page\b(?!s)", pdf), re.findall(rb"/MediaBox\s*(\[[^\]]*\])", pdf)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_cheat_sheet_prints_on_exactly_one_a4_page(visit, chapter, lang):
    pages, boxes = printed(visit, chapter, lang)
    assert len(pages) == 1
    assert set(boxes) == {A4.encode()}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_on_paper_there_are_all_lines_in_one_language_and_no_proofs(visit, chapter, lang):
    page = visit().open(sheet_page(chapter), lang=lang)
    page.emulate_media(media="print")
    source = (CHAPTERS / chapter / f"{SHEET}.md").read_text(encoding="utf-8")
    labels = re.findall(r"^\| `([A-Z]\d+)`", source, re.M)
    shown = page.locator("td:first-child code").locator("visible=true").all_inner_texts()
    assert sorted(shown) == sorted(labels)[::2] != []
    assert page.locator(".proof, pre, nav, .lang-switch").locator("visible=true").count() == 0
    small = page.locator("td").locator("visible=true").evaluate_all(
        "cells => Math.min(...cells.map((c) => parseFloat(getComputedStyle(c).fontSize)))")
    assert small >= 9  # CSS px: 6.8 points, as small as a reference card may be


@pytest.mark.parametrize(("lang", "words"), [
    ("zh", ["证明：", "准备"]), ("en", ["Proof: ", "Set-up"])])
def test_the_head_of_a_fold_says_whether_its_cell_checks_lines(visit, chapter, lang, words):
    page = visit().open(sheet_page(chapter), lang=lang)
    proof, set_up = words
    for fold in page.locator("details.proof").all():
        head, code = fold.locator("summary").inner_text(), fold.locator("pre").first.text_content()
        called = re.search(r"(?<!def )\bcheck\(", code)
        assert re.fullmatch(proof + r"[A-Z]\d+.*" if called else set_up, head), head


def test_on_screen_the_proofs_are_folded_and_can_be_opened(visit, chapter):
    page = visit().open(sheet_page(chapter), lang="en")
    proofs = page.locator("details.proof")
    assert proofs.count() > 10
    assert not page.locator(".proof pre").first.is_visible()
    proofs.last.locator("summary").click()
    assert "lines checked" in proofs.last.locator("pre").last.inner_text()
