"""What a web host and a search engine look for at the root of a site.

    404.html       its links work at whatever address it is shown
    robots.txt     everything may be read
    sitemap.xml    all pages and their languages, and the pictures that stand beside links to the
                   book, where the site's address is known
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from html import escape
from pathlib import Path

from book.pipeline import share_pictures
from book.pipeline.content import heads, publication

NOT_FOUND = "404.html"
LANGUAGES = {"zh-Hans": "?lang=zh", "en": "?lang=en", "x-default": ""}
# addresses below the root, which the page would look for below the address it is shown at
RELATIVE = re.compile(
    r'(\s(?:href|src|action|data-[\w-]+)=")(?:\./)?(?=(?:_static|book|chapters)/)')
ROOT_ITSELF = re.compile(r'(\sdata-(?:content_)?root=")\./(?=")')


def write(site: Path, root: Path, documents: Iterable[str]) -> None:
    """All of them; `documents` are the pages of the book."""
    page = site / NOT_FOUND
    page.write_text(from_root(page.read_text(encoding="utf-8"), publication.base_path()),
                    encoding="utf-8")
    (site / "robots.txt").write_text(robots(), encoding="utf-8")
    if publication.ADDRESS:
        finished = [one for one in documents if not heads.is_draft(one, root)]
        (site / "sitemap.xml").write_text(sitemap(finished, days(root)), encoding="utf-8")
        shutil.copytree(share_pictures.FOLDER, site / "_static" / share_pictures.FOLDER.name,
                        ignore=shutil.ignore_patterns("*.json"), dirs_exist_ok=True)


def from_root(html: str, base: str) -> str:
    """A page whose links start at the path of the site."""
    html = RELATIVE.sub(lambda match: match[1] + base, html)
    return ROOT_ITSELF.sub(lambda match: match[1] + base, html)


def robots() -> str:
    lines = ["User-agent: *", "Allow: /"]
    if publication.ADDRESS:
        lines.append(f"Sitemap: {publication.ADDRESS.rstrip('/')}/sitemap.xml")
    return "\n".join(lines) + "\n"


def sitemap(documents: Iterable[str], changed: dict[str, str]) -> str:
    """`changed` gives the day of a page's last change where that is known."""
    rows = [_row(publication.page_address(document), changed.get(document, ""))
            for document in documents]
    return ('<?xml version="1.0" encoding="utf-8"?>\n'
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
            'xmlns:xhtml="http://www.w3.org/1999/xhtml">\n' + "\n".join(rows) + "\n</urlset>\n")


def _row(address: str, day: str) -> str:
    links = "".join(f'<xhtml:link rel="alternate" hreflang="{language}" '
                    f'href="{escape(address + query)}"/>' for language, query in LANGUAGES.items())
    return f"<url><loc>{escape(address)}</loc>{day and f'<lastmod>{day}</lastmod>'}{links}</url>"


def days(root: Path) -> dict[str, str]:
    """Page -> day of the last commit that changed its text; empty where history is not whole."""
    git = ["git", "-C", str(root)]
    shallow = subprocess.run([*git, "rev-parse", "--is-shallow-repository"], capture_output=True,
                             text=True, check=False).stdout.strip()
    if shallow != "false":
        return {}
    log = subprocess.run([*git, "-c", "core.quotePath=off", "log", "--format=@%cs", "--name-only",
                          "--relative", "--", "*.md"], capture_output=True, text=True, check=True)
    return last_days(log.stdout.splitlines())


def last_days(lines: Iterable[str]) -> dict[str, str]:
    """The first day, which is the last one in time, that names each file."""
    found: dict[str, str] = {}
    day = ""
    for line in filter(None, lines):
        if line.startswith("@"):
            day = line[1:]
        else:
            found.setdefault(line.removesuffix(".md"), day)
    return found
