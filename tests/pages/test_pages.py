"""Each page of the book is visited once; the failure of a page names all that is wrong with it."""

import pytest

pytestmark = pytest.mark.browser


def test_a_visit_finds_nothing(tab, page_path):
    found = tab.visit(page_path)
    assert found == [], "\n".join(map(str, [f"{len(found)} findings", *found]))
