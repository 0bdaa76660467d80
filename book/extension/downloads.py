"""The notebooks of a section to download: a line of links under its title, files in the site."""

from __future__ import annotations

from pathlib import Path

import nbformat
from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.pipeline.notebooks.downloads import VARIANTS, reader_notebook
from book.pipeline.notebooks.notebook import write_text
from book.pipeline.paths import place

FOLDER = "downloads"
ARCHIVE = "code.zip"  # see code_files.py
LABEL = ("下载 notebook", "Download the notebook")
NEEDS = ("（运行还要<a href='{0}' download>本书的代码</a>，解压在旁边）",
         "(to run it, unpack <a href='{0}' download>the book's code</a> beside it)")
# A language is called by its own name, both together by the reader's.
NAMES = {
    "zh": '<span lang="zh-Hans">中文</span>',
    "en": '<span lang="en">English</span>',
    "both": spans("对照", "Both"),
}


def address(docname: str, *parts: str) -> str:
    """Relative address, on a page, of a file below `downloads/`."""
    return "/".join([".."] * docname.count("/") + [FOLDER, *parts])


class LinkDownloads(SphinxTransform):
    """Put the line of links under the title of a section."""

    default_priority = 450

    def apply(self, **kwargs) -> None:
        if place(self.env.docname):
            page = next(self.document.findall(nodes.section))
            page.insert(1, raw(links(self.env.docname)))


def links(docname: str) -> str:
    chapter, section = place(docname)
    items = []
    for variant, name in NAMES.items():
        target = address(docname, chapter, f"{section}.{variant}.ipynb")
        items.append(f'<a data-variant="{variant}" href="{target}" download>{name}</a>')
    return (f'<p class="downloads"><span>{spans(*LABEL)}</span>{"".join(items)}'
            f"<span>{spans(*NEEDS, escape=False).format(address(docname, ARCHIVE))}</span></p>")


def write_notebooks(app, exception) -> None:
    """After the build: every section's notebook in its variants."""
    if exception or app.builder.name != "html":
        return
    for docname in sorted(app.env.found_docs):
        if found := place(docname):
            golden = nbformat.read(Path(app.env.doc2path(docname)), 4)
            folder = Path(app.outdir, FOLDER, found[0])
            folder.mkdir(parents=True, exist_ok=True)
            for variant in VARIANTS:
                text = write_text(reader_notebook(golden, variant))
                (folder / f"{found[1]}.{variant}.ipynb").write_text(text, encoding="utf-8")


def setup(app):
    app.add_transform(LinkDownloads)
    app.connect("build-finished", write_notebooks)
