"""What all pages share is one style and one script, in the order the pages had them."""

import re
import subprocess

import pytest

from book.pipeline.finish.join import join as join_folder

HEAD = """<head>
<link rel="stylesheet" href="{at}_static/base.css?v=1" />
{more}<link rel="stylesheet" href="{at}_static/book.css" />
<script src="{at}_static/options.js?v=2"></script>
<script type="module" src="{at}_static/widget.js"></script>
<script defer="defer" src="{at}_static/switch.js"></script>
</head><pre><span class="k">def</span> <span class="n">f</span></pre><i class="n">n</i>"""
FILES = {
    "base.css": '@import "part.css"; p { color: red }', "part.css": "b { src: url(./i.woff2) }",
    "i.woff2": "font", "book.css": "p { color: blue } .highlight :is(.k, .s1) { color: red }",
    "maths.css": "i { color: green }",
    "options.js": "const e = 1; window.options = e", "switch.js": "const e = 2; start(options, e)",
    "widget.js": "",
}


@pytest.fixture
def site(tmp_path):
    for name, text in FILES.items():
        file = tmp_path / "_static" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    maths = '<link rel="stylesheet" href="../_static/maths.css">\n'
    (tmp_path / "chapters").mkdir()
    (tmp_path / "index.html").write_text(HEAD.format(at="", more=""))
    (tmp_path / "chapters" / "one.html").write_text(HEAD.format(at="../", more=maths))
    (tmp_path / "start.html").write_text("<meta http-equiv=Refresh content='0; url=index.html'>")
    return tmp_path


def join(site):
    join_folder(site)
    return {name: (site / f"{name}.html").read_text() for name in ("index", "chapters/one")}


def linked(page):
    return re.findall(r'(?:href|src)="([^"?]+)', page)


def test_shared_files_are_linked_once_and_the_others_stay(site):
    pages = join(site)
    assert linked(pages["index"]) == [
        "_static/all-pages.css", "_static/all-pages.js", "_static/widget.js"]
    assert linked(pages["chapters/one"]) == [
        "../_static/all-pages.css", "../_static/maths.css", "../_static/all-pages.js",
        "../_static/widget.js"]
    assert "Refresh" in (site / "start.html").read_text()
    assert linked((site / "start.html").read_text()) == []


def test_rules_and_scripts_keep_their_order_and_fonts_are_found(site):
    join(site)
    css = (site / "_static" / "all-pages.css").read_text()
    assert css.index("red") < css.index("#00f")
    font = re.search(r"url\(\"?([^)\"]+)", css)[1]
    assert (site / "_static" / font).read_text() == "font"
    script = (site / "_static" / "all-pages.js").read_text()
    assert script.index("window.options") < script.index("start(")


def test_scripts_may_declare_the_same_name(site):
    join(site)
    script = (site / "_static" / "all-pages.js").read_text()
    run = f"globalThis.window = globalThis; const start = (...all) => console.log(...all); {script}"
    assert subprocess.check_output(["node", "-e", run], text=True) == "1 2\n"


def test_an_address_changes_with_the_content(site):
    before = join(site)["index"]
    (site / "index.html").write_text(HEAD.format(at="", more=""))
    (site / "chapters" / "one.html").write_text(HEAD.format(at="../", more=""))
    (site / "_static" / "book.css").write_text("p { color: black }")
    after = join(site)["index"]
    address = r'href="_static/all-pages\.css\?v=([0-9a-f]+)"'
    assert re.search(address, before)[1] != re.search(address, after)[1]


def test_only_marks_that_colour_nothing_leave_the_code(site):
    page = join(site)["index"]
    assert '<pre><span class="k">def</span> f</pre>' in page
    assert '<i class="n">n</i>' in page  # outside of code
