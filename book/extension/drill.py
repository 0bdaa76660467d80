"""The drill page: its element, and the cards as the files that its script fetches.

    _static/drill-cards.json                        what the queue needs of every card
    _static/drill-cards/01-tensors/SECTION.json     the texts of a section's cards, as HTML:
                                                    {card id: …}

All Markdown and code is rendered here, so that the page needs no library for it.
"""

from __future__ import annotations

import hashlib
import html
import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import inline, raw, spans
from book.extension.card_html import claim_texts, code
from book.extension.front import NAMES
from book.pipeline.cards import claims as card_claims
from book.pipeline.cards.claims import Claim

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
        "answer": rendered(card["answer"]),
        "snippets": [code(text) for text in card.get("snippets", [])],
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
        row["fixed"] = code(card["snippets_fixed"][0])
        row["shownFixed"] = card.get("shown_fixed", [""])[0]
    return row


def myth(entry: Row) -> Row:
    """A wrong option; a text without a language is an output and keeps its characters."""
    text = entry["text"]
    digest = hashlib.sha256(text["en"].encode()).hexdigest()
    output = {"output": text["en"]} if text["zh"] == text["en"] else {}
    return {"key": f"d-{digest[:8]}", "text": rendered(text), "why": rendered(entry["why"]),
            **output}


def follow_ups(card: Row, cards: dict[str, Row], pages: dict[str, str]) -> list[Row]:
    """Questions with their answers; of a named card, its question and its page."""
    rows = []
    for entry in card.get("follow_ups", []):
        if isinstance(entry, dict):
            rows.append({"q": rendered(entry["q"]), "a": rendered(entry["a"])})
        elif entry in pages:
            rows.append({"q": rendered(cards[entry]["question"]), "page": pages[entry]})
    return rows


def files(root: Path, docnames: set[str]) -> dict[str, str]:
    """Path below `_static` -> text, for the cards of all chapters below `root`."""
    chapters = {file.parent.name: json.loads(file.read_text(encoding="utf-8"))
                for file in sorted(root.glob("chapters/*/cards.json"))}
    cards = {card["id"]: card for chapter in chapters.values() for card in chapter["cards"]}
    pages = {card["id"]: f"../{document}.html#{card['id']}"
             for slug, chapter in chapters.items() for card in chapter["cards"]
             if (document := f"chapters/{slug}/{card['section']}") in docnames}
    claims = card_claims.read(root)
    sections: dict[str, Row] = {}
    for slug, chapter in chapters.items():
        for card in chapter["cards"]:
            row = content_row(card, cards, claims, pages)
            sections.setdefault(f"{slug}/{card['section']}", {})[card["id"]] = row
    texts = {f"drill-cards/{name}.json": dumped(rows) for name, rows in sections.items()}
    index = {
        "chapters": [{"slug": slug, "number": int(slug.split("-")[0]),
                      "name": dict(zip(LANGS, NAMES[slug], strict=True))} for slug in chapters],
        "files": {name: versioned(file, text)
                  for name, (file, text) in zip(sections, texts.items(), strict=True)},
        "cards": [index_row(card, slug) for slug, chapter in chapters.items()
                  for card in chapter["cards"]],
    }
    return {INDEX: dumped(index), **texts}


def dumped(content: Row) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def versioned(path: str, text: str) -> str:
    """An address that changes with the content, so that no browser keeps an old edition."""
    return f"{path}?v={hashlib.sha256(text.encode()).hexdigest()[:8]}"


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
        index = files(Path(self.env.srcdir), self.env.found_docs)[INDEX]
        page.insert(places[0] if places else len(page), raw(element(PAGE, index)))


def link_style(app, pagename, templatename, context, doctree) -> None:
    if pagename == PAGE:
        app.add_css_file("drill.css", priority=901)


def write_files(app, exception) -> None:
    if exception or app.builder.name != "html":
        return
    for name, text in files(Path(app.srcdir), app.env.found_docs).items():
        target = Path(app.outdir) / "_static" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("html-page-context", link_style)
    app.connect("build-finished", write_files)
