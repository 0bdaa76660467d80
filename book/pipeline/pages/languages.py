"""Both languages are there, complete, and marked as what they are; none is hidden in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from book.pipeline.pages.built import Finding, Page, classes, sibling, text

CHINESE = re.compile(r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")  # with its punctuation
# What is Chinese in every language: the names of languages, and what only paper shows.
APART = (".lang-switch, .downloads a[data-variant=zh], #jb-print-docs-body, "
         "term-cards b")  # the name of a term, in both languages by intent
TITLE = "PyTorch Inside Out"


def problems(page: Page) -> Iterator[Finding]:
    yield from title(page)
    yield from pairs(page)
    kept = {tag.mem_id for tag in page.all(f"{APART}, script, style, .lang-zh, .lang-sep")}
    for tag, words in outside(page.tree.body, kept):
        yield page.finding(tag, f"Chinese that English readers see: {words[:40]}")
    yield from without_scripts(page)


def title(page: Page) -> Iterator[Finding]:
    """Each part of the title has its two halves, which the switch chooses from."""
    words = text(page.first("title"))
    for part in words.split(" — "):
        zh, _, en = part.partition(" · ")
        if not (CHINESE.search(zh) and en) or CHINESE.search(en) or " · " in en:
            yield page.finding("title", f"{part}: is not `中文 · English`")
    if words.count(TITLE) != 1:
        yield page.finding("title", f"{words}: names the book {words.count(TITLE)} times")
    if len(page.all("article h1 > .lang-zh")) != 1:
        yield page.finding("h1", "has no Chinese half of its own")


def pairs(page: Page) -> Iterator[Finding]:
    """Beside each Chinese half stands an English one; neither is empty."""
    english = {half.mem_id for half in page.all(".lang-en")}
    for half in page.all(".lang-zh"):
        other = sibling(half)
        if other is not None and "lang-sep" in classes(other):
            other = sibling(other)
        if other is None or "lang-en" not in classes(other):
            yield page.finding(half, f"without its English half: {text(half)[:40]}")
            continue
        english.discard(other.mem_id)
        for name, one in (("Chinese", half), ("English", other)):
            if not text(one) and not one.css_first("img, svg"):
                yield page.finding(one, f"the {name} half is empty; the other: "
                                        f"{text(half)[:20]}{text(other)[:20]}")
    for half in page.all(".lang-en"):
        if half.mem_id in english:
            yield page.finding(half, f"without its Chinese half: {text(half)[:40]}")


def outside(node: LexborNode, kept: set[int]) -> Iterator[tuple[LexborNode, str]]:
    """Chinese texts below a node, each with what holds it, but for what is kept apart."""
    for child in node.iter(include_text=True):
        if child.is_text_node:
            words = child.text()
            if CHINESE.search(words):
                yield node, words.strip()
        elif child.mem_id not in kept:
            yield from outside(child, kept)


def without_scripts(page: Page) -> Iterator[Finding]:
    """As it is served, a page shows both languages: a reader without scripts has no switch."""
    if page.first("html").attributes.get("data-lang") is not None:
        yield page.finding("html", "a language is chosen in the file")
    for half in page.all(":is(.lang-zh, .lang-en):is([hidden], [style*=display])"):
        yield page.finding(half, "is hidden in the file")
