"""The glossary page, and the terms of a section: the first mention of each opens a small card.

A mention is a link to the glossary, which is all it is without scripts. Its card stands at the end
of the article, unseen until book/web/glossary.js shows it; a screen reader reads it with the link.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from os.path import relpath
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import TAGS, Element, element, inline, raw, spans
from book.pipeline.content import glossary
from book.pipeline.content.glossary import LANGS, PAGE, Term
from book.pipeline.ground.paths import is_section

MOST = 12  # marked terms of a page, so that it stays calm
LETTERS = "首字母 · First letters"
BEGINS, ENDS = r"(?<![A-Za-z0-9_])", r"(?![A-Za-z0-9_])"  # the borders of a Latin word
# What is not prose, or already something one can press or is meant to notice.
SKIPPED = (nodes.title, nodes.reference, pending_xref, nodes.literal, nodes.literal_block,
           nodes.math, nodes.math_block, nodes.raw, nodes.table, nodes.strong, nodes.emphasis)


class Mention(NamedTuple):
    """Where a text first mentions a term."""

    text: nodes.Text
    start: int
    end: int


# ---- finding -----------------------------------------------------------------------------------

class Finder:
    """What finds terms in texts of one language; longer forms first, a phrase of `unless` is
    nobody's. A Latin word ends at its borders, also in a Chinese text.
    """

    def __init__(self, lang: str, terms: Iterable[Term]) -> None:
        self.owners = {form.lower(): term for term in terms for form in term.forms[lang]}
        phrases = {phrase.lower() for term in terms for phrase in term.unless}
        forms = {*self.owners, *phrases}
        self.form = re.compile(alternatives(forms) if forms else r"(?!)", re.I)

    def found(self, text: str) -> Iterator[tuple[Term, int, int]]:
        """Each mention: its term, where it begins and ends."""
        for match in self.form.finditer(text):
            if term := self.owners.get(match[0].lower()):
                yield term, match.start(), match.end()


def alternatives(forms: Iterable[str], last: str = "") -> str:
    """A pattern of these forms, of two that fit the longer. They branch where they differ, so that
    a text is not compared with each of hundreds; `last` is the character before all of them.
    """
    tails: dict[str, list[str]] = {}
    for form in sorted(forms):
        tails.setdefault(form[:1], []).append(form[1:])
    ends = tails.pop("", None) is not None
    branches = [f"{BEGINS if not last and first.isascii() else ''}{re.escape(first)}"
                f"{alternatives(rest, first)}" for first, rest in tails.items()]
    if ends:  # after the longer ones
        branches.append(ENDS if last.isascii() else "")
    return f"(?:{'|'.join(branches)})" if len(branches) != 1 else branches[0]


def prose(document: nodes.document) -> Iterator[tuple[str, nodes.Text]]:
    """The pieces of running text of the language cells that a reader sees at once, in order."""
    for text in document.findall(nodes.Text):
        lang, node = None, text.parent
        while node is not None and not isinstance(node, SKIPPED) and not _folded(node):
            lang = lang or node.get("lang_cell")
            node = node.parent
        if node is None and lang:
            yield lang, text


def _folded(node: nodes.Element) -> bool:
    return isinstance(node, Element) and node["tag"] in ("details", "a")


def first_mentions(document: nodes.document, terms: Collection[Term],
                   page: str) -> dict[Term, dict[str, Mention]]:
    """The first mention of each term that this page may mark, by language."""
    finders = {lang: Finder(lang, terms) for lang in LANGS}
    mentions: dict[Term, dict[str, Mention]] = {}
    for lang, text in prose(document):
        for term, start, end in finders[lang].found(text.astext()):
            if term.marked_on(page):
                mentions.setdefault(term, {}).setdefault(lang, Mention(text, start, end))
    return mentions


@cache
def commonness(root: Path, pages: tuple[str, ...]) -> Counter[str]:
    """How many pages mention a term, by its id."""
    terms = glossary.read(root)
    finders = [Finder(lang, terms) for lang in LANGS]
    return Counter(name for page in pages for name in {
        term.id for finder in finders
        for term, _, _ in finder.found(glossary.markdown(root, page))})


def choose(terms: Iterable[Term], counts: Counter[str]) -> list[Term]:
    """Those to mark: the rarest of the book, since a reader knows the common ones."""
    return sorted(terms, key=lambda term: (counts[term.id], term.id))[:MOST]


# ---- showing -----------------------------------------------------------------------------------

def link(at: str, page: str, anchor: str) -> str:
    """The address of an element of a page, from another page."""
    return f"{relpath(page, Path(at).parent)}.html#{anchor}"


def explained(root: Path, term: Term, at: str) -> str:
    """The link to where a term is explained: page and heading, in both languages."""
    titles = glossary.headings(root, term.page)
    if term.anchor not in titles:
        raise ValueError(
            f"book/glossary.yaml: {term.id}: {term.page} has no heading #{term.anchor}")
    page, heading = next(iter(titles.values())), titles[term.anchor]
    zh, en = (" › ".join(dict.fromkeys((inline(page[i]), inline(heading[i])))) for i in (0, 1))
    words = spans(f"讲解：{zh}", f"Explained in: {en}", escape=False)
    return f'<a href="{link(at, term.page, term.anchor)}">{words}</a>'


def names(term: Term) -> str:
    """The term in both languages, once if it is the same in both."""
    return " ".join(f'<b lang="{TAGS[lang]}">{html.escape(term.name[lang])}</b>' for lang in LANGS
                    if lang == "en" or term.name["zh"] != term.name["en"])


def card(term: Term, root: Path, at: str) -> str:
    """Names, definition, where it is explained; a span, since it opens inside a paragraph."""
    said = "".join(f'<span class="lang-{lang} term-said" lang="{TAGS[lang]}" '
                   f'id="card-{term.id}-{lang}">{inline(term.define[lang])}</span>'
                   for lang in LANGS)
    return (f'<span class="term-card" id="card-{term.id}" popover="manual">'
            f'<span class="term-names">{names(term)}</span>{said}{explained(root, term, at)}'
            "</span>")


def mark(term: Term, lang: str, words: str, at: str) -> Element:
    return element("a", nodes.Text(words), class_="term", href=link(at, PAGE, f"term-{term.id}"),
                   data_card=f"card-{term.id}", aria_describedby=f"card-{term.id}-{lang}")


def replace(text: nodes.Text, marks: list[tuple[Mention, Element]]) -> None:
    """Put each link in the place of its words."""
    whole, parts, at = text.astext(), [], 0
    for mention, node in sorted(marks, key=lambda one: one[0].start):
        parts += [nodes.Text(whole[at:mention.start]), node]
        at = mention.end
    parent = text.parent
    here = next(i for i, child in enumerate(parent) if child is text)
    parent[here:here + 1] = [*parts, nodes.Text(whole[at:])]


def count_terms(app) -> None:
    """Count the terms of the book once, before processes part that read pages."""
    pages = tuple(app.env.external_site_map)
    if PAGE in pages:
        commonness(Path(app.srcdir), tuple(filter(is_section, pages)))


class MarkTerms(SphinxTransform):
    """Mark the first mention of up to MOST terms of a section, the rarest of the book first."""

    def apply(self, **kwargs) -> None:
        page, root = self.env.docname, Path(self.env.srcdir)
        pages = tuple(self.env.external_site_map)
        if PAGE not in pages or not is_section(page):
            return
        for file in (glossary.FILE, glossary.NAMES):
            self.env.note_dependency(str(root / file))
        counts = commonness(root, tuple(filter(is_section, pages)))
        mentions = first_mentions(self.document, glossary.read(root), page)
        if chosen := choose(mentions, counts):
            self.show(chosen, mentions, root, page)

    def show(self, chosen: list[Term], mentions: dict[Term, dict[str, Mention]],
             root: Path, page: str) -> None:
        marks: dict[int, list[tuple[Mention, Element]]] = {}
        for term in chosen:
            for lang, mention in mentions[term].items():
                words = mention.text.astext()[mention.start:mention.end]
                marks.setdefault(id(mention.text), []).append(
                    (mention, mark(term, lang, words, page)))
        for of_text in marks.values():
            replace(of_text[0][0].text, of_text)
        cards = "".join(card(term, root, page) for term in chosen)
        next(self.document.findall(nodes.section)).append(raw(f"<term-cards>{cards}</term-cards>"))


class FillGlossary(SphinxTransform):
    """Put all terms on their page, in the order of their English names; a script, for a reader of
    Chinese, in the order of their pinyin."""

    def apply(self, **kwargs) -> None:
        if self.env.docname != PAGE:
            return
        root = Path(self.env.srcdir)
        terms = glossary.read(root)
        if wrong := glossary.problems(terms, root):
            raise ValueError(wrong[0])
        for file in (glossary.FILE, glossary.NAMES):
            self.env.note_dependency(str(root / file))
        order = {term.id: i for i, term in enumerate(sorted(terms, key=glossary.by_pinyin))}
        entries = "".join(entry(term, root, order[term.id])
                          for term in sorted(terms, key=glossary.by_english))
        listing = f'{letters(terms)}<term-cards><dl class="glossary">{entries}</dl></term-cards>'
        next(self.document.findall(nodes.section)).append(raw(listing))


def letters(terms: Iterable[Term]) -> str:
    """A row of first letters, each a way to its first term: of the English names, of the pinyin."""
    rows = {"zh": firsts(sorted(terms, key=glossary.by_pinyin), glossary.initial),
            "en": firsts(sorted(terms, key=glossary.by_english), lambda term: term.name["en"][0])}
    words = spans(*("".join(f'<a href="#term-{term.id}">{letter}</a>'
                            for letter, term in rows[lang].items()) for lang in LANGS),
                  escape=False)
    return f'<nav class="letters" aria-label="{LETTERS}">{words}</nav>'


def firsts(terms: Iterable[Term], letter: Callable[[Term], str]) -> dict[str, Term]:
    """Letter -> the first of these terms that begins with it."""
    found: dict[str, Term] = {}
    for term in terms:
        found.setdefault(letter(term).upper(), term)
    return found


def entry(term: Term, root: Path, zh: int) -> str:
    """A term of the page; `zh` is its place in the Chinese order."""
    said = spans(*(inline(term.define[lang]) for lang in LANGS), escape=False)
    return (f'<div id="term-{term.id}" data-zh="{zh}"><dt>{names(term)}</dt>'
            f"<dd><p>{said}</p><p>{explained(root, term, PAGE)}</p></dd></div>")
