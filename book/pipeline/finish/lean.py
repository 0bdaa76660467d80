"""A lean site: of KaTeX the rules and letters that some page uses, and no file that none does."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Collection
from pathlib import Path

from fontTools import subset
from selectolax.lexbor import LexborHTMLParser

from book.pipeline.ground.paths import NPM

PURGECSS = NPM / ".bin" / "purgecss"
VARIABLES, OF_VARIABLES = ".mathnormal", "KaTeX_Math-Italic"  # what chooses the font
UNUSED_FILES = ("_static/mystnb*.css", "_static/pygments.css", "_static/*.png", "_sources/**/*")


def lean(site: Path) -> None:
    """Cut down what the pages of a built site share."""
    pages = [page.read_text(encoding="utf-8") for page in site.rglob("*.html")]
    cut_maths_rules(site)
    cut_maths_fonts(site, pages)
    for pattern in UNUSED_FILES:
        for file in site.glob(pattern):
            if file.is_file():
                file.unlink()


def cut_maths_rules(site: Path) -> None:
    """Drop the rules of KaTeX that match nothing on any page."""
    sheet = site / "_static" / "katex" / "katex.min.css"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [PURGECSS, "--css", sheet, "--content", f"{site}/**/*.html", "--output", folder],
            check=True, stdout=subprocess.DEVNULL)
        shutil.copyfile(Path(folder) / sheet.name, sheet)


def cut_maths_fonts(site: Path, pages: Collection[str]) -> None:
    """Cut KaTeX's fonts down to the characters in the formulas of the book: that of variables to
    those that are variables somewhere, the others to all the rest."""
    variables, rest = set(), set()
    for page in pages:
        for formula in LexborHTMLParser(page).css(".katex-html"):
            for letter in formula.css(VARIABLES):
                variables |= set(letter.text())
                letter.decompose()
            rest |= set(formula.text())
    for font in (site / "_static" / "katex" / "fonts").glob("*.woff2"):
        subset_font(font, variables if font.name.startswith(OF_VARIABLES) else rest)


def subset_font(file: Path, letters: Collection[str]) -> None:
    options = subset.Options(flavor="woff2", desubroutinize=True, hinting=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=sorted(map(ord, letters)))
    with subset.load_font(str(file), options) as font:
        subsetter.subset(font)
        subset.save_font(font, str(file), options)
