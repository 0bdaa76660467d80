"""What the search is told of the book as it will be: more sections and cards than there are.

A new title has as many pieces as an old one, each drawn from all titles: as many words as people
use, in an order that nobody would, so that it compresses no better than one that is written.
"""

import random
import re
from dataclasses import replace
from itertools import cycle, islice

PIECE = {"zh": re.compile(r"[㐀-鿿]{1,2}|[^㐀-鿿]+"), "en": re.compile(r"\S+\s*")}


def grown(found, synonyms, sections, cards):
    """Entries and names of terms of a book of so many sections and cards, the real ones first."""
    new = Titles(found)
    pages = sorted({entry.page for entry in found if is_section(entry.page)})
    more = list(islice(cycle(pages), sections - len(pages)))
    by_page = {page: [one for one in found if one.page == page and one.kind != "card"]
               for page in pages}
    added = [new.entry(one, f"{page}-{number}") for number, page in enumerate(more)
             for one in by_page[page]]
    old_cards = [entry for entry in found if entry.kind == "card"]
    added += [new.entry(card, f"{page}-{number}") for card, (number, page) in zip(
        islice(cycle(old_cards), cards - len(old_cards)), cycle(enumerate(more)))]
    terms = [entry for entry in found if entry.kind == "term" and not is_section(entry.page)]
    factor = sections / len(pages) - 1
    added += [new.entry(term, term.page) for term in islice(cycle(terms), int(factor * len(terms)))]
    names = [[new.text("zh", word) if PIECE["zh"].match(word) else new.text("en", word)
              for word in group] for group in islice(cycle(synonyms), int(factor * len(synonyms)))]
    return [*found, *added], [*synonyms, *names]


def is_section(page):
    return page.startswith("chapters/") and not page.endswith(("/index", "/cheat-sheet"))


class Titles:
    """Makes titles of the pieces of old ones, the same in every run."""

    def __init__(self, found):
        self.random = random.Random(0)
        self.pool = {lang: [piece for entry in found
                            for piece in PIECE[lang].findall(entry.title[lang])] for lang in PIECE}

    def text(self, lang, old):
        return "".join(self.random.choices(self.pool[lang], k=len(PIECE[lang].findall(old))))

    def entry(self, old, page):
        title = {lang: self.text(lang, old.title[lang]).strip() for lang in PIECE}
        anchor = re.sub(r"[^a-z0-9]+", "-", title["en"].lower()).strip("-")
        return replace(old, page=page, title=title,
                       anchor=anchor if old.anchor and old.kind == "section" else old.anchor)
