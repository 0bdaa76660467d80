"""The foot of a page leads to a report that names the page and its edition, if there is a place."""

from urllib.parse import parse_qs, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from book.extension import report
from book.pipeline.content import publication
from book.pipeline.notebooks.notebook import pinned_torch
from tests.helpers.templates import rendered

PAGE = "chapters/01-tensors/views"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A page with cards, of a book whose repository is known."""
    monkeypatch.setattr(publication, "REPOSITORY", "https://example.org/a/book.git")
    (tmp_path / "chapters/01-tensors/cards").mkdir(parents=True)
    (tmp_path / f"{PAGE}.md").write_text("text")
    (tmp_path / "chapters/01-tensors/cards/views.yaml").write_text("cards")
    return tmp_path


def test_without_a_repository_the_foot_says_nothing(book, monkeypatch):
    monkeypatch.setattr(publication, "REPOSITORY", "")
    assert report.links(book, PAGE) == {}
    assert rendered("report", report={}).strip() == ""


def test_a_report_names_page_edition_and_torch(book):
    links = report.links(book, PAGE)
    query = parse_qs(urlsplit(links["issue"]).query)
    assert links["issue"].startswith("https://example.org/a/book/issues/new?")
    assert PAGE in query["title"][0]
    for line in (f"Page: {PAGE}", f"Edition: {report.edition(book, PAGE)}",
                 f"torch: {pinned_torch()}"):
        assert line in query["body"][0]
    foot = LexborHTMLParser(rendered("report", report=links))
    assert [link.attributes["href"] for link in foot.css("a")] == [
        links["issue"], f"https://example.org/a/book/blob/HEAD/{PAGE}.md",
        "https://example.org/a/book"]
    assert [span.attributes["lang"] for span in foot.css("a[data-report] [lang]")] == [
        "zh-Hans", "en"]


def test_an_edition_changes_with_the_page_and_with_nothing_else(book):
    before = report.edition(book, PAGE)
    (book / "chapters/01-tensors/other.md").write_text("text")
    assert report.edition(book, PAGE) == before
    (book / "chapters/01-tensors/cards/views.yaml").write_text("other cards")
    cards = report.edition(book, PAGE)
    (book / f"{PAGE}.md").write_text("other text")
    assert len({before, cards, report.edition(book, PAGE)}) == 3


def test_a_page_without_a_source_of_its_own_leads_to_none(book):
    assert "source" not in report.links(book, "404")
    assert "blob" not in rendered("report", report=report.links(book, "404"))
