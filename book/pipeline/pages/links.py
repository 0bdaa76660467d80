"""Links and ids, headings, and what a page loads: all of it from its own site."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from book.pipeline.pages.built import Finding, Page, Site, text

LOADED = re.compile(r"<(?:script|link|img|iframe|source|video|audio|object)\b[^>]*?"
                    r"\b(?:src|href|srcset|data)=[\"']?\s*((?:https?:)?//[^\"'\s>]*)", re.I)
STYLE_LOADS = re.compile(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^\"')\s]+)")
FRONT = "book/index.html"
NEAR = "data-near-"  # attributes of the script that loads widgets: a name and its address each
# others are named as their script
ELEMENT = {"predict": "predict-cell", "drill": "card-drill", "glossary": "term-cards"}


def problems(page: Page) -> Iterator[Finding]:
    yield from broken(page)
    for name, times in Counter(page.ids).items():
        if times > 1:
            yield page.finding(f"#{name}", f"the id stands {times} times on the page")
    yield from headings(page)
    for address in LOADED.findall(page.html):
        yield page.finding("", f"loads {address}, which is another host's")
    yield from scripts(page)


def broken(page: Page) -> Iterator[Finding]:
    """Addresses inside the site that lead to no file or to no element of it."""
    seen = set()
    for tag in page.all("[href], [src]"):
        for key in ("href", "src"):
            address = tag.attributes.get(key)
            if address is None or address in seen:
                continue
            seen.add(address)
            found = page.target(address)
            if found and (missing := missing_part(page.site, *found)):
                yield page.finding(tag, f"{key}={address}: {missing}")


def missing_part(site: Site, name: str, anchor: str) -> str:
    if not site.has_file(name):
        return "no such file in the site"
    other = site.pages.get(name)
    if anchor and (other is None or anchor not in other.anchors):
        return f"no element of that page has the id {anchor}"
    return ""


def slug(english: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", english.lower()).strip("-")


def headings(page: Page) -> Iterator[Finding]:
    """The id of a section comes from the English half; levels go down one at a time from one h1."""
    found = page.all("article section > :is(h1, h2, h3)")
    if not found:
        yield page.finding("article", "has no heading")
    for heading in found:
        expected, given = slug(text(heading.css_first(".lang-en"))), heading.parent.id
        if given != expected:
            yield page.finding(heading, f"the id is {given}, its English half makes {expected}")
    every = page.all("article :is(h1, h2, h3, h4, [role=heading])")
    levels = [int(h.attributes.get("aria-level") or h.tag[1]) for h in every]
    if levels[:1] != [1] or levels.count(1) != 1:
        yield page.finding("article", f"levels of headings: {levels}; begin with the only h1")
    for (_, above), (heading, level) in pairwise(zip(every, levels, strict=True)):
        if level > above + 1:
            yield page.finding(heading, f"a heading of level {level} stands below level {above}")


def scripts(page: Page) -> Iterator[Finding]:
    """What sets theme and language is the same on all pages; an element brings its own script."""
    common, own = of_page(page)
    front = page.site.pages.get(FRONT)
    if front and common != (expected := of_page(front)[0]):
        for script in sorted(common ^ expected):
            verb = "runs" if script in common else "lacks"
            yield page.finding("", f"{verb} a script that {FRONT} does not agree on: {script[:80]}")
    elements = {tag.tag for tag in page.all("body *") if "-" in tag.tag}
    for name in sorted(elements - own):
        yield page.finding(page.first(name), f"no script of its own makes <{name}> work")


def of_page(page: Page) -> tuple[set[str], set[str]]:
    """Scripts that a page runs, as files of the site or as text; and elements that have theirs."""
    found, own = set(), set()
    for tag in page.all("script:not(.go-on + script)"):  # that one fills the line before it
        if tag.attributes.get("type") in (None, "module", "text/javascript"):
            source = tag.attributes.get("src")
            target = page.target(source) if source else None
            script = target[0] if target else source or text(tag)
            later = {key.removeprefix(NEAR) for key in tag.attributes if key.startswith(NEAR)}
            name = element(script)
            if later:
                own |= later
            elif name and page.first(name):
                own.add(name)
            else:
                found.add(script)
    return found, own


def element(script: str) -> str:
    stem = script.rpartition("/")[2].removesuffix(".js")
    return ELEMENT.get(stem, stem) if re.fullmatch(r"_static/[a-z-]+\.js", script) else ""


def of_site(site: Site) -> Iterator[Finding]:
    """The front door leads to the book, and no stylesheet asks another host."""
    door = site.folder / "index.html"
    html = door.read_text(encoding="utf-8") if door.is_file() else ""
    to = re.search(r"http-equiv=[\"']?refresh[^>]*url=([^\"'>]+)", html, re.I)
    if to is None or not site.has_file(to[1]):
        yield Finding("index.html", "", f"leads to {to[1] if to else 'nowhere'}, which is no page")
    for style in sorted(site.folder.rglob("*.css")):
        for address in STYLE_LOADS.findall(style.read_text(encoding="utf-8")):
            yield Finding(style.relative_to(site.folder).as_posix(), "", f"loads {address}")
