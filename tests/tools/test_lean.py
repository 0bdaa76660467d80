"""A finished site is cut down to what its pages use."""

import shutil
from pathlib import Path

import pydata_sphinx_theme
import pytest
from fontTools.ttLib import TTFont

from book.pipeline.finish import lean
from book.pipeline.paths import KATEX

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
FONT = "vendor/fontawesome/webfonts/fa-solid-900.woff2"
MATHS = "katex/fonts/KaTeX_Main-Regular.woff2"
PAGE = """<p>日 Q<span class="katex"><span class="katex-mathml">a</span>
<span class="katex-html">x<span class="mord">2</span></span></span> and z</p>
<i class="fa-solid fa-bars"></i>"""
STYLES = {
    "styles/pydata-sphinx-theme.css":
        '.fa-bars{--fa:"\\f0c9"}.fa-list{--fa:"\\f03a"}.fa-solid{color:red}.banner{color:red}',
    "katex/katex.min.css": ".katex .mord{color:red}.katex .frac{color:red}",
    "basic.css": "p{color:red}dl{color:red}", "mystnb.1.css": "i.show{color:red}u{color:red}",
}


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    static = site / "_static"
    for name, text in STYLES.items():
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        (static / name).write_text(text)
    for name, source in ((FONT, THEME / FONT), (MATHS, KATEX / "fonts/KaTeX_Main-Regular.woff2")):
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, static / name)
    (static / "searchtools.js").write_text("")
    (static / "language.js").write_text("")
    (site / "page.html").write_text(PAGE, encoding="utf-8")
    lean.lean(site)
    return static


def letters(font):
    with TTFont(font) as cut:
        return {chr(code) for code in cut.getBestCmap() or {}}


def test_rules_that_match_nothing_are_gone(static):
    css = {name: (static / name).read_text() for name in STYLES}
    assert "banner" not in css["styles/pydata-sphinx-theme.css"]
    assert css["katex/katex.min.css"] == ".katex .mord{color:red}"
    assert css["basic.css"] == "p{color:red}"
    assert css["mystnb.1.css"] == "i.show{color:red}", "a script adds it"


def test_icons_are_those_of_the_pages(static):
    css = (static / "styles/pydata-sphinx-theme.css").read_text()
    assert "fa-bars" in css
    assert "fa-list" not in css
    assert letters(static / FONT) == {"\uf0c9"}


def test_letters_are_those_of_the_formulas(static):
    assert letters(static / MATHS) == {"x", "2"}


def test_files_that_no_page_links_are_gone(static):
    assert not (static / "searchtools.js").exists()
    assert (static / "language.js").exists()
