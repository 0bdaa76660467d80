"""At each address that is gone, a page that leads to what took its place, and a notice in place of
its notebooks.

Programs that forward pages, such as sphinx-reredirects, know one new page for an old one. Here the
anchor decides, which only a script on the old page can see; without scripts its readers are sent
to the page of `to`.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from book.pipeline.content import moved
from book.pipeline.content.moved import Moved, Target
from book.pipeline.finish.downloads import FOLDER
from book.pipeline.ground.paths import place
from book.pipeline.notebooks.downloads import VARIANTS
from book.pipeline.notebooks.notebook import write_text

BOOK = ("由内而外学 PyTorch", "PyTorch Inside Out")
HEAD = ("本页已经搬走", "This page has moved")
NOW = ("内容现在在这里：", "You will find it here:")
NOTICE = {
    "zh": "# 本节已经搬走\n\n内容现在在下面的 notebook 里，可以到书的网页上下载：",
    "en": "# This section has moved\n\n"
          "You will find it in these notebooks. Download them from the pages of the book:",
}
ROW = {"zh": "- {}（`{}`）", "en": "- {} (`{}`)"}
# Runs before anything shows. `search` keeps ?lang=…; replacing leaves no step that goes back here.
SCRIPT = """
const { page, anchors } = %s;
const name = location.hash.slice(1);
const to = new URL(Object.hasOwn(anchors, name) ? anchors[name] : page + location.hash, location);
to.search = location.search;
location.replace(to);
"""
PAGE = """<!DOCTYPE html>
<html lang="zh-Hans">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta name="robots" content="noindex">
<link rel="canonical" href="{to}">
<script>{script}</script>
<noscript><meta http-equiv="refresh" content="0; url={to}"></noscript>
<style>
:root {{ color-scheme: light dark; background: Canvas; font: 1.1rem/1.7 sans-serif; }}
body {{ max-width: 40rem; margin: 3rem auto; padding-inline: 1rem; }}
</style>
</head>
<body>
<main>
<h1>{head}</h1>
<p>{now}</p>
<ul>
{items}
</ul>
</main>
</body>
</html>
"""
DOOR = """<!DOCTYPE html>
<html lang="zh-Hans">
<head>
<meta charset="utf-8">
<title>由内而外学 PyTorch · PyTorch Inside Out</title>
<link rel="canonical" href="{to}">
<script>{script}</script>
<noscript><meta http-equiv="refresh" content="0; url={to}"></noscript>
</head>
<body></body>
</html>
"""


def write(site: Path, root: Path) -> None:
    """All of them. Raises ValueError, in one line, rather than write over a page of the book."""
    for one in moved.read(root):
        if one.to is None:
            continue
        file = site / f"{one.page}.html"
        if file.exists():
            raise ValueError(f"{moved.FILE}: {one.page} is a page of the book: take `to` out")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(one, root), encoding="utf-8")
        _write_notices(one, site, root)


def open_door(site: Path) -> None:
    """Let the root page, which Jupyter Book makes refresh to the front page, keep ?lang=… and #….

    Raises ValueError, in one line, where that page does not refresh.
    """
    file = site / "index.html"
    to = re.search(r'url=([^"]+)"', file.read_text(encoding="utf-8"))
    if to is None:
        raise ValueError("index.html: the root page does not lead to the front page")
    known = json.dumps({"page": to[1], "anchors": {}})
    file.write_text(DOOR.format(to=to[1], script=SCRIPT % known), encoding="utf-8")


def page(one: Moved, root: Path) -> str:
    """The page at an old address."""
    items = [f'<li><a href="{Target(name).address(one.page)}">{both(*moved.title(root, name))}'
             "</a></li>" for name in one.pages]
    title = " — ".join(f"{zh} · {en}" for zh, en in (HEAD, BOOK))
    return PAGE.format(title=title, to=Target(one.to).address(one.page), script=script(one),
                       head=both(*HEAD), now=both(*NOW), items="\n".join(items))


def script(one: Moved) -> str:
    known = {"page": Target(one.to).address(one.page),
             "anchors": {name: to.address(one.page) for name, to in one.anchors.items()}}
    return SCRIPT % json.dumps(known)


def both(zh: str, en: str) -> str:
    return (f'<span lang="zh-Hans">{html.escape(zh)}</span> · '
            f'<span lang="en">{html.escape(en)}</span>')


def _write_notices(one: Moved, site: Path, root: Path) -> None:
    """Where the notebooks of the old page were, notebooks that name the new ones."""
    chapter, name = place(one.page) or ("", "")
    if not chapter:
        return
    folder = site / FOLDER / chapter
    folder.mkdir(parents=True, exist_ok=True)
    for variant in VARIANTS:
        text = write_text(notice(one, variant, root))
        (folder / f"{name}.{variant}.ipynb").write_text(text, encoding="utf-8")


def notice(one: Moved, variant: str, root: Path) -> NotebookNode:
    """A notebook of one cell, in the language of the old one."""
    parts = []
    for lang in VARIANTS[variant]:
        rows = [ROW[lang].format(moved.title(root, page)[lang == "en"],
                                 f"{page.rpartition('/')[2]}.{variant}.ipynb")
                for page in one.pages]
        parts += [NOTICE[lang], "\n".join(rows)]
    return new_notebook(cells=[new_markdown_cell("\n\n".join(parts), id="moved")])
