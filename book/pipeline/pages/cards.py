"""Cards stand on their section's page as the sources and the recorded results say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from book.pipeline.cards import layers
from book.pipeline.cards.book import Card
from book.pipeline.cards.results import Entry, snippet
from book.pipeline.cards.rules import refuted_ids
from book.pipeline.ground.paths import is_section
from book.pipeline.pages.built import (
    Finding,
    Page,
    Site,
    children,
    classes,
    rendered,
    squeezed,
    text,
)

IMPORTS = re.compile(r"(?:(?:import|from) .*\n)*")
KIND = {"zh": "（", "en": " ("}  # what begins the small word behind a refuted claim


def problems(page: Page) -> Iterator[Finding]:
    expected = list(page.site.cards(page.document))
    boxes = page.all("article.card")
    ids = [box.id for box in boxes]
    if ids != [card.id for card, _ in expected]:
        yield page.finding("article.card", f"cards {ids}, its sources have "
                                           f"{[card.id for card, _ in expected]} in this order")
        return
    if is_section(page.document):
        if not expected:
            yield page.finding("article.card", "the section has no card")
        elif not any(card.data["kind"] == "bug" for card, _ in expected):
            yield page.finding("article.card", "no card asks for a bug")
    for box, (card, entry) in zip(boxes, expected, strict=True):
        for words in [*answer(box, card), *programs(box, card, entry),
                      *claims(box, card, page.site)]:
            yield page.finding(f"#{card.id}", words)


def fold_of(box: LexborNode) -> LexborNode | None:
    return next((child for child in children(box) if child.tag == "details"), None)


def answer(box: LexborNode, card: Card) -> Iterator[str]:
    """The question is in the open, the answer in a closed fold that needs no script."""
    fold = fold_of(box)
    if fold is None or "open" in fold.attributes or "hidden" in fold.attributes \
            or not text(fold.css_first("summary")):
        yield "has no closed fold with a summary"
        return
    if not any("card-question" in classes(child) and text(child) for child in children(box)):
        yield "has no question in the open"
    inside, all_of_them = fold.css(".card-answer"), box.css(".card-answer")
    if len(inside) != 1 or len(all_of_them) != 1:
        yield f"{len(all_of_them)} answers, {len(inside)} of them in the fold"
    yield from said(inside[0] if inside else None, layers.of(card.data))


def said(answer: LexborNode | None, texts: dict[str, dict[str, str]]) -> Iterator[str]:
    """One paragraph as in its source, or one for each layer in their order."""
    parts = [answer] if "answer" in texts else answer.css("p") if answer else []
    names = [classes(part)[0].removeprefix("card-") for part in parts if part]
    if names != list(texts):
        yield f"its answer has {names}, in its source {list(texts)}"
        return
    for part, (name, expected) in zip(parts, texts.items(), strict=True):
        for lang in KIND:
            words = text(part.css_first(f".lang-{lang}"))
            if squeezed(words) != squeezed(rendered(expected[lang])):
                yield f"its {name} in {lang} is `{words[:60]}`"


def programs(box: LexborNode, card: Card, entry: Entry) -> Iterator[str]:
    """The snippet, what it printed when the proof ran, and the mended code of a bug."""
    if "code" not in card.data:
        return
    open_code = [pre for child in children(box) if child.tag == "div" for pre in child.css("pre")]
    yield from same("code", open_code[:1], as_shown(card.data["code"], card))
    expected = [entry[key][0].strip() for key in ("shown", "shown_fixed") if entry.get(key)]
    shown = [text(pre) for pre in box.css(".card-shown")]
    if shown != [words for words in expected if words]:
        yield f"shows `{shown}`, its proof recorded `{expected}`"
    if card.data["kind"] == "bug":
        fold = [pre for child in children(fold_of(box)) if child.tag == "div"
                for pre in child.css("pre")]
        yield from same("mended code", fold[:1], as_shown(card.data["fixed"], card))
        if not shown:
            yield "does not show what the bug printed"


def as_shown(code: str, card: Card) -> str:
    """The program of a card's first variant: what it imports stands above the values."""
    imports = IMPORTS.match(code)[0]
    return imports + snippet(code.removeprefix(imports), card.variants[0])


def same(what: str, found: list[LexborNode], expected: str) -> Iterator[str]:
    said = text(found[0]) if found else ""
    if said != expected.strip():
        yield f"its {what} is `{said[:60]}`, in its source `{expected.strip()[:60]}`"


def claims(box: LexborNode, card: Card, site: Site) -> Iterator[str]:
    """It says the false claims that it refutes, in both languages, and no others."""
    items = [item for item in box.css("li") if item.css_first("small")]
    names = refuted_ids(card.data)
    if len(items) != len(names):
        yield f"{len(items)} claims on the page, {len(names)} in its source"
        return
    for item, name in zip(items, names, strict=True):
        for lang, mark in KIND.items():
            said = text(item.css_first(f".lang-{lang}")).rpartition(mark)[0]
            if squeezed(said) != squeezed(rendered(site.claims[name][lang])):
                yield f"the claim {name} in {lang} is `{said}`, in its source " \
                      f"`{site.claims[name][lang]}`"
