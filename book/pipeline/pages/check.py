"""Check the built pages without a browser and print all that is to mend.

    python -m book.pipeline.pages.check           the site in _build/html
    python -m book.pipeline.pages.check FOLDER    another one
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from book.pipeline.ground.paths import SITE
from book.pipeline.pages import (
    cards,
    chapters,
    drawings,
    languages,
    links,
    moved,
    predictions,
)
from book.pipeline.pages.built import Finding, Site

OF_A_PAGE = (links, languages, predictions, cards, drawings, chapters)


def findings(site: Site) -> Iterator[Finding]:
    """All findings, page by page; a folder without pages is one."""
    if not site.pages:
        yield Finding(str(site.folder), "", "holds no page; run make site")
        return
    yield from links.of_site(site)
    yield from chapters.of_site(site)
    yield from moved.of_site(site)
    for page in site.pages.values():
        for concern in OF_A_PAGE:
            yield from concern.problems(page)


def problems(folder: Path = SITE) -> list[Finding]:
    """What is wrong with the pages of a built site."""
    return list(findings(Site(folder)))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m book.pipeline.pages.check",
                                     description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=SITE)
    site = Site(parser.parse_args(argv).folder)
    found = list(findings(site))
    print(*found, f"{len(found)} findings on {len(site.pages)} pages", sep="\n")
    return bool(found)


if __name__ == "__main__":
    raise SystemExit(main())
