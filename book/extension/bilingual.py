"""Language cells, bilingual headings and the texts that are made from them."""

from __future__ import annotations

import html
from functools import cache

from docutils import nodes
from markdown_it import MarkdownIt
from myst_nb.sphinx_ import SphinxNbRenderer
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

from book.extension.slugs import SEPARATOR

log = logging.getLogger(__name__)
_markdown = MarkdownIt("commonmark")
TAGS = {"zh": "zh-Hans", "en": "en"}
FOLDS = {"source": ("对照源码", "See it in the source")}


def spans(zh: str, en: str, escape: bool = True) -> str:
    """Inline HTML that shows one of two texts, by the reader's language; both in side by side."""
    texts = {"zh": html.escape(zh) if escape else zh, "en": html.escape(en) if escape else en}
    return '<span class="lang-sep"> · </span>'.join(
        f'<span class="lang-{lang}" lang="{TAGS[lang]}">{text}</span>'
        for lang, text in texts.items()
    )


@cache  # a card's texts stand on its page and in the drill
def inline(text: str) -> str:
    """One line of Markdown as HTML without a paragraph around it."""
    return _markdown.renderInline(text)


def raw(text: str) -> nodes.raw:
    """Whole HTML without nodes inside; what has some is an `element`."""
    return nodes.raw("", text, format="html")


class Element(nodes.General, nodes.Element):
    """An HTML element around other nodes: its name as `tag`, what it carries as `html`."""


def element(tag: str, *children: nodes.Node, **attributes: str) -> Element:
    """`element("details", node, class_="fold")`: a word of Python ends in an underscore."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return Element("", *children, tag=tag, html=named)


def visit_element(translator, node: Element) -> None:
    carried = "".join(f' {name}="{html.escape(value)}"' for name, value in node["html"].items())
    translator.body.append(f"<{node['tag']}{carried}>")


def depart_element(translator, node: Element) -> None:
    translator.body.append(f"</{node['tag']}>")


def render_markdown_cell(self, token) -> None:
    """Put a Markdown cell with `lang` metadata into a container of that language."""
    metadata = token.meta.get("metadata", {})
    lang = metadata.get("lang")
    if lang is None:
        self.render_children(token)
        return
    # docutils turns the class `language-X` into the HTML attribute lang="X"
    box = nodes.container(classes=[f"lang-{lang}", f"language-{TAGS[lang]}"], is_div=True)
    box["lang_cell"], box["fold"] = lang, metadata.get("fold")
    self.add_line_and_source_path(box, token)
    with self.current_node_context(box, append=True):
        self.render_children(token)


def split_title(title: nodes.TextElement) -> None:
    """Turn the text `中文 · English` into a span of each language."""
    for position, child in enumerate(title.children):
        if isinstance(child, nodes.Text) and SEPARATOR in child:
            left, right = str(child).split(SEPARATOR, 1)
            before, after = title.children[:position], title.children[position + 1:]
            zh = nodes.inline("", "", *before, nodes.Text(left),
                              classes=["lang-zh", "language-zh-Hans"])
            en = nodes.inline("", "", nodes.Text(right), *after,
                              classes=["lang-en", "language-en"])
            separator = nodes.inline("", SEPARATOR, classes=["lang-sep"])
            title.children = []
            title.extend([zh, separator, en])
            return


class PairLanguages(SphinxTransform):
    """Pair adjacent cells and split titles, before Sphinx collects tables of contents."""

    def apply(self, **kwargs) -> None:
        for title in list(self.document.findall(nodes.title)):
            split_title(title)
        for box in list(self.document.findall(lambda n: getattr(n, "attributes", None)
                                              and n.get("lang_cell") == "zh")):
            self.pair(box)

    def pair(self, zh: nodes.container) -> None:
        parent, position = zh.parent, zh.parent.index(zh)
        en = parent[position + 1] if position + 1 < len(parent) else None
        if not isinstance(en, nodes.container) or en.get("lang_cell") != "en":
            log.warning("a zh cell has no en cell right after it", location=zh)
            return
        parent.remove(zh)
        parent.remove(en)
        pair = nodes.container("", zh, en, classes=["bi-pair"], is_div=True)
        if zh["fold"]:
            summary = raw(f'<summary>{spans(*FOLDS[zh["fold"]])}</summary>')
            pair = element("details", summary, pair, class_="fold")
        parent.insert(position, pair)


class ReferenceTexts(SphinxPostTransform):
    """A link to a bilingual heading takes the half of the language it stands in."""

    default_priority = 50

    def run(self, **kwargs) -> None:
        for reference in self.document.findall(nodes.reference):
            for text in list(reference.findall(nodes.Text)):
                if reference.get("internal") and SEPARATOR in text:
                    self.choose(reference, text)

    def choose(self, reference: nodes.reference, text: nodes.Text) -> None:
        box = reference.parent
        while box is not None and not box.get("lang_cell"):
            box = box.parent
        if box is not None:
            half = str(text).split(SEPARATOR, 1)[box["lang_cell"] == "en"]
            text.parent.replace(text, nodes.Text(half))
        elif isinstance(text.parent, nodes.TextElement):
            split_title(text.parent)


def setup(app):
    SphinxNbRenderer.render_nb_cell_markdown = render_markdown_cell
    app.add_node(Element, html=(visit_element, depart_element))
    app.add_post_transform(ReferenceTexts)
