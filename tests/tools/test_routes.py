"""A route lists its sections in the order in which they are read, with their times and the sum."""

import pytest
from bs4 import BeautifulSoup

from book.extension import routes
from book.extension.sections import Section
from book.pipeline.reading.minutes import Estimate

A, B = (Section(f"chapters/01-tensors/{name}", (f"甲{name}", name),
                Estimate(minutes, minutes, 0), 3)
        for name, minutes in (("a", 25), ("b", 50)))
KNOWN = {one.document: one for one in (A, B)}


def test_a_route_keeps_its_order_and_sums_its_minutes():
    html = BeautifulSoup(routes.route([B.document, A.document], KNOWN), "html.parser")
    assert [link["href"] for link in html.select("ol a")] == [
        "../chapters/01-tensors/b.html", "../chapters/01-tensors/a.html"]
    assert [one.text for one in html.select("li small .lang-en")] == ["50 min", "25 min"]
    assert "About 1 h 20 in all" in html.p.text
    assert "约 1 小时 20 分钟" in html.p.text


def test_a_section_that_the_book_has_not_is_named():
    with pytest.raises(ValueError, match=r"^book/routes.yaml: chapters/gone is no section"):
        routes.route([A.document, "chapters/gone"], KNOWN)


def test_a_book_without_routes_has_none(tmp_path):
    assert routes.read(tmp_path) == {}
