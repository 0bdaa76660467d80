"""A cheat sheet prints on as many A4 pages as it says: all lines, in one language, no proofs."""

import re

import pytest

from book.pipeline.ground.paths import CHAPTERS, SHEET

pytestmark = pytest.mark.browser

A4 = "[0 0 594.95996 841.91998]"  # points, as Chromium rounds 210 mm by 297 mm
SMALLEST = 9  # CSS px: 6.8 points, as small as a reference card may be
PAGES = {"zh": {"一页 A4": 1, "两页 A4": 2}, "en": {"one A4 page": 1, "two A4 pages": 2}}
SHEETS = sorted(path.parent.name for path in CHAPTERS.glob(f"*/{SHEET}.md"))
SEEN = """() => {
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((part) => (
    part.checkVisibility() && part.getBoundingClientRect().height));
  return {
    lines: shown('td:first-child code').map((label) => label.innerText),
    left: shown('.proof, pre, nav, .lang-switch').map((part) => part.outerHTML.slice(0, 80)),
    broken: shown('td .pre').filter((word) => (
      /^[\\w.()]+$/.test(word.textContent)
      && new Set([...word.getClientRects()].map(({ top }) => Math.round(top))).size > 1)).map(
      (word) => word.textContent),
    size: Math.min(...shown('td').map((cell) => parseFloat(getComputedStyle(cell).fontSize))),
  };
}"""


def opened(tab, chapter, lang):
    tab.leave()
    tab.page.emulate_media(media="null", color_scheme="light")
    tab.page.set_viewport_size({"width": 1280, "height": 720})
    tab.page.goto(f"{tab.site}chapters/{chapter}/{SHEET}.html?lang={lang}")
    return tab.page


def promised(source, lang):
    """The number of pages that the sheet says it prints on, in one of its languages."""
    [pages] = [pages for words, pages in PAGES[lang].items() if words in source]
    return pages


def faults(page, chapter, lang):
    """What is wrong with the sheet on paper: all of it."""
    pdf = page.pdf(prefer_css_page_size=True)
    sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))
    sizes = {box.decode() for box in re.findall(rb"/MediaBox\s*(\[[^\]]*\])", pdf)}
    page.emulate_media(media="print")
    seen = page.evaluate(SEEN)
    source = (CHAPTERS / chapter / f"{SHEET}.md").read_text(encoding="utf-8")
    labels = sorted(re.findall(r"^\| `([A-Z]\d+)`", source, re.M))[::2]  # once a language
    return [words for words, wrong in {
        f"{sheets} pages": sheets != promised(source, lang),
        f"pages of {sizes}": sizes != {A4},
        f"lines {sorted(seen['lines'])} of {labels}": sorted(seen["lines"]) != labels,
        f"the source has {len(labels)} lines": not labels,
        f"not for paper: {seen['left']}": bool(seen["left"]),
        f"broken words {seen['broken']}": bool(seen["broken"]),
        f"letters of {seen['size']} px": seen["size"] < SMALLEST}.items() if wrong]


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("chapter", SHEETS)
def test_a_sheet_has_the_a4_pages_that_it_says_with_all_its_lines(tab, chapter, lang):
    assert faults(opened(tab, chapter, lang), chapter, lang) == []


def test_there_is_a_sheet():
    assert SHEETS


@pytest.mark.parametrize(("style", "words"), [
    ("html { font-size: 10pt !important }", "3 pages"),
    ("@page sheet { size: A5 }", "pages of"),
    ("tbody tr:last-child { display: none }", "lines"),
    ("html:has(.cheat-sheet) :is(#x, .proof) { display: block !important }", "not for paper"),
    ("td .pre { word-break: break-all }", "broken words"),
    ("td { font-size: 8px !important }", "letters of 8 px")])
def test_what_is_wrong_on_paper_is_seen(tab, style, words):
    page = opened(tab, SHEETS[0], "en")
    page.add_style_tag(content=f"@media print {{ {style} }}" if "@page" not in style else style)
    assert any(fault.startswith(words) for fault in faults(page, SHEETS[0], "en"))
