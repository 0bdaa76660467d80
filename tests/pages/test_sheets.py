"""A cheat sheet prints on one A4 page in the reader's language: all lines, and no proofs."""

import re

import pytest

from book.pipeline.paths import CHAPTERS, SHEET

pytestmark = pytest.mark.browser

A4 = "[0 0 594.95996 841.91998]"  # points, as Chromium rounds 210 mm by 297 mm
SMALLEST = 9  # CSS px: 6.8 points, as small as a reference card may be
SHEETS = sorted(path.parent.name for path in CHAPTERS.glob(f"*/{SHEET}.md"))
LINES = """() => [...document.querySelectorAll('td:first-child code')]
  .filter((label) => label.checkVisibility()).map((label) => label.innerText)"""
LEFT = """() => [...document.querySelectorAll('.proof, pre, nav, .lang-switch')]
  .filter((part) => part.checkVisibility() && part.getBoundingClientRect().height)
  .map((part) => part.outerHTML.slice(0, 80))"""
SIZE = """() => Math.min(...[...document.querySelectorAll('td')]
  .filter((cell) => cell.checkVisibility())
  .map((cell) => parseFloat(getComputedStyle(cell).fontSize)))"""


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("chapter", SHEETS)
def test_a_sheet_is_one_a4_page_with_all_its_lines(tab, chapter, lang):
    tab.leave()
    page = tab.page
    page.emulate_media(media="null", color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{tab.site}chapters/{chapter}/{SHEET}.html?lang={lang}")
    pdf = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf)) == 1
    assert set(re.findall(rb"/MediaBox\s*(\[[^\]]*\])", pdf)) == {A4.encode()}
    page.emulate_media(media="print")
    source = (CHAPTERS / chapter / f"{SHEET}.md").read_text(encoding="utf-8")
    labels = re.findall(r"^\| `([A-Z]\d+)`", source, re.M)
    assert sorted(page.evaluate(LINES)) == sorted(labels)[::2] != []
    assert page.evaluate(LEFT) == []
    assert page.evaluate(SIZE) >= SMALLEST
