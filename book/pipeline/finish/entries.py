"""What the search knows of a finished page: its sections, cards and defined terms as entries.

An entry is a heading with what stands below it, up to the next heading: texts of both languages,
identifiers of its code, lines of its outputs that name an error. Nothing here knows a template:
a section is `section[id]` with a heading, a card `article.card[id]`, a term `dfn[id]`, `dt[id]` or
the `dt` of a `div[id]`, a chapter without a page `li.planned[id]`.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

LANGS = {"zh": "zh", "zh-Hans": "zh", "en": "en"}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
DRAFT = ".draft-note"
HIDDEN = "meta[name=robots][content~=noindex]"
PLANNED = "li.planned[id]"  # its number, in `small`, is left out: who types "chapter 3" means 3
# What is no text of the section: controls, options that a reader is to doubt, labels, pictures,
# and the front page's lists of what other pages hold.
TERM = "dfn[id], dt[id], div[id] > dt"
SKIPPED = ("form, button, nav, svg, script, style, .headerlink, .downloads, .explanation-note, "
           ".tag_setup, .predict-form, .predict-ways, .predict-feedback, summary, [role=status], "
           ".katex-mathml, .lang-sep, .prev-next-area, .term-card, .ways-in, .machines, "
           ".chapter-list")
BLOCKS = {"p", "li", "ul", "ol", "dl", "div", "section", "table", "td", "th", "tr", "dt", "dd",
          "details", "pre", "blockquote", "br", "figure", "figcaption", *HEADINGS}
IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Warning|Unsupported)\b")
SENTENCE = re.compile(r"(?<=。)|(?<=\.)\s")
PLAIN = re.compile(r"(?<!\S)[A-Za-z]{2,}(?!\S)")
QUOTED = 4  # plain words in one piece of code in a sentence: no call has so many, an error text has
COMMON = {*keyword.kwlist, *dir(builtins), "self", "torch", "nn"}


@dataclass
class Entry:
    """One place of the book that can be found; `title` and `text` by language."""

    page: str
    anchor: str
    kind: str  # section, card, term, or planned: a page or a chapter that is being written
    depth: int  # 1 for the title of a page
    title: dict[str, str]
    text: dict[str, str] = field(default_factory=dict)
    code: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def entries(name: str, html: str) -> list[Entry]:
    """All entries of a page, in its order; of one that is being written its title alone; none for a
    page without an article, or for another that search engines may not list either."""
    tree = LexborHTMLParser(html)
    article = tree.css_first("main article, article")
    if article is None or (tree.css_first(HIDDEN) and not article.css_first(DRAFT)):
        return []
    planned = [_planned(name, item) for item in article.css(PLANNED)]
    for node in article.css(SKIPPED):
        node.decompose()
    if article.css_first(DRAFT):
        title = texts(article.css_first("h1"))
        return [Entry(name, "", "planned", 1, title, {"zh": "", "en": ""})]
    first = article.css_first("section[id]")
    return [*_section(name, first, 1), *planned] if first is not None else []


def _section(page: str, node: LexborNode, depth: int) -> Iterator[Entry]:
    """The entry of a section, those of its cards and terms, then those of the sections in it."""
    heading = next((child for child in node.iter() if child.tag in HEADINGS), None)
    inner = [child for child in node.css("section[id]") if _parent_section(child) == node]
    cards, terms = _own(node, "article.card[id]"), _own(node, TERM)
    title = texts(heading) if heading is not None else {"zh": "", "en": ""}
    found = [entry for card in cards for entry in _card(page, card)]
    found += [entry for term in terms for entry in _term(page, term)]
    for child in inner:
        found += _section(page, child, depth + 1)
    for child in (*inner, *cards):
        child.decompose()
    if heading is not None:
        anchor = "" if depth == 1 else node.attributes["id"]
        heading.decompose()
        yield filled(Entry(page, anchor, "section", depth, title), node)
    yield from found


def _planned(page: str, item: LexborNode) -> Entry:
    """A chapter without a page: what it will be about is part of its title; it has no text."""
    for part in item.css("small, .lang-sep"):
        part.decompose()
    return Entry(page, item.attributes["id"], "planned", 2, texts(item), {"zh": "", "en": ""})


def _card(page: str, card: LexborNode) -> Iterator[Entry]:
    """A card: its question is the title, the line of its answer the text."""
    question = card.css_first(".card-question")
    if question is None:
        return
    entry = Entry(page, card.attributes["id"], "card", 4, texts(question), _line(card))
    entry.code, entry.errors = code_of(card)
    yield entry


def _line(card: LexborNode) -> dict[str, str]:
    """The answer in one breath; of an old card, which has none, the first sentence."""
    line, answer = card.css_first(".card-line"), card.css_first(".card-answer")
    if line is None and answer is None:
        return {"zh": "", "en": ""}
    return {lang: text if line is not None else SENTENCE.split(text, maxsplit=1)[0]
            for lang, text in texts(line if line is not None else answer).items()}


def _term(page: str, term: LexborNode) -> Iterator[Entry]:
    """A defined term: what stands beside it in its paragraph or row defines it."""
    box = term.parent
    anchor = term.attributes.get("id") or box.attributes["id"]
    if term.tag == "dt":
        box = term.next
        while box is not None and box.tag != "dd":
            box = box.next
    title = texts(term)
    title["zh"] = title["zh"] or title["en"]  # a name that is the same in both stands once
    text = texts(box) if box is not None else {"zh": "", "en": ""}
    for node in (box, term) if term.tag == "dt" and box is not None else ():
        node.decompose()  # they are the term's, not the section's
    yield Entry(page, anchor, "term", 4, title, text)


def filled(entry: Entry, node: LexborNode) -> Entry:
    entry.code, entry.errors = code_of(node)
    for block in node.css("pre"):
        block.decompose()
    entry.text = texts(node)
    return entry


def code_of(node: LexborNode) -> tuple[list[str], list[str]]:
    """Identifiers of the code, each once, and lines of outputs and texts that name an error."""
    blocks = [block.text() for block in node.css("pre")]
    words = dict.fromkeys(word for text in blocks for word in IDENTIFIER.findall(text)
                          if len(word) > 2 and word not in COMMON)
    errors = dict.fromkeys(line.strip()[:300] for text in blocks for line in text.splitlines()
                           if ERROR.search(line) and not line.lstrip().startswith("#"))
    quoted = dict.fromkeys(text for piece in node.css("code")
                           if len(PLAIN.findall(text := piece.text())) >= QUOTED)
    return list(words), [*errors, *quoted]


def texts(node: LexborNode) -> dict[str, str]:
    """The text of a node for a reader of each language; what has no language stands in both."""
    parts: dict[str, list[str]] = {"zh": [], "en": []}
    _collect(node, "", parts)
    return {lang: re.sub(r"\s+", " ", "".join(found)).strip() for lang, found in parts.items()}


def _collect(node: LexborNode, lang: str, parts: dict[str, list[str]]) -> None:
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            for one in (lang,) if lang else parts:
                parts[one].append(child.text_content or "")
            continue
        own = LANGS.get(child.attributes.get("lang") or "", lang)
        border = " " if child.tag in BLOCKS else ""
        for one in parts:
            parts[one].append(border)
        _collect(child, own, parts)
        for one in parts:
            parts[one].append(border)


def _parent_section(node: LexborNode) -> LexborNode | None:
    above = node.parent
    while above is not None and not (above.tag == "section" and above.attributes.get("id")):
        above = above.parent
    return above


def _own(node: LexborNode, selector: str) -> list[LexborNode]:
    """What a section itself holds, not the sections in it."""
    return [found for found in node.css(selector) if _parent_section(found) == node]
