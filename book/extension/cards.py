"""The cards of a section stand at the end of its page, from the committed `cards.json`."""

from __future__ import annotations

import json
from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.card_html import card_html
from book.pipeline.cards import claims as card_claims

TITLE = "回忆 · Recall"
INTRO = (
    "先出声说一遍答案，再翻开卡片。每张卡片的事实都由一段程序核对过。",
    "Say your answer out loud, then open the card. A program has checked the facts on each one.",
)


class AppendCards(SphinxTransform):
    """Add a last section with the cards, before titles are split and contents collected."""

    default_priority = 400

    def apply(self, **kwargs) -> None:
        source = Path(self.env.doc2path(self.env.docname))
        file = source.with_name("cards.json")
        if source.parent.parent.name != "chapters" or not file.exists():
            return
        chapter = json.loads(file.read_text(encoding="utf-8"))
        cards = [card for card in chapter["cards"] if card["section"] == source.stem]
        if cards:
            page = next(self.document.findall(nodes.section))
            page.append(self.section(cards))

    def section(self, cards: list[dict]) -> nodes.section:
        name = nodes.fully_normalize_name(TITLE)
        section = nodes.section("", nodes.title(TITLE, TITLE), names=[name])
        section += raw(f'<p class="cards-intro">{spans(*INTRO)}</p>')
        claims = card_claims.read(Path(self.env.srcdir))
        section += raw("".join(card_html(card, claims) for card in cards))
        self.document.note_implicit_target(section, section)
        return section


def setup(app):
    app.add_transform(AppendCards)
