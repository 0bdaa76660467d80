"""A page asks only its own host, for at most 200 KB, and no script complains."""

import re
from urllib.parse import urlsplit

import pytest

from benchmarks.serving import wire_body
from book.pipeline.paths import SITE

pytestmark = pytest.mark.browser

BUDGET = 200_000  # bytes over the wire, all assets of one page
LOADED = re.compile(r"<(?:script|link|img|iframe|source|video|audio|object)\b[^>]*?"
                    r"\b(?:src|href|srcset|data)=[\"']?\s*((?:https?:)?//[^\"'\s>]*)", re.I)


def read_through(page):
    """Scroll to the end and open everything, so that whatever loads late has loaded."""
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    page.evaluate("scrollTo({ top: document.body.scrollHeight, behavior: 'instant' })")
    page.wait_for_load_state("networkidle")


def test_every_request_goes_to_our_own_host_and_is_answered(visit, page_path):
    visitor = visit()
    failed = []
    visitor.context.on("response", lambda r: r.status >= 400 and failed.append(r.url))
    page = visitor.open(page_path, lang="zh")
    for mode in ("zh", "en", "both"):
        page.locator(f"[data-set-lang={mode}]").click()
        read_through(page)
        assert (visitor.foreign, visitor.errors, failed) == ([], [], []), mode


def test_the_guard_sees_a_request_to_another_host(visit, template_page):
    visitor = visit()
    page = visitor.open(template_page)
    with page.expect_console_message():
        page.evaluate("new Image().src = 'https://example.org/pixel.png'")
    assert visitor.foreign == ["https://example.org/pixel.png"]
    assert "ERR_FAILED" in visitor.errors[0]
    visitor.foreign.clear()
    visitor.errors.clear()


def test_no_page_or_stylesheet_names_a_file_of_another_host(page_path):
    html = (SITE / page_path).read_text(encoding="utf-8")
    assert LOADED.findall(html) == []
    styles = [file for file in SITE.rglob("*.css")
              if re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", file.read_text())]
    assert styles == []


def test_a_page_stays_within_its_budget(visit, page_path):
    visitor = visit()
    urls = set()
    visitor.context.on("request", lambda request: urls.add(request.url))
    page = visitor.open(page_path, lang="both")
    read_through(page)
    urls |= {page.evaluate("document.querySelector('link[rel~=icon]').href")}
    sizes = {path: len(wire_body(SITE / path)) for path in {urlsplit(url).path[1:] for url in urls}}
    total = sum(sizes.values())
    print(f"{page_path}: {total / 1000:.1f} KB in {len(sizes)} requests")
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
    assert total <= BUDGET, f"{total} bytes; the largest: {largest}"

