"""Old addresses lead on: each to pages, and to elements of them, that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from book.pipeline.content import moved
from book.pipeline.content.moved import Moved
from book.pipeline.finish.downloads import FOLDER
from book.pipeline.ground.paths import place
from book.pipeline.notebooks.downloads import VARIANTS
from book.pipeline.pages.built import Finding, Site
from book.pipeline.pages.links import missing_part


def of_site(site: Site) -> Iterator[Finding]:
    for one in moved.read(site.root):
        yield from targets(site, one)
        if one.to is not None:
            yield from forwarding(site, one)
        elif (page := site.pages.get(f"{one.page}.html")) is None:
            yield Finding(moved.FILE, "", f"{one.page} is no page: say in `to` what took its place")
        elif lost := sorted(one.anchors.keys() - page.anchors):
            yield page.finding("moved-anchors", f"lacks the old anchors {lost}")


def targets(site: Site, one: Moved) -> Iterator[Finding]:
    """The page of `to`, and what each anchor leads to, are in the site."""
    named = [(one.to, "")] if one.to else []
    for page, anchor in dict.fromkeys([*named, *one.anchors.values()]):
        if missing := missing_part(site, f"{page}.html", anchor):
            yield Finding(moved.FILE, one.page, f"{page}{anchor and '#' + anchor}: {missing}")
        elif f"{page}.html" not in site.pages:
            yield Finding(moved.FILE, one.page, f"{page} has moved on: name its new page")


def forwarding(site: Site, one: Moved) -> Iterator[Finding]:
    """The page at the old address forwards, is in no index, and its notebooks are told of too."""
    name = f"{one.page}.html"
    if name in site.pages:
        yield Finding(moved.FILE, one.page, "is a page of the book again: take `to` out")
        return
    if not site.has_file(name):
        yield Finding(name, "", f"nothing stands here; {moved.FILE} names it")
        return
    tree = LexborHTMLParser((site.folder / name).read_text(encoding="utf-8"))
    to = moved.Target(one.to).address(one.page)
    refresh = re.search(r'<noscript><meta http-equiv="refresh" content="0; url=([^"]*)">',
                        tree.html or "")
    links = {link.attributes["href"] for link in tree.css("main a[href]")}
    said = {"refreshes to": refresh and refresh[1],
            "is canonical": (tree.css_first("link[rel=canonical]") or tree.root).attributes.get(
                "href")}
    for words, found in said.items():
        if found != to:
            yield Finding(name, "", f"{words} {found}, {moved.FILE} says {to}")
    if lost := {moved.Target(page).address(one.page) for page in one.pages} - links:
        yield Finding(name, "main", f"lacks links to {sorted(lost)}")
    if tree.css_first('meta[name=robots][content=noindex]') is None:
        yield Finding(name, "", "is not kept out of indexes")
    chapter, page = place(one.page) or ("", "")
    for variant in VARIANTS if chapter else ():
        if not site.has_file(f"{FOLDER}/{chapter}/{page}.{variant}.ipynb"):
            yield Finding(name, "", f"has no notice in place of its {variant} notebook")
