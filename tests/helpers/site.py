"""The built site: which pages it has."""

from book.pipeline.paths import SITE

NO_SITE = "no site in _build/html; run make site"


def pages():
    """The pages of the book: every HTML file that holds an article."""
    return sorted(str(file.relative_to(SITE)) for file in SITE.rglob("*.html")
                  if "<article" in file.read_text(encoding="utf-8")
                  and "_static" not in file.parts)
