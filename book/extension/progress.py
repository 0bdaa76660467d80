"""What a page says of the reader's way through the book; the scripts fill in how far one has come.

    minutes                      beside a section's number: its minutes and the way to its cards
    components/prev-next.html    the pages before and after, with the question of a section
    #progress                    what the scripts need to know of this page
    .go-on                       place of a link to where the reader was: filled before it is seen
    .progress-summary            how many sections there are, how long they take; how many are read
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from markupsafe import Markup
from sphinx.transforms import SphinxTransform

from book.extension.bilingual import raw, spans
from book.extension.sections import LANGS, PLANNED, Section, asked, in_table, sections
from book.extension.web import bundles
from book.pipeline.ground.digests import versioned
from book.pipeline.ground.paths import is_section

CARDS = "recall"  # id of the section with the cards
MARKS = "progress-marks.js"  # the part of the script that needs the store; it loads when idle
GO_ON = "go-on.js"
LEADS_ON = ("book/index", "book/drill")  # pages that offer to go on where the reader was
READ = ("这一节读完了", "I have read this section")


# ---- lists of sections ---------------------------------------------------------------------------

def summary(ready: Iterable[Section], tag: str = "p") -> str:
    """`16 sections, about 6 h 20`; the script says in its place how much of that is left."""
    minutes = {one.document: [one.minutes.whole(lang) for lang in LANGS] for one in ready}
    zh, en = (hours(sum(both[i] for both in minutes.values())) for i in (0, 1))
    n = len(minutes)
    words = spans(f"{n} 节，约 {zh[0]}", f"{n} section{'s' * (n != 1)}, about {en[1]}")
    known = f'class="progress-summary" data-minutes="{_attribute(minutes)}"'
    return f"<{tag} {known}>{words}</{tag}>" if minutes else ""


def hours(minutes: int) -> tuple[str, str]:
    """A time in words, to ten minutes above an hour; book/web/progress/words.js says the same."""
    if minutes < 60:
        return f"{minutes} 分钟", f"{minutes} min"
    whole, rest = divmod(round(minutes / 10) * 10, 60)
    return (f"{whole} 小时{f' {rest} 分钟' * bool(rest)}", f"{whole} h{f' {rest}' * bool(rest)}")


def _attribute(value: object) -> str:
    return html.escape(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


# ---- parts of a page -----------------------------------------------------------------------------

def minutes(section: Section) -> dict[str, Markup]:
    """`16 min (25 with exercises) · 5 cards`, above the title of a section, by language."""
    if section.draft:
        return {lang: Markup(text) for lang, text in zip(LANGS, PLANNED, strict=True)}
    zh, en = in_table(section.minutes)
    n, parts = section.cards, {"zh": f"读 {zh}", "en": en}
    if n:
        words = {"zh": f"{n} 张卡片", "en": f"{n} card{'s' * (n != 1)}"}
        parts = {lang: f'{parts[lang]} · <a href="#{CARDS}">{words[lang]}</a>' for lang in words}
    return {lang: Markup(text) for lang, text in parts.items()}


def way(page: dict[str, Any] | None, section: Section | None) -> dict[str, Any] | None:
    """A page before or after, as Sphinx gives it, with the question of a section."""
    below = asked(section) if section else ""
    if section and section.draft:
        below += f'<span class="section-question">{spans(*PLANNED)}</span>'
    return page and page | {"question": Markup(below)}


def facts(pagename: str, here: Section | None, after: Section | None, to: str) -> str:
    """What the scripts need, as attributes; the toggle that says that a section is read."""
    known: dict[str, Any] = {"page": pagename}
    if after:
        known["next"] = {"page": after.document, "title": after.title,
                         "left": [after.minutes.whole(lang) for lang in LANGS]}
        if after.question:
            known["next"]["question"] = [half.replace("`", "") for half in after.question]
    if here:
        known["minutes"] = [here.minutes.whole(lang) for lang in LANGS]
        known["reading"] = min(here.minutes.zh, here.minutes.en)
    box = (f'<label class="read-toggle"><input type="checkbox" disabled>'
           f"<span>{spans(*READ)}</span></label>" if here else "")
    return (f'<div id="progress" data-known="{_attribute(known)}" '
            f'data-marks="{html.escape(to)}">{box}</div>')


def go_on(document: str, script: str) -> str:
    """The place of the link, filled while the page is parsed, so that nothing moves later."""
    kind = "here" if is_section(document) else "book"
    up = "../" * document.count("/")
    return (f'<p class="go-on" data-kind="{kind}" data-page="{document}" data-up="{up}" hidden></p>'
            f"<script>{script}</script>")


class OfferToGoOn(SphinxTransform):
    """Put the place of the link below the title."""

    def apply(self, **kwargs) -> None:
        document = self.env.docname
        if document in LEADS_ON or is_section(document):
            page = next(self.document.findall(nodes.section))
            script = (bundles(self.app) / GO_ON).read_text(encoding="utf-8").strip()
            page.insert(1, raw(go_on(document, script)))  # below the title


# ---- hooks of Sphinx -----------------------------------------------------------------------------

def known_sections(app) -> dict[str, Section]:
    """Page -> section, read once by each process that writes pages."""
    if not hasattr(app.builder, "book_sections"):
        found = sections(Path(app.srcdir), list(app.env.external_site_map))
        app.builder.book_sections = {one.document: one for ready in found.values()
                                     for one in ready}
    return app.builder.book_sections


def give_parts(app, pagename: str, templatename: str, context: dict[str, Any], doctree) -> None:
    """What the templates need."""
    known = known_sections(app)
    _, before, after = app.builder.relations.get(pagename) or (None, None, None)
    context["prev"], context["next"] = (way(context.get(name), known.get(document))
                                        for name, document in (("prev", before), ("next", after)))
    script = versioned(MARKS, (bundles(app) / MARKS).read_bytes())
    to = f"{'../' * pagename.count('/')}_static/{script}"
    here = known.get(pagename)
    context["minutes"] = minutes(here) if here else None
    to_read, then = (one if one and not one.draft else None for one in (here, known.get(after)))
    context["progress"] = Markup(facts(pagename, to_read, then, to))


def setup(app):
    app.connect("html-page-context", give_parts, priority=200)
    app.add_js_file("progress.js", loading_method="defer")
