"""The drill page: its element, and the cards as the files that its script fetches.

    _static/drill-cards.json                        what the queue needs of every card
    _static/drill-cards/01-tensors/SECTION.json     the texts of a section's cards, as HTML:
                                                    {card id: …}

All Markdown and code is rendered here, so that the page needs no library for it.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import inline, raw, spans
from book.extension.card_html import claim_texts, code, snippet
from book.extension.sections import sections as section_facts
from book.pipeline.cards import claims as card_claims
from book.pipeline.cards import layers
from book.pipeline.cards.book import FILES
from book.pipeline.cards.claims import Claim
from book.pipeline.cards.results import whole_cards
from book.pipeline.content.chapters import Chapter, read
from book.pipeline.ground import digests
from book.pipeline.ground.digests import versioned

PAGE = "book/drill"
INDEX = "drill-cards.json"
NEEDS_SCRIPT = (
    "练习需要 JavaScript。没有的话，也可以用每一节末尾的卡片自测。",
    "The drill needs JavaScript. Without it, test yourself with the cards at the end of each "
    "section.",
)
LANGS = ("zh", "en")
Row = dict[str, Any]


def rendered(texts: dict[str, str]) -> dict[str, str]:
    """A bilingual text of a card as inline HTML."""
    return {lang: inline(texts[lang]) for lang in LANGS}


def is_scored(card: Row) -> bool:
    """Whether the page can score an answer: a computed output stands among wrong ones."""
    return card["kind"] == "predict" and bool(card.get("shown") and card.get("distractors"))


def index_row(card: Row, chapter: str) -> Row:
    """What the queue needs to know of a card."""
    row = {key: card[key] for key in ("id", "section", "kind", "level")}
    row |= {key: card[key] for key in ("concept", "weight", "core") if key in card}
    return row | {"chapter": chapter, "after": card.get("after", []),
                  "confusable": card.get("confusable", []), "scored": is_scored(card)}


def content_row(card: Row, cards: dict[str, Row], claims: dict[str, Claim],
                pages: dict[str, str]) -> Row:
    """The texts of a card. `pages` gives the address of each card that stands on a page."""
    row = {
        "edition": card["digest"][:12],
        "question": rendered(card["question"]),
        **{name: rendered(texts) for name, texts in layers.of(card).items()},
        "snippets": [code(snippet(card, at)) for at in range(len(card.get("snippets", [])))],
        "shown": card.get("shown", []),
        "points": [{"must": point["must"], **rendered(point)} for point in card["points"]],
        "myths": [myth(entry) for entry in card.get("distractors", [])],
        "followUps": follow_ups(card, cards, pages),
        "corrects": [claim_texts(claim) for claim in card_claims.refuted_by(card, claims)],
        "proof": code(card["proof"]),
        "sources": card["sources"],
        "page": pages.get(card["id"]),
    }
    if "snippets_fixed" in card:
        row["fixed"] = code(snippet(card, key="snippets_fixed"))
        row["shownFixed"] = card.get("shown_fixed", [""])[0]
    return row


def myth(entry: Row) -> Row:
    """A wrong option; a text without a language is an output and keeps its characters."""
    text = entry["text"]
    output = {"output": text["en"]} if text["zh"] == text["en"] else {}
    return {"key": digests.option_key(text["en"]), "text": rendered(text),
            "why": rendered(entry["why"]), **output}


def follow_ups(card: Row, cards: dict[str, Row], pages: dict[str, str]) -> list[Row]:
    """Questions with their answers; of a named card, its question and its page."""
    rows = []
    for entry in card.get("follow_ups", []):
        if isinstance(entry, dict):
            rows.append({"q": rendered(entry["q"]), "a": rendered(entry["a"])})
        elif entry in pages:
            rows.append({"q": rendered(cards[entry]["question"]), "page": pages[entry]})
    return rows


def files(root: Path, documents: list[str]) -> dict[str, str]:
    """Path below `_static` -> text, for the cards of all chapters below `root`.

    `documents` are the pages of the book; sections come in their order, then those without a page.
    """
    chapters = read(root)
    sections = {f"{folder}/{file.stem}": whole_cards(file) for folder in chapters
                for file in in_order(root / "chapters" / folder, documents)}
    cards = {card["id"]: card for rows in sections.values() for card in rows}
    pages = {card["id"]: f"../chapters/{name}.html#{card['id']}"
             for name, rows in sections.items() if f"chapters/{name}" in documents
             for card in rows}
    claims = card_claims.read(root)
    texts = {f"drill-cards/{name}.json": dumped(
        {card["id"]: content_row(card, cards, claims, pages) for card in rows})
        for name, rows in sections.items()}
    with_cards = {name.split("/")[0] for name in sections}
    index = {
        "chapters": [chapter_row(chapters[folder]) for folder in sorted(with_cards)],
        "files": {name: versioned(file, text)
                  for name, (file, text) in zip(sections, texts.items(), strict=True)},
        "titles": titles(root, documents, sections),
        "cards": [index_row(card, name.split("/")[0])
                  for name, rows in sections.items() for card in rows],
    }
    return {INDEX: dumped(index), **texts}


def of_book(app) -> dict[str, str]:
    """`files` of the book that is built, made once by each process: the page has their digest."""
    if not hasattr(app, "drill_files"):
        app.drill_files = files(Path(app.srcdir), list(app.env.external_site_map))
    return app.drill_files


def titles(root: Path, documents: list[str], names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Section with cards -> the title of its page, which the choice of one section says."""
    pages = [document for name in names if (document := f"chapters/{name}") in documents
             and (root / f"{document}.ipynb").exists()]
    return {one.document.removeprefix("chapters/"): dict(zip(LANGS, one.title, strict=True))
            for found in section_facts(root, pages).values() for one in found}


