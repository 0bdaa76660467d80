"""The cards of a section stand at the end of its page: as written, with their committed results."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.card_html import card_html
from book.pipeline.cards import claims as card_claims
from book.pipeline.cards import results
from book.pipeline.paths import is_section

TITLE = "回忆 · Recall"
INTRO = (
    "先出声说一遍答案，再翻开卡片。每张卡片的事实都由一段程序核对过。",
    "Say your answer out loud, then open the card. A program has checked the facts on each one.",
)


class AppendCards(SphinxTransform):
    """Add a last section with the cards."""

    def apply(self, **kwargs) -> None:
        source = Path(self.env.doc2path(self.env.docname))
        if is_section(self.env.docname) and (
                cards := results.whole_cards(source.parent / "cards" / f"{source.stem}.yaml")):
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
