"""What reading without a network needs: the service worker beside the pages, the list of the files
of this edition, and the page that stands in for one that is not kept.

    offline-worker.js      its scope is the folder it lies in
    edition.json           which edition this is, and the address of its list
    offline-files.json     {edition, shell: [path], bytes, files: [row],
                            downloads: {list: address, bytes, wire}}
                           row: path, digest, bytes with gzip (to a thousand: each page loads
                           this list); of a page its stamp, and its title:
                           1 where a link of the front page has it, which is kept anyway
    offline-downloads.json [row]: apart, because few readers keep notebooks and code files

Take `offline.write` out of site.py, and browsers drop the worker at their next visit.
"""

from __future__ import annotations

import gzip
import html
import json
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from book.extension.bilingual import spans
from book.pipeline.finish import versions
from book.pipeline.finish.app import MANIFEST
from book.pipeline.finish.downloads import FOLDER as DOWNLOADS
from book.pipeline.finish.manners import NOT_FOUND
from book.pipeline.finish.versions import DIGITS, stamped
from book.pipeline.ground import digests

BOOK = "pytorch-inside-out"  # as in book/web/offline/shelf.js
WORKER, EDITION, LIST, APART, PAGE = ("offline-worker.js", "edition.json", "offline-files.json",
                                      "offline-downloads.json", "offline.html")
# kept at the first visit, and the pages that lead on from old addresses
FIRST = ("index.html", "book/index.html", PAGE, MANIFEST)
# Files that are named by others in pieces only, so that no address of theirs can be found.
ALSO = ("_static/search/**/*", "_static/drill-cards/**/*", "_static/icons/*")
VERSIONED = re.compile(r"[\"'(`]([^\"'(`\s]+)\?v=[0-9a-f]{8}")
TEXTS = {".html", ".css", ".js", ".mjs", ".json", ".webmanifest"}
LINK = re.compile(r'<a data-page="([^"]+)" href="[^"]*">(.*?)</a>', re.DOTALL)  # as in the worker
STAMP = re.compile(r'<meta name="book-page" content="(\w+)">')
SOURCE = Path(__file__).with_name("offline.html")


def write(site: Path) -> None:
    """Digests in all addresses, the worker, the edition and its list; nothing may change after.

    Raises ValueError, in one line, where the worker was not made, or a page has no stamp.
    """
    site = site.resolve()
    bundled = site / "_static" / WORKER
    if bundled.exists():
        shutil.move(bundled, site / WORKER)  # first: its name in a script is no address to rewrite
    elif not (site / WORKER).exists():
        raise ValueError(f"{WORKER}: not among the scripts that were bundled")
    versions.write(site)
    (site / PAGE).write_text(stamped(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")
    listed = listing(site)
    edition = {"book": BOOK, "edition": listed["edition"], "list": write_list(site, LIST, listed)}
    (site / EDITION).write_text(json.dumps(edition), encoding="utf-8")


def write_list(site: Path, name: str, content: object) -> str:
    """Write a list; returns its address, with its digest."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    (site / name).write_text(text, encoding="utf-8")
    return digests.versioned(name, text)


def listing(site: Path) -> dict:
    """The list of an edition, which is the digest of all rows; writes that of its downloads."""
    pages = sorted(path for path in site.rglob("*.html") if not is_download(site, path))
    also = [path for pattern in ALSO for path in site.glob(pattern) if path.is_file()]
    first = [site / name for name in FIRST if (site / name).exists()]
    first += [path for path in pages if leads_on(path)]  # small: an old address is known offline
    files = reached(site, [*pages, *also, *first])
    downloads = sorted(path for path in (site / DOWNLOADS).rglob("*") if path.is_file())
    order = contents(site)
    files = sorted(files, key=lambda path: (order.get(path, len(order)), path))
    known = titles(site)
    rows, apart = ([row(site, path, known) for path in paths] for paths in (files, downloads))
    shell = reached(site, first, through={".html", ".css"})
    return {"edition": digests.of_value([rows, apart])[:16],
            "shell": sorted(str(path.relative_to(site)) for path in shell),
            "bytes": weight(files), "files": rows,
            "downloads": {"list": write_list(site, APART, apart), "bytes": weight(downloads),
                          "wire": sum(row[2] for row in apart)}}


def weight(paths: Iterable[Path]) -> int:
    """Bytes of files on a disk."""
    return sum(path.stat().st_size for path in paths)


def contents(site: Path) -> dict[Path, int]:
    """The place of each page in the contents of the book, after the front page; what lists pages
    lists them so."""
    front = site / "book" / "index.html"
    if not front.exists():
        return {}
    tree = LexborHTMLParser(front.read_text(encoding="utf-8"))
    linked = [urlsplit(link.attributes.get("href") or "").path
              for link in tree.css("#contents a[data-page]")]
    pages = [front, *((front.parent / path).resolve() if path else front for path in linked)]
    return {page: place for place, page in enumerate(dict.fromkeys(pages))}


def is_download(site: Path, path: Path) -> bool:
    return path.relative_to(site).parts[0] == DOWNLOADS


def reached(site: Path, files: Iterable[Path], through: set[str] = TEXTS) -> set[Path]:
    """These files and all whose addresses, with a digest, stand in them and in what they name."""
    found, open_ = set(), list(files)
    while open_:
        path = open_.pop()
        if path in found:
            continue
        found.add(path)
        if path.suffix in through:
            text = path.read_text(encoding="utf-8")
            named = {(path.parent / name).resolve() for name in VERSIONED.findall(text)}
            open_ += [file for file in named if file.is_file() and file.is_relative_to(site)]
    return found


def leads_on(path: Path) -> bool:
    """A page at an old address."""
    return "http-equiv" in path.read_text(encoding="utf-8")


def titles(site: Path) -> dict[str, str]:
    """The titles of pages in the links of the front page, the last of each page, by path."""
    front = site / "book" / "index.html"
    found = LINK.findall(front.read_text(encoding="utf-8")) if front.exists() else []
    return {f"{page}.html": words for page, words in found}


def row(site: Path, path: Path, known: dict[str, str]) -> list:
    """Path, digest, bytes with gzip to a thousand; of a page its stamp, its title as HTML or 1."""
    content = path.read_bytes()
    found = [str(path.relative_to(site)), digests.of(content)[:DIGITS],
             round(len(gzip.compress(content, 6, mtime=0)), -3)]
    if path.suffix != ".html":
        return found
    stamp, listed = page(found[0], content.decode())
    return [*found, stamp, 1 if listed and listed == known.get(found[0]) else listed]


def page(name: str, text: str) -> list[str]:
    """Stamp and title of a page; a page that only leads on has no title to be listed by."""
    stamp = STAMP.search(text)
    if stamp is None:
        raise ValueError(f"{name}: a page without </head>")
    heading = LexborHTMLParser(text).css_first("article h1, main h1")
    listed = (heading is not None and name not in (PAGE, NOT_FOUND)
              and "http-equiv" not in text)
    return [stamp[1], title(heading) if listed else ""]


def title(heading) -> str:
    """A heading `中文 · English` as HTML: a span of each language; another as it is."""
    text = heading.text().strip().rstrip("#")
    zh, _, en = (html.escape(part.strip()) for part in text.partition(" · "))
    return spans(zh, en, escape=False) if en else zh
