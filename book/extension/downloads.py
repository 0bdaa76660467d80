"""The notebooks of a page to download: a line of links below its text, before its cards."""

from __future__ import annotations

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.pipeline.finish.downloads import ARCHIVE, FOLDER
from book.pipeline.ground.paths import place

LABEL = ("动手运行：下载 notebook", "Run it: download the notebook")
HERE = "run-it"  # the line above a title leads to it
CARDS = "recall"  # id of the section with the cards
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
    """Put the line of links where the text ends."""

    def apply(self, **kwargs) -> None:
        if place(self.env.docname):
            page = next(self.document.findall(nodes.section))
            ends = [i for i, part in enumerate(page) if isinstance(part, nodes.section)
                    and CARDS in part["ids"]]
            page.insert(ends[0] if ends else len(page), raw(links(self.env.docname)))


def links(docname: str) -> str:
    chapter, section = place(docname)
    items = []
    for variant, name in NAMES.items():
        target = address(docname, chapter, f"{section}.{variant}.ipynb")
        items.append(f'<a data-variant="{variant}" href="{target}" download>{name}</a>')
    return (f'<p class="downloads" id="{HERE}" role="group" aria-labelledby="{HERE}-name">'
            f'<span id="{HERE}-name">{spans(*LABEL)}</span>{"".join(items)}'
            f"<span>{spans(*NEEDS, escape=False).format(address(docname, ARCHIVE))}</span></p>")
