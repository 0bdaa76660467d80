"""What each page loads at first, in bytes over the wire, computed from its HTML and its styles.

Counted are the page, its icon, styles, scripts, what it preloads, pictures that do not wait, the
list of cards that a drill begins with, its widgets, and the fonts that its formulas are set in. A
widget loads when it is a screen away, and is counted wherever it stands; a font of the book's own
also for a page without its letters. What scripts ask for on use is not counted.
`benchmarks/pages.py` measures what a browser really loads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from book.pipeline.ground.paths import place, widgets
from book.pipeline.ground.wire import wire_body

BUDGET, STRETCH = 200_000, 120_000  # bytes of a page of a chapter
KINDS = {".html": "HTML", ".css": "CSS", ".js": "JS", ".json": "JSON", ".woff2": "fonts"}
OTHER = "images"
COLUMNS = (*KINDS.values(), OTHER)
# selector of what a browser fetches at once, and the attribute with its address
LOADED = (("link[rel~=stylesheet]", "href"), ("link[rel~=icon]", "href"),
          ("link[rel=preload]", "href"), ("link[rel=modulepreload]", "href"),
          ("script[src]", "src"), ("img[src]:not([loading=lazy])", "src"),
          ("card-drill[data-cards]", "data-cards"), ("#progress[data-marks]", "data-marks"))
# What such a file asks for in its turn, beside it: the store of what the reader has done.
WITH = {"progress-marks.js": ("store.js",)}
# What <offline-book> asks for, at the root; the last step of a build makes them.
LISTS = ("edition.json", "offline-files.json")
FACE = re.compile(r"@font-face\s*\{([^}]*)\}")
ADDRESS = re.compile(r"url\(\s*[\"']?([^\"')]+\.woff2)")
KATEX_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
FAMILY = re.compile(r"KaTeX_\w+")
USUAL = ("KaTeX_Main", "400", "normal")


class Face(NamedTuple):
    """A font of a style: its family, weight and style as the rule says them, and its file."""

    family: str
    weight: str
    style: str
    file: Path


class Size(NamedTuple):
    """A page's name and the bytes of each file that it loads."""

    page: str
    files: dict[Path, int]

    @property
    def total(self) -> int:
        return sum(self.files.values())

    def by_kind(self) -> dict[str, int]:
        found = dict.fromkeys(COLUMNS, 0)
        for file, size in self.files.items():
            found[KINDS.get(file.suffix, OTHER)] += size
        return found

    def largest(self, count: int = 3) -> str:
        parts = sorted(self.files.items(), key=lambda part: -part[1])[:count]
        return ", ".join(f"{file.name} {size / 1000:.1f} KB" for file, size in parts)


def measure(site: Path) -> list[Size]:
    """Every page with an article, in the order of their names."""
    size = cache(lambda file: len(wire_body(file)))
    faces = cache(_faces)
    rules = cache(_rules)
    found = []
    for page in sorted(site.rglob("*.html")):
        html = page.read_text(encoding="utf-8")
        if "<article" in html:
            files = sorted({page, *loaded(page, html, site, faces, rules)})
            found.append(Size(page.relative_to(site).with_suffix("").as_posix(),
                              {file: size(file) for file in files}))
    return found


def loaded(page: Path, html: str, site: Path, faces: Callable[[Path], list[Face]],
           rules: Callable[[Path], list[tuple[str, str]]]) -> Iterator[Path]:
    """The files that a page asks for at first; an address that leads to none is left out."""
    tree = LexborHTMLParser(html)
    for selector, attribute in LOADED:
        addresses = [tag.attributes[attribute] for tag in tree.css(selector)]
        for file in filter(None, (_file(address, page, site) for address in addresses)):
            yield file
            yield from (file.with_name(name) for name in WITH.get(file.name, ()))
            if file.suffix == ".css":
                yield from _fonts(tree, faces(file), rules(file))
    if tree.css_first("offline-book"):
        yield from (site / name for name in LISTS if (site / name).exists())
    for name in widgets():
        for tag in tree.css(f"script[data-near-{name}]"):
            yield from filter(None, [_file(tag.attributes[f"data-near-{name}"], page, site)])


