"""What is known only once the book is published; all of it stands here, empty until then.

What needs one of the two is not on the pages while it is empty. Addresses in the repository are
those of GitHub and of hosts that follow it.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

REPOSITORY = ""  # address that `git clone` takes
ADDRESS = ""  # of the site, with a slash at the end: https://example.org/book/


def page_address(document: str) -> str:
    """Where readers find a page, as in `chapters/01-tensors/index`; empty while unknown."""
    return ADDRESS and f"{ADDRESS.rstrip('/')}/{quote(document)}.html"


def base_path() -> str:
    """The path that the site lies below on its host; the host's root while unknown."""
    return f"{urlsplit(ADDRESS).path.rstrip('/')}/"


def repository_page() -> str:
    """The repository in a browser; empty while unknown, or where browsers cannot follow."""
    return REPOSITORY.removesuffix("/").removesuffix(".git") * REPOSITORY.startswith("https://")


def source_address(file: str) -> str:
    """A file of the newest edition in a browser; empty while the repository is unknown."""
    return repository_page() and f"{repository_page()}/blob/HEAD/{quote(file)}"


def issue_address(title: str, body: str) -> str:
    """A form for a new issue, filled in; empty while the repository is unknown."""
    query = urlencode({"title": title, "body": body}, quote_via=quote)
    return repository_page() and f"{repository_page()}/issues/new?{query}"
