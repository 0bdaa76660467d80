"""SVG outputs stand inline in the page: selectable text, dark mode, the reader's language."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from myst_nb.core.render import NbElementRenderer

from book.extension.bilingual import raw, spans

MACHINE = "machine.svg"  # in the folder of a chapter: what its machine looks like
_render_image = NbElementRenderer.render_image


def render_image(self, data) -> list[nodes.Element]:
    """As myst-nb does, except that an SVG becomes part of the page."""
    if data.mime_type != "image/svg+xml":
        return _render_image(self, data)
    svg = data.content[data.content.index("<svg"):]
    if alt := data.cell_metadata.get("alt"):  # the caption names the figure, the parts are silent
        svg = re.sub(r"<svg\b", '<svg aria-hidden="true"', svg, count=1)
        svg += f'<figcaption class="visually-hidden">{spans(alt["zh"], alt["en"])}</figcaption>'
    return [raw(f'<figure class="drawing" tabindex="0">{svg}</figure>')]


def drawing(root: Path, folder: str) -> str:
    """The drawing of a chapter's machine; the words beside it say what it shows."""
    file = root / "chapters" / folder / MACHINE
    text = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    return text.replace("<svg ", '<svg aria-hidden="true" ', 1)


def setup(app):
    NbElementRenderer.render_image = render_image
