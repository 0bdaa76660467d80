"""The list of an edition names every file that pages use, by its digest; icons are of the mark."""

import gzip
import hashlib
import json
import re
import struct

import pytest

from book.extension.bilingual import spans
from book.pipeline.finish import app, offline, versions

PAGE = """<html><head><link rel="stylesheet" href="{at}_static/all.css?v=00000000">
<script defer src="{at}_static/all.js"></script></head>
<body><main><h1>{title}</h1><card-drill data-cards="{at}_static/cards.json?v=1"></card-drill>
<a href="other.html?v=2">no asset</a></main></body></html>"""
CONTENTS = f"""<nav id="contents"><a data-page="chapters/01/one" href="../chapters/01/one.html"></a>
<a data-page="book/drill" href="drill.html">{spans("练习", "Drill")}</a></nav>"""
NOTEBOOK = "".join(hashlib.sha256(bytes([i])).hexdigest() for i in range(50))  # 1.9 KB with gzip
FILES = {
    "book/drill.html": PAGE.format(at="../", title="练习 · Drill"),
    "_static/all.css": "@font-face { src: url(fonts/a.woff2) } p { background: url(data:x) }",
    "_static/fonts/a.woff2": "font",
    "_static/all.js": "import('./later.js'); fetch(new URL('none.json', import.meta.url))",
    "_static/later.js": "const index = './index.json'",
    "_static/index.json": "{}", "_static/cards.json": "[]", "_static/unused.css": "p {}",
    "_static/search/part-1.json": "[1]", "_static/offline-worker.js": "worker",
    "downloads/01/a.ipynb": NOTEBOOK, "index.html": "<head></head>",
    "book/index.html": CONTENTS + PAGE.format(at="../", title="书 · Book"),
    "404.html": PAGE.format(at="./", title="没有这一页 · No such page"),
    "chapters/01/one.html": PAGE.format(at="../../", title="一 &amp; 二 · One"),
}


