"""Old addresses in Chromium: who comes by one reads what stood there, in the language chosen."""

import pytest
from playwright.sync_api import expect

from oracles.web.axe import violations
from tests.specimen.conftest import CHAPTER, PAGES

pytestmark = pytest.mark.browser

OLD = f"{CHAPTER}/once-a-page.html"
GIVEN = PAGES["explorer"]  # a page that is still there, and has given a card away


def arrives(page, address):
    page.wait_for_url(f"**/{address}")
    assert page.locator("article h1").count() == 1


def come(visit, address, **options):
    """A reader who opens an address of the site as it stands."""
    visitor = visit(**options)
    page = visitor.open("book/index.html")
    page.goto(visitor.site + address)
    return page


@pytest.mark.parametrize(("asked", "given"), [
    (OLD, PAGES["section"]),
    (f"{OLD}#recall", f"{PAGES['section']}#recall"),
    (f"{OLD}#never-was", f"{PAGES['section']}#never-was"),
    (f"{OLD}#constructor", f"{PAGES['section']}#constructor"),
    (f"{OLD}#an-old-name", f"{PAGES['section']}#the-picture"),
    (f"{OLD}#timeline", f"{PAGES['timeline']}#timeline"),
    (f"{GIVEN}#tensors-slice-write", f"{PAGES['section']}#tensors-slice-write"),
])
def test_an_old_address_leads_to_what_stood_there(visit, asked, given):
    arrives(come(visit, asked), given)


@pytest.mark.parametrize("lang", ["zh", "en", "both"])
@pytest.mark.parametrize(("asked", "anchor", "given"), [
    (OLD, "timeline", PAGES["timeline"]), (GIVEN, "tensors-slice-write", PAGES["section"])])
def test_the_language_of_the_address_goes_along_and_is_kept(visit, lang, asked, anchor, given):
    page = come(visit, f"{asked}?lang={lang}#{anchor}")
    arrives(page, f"{given}?lang={lang}#{anchor}")
    assert page.locator("html").get_attribute("data-lang") == lang
    page.goto(page.url.partition("chapters/")[0] + OLD)
    arrives(page, PAGES["section"])
    assert page.locator("html").get_attribute("data-lang") == lang


@pytest.mark.parametrize("more", ["?lang=zh", "?lang=en#main-content", "#main-content", ""])
def test_the_root_page_leads_to_the_front_page_with_language_and_anchor(visit, more):
    arrives(come(visit, f"index.html{more}"), f"book/index.html{more}")


def test_back_does_not_fall_into_the_old_address_again(visit):
    page = come(visit, f"{OLD}#timeline")
    arrives(page, f"{PAGES['timeline']}#timeline")
    page.go_back()
    arrives(page, "book/index.html")


def test_a_link_within_the_page_to_what_moved_leads_on_too(visit):
    page = come(visit, GIVEN)
    page.evaluate("location.hash = 'tensors-slice-write'")
    arrives(page, f"{PAGES['section']}#tensors-slice-write")


def test_nobody_else_sees_that_an_anchor_moved(page_of):
    page = page_of("explorer")
    assert page.locator(".moved-anchor").count() == 1
    assert not page.locator(".moved-anchor").is_visible()


def test_without_scripts_the_old_page_refreshes_to_the_new_one(visit):
    arrives(come(visit, OLD, java_script_enabled=False), PAGES["section"])


def test_without_scripts_an_anchor_that_moved_is_a_line_with_a_link(visit):
    page = come(visit, f"{GIVEN}#tensors-slice-write", java_script_enabled=False)
    line = page.locator(".moved-anchor")
    expect(line).to_be_in_viewport()
    assert "搬到" in line.inner_text()
    assert "has moved to" in line.inner_text()
    line.locator("a").first.click()
    arrives(page, f"{PAGES['section']}#tensors-slice-write")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_the_old_page_as_it_waits(visit, specimen, scheme):
    visitor = visit(color_scheme=scheme, viewport={"width": 390, "height": 700})
    page = visitor.open("book/index.html")
    html = (specimen / OLD).read_text("utf-8")
    before, _, after = html.partition("<script>")
    page.set_content(before + after.partition("</script>")[2])
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(page, at_least=10) == []
