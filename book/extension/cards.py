"""The cards of a section stand at the end of its page: as written, with their committed results."""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.card_html import card_html
from book.pipeline.cards import claims as card_claims
from book.pipeline.cards import results
from book.pipeline.ground.paths import is_section, place

DRILL = ("只练这 {} 张", "Drill these {}"), ("只练这一张", "Drill this one")
TITLE = "回忆 · Recall"
INTRO = (
    "先出声说一遍答案，再翻开卡片。每张卡片的事实都由一段程序核对过。",
    "Say your answer out loud, then open the card. A program has checked the facts on each one.",
)


def claims_of(app) -> dict[str, card_claims.Claim]:
    """The false claims of the book, read once by each process."""
    if not hasattr(app, "false_claims"):
        app.false_claims = card_claims.read(Path(app.srcdir))
    return app.false_claims


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
        section += raw(f'<p class="cards-intro">{spans(*INTRO)}</p>{self.drill(len(cards))}')
        claims = claims_of(self.app)
        section += raw("".join(card_html(card, claims) for card in cards))
        self.document.note_implicit_target(section, section)
        return section

    def drill(self, cards: int) -> str:
        """The way to the drill with these cards alone."""
        chapter, page = place(self.env.docname)
        words = (text.format(cards) for text in DRILL[cards == 1])
        return (f'<p class="cards-drill"><a href="../../book/drill.html?section={chapter}/{page}">'
                f"{spans(*words)}</a></p>")
