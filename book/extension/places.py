"""Places that a text keeps free for what is made from data: below the text of a heading."""

from __future__ import annotations

from collections.abc import Mapping

from docutils import nodes
from sphinx.errors import ExtensionError

from book.extension.bilingual import raw


def fill(document: nodes.document, page: str, parts: Mapping[str, str]) -> None:
    """Put each part, as HTML, below the text of the heading with that id.

    Raises ExtensionError, in one line, where the page has no such heading.
    """
    headed = {part["ids"][0]: part for part in document.findall(nodes.section)}
    for name, text in parts.items():
        if name not in headed:
            words = name.replace("-", " ").capitalize()
            raise ExtensionError(f"{page}.md: no heading makes the id '{name}', below which a list "
                                 f"belongs; write ## 中文 · {words}")
        headed[name].append(raw(text))
