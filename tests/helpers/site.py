"""The built site: which pages it has."""

from book.pipeline.pages.built import Site

NO_SITE = "no site in _build/html; run make site"


def pages():
    """The pages of the book, as its checks find them."""
    return list(Site().pages)
