"""A finished site is cut down to what its pages use."""

import shutil

import pytest
from fontTools.ttLib import TTFont

from book.pipeline.finish import lean
from book.pipeline.ground.paths import KATEX

MATHS, VARIABLES = (f"katex/fonts/KaTeX_{face}.woff2" for face in ("Main-Regular", "Math-Italic"))
PAGE = """<p>日 Q<span class="katex"><span class="katex-mathml">a</span>
<span class="katex-html"><span class="mord mathnormal">x</span>y<span class="mord">2</span></span>
</span> and z</p>"""
STYLES = {
    "katex/katex.min.css": ".katex .mord{color:red}.katex .frac{color:red}",
    "mystnb.1.css": "p{color:red}", "book.css": "p{color:red}",
}


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    static = site / "_static"
    for name, text in STYLES.items():
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        (static / name).write_text(text)
    (static / MATHS).parent.mkdir(parents=True, exist_ok=True)
    for font in (MATHS, VARIABLES):
        shutil.copy(KATEX / font.removeprefix("katex/"), static / font)
    (static / "pygments.css").write_text("")
    (static / "language.js").write_text("")
    (site / "page.html").write_text(PAGE, encoding="utf-8")
    lean.lean(site)
    return static


def letters(font):
    with TTFont(font) as cut:
        return {chr(code) for code in cut.getBestCmap() or {}}


def test_rules_of_maths_that_match_nothing_are_gone(static):
    assert (static / "katex/katex.min.css").read_text() == ".katex .mord{color:red}"
    assert (static / "book.css").read_text() == STYLES["book.css"], "the book's own stay"


def test_letters_are_those_of_the_formulas(static):
    assert letters(static / MATHS) == {"y", "2"}
    assert letters(static / VARIABLES) == {"x"}


def test_fonts_have_no_hints_as_the_books_own_has_none(static):
    with TTFont(static / MATHS) as cut:
        assert not {"fpgm", "prep", "cvt "} & set(cut.keys())


def test_files_that_no_page_links_are_gone(static):
    assert not (static / "pygments.css").exists()
    assert not (static / "mystnb.1.css").exists()
    assert (static / "language.js").exists()
