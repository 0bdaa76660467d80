"""The foot of each page: a form to report an error, filled in, and where the page comes from.

It says nothing while `book.pipeline.content.publication` knows no repository. An edition is named
by the version of the book and the digest of the page's own sources: a page that did not change
keeps it.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from book.pipeline.content import publication
from book.pipeline.ground import digests
from book.pipeline.ground.paths import ROOT
from book.pipeline.notebooks.notebook import pinned_torch

SCRIPT = "report.js"
TITLE = "错误 · Error: {}"
BODY = """**哪里不对？应该怎样？ · What is wrong, and what should it say?**



---
页 · Page: {page}
版本 · Edition: {edition}
torch: {torch}
"""
SHOWN = 12  # characters of a digest


def sources(root: Path, document: str) -> list[Path]:
    """The text of a page and its cards, as they are edited."""
    page = root / document
    named = page.with_name(f"{page.name}.md")
    cards = page.parent / "cards" / f"{page.name}.yaml"
    return [file for file in (named, cards) if file.is_file()]


def edition(root: Path, document: str) -> str:
    """Which state of a page somebody read: `0.1.0, 1a2b3c4d5e6f`."""
    found = [digests.of_file(file) for file in sources(root, document)]
    return f"{version()}, {digests.of_value(found)[:SHOWN]}"


@cache
def version() -> str:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]["version"]


def links(root: Path, document: str) -> dict[str, str]:
    """Addresses for the foot of a page; empty while the repository is unknown."""
    if not publication.repository_page():
        return {}
    body = BODY.format(page=document, edition=edition(root, document), torch=pinned_torch())
    found = {"issue": publication.issue_address(TITLE.format(document), body),
             "repository": publication.repository_page()}
    if files := sources(root, document):
        name = files[0].relative_to(root).as_posix()
        found["source"] = publication.source_address(name)
    return found


def fill(app, pagename, templatename, context, doctree) -> None:
    context["report"] = links(Path(app.srcdir), pagename)


def setup(app):
    app.connect("html-page-context", fill)
    if publication.repository_page():
        app.add_js_file(SCRIPT, loading_method="defer")