def sha(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()[:8]


@pytest.fixture
def site(tmp_path):
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    app.write(tmp_path)
    offline.write(tmp_path)
    return tmp_path


def listed(site):
    return json.loads((site / offline.LIST).read_text(encoding="utf-8"))


def named(text):
    return dict(re.findall(r"([\w.-]+)\?v=([0-9a-f]{8})", text))


def test_every_address_names_the_content_all_the_way_down(site):
    page = (site / "chapters/01/one.html").read_text()
    for name in ("all.css", "all.js", "cards.json"):
        assert named(page)[name] == sha((site / "_static" / name).read_bytes())
    assert named((site / "_static/all.css").read_text()) == {"a.woff2": sha("font")}
    later = (site / "_static/later.js").read_text()
    assert named((site / "_static/all.js").read_text()) == {"later.js": sha(later)}
    assert named(later) == {"index.json": sha("{}")}
    assert "url(data:x)" in (site / "_static/all.css").read_text()
    assert 'href="other.html?v=2"' in page


def test_a_change_deep_down_changes_every_page_that_can_load_it(site):
    before = listed(site)
    (site / "_static/index.json").write_text("{\"new\": 1}")
    offline.write(site)
    after = listed(site)
    changed = {row[0] for row in after["files"]} - {
        row[0] for row in after["files"] if row in before["files"]}
    assert changed == {"_static/index.json", "_static/later.js", "_static/all.js",
                       "404.html", "book/drill.html", "book/index.html", "chapters/01/one.html"}
    assert after["edition"] != before["edition"]


def test_a_second_run_changes_nothing(site):
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    offline.write(site)
    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before


def test_the_list_holds_what_pages_use_with_its_digest_and_size_and_nothing_else(site):
    rows = listed(site)
    paths = {row[0] for row in rows["files"]}
    assert {"_static/all.css", "_static/all.js", "_static/later.js", "_static/index.json",
            "_static/cards.json", "_static/fonts/a.woff2", "_static/search/part-1.json",
            "_static/icons/icon-192.png", "book/index.html", "chapters/01/one.html",
            "offline.html", "manifest.webmanifest"} <= paths
    assert not {"_static/unused.css", "edition.json", "offline-worker.js"} & paths
    apart = json.loads((site / offline.APART).read_text(encoding="utf-8"))
    assert [row[0] for row in apart] == ["downloads/01/a.ipynb"]
    for path, digest, wire, *_ in rows["files"] + apart:
        content = (site / path).read_bytes()
        assert (digest, wire) == (sha(content), round(len(gzip.compress(content, 6)), -3)), path


def test_the_list_sums_the_bytes_of_what_is_kept_and_names_that_of_the_downloads(site):
    rows, apart = listed(site), (site / offline.APART).read_bytes()
    assert rows["bytes"] == sum((site / row[0]).stat().st_size for row in rows["files"])
    assert rows["downloads"] == {"list": f"offline-downloads.json?v={sha(apart)}",
                                 "bytes": len(NOTEBOOK), "wire": 2000}


def test_another_notebook_makes_another_edition(site):
    before = listed(site)["edition"]
    (site / "downloads/01/a.ipynb").write_text("changed!")
    offline.write(site)
    assert listed(site)["edition"] != before


def test_the_shell_is_the_front_page_with_its_files(site):
    shell = set(listed(site)["shell"])
    assert {"_static/all.css", "_static/all.js", "_static/fonts/a.woff2", "book/index.html",
            "offline.html"} <= shell
    assert not {"chapters/01/one.html", "_static/later.js", "_static/search/part-1.json"} & shell


def test_the_edition_names_its_list_and_pages_their_titles(site):
    edition = json.loads((site / offline.EDITION).read_text())
    text = (site / offline.LIST).read_text()
    assert edition == {"book": "pytorch-inside-out", "edition": listed(site)["edition"],
                       "list": f"offline-files.json?v={sha(text)}"}
    rows = {row[0]: row for row in listed(site)["files"]}
    title = rows["chapters/01/one.html"][4]
    assert '<span class="lang-zh" lang="zh-Hans">一 &amp; 二</span>' in title
    assert '<span class="lang-en" lang="en">One</span>' in title
    assert rows["book/drill.html"][4] == 1, "the front page's link has it"
    assert rows["offline.html"][4] == ""
    stamps = {row[3] for path, row in rows.items() if path.endswith(".html")}
    assert len(stamps) == 6


def test_pages_come_in_the_order_of_the_contents_and_no_stand_in_has_a_title(site):
    titled = [row[0] for row in listed(site)["files"] if len(row) > 4 and row[4]]
    assert titled == ["book/index.html", "chapters/01/one.html", "book/drill.html"]


def test_the_worker_lies_beside_the_pages_it_serves(site):
    assert (site / "offline-worker.js").read_text() == "worker"
    assert not (site / "_static/offline-worker.js").exists()


def test_a_missing_worker_and_files_that_name_each_other_are_said_in_a_line(site):
    (site / "offline-worker.js").unlink()
    with pytest.raises(ValueError, match=r"offline-worker\.js: not among the scripts"):
        offline.write(site)
    (site / "_static/later.js").write_text("import('./all.js')")
    with pytest.raises(ValueError, match=r"_static/\w+.js: it names itself, or a file that does"):
        versions.write(site)


def test_icons_are_drawn_in_their_sizes_and_the_manifest_names_them(site):
    manifest = json.loads((site / "manifest.webmanifest").read_text(encoding="utf-8"))
    sizes = {icon["src"]: icon["sizes"] for icon in manifest["icons"]}
    assert sorted(sizes.values()) == ["192x192", "512x512", "512x512"]
    for source, size in sizes.items():
        head = (site / source).read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        assert "{}x{}".format(*struct.unpack(">II", head[16:])) == size
    assert {icon["purpose"] for icon in manifest["icons"]} == {"any", "maskable"}
    assert manifest["display"] == "standalone"
    assert len(manifest["shortcuts"]) == 2


def test_the_mark_of_a_maskable_icon_stays_in_the_circle_that_is_cut_out():
    mark = '<svg viewBox="0 0 2 2" xmlns="http://www.w3.org/2000/svg"><path d="M0 0h2v2H0z"/></svg>'
    white = app.icon(mark, 512, 0, "#ffffff")
    for name, (size, share, ground) in app.DRAWN.items():
        assert (share * 2**0.5 <= 0.8) == (name == "maskable-512")
        assert (ground is None) == (share == 1)
        assert app.icon(mark, size, share, ground) != white
