"""In a browser: the bars have the ground of the page; a link to one language stays in it."""

from urllib.parse import parse_qs, urlsplit

import pytest

from book.extension import head, report
from book.pipeline.content import publication
from oracles.web.serving import served
from tests.helpers.templates import rendered
from tests.specimen.conftest import SOURCE

pytestmark = pytest.mark.browser
SECTION = "chapters/01-tensors/section"
TEXTS = {"zh": "中文。", "en": "English."}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_bars_of_the_browser_have_the_ground_of_the_page(page_of, scheme):
    page = page_of("section", color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == page.evaluate(
        """scheme => {
          const tag = [...document.querySelectorAll("meta[name=theme-color]")]
            .find((one) => one.media.includes(scheme));
          document.body.style.color = tag.content;
          return getComputedStyle(document.body).color;
        }""", scheme)


@pytest.fixture
def published(monkeypatch):
    monkeypatch.setattr(publication, "ADDRESS", "https://example.org/")
    monkeypatch.setattr(publication, "REPOSITORY", "https://example.org/a/book.git")


@pytest.mark.parametrize("lang", ["zh", "en", "both"])
def test_a_page_in_one_language_calls_that_its_own_address(browser, published, tmp_path, lang):
    given = {"descriptions": TEXTS, "theme_colors": {},
             **head.published(SECTION, "甲 · A", TEXTS, "书 · Book")}
    tags = rendered("head", head=given, title="甲 · A", docstitle="书")
    (tmp_path / "p.html").write_text(f'<meta charset="utf-8">{tags}', encoding="utf-8")
    with served(tmp_path) as site:
        page = browser.new_page()
        page.goto(f"{site}p.html?lang={lang}")
        address, said, title = page.evaluate("""["link[rel=canonical]", "meta[name=description]",
          "meta[property='og:title']"].map((one) => document.querySelector(one))
          .map((tag) => tag.href ?? tag.content)""")
        page.close()
    here = f"https://example.org/{SECTION}.html"
    if lang == "both":
        assert (address, said, title) == (here, "中文。 English.", "甲 · A")
    else:
        assert (address, said) == (f"{here}?lang={lang}", TEXTS[lang])
        assert title == {"zh": "甲", "en": "A"}[lang]


def test_a_report_names_the_heading_that_was_read_and_the_language(page_of, published, specimen):
    """The foot and its script, put on a page of the book; no address is followed."""
    page = page_of("section", "en")
    links = report.links(SOURCE, SECTION)
    page.evaluate("html => document.querySelector('main').insertAdjacentHTML('beforeend', html)",
                  rendered("report", report=links))
    page.add_script_tag(path=specimen.parent / "web" / report.SCRIPT)
    page.evaluate("""addEventListener("click", (event) => event.preventDefault());
      document.querySelector("[data-report]").scrollIntoView({ behavior: "instant" })""")
    for _ in range(2):  # the second time says it once, too
        page.locator("[data-report]").click()
    body = parse_qs(urlsplit(page.locator("[data-report]").get_attribute("href")).query)["body"][0]
    last = page.evaluate("[...document.querySelectorAll('article section[id]')].at(-1).id")
    assert body.startswith(parse_qs(urlsplit(links["issue"]).query)["body"][0].rstrip())
    assert body.count(f"Heading: #{last}\n") == body.count("Language: en\n") == 1


def test_what_is_not_there_is_answered_with_a_page_of_the_book(browser, site):
    page = browser.new_page()
    answers = []
    page.on("response", lambda answer: answers.append((answer.status, answer.url)))
    page.goto(f"{site}chapters/01-tensors/none.html?lang=en")
    page.get_by_role("link", name="The front page of the book").click()
    page.wait_for_url("**/book/index.html*")
    assert [url for status, url in answers if status != 200] == [
        f"{site}chapters/01-tensors/none.html?lang=en"]
    page.close()