def in_order(folder: Path, documents: list[str]) -> list[Path]:
    """The files of a chapter's cards, in the order of the pages."""
    def place(file: Path) -> tuple[int, str]:
        page = f"chapters/{folder.name}/{file.stem}"
        return documents.index(page) if page in documents else len(documents), file.stem
    return sorted(folder.glob(FILES), key=place)


def chapter_row(chapter: Chapter) -> Row:
    return {"slug": chapter.folder, "number": chapter.number,
            "name": dict(zip(LANGS, chapter.name, strict=True))}


def dumped(content: Row) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def element(docname: str, index: str) -> str:
    """The custom element; without scripts it says what to do instead."""
    address = "../" * docname.count("/") + "_static/" + versioned(INDEX, index)
    note = f'<noscript><p class="drill-notice">{spans(*NEEDS_SCRIPT)}</p></noscript>'
    return f'<card-drill data-cards="{html.escape(address)}">{note}</card-drill>'


class InsertDrill(SphinxTransform):
    """Put the element between the page's introduction and its first section."""

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        page = next(self.document.findall(nodes.section))
        places = [i for i, child in enumerate(page) if isinstance(child, nodes.section)]
        index = of_book(self.app)[INDEX]
        page.insert(places[0] if places else len(page),
                    raw(element(PAGE, index) + record(read(Path(self.env.srcdir)))))


def record(chapters: dict[str, Chapter]) -> str:
    """The picture of how the reader's predictions in the text came out; filled by its script."""
    names = {f"chapters/{folder}": chapter_row(chapter) for folder, chapter in chapters.items()}
    return f'<prediction-record data-chapters="{html.escape(dumped(names))}"></prediction-record>'


def link_style(app, pagename, templatename, context, doctree) -> None:
    if pagename == PAGE:
        app.add_css_file("drill.css", priority=901)


def write_files(app, exception) -> None:
    if exception or app.builder.name != "html":
        return
    for name, text in of_book(app).items():
        target = Path(app.outdir) / "_static" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("html-page-context", link_style)
    app.connect("build-finished", write_files)