def _file(address: str, page: Path, site: Path) -> Path | None:
    """The file that an address on the page means; None for data: and other hosts."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc or not parts.path:
        return None
    folder = site if parts.path.startswith("/") else page.parent
    file = (folder / unquote(parts.path).lstrip("/")).resolve()
    return file if file.is_file() else None


def _faces(style: Path) -> list[Face]:
    found = []
    for body in FACE.findall(style.read_text(encoding="utf-8")):
        address = ADDRESS.search(body)
        file = address and (style.parent / address[1]).resolve()
        if file and file.is_file():
            said = dict(re.findall(r"font-(family|weight|style):\s*[\"']?([^;\"']+)", body))
            found.append(Face(said.get("family", ""), said.get("weight", "400"),
                              said.get("style", "normal"), file))
    return found


def _rules(style: Path) -> list[tuple[str, str]]:
    """The rules of KaTeX that choose a font: a selector and what it says."""
    text = FACE.sub("", style.read_text(encoding="utf-8"))
    return [(selector.strip(), body) for selectors, body in KATEX_RULE.findall(text)
            if ".katex" in selectors and re.search(r"font(-family|-weight|-style)?:", body)
            for selector in selectors.split(",")]


def _fonts(tree: LexborHTMLParser, faces: list[Face],
           rules: list[tuple[str, str]]) -> Iterator[Path]:
    """The fonts of the formulas, and those of the book's own."""
    yield from (face.file for face in faces if not face.family.startswith("KaTeX"))
    formulas = [face for face in faces if face.family.startswith("KaTeX")]
    if formulas:
        for wanted in chosen(tree, rules):
            yield from nearest(formulas, *wanted)


def chosen(tree: LexborHTMLParser, rules: list[tuple[str, str]]) -> set[tuple[str, str, str]]:
    """Family, weight and style of each text in a formula, as the rules set them in order."""
    own: dict[int, dict[str, str]] = {}
    for selector, body in rules:
        said = _said(body)
        for node in tree.css(selector) if said else ():
            own.setdefault(node.mem_id, {}).update(said)
    found = set()
    for formula in tree.css(".katex-html"):
        _walk(formula, dict(zip(("family", "weight", "style"), USUAL, strict=True)), own, found)
    return found


def _said(body: str) -> dict[str, str]:
    said = {}
    if family := FAMILY.search(body):
        said["family"] = family[0]
    if re.search(r"font-weight:\s*(700|bold)", body):
        said["weight"] = "700"
    if style := re.search(r"font-style:\s*(italic|normal)", body):
        said["style"] = style[1]
    return said


def _walk(node: LexborNode, given: dict[str, str], own: dict[int, dict[str, str]],
          found: set[tuple[str, str, str]]) -> None:
    here = given | own.get(node.mem_id, {})
    for child in node.iter(include_text=True):
        if child.is_text_node:
            if child.text().strip("\u200b \n"):
                found.add((here["family"], here["weight"], here["style"]))
        else:
            _walk(child, here, own, found)


def nearest(faces: list[Face], family: str, weight: str, style: str) -> Iterator[Path]:
    """The file that a browser takes for a family: of this style if there is one, then weight."""
    fitting = [face for face in faces if face.family == family]
    if fitting:
        yield min(fitting, key=lambda face: (face.style != style, face.weight != weight)).file


def table(sizes: list[Size]) -> str:
    """A row for each page, the heaviest first."""
    width = max(len(size.page) for size in sizes)
    lines = ["  ".join([f"{'KB over the wire':{width}}", *(f"{name:>7}" for name in COLUMNS),
                        f"{'all':>7}"])]
    for size in sorted(sizes, key=lambda one: -one.total):
        numbers = [*size.by_kind().values(), size.total]
        lines.append("  ".join([f"{size.page:{width}}", *(f"{n / 1000:7.1f}" for n in numbers)]))
    return "\n".join(lines) + "\n"


def check(site: Path, log: Path) -> str:
    """Write the table to `log`; returns one line about it.

    Raises ValueError where a page of a chapter is over its budget: page, bytes, largest parts.
    """
    sizes = measure(site)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(table(sizes), encoding="utf-8")
    pages = [size for size in sizes if place(size.page)]
    over = [f"{size.page}: {size.total / 1000:.1f} KB over the wire, {BUDGET / 1000:.0f} KB are "
            f"allowed; the largest parts: {size.largest()}" for size in pages
            if size.total > BUDGET]
    if over:
        raise ValueError("\n".join(over))
    heavy = sum(size.total > STRETCH for size in pages)
    most = max(pages, key=lambda size: size.total, default=None)
    return (f"{len(pages)} pages of chapters within {BUDGET / 1000:.0f} KB, {heavy} of them over "
            f"{STRETCH / 1000:.0f} KB; the heaviest: {most.page} {most.total / 1000:.1f} KB"
            if most else "no page of a chapter")
