"""The guard that every test of a page relies on: a request to another host does not go unseen."""

import pytest

from tests.specimen.conftest import PAGES

pytestmark = pytest.mark.browser


def test_the_guard_sees_a_request_to_another_host(visit):
    visitor = visit()
    page = visitor.open(PAGES["section"])
    with page.expect_console_message():
        page.evaluate("new Image().src = 'https://example.org/pixel.png'")
    assert visitor.foreign == ["https://example.org/pixel.png"]
    assert "ERR_FAILED" in visitor.errors[0]
    visitor.foreign.clear()
    visitor.errors.clear()


def test_the_guard_sees_a_file_that_is_missing_and_a_script_that_fails(visit):
    visitor = visit()
    page = visitor.open(PAGES["section"])
    with page.expect_console_message():
        page.evaluate("new Image().src = '/no-such-file.png'")
    with page.context.expect_event("weberror"):
        page.evaluate("setTimeout(() => { throw new Error('broken'); })")
    assert "404" in visitor.errors[0]
    assert "broken" in visitor.errors[1]
    visitor.errors.clear()
