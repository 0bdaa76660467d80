"""What a page loads at first is added up from its files, and a chapter's page has a budget."""

import gzip
import os

import pytest

from book.pipeline import site as builder
from book.pipeline.finish import sizes

STYLE = """@font-face{font-family:KaTeX_Main;font-weight:400;src:url(fonts/main.woff2)}
@font-face{font-family:KaTeX_Main;font-weight:700;src:url(fonts/bold.woff2)}
@font-face{font-family:KaTeX_Math;font-style:italic;src:url(fonts/math.woff2)}
@font-face{font-family:KaTeX_Size1;src:url(fonts/size.woff2)}
.katex{font:normal 1em KaTeX_Main,serif}.katex .mathnormal{font-family:KaTeX_Math;font-style:italic}
.katex .mathbf{font-weight:700}.katex .size1{font-family:KaTeX_Size1}"""
OWN = "@font-face{font-family:Own;src:url(\"fonts/own.woff2\")}"
FILES = {"_static/all.css": OWN.encode(), "_static/katex.css": STYLE.encode(),
         "_static/all.js": b"all()" * 100, "_static/early.png": bytes(700),
         "_static/late.png": bytes(900), "icon.svg": b"<svg/>", "_static/cards.json": b"[1]" * 90,
         **{f"_static/fonts/{name}.woff2": bytes(100 + n) for n, name in enumerate(
             ("main", "bold", "math", "size", "own"))}}
HEAD = """<link rel="stylesheet" href="../../_static/all.css?v=1">
<link rel="icon" href="../../icon.svg"><script defer src="../../_static/all.js"></script>
<link rel="next" href="b.html">"""
MATHS = '<link rel="stylesheet" href="../../_static/katex.css">'
PAGE = "chapters/01-tensors/a"


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "html"
    for name, body in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(body)
    return folder


def write(site, body="", head=HEAD, page=PAGE):
    file = site / f"{page}.html"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{head}<article>{body}</article>")
    return file


def names(site, page=PAGE):
    found = next(size for size in sizes.measure(site) if size.page == page)
    return {file.name for file in found.files}


def test_a_page_weighs_what_it_asks_for_at_once(site):
    file = write(site, '<img src="../../_static/early.png"><img src="data:image/png;base64,AA">'
                       '<img loading="lazy" src="../../_static/late.png">')
    size = sizes.measure(site)[0]
    packed = sum(len(gzip.compress(body, 6)) for body in (
        file.read_bytes(), *(FILES[f"_static/{name}"] for name in ("all.css", "all.js")),
        FILES["icon.svg"]))
    assert size.total == packed + len(FILES["_static/early.png"]) + 104
    assert names(site) == {"a.html", "all.css", "all.js", "icon.svg", "early.png", "own.woff2"}
    assert (size.by_kind()["fonts"], size.by_kind()["JSON"]) == (104, 0)


def test_a_drill_begins_with_its_list_of_cards(site):
    write(site, '<card-drill data-cards="../../_static/cards.json?v=1"></card-drill>')
    assert "cards.json" in names(site)


def test_a_page_below_the_root_of_a_host_finds_its_files(site):
    write(site, head='<script src="/_static/all.js"></script>')
    assert "all.js" in names(site)


@pytest.mark.parametrize(("formula", "fonts"), [
    ("<b>1</b>", {"main"}), ('<b class="mathnormal">x</b>', {"math"}),
    ('1<b class="mathbf">x</b>', {"main", "bold"}), ('<b class="size1"><i>(</i></b>', {"size"}),
    ('<b class="mathbf"><i class="size1">(</i></b>', {"size"}), ("<b></b>", set())])
def test_a_formula_brings_the_fonts_of_its_letters_only(site, formula, fonts):
    write(site, f'<i class="katex"><b class="katex-html">{formula}</b></i>', HEAD + MATHS)
    assert {name.removesuffix(".woff2") for name in names(site)} & {
        "main", "bold", "math", "size"} == fonts


def test_of_a_family_the_style_decides_before_the_weight(tmp_path):
    faces = [sizes.Face("KaTeX_Main", weight, style, tmp_path / f"{style}-{weight}")
             for weight, style in (("700", "normal"), ("400", "italic"), ("400", "normal"))]
    assert [file.name for file in sizes.nearest(faces, "KaTeX_Main", "700", "italic")] == [
        "italic-400"]
    assert [*sizes.nearest(faces, "KaTeX_Other", "400", "normal")] == []


def test_a_page_without_formulas_loads_none_of_their_fonts(site):
    write(site, head=HEAD + MATHS)
    assert {name for name in names(site) if name.endswith("woff2")} == {"own.woff2"}


def test_a_chapter_over_the_budget_is_named_with_its_largest_parts(site, tmp_path):
    (site / "_static/early.png").write_bytes(os.urandom(sizes.BUDGET))
    write(site, '<img src="../../_static/early.png">')
    with pytest.raises(ValueError, match=(
            rf"^{PAGE}: 20\d\.\d KB over the wire, 200 KB are allowed; "
            r"the largest parts: early\.png 200\.0 KB, \S+ \d+\.\d KB, \S+ \d+\.\d KB$")):
        sizes.check(site, tmp_path / "log" / "sizes.txt")
    assert PAGE in (tmp_path / "log" / "sizes.txt").read_text()


def test_a_page_that_is_none_of_a_chapter_has_no_budget(site, tmp_path):
    (site / "_static/early.png").write_bytes(os.urandom(sizes.BUDGET))
    write(site, '<img src="../_static/early.png">', page="book/drill")
    write(site)
    assert sizes.check(site, tmp_path / "sizes.txt").startswith(
        "1 pages of chapters within 200 KB, 0 of them over 120 KB; the heaviest: chapters/")


def test_pages_over_the_stretch_are_counted_and_the_heaviest_stands_first(site, tmp_path):
    (site / "_static/early.png").write_bytes(os.urandom(sizes.STRETCH))
    write(site)
    write(site, '<img src="../../_static/early.png">', page="chapters/01-tensors/b")
    assert "1 of them over 120 KB; the heaviest: chapters/01-tensors/b 12" in sizes.check(
        site, tmp_path / "sizes.txt")
    rows = (tmp_path / "sizes.txt").read_text().splitlines()
    assert [row.split()[0] for row in rows[1:]] == ["chapters/01-tensors/b", PAGE]


def test_a_build_with_a_page_over_the_budget_fails_in_a_line(monkeypatch, site):
    monkeypatch.setattr(builder.sizes, "check", lambda *_: (_ for _ in ()).throw(
        ValueError("a: 201.0 KB")))
    monkeypatch.setattr(builder, "parse_toc_yaml", lambda _: [])
    for name in ("lean", "join", "downloads", "forward", "manners", "search"):
        monkeypatch.setattr(builder, name, _Nothing())
    with pytest.raises(SystemExit, match=r"^site: a: 201\.0 KB$"):
        builder.finish(site, site, site)


class _Nothing:
    """A step that does nothing."""

    def __call__(self, *_):
        return None

    def __getattr__(self, name):
        return self
