"""What programs read of a page: descriptions, languages, its own address, a picture for links.

The description is the opening of the page itself. What needs the site's address is on the page only
when `book.pipeline.content.publication` has it.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from markupsafe import Markup

from book.extension.bilingual import TAGS, spans
from book.extension.layout import kind
from book.extension.slugs import SEPARATOR
from book.pipeline import share_pictures
from book.pipeline.content import heads, publication
from book.pipeline.content.chapters import read
from book.pipeline.ground.paths import OPENING, WEB, place

LONGEST = 155  # characters that a search engine shows of a description
SENTENCE = {"zh": re.compile(r"[^。！？]+[。！？]+[”’）]*"),
            "en": re.compile(r".+?[.!?]+[\"')]*(?=\s|$)", re.S)}
PAUSES = {"zh": "，；：、。", "en": ",;: "}
JOINED = {"zh": "", "en": " "}
FRONT_PAGE = "book/index"
NOT_FOUND = "404"
NO_PAGE = ("没有这一页", "No such page")
GO_ON = ("这个地址上什么都没有：也许链接写错了，也许这一页搬走了。可以从这里接着走：",
         "Nothing is at this address. The link may be wrong, or the page has moved. "
         "You can go on from here:")
FRONT, DRILL = ("本书首页", "The front page of the book"), ("练习", "The drill")
LICENCE = "https://creativecommons.org/licenses/by/4.0/"
GROUND = re.compile(r"--pst-color-background:\s*light-dark\(\s*([^,()]+?)\s*,\s*([^()]+?)\s*\)")


def shortened(text: str, lang: str, longest: int = LONGEST) -> str:
    """As many whole sentences as there is room for; where that says little, the start of one more.
    """
    text = " ".join(text.split())
    found = ""
    for sentence in SENTENCE[lang].findall(text) or [text]:
        longer = f"{found}{JOINED[lang] if found else ''}{sentence.strip()}"
        if len(longer) > longest:
            return found if len(found) > longest // 2 else f"{_start(longer, lang, longest - 1)}…"
        found = longer
    return found


def _start(text: str, lang: str, longest: int) -> str:
    """The text up to the last pause within `longest`, or cut there."""
    at = max(text.rfind(pause, 0, longest) for pause in PAUSES[lang])
    return text[:at if at > longest // 2 else longest].rstrip(PAUSES[lang])


def halves(title: str) -> dict[str, str]:
    """`中文 · English` by language; a title of one language is both."""
    zh, _, en = title.partition(SEPARATOR)
    return {"zh": zh, "en": en or zh}


def opening(doctree: nodes.document, lang: str) -> str:
    """The first paragraphs of a page in a language, of one cell; empty where it has none."""
    box = next((box for box in doctree.findall(nodes.container) if box.get("lang_cell") == lang),
               None)
    paragraphs = [child for child in box or () if isinstance(child, nodes.paragraph)]
    return JOINED[lang].join(part.astext() for part in paragraphs)


def listed(doctree: nodes.document, lang: str) -> str:
    """The headings of a sheet: its own opening only says how to print it."""
    titles = [title.astext() for title in doctree.findall(nodes.title)]
    first, *rest = [halves(title)[lang] for title in titles]
    colon, comma, stop = ("：", "、", "。") if lang == "zh" else (": ", ", ", ".")
    return f"{first}{colon}{comma.join(rest)}{stop}"


def descriptions(document: str, doctree: nodes.document) -> dict[str, str]:
    """What a page says of itself, by language."""
    text = listed if kind(document, FRONT_PAGE) == "sheet" else opening
    return {lang: shortened(text(doctree, lang), lang) for lang in TAGS}


@cache
def theme_colors() -> dict[str, str]:
    """The ground of a page in each theme, as the styles say it: a browser's bars take it up."""
    styles = (file.read_text(encoding="utf-8") for file in sorted(WEB.rglob("*.css")))
    found = next(filter(None, map(GROUND.search, styles)), None)
    return dict(zip(("light", "dark"), found.groups(), strict=True)) if found else {}


def picture(document: str) -> str:
    """Address of the picture that shows where somebody links the page; a chapter that is being
    written has none of its own."""
    chapter, _ = place(document) or ("", "")
    drawn = (share_pictures.FOLDER / f"{chapter}.png").is_file()
    folder, name = share_pictures.FOLDER.name, chapter if drawn else "book"
    return f"{publication.ADDRESS.rstrip('/')}/_static/{folder}/{name}.png"


def structured(document: str, title: str, texts: dict[str, str], book: str) -> dict[str, Any]:
    """The page in the words of schema.org: the book itself, or an article of it."""
    whole = {"@type": "Book", "name": book, "url": publication.page_address(FRONT_PAGE)}
    common = {"@context": "https://schema.org", "inLanguage": list(TAGS.values()),
              "license": LICENCE, "isAccessibleForFree": True,
              "description": " ".join(texts.values())}
    if document == FRONT_PAGE:
        return common | whole
    what = "TechArticle" if place(document) else "WebPage"
    return common | {"@type": what, "headline": title, "isPartOf": whole,
                     "url": publication.page_address(document)}


def in_script(value: dict[str, Any]) -> Markup:
    """JSON that no text can end the script element of."""
    return Markup(json.dumps(value, ensure_ascii=False).replace("<", "\\u003c"))


def published(document: str, title: str, texts: dict[str, str], book: str) -> dict[str, Any]:
    """What a page says of its place on the web; empty while the address is unknown."""
    address = publication.page_address(document)
    if not address or document == NOT_FOUND:
        return {}
    languages = {TAGS[lang]: f"{address}?lang={lang}" for lang in TAGS}
    return {"canonical": address, "alternates": languages | {"x-default": address},
            "picture": picture(document), "titles": halves(title),
            "json_ld": in_script(structured(document, title, texts, book))}


def fill(app, pagename, templatename, context, doctree) -> None:
    title = Markup(context.get("title", "")).striptags()
    texts = descriptions(pagename, doctree) if doctree else {}
    hidden = pagename == NOT_FOUND or heads.is_draft(pagename, Path(app.srcdir))
    context["head"] = {"descriptions": texts, "theme_colors": theme_colors(), "hidden": hidden,
                       **published(pagename, title, texts, app.config.html_title)}


def not_found(app):
    """The page for an address that leads nowhere, with the contents and the search of all pages."""
    known = app.env.found_docs
    pages = [(FRONT_PAGE, FRONT)]
    for folder, chapter in read(Path(app.srcdir)).items():
        zh, en = chapter.name
        pages.append((f"chapters/{folder}/{OPENING}", (f"第 {chapter.number} 章：{zh}",
                                                       f"Chapter {chapter.number}: {en}")))
    pages.append(("book/drill", DRILL))
    items = "".join(f'<li><a href="{page}.html">{spans(*name)}</a></li>'
                    for page, name in pages if page in known)
    body = (f'<section id="no-such-page"><h1>{spans(*NO_PAGE)}</h1>'
            f"<p>{spans(*GO_ON)}</p><ul>{items}</ul></section>")
    yield NOT_FOUND, {"title": SEPARATOR.join(NO_PAGE), "body": body}, "page.html"


def setup(app):
    app.connect("html-page-context", fill)
    app.connect("html-collect-pages", not_found)
