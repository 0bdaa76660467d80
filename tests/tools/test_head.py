"""A page says of itself what its own opening says; its place on the web only where that is known.
"""

import json

import pytest
from docutils import nodes
from selectolax.lexbor import LexborHTMLParser

from book.extension import head
from book.pipeline.content import publication
from tests.helpers.templates import rendered

PAGE, BOOK = "chapters/01-tensors/views", "由内而外 · Inside Out"
TITLE = "视图 · Views"
TEXTS = {"zh": "写 <b>一个数</b>。", "en": 'It "runs"</script>.'}
NEEDS_ADDRESS = ("link[rel=canonical]", "link[hreflang]", "meta[property^='og:']",
                 "meta[name^='twitter:']", "script")


@pytest.fixture
def address(monkeypatch):
    monkeypatch.setattr(publication, "ADDRESS", "https://example.org/book/")


def page(document=PAGE, texts=TEXTS):
    """The head of a page, parsed."""
    given = {"descriptions": texts, "theme_colors": {"light": "#fff", "dark": "#111"},
             "hidden": document == head.NOT_FOUND,
             **head.published(document, TITLE, texts, BOOK)}
    html = rendered("head", head=given, kind="section", title=TITLE, docstitle=BOOK)
    return LexborHTMLParser(f"<html><head>{html}</head><body></body></html>").css


def content(found):
    assert len(found) == 1
    return found[0].attributes["content"]


# ---- descriptions ------------------------------------------------------------------------------

def test_a_description_is_as_many_whole_sentences_as_there_is_room_for():
    long = "x" * 100
    assert head.shortened(f"A dog barks. It is {long}! Then it sleeps.", "en") == (
        f"A dog barks. It is {long}! Then it sleeps.")
    assert head.shortened(f"It is {long}. Then {long}.", "en") == f"It is {long}."
    zh = "长" * 60
    assert head.shortened(f"一只狗{zh}。它叫{zh}！它睡{zh}。", "zh") == f"一只狗{zh}。它叫{zh}！"


def test_what_would_say_little_goes_on_up_to_a_pause():
    start, rest = "the GPU stops with an error that " * 2, "says a great deal more " * 5
    assert head.shortened(f"All tests pass. Then {start.strip()}, {rest}.", "en", 90) == (
        f"All tests pass. Then {start.strip()}…")
    assert head.shortened("短句。" + "很长的一句，" * 40 + "。", "zh", 30) == (
        "短句。很长的一句，很长的一句，很长的一句，很长的一句…")


def test_a_point_inside_a_name_ends_no_sentence():
    said = "Call `x.t()` in torch 2.13 and see."
    assert head.shortened(f"{said} {'y' * 150}.", "en", len(said) + 5) == said


def box(lang, *paragraphs):
    container = nodes.container("", *(nodes.paragraph("", text) for text in paragraphs))
    container["lang_cell"] = lang
    return container


def doctree(*children):
    document = nodes.document(None, None)
    document += nodes.section("", nodes.title("", TITLE), *children)
    return document


def test_a_page_is_described_by_its_opening_and_a_sheet_by_its_headings():
    titles = "存储 · Storage", "步长 · Strides"
    parts = [nodes.section("", nodes.title("", title)) for title in titles]
    tree = doctree(box("zh", "开头。", "接着。"), box("en", "It opens.", "It goes on."),
                   box("zh", "后面。"), *parts)
    assert head.descriptions(PAGE, tree) == {"zh": "开头。接着。", "en": "It opens. It goes on."}
    assert head.descriptions("chapters/01-tensors/cheat-sheet", tree) == {
        "zh": "视图：存储、步长。", "en": "Views: Storage, Strides."}


# ---- what stands in the head -------------------------------------------------------------------

def test_while_the_address_is_unknown_nothing_needs_it():
    css = page()
    assert {name: len(css(name)) for name in NEEDS_ADDRESS} == dict.fromkeys(NEEDS_ADDRESS, 0)
    assert content(css("meta[name=description]")) == f"{TEXTS['zh']} {TEXTS['en']}"
    assert len(css("meta[name=theme-color]")) == 2


def test_a_published_page_says_where_it_is_and_in_which_languages(address):
    css = page()
    here = f"https://example.org/book/{PAGE}.html"
    assert css("link[rel=canonical]")[0].attributes["href"] == here
    assert {link.attributes["hreflang"]: link.attributes["href"]
            for link in css("link[hreflang]")} == {
        "zh-Hans": f"{here}?lang=zh", "en": f"{here}?lang=en", "x-default": here}
    assert content(css("meta[property='og:url']")) == here
    assert content(css("meta[property='og:title']")) == TITLE
    assert content(css("meta[property='og:image']")) == (
        "https://example.org/book/_static/share/01-tensors.png")
    assert content(css("meta[name='twitter:card']")) == "summary_large_image"


def test_data_for_machines_is_json_that_no_text_ends(address):
    css = page()
    data = json.loads(css("script[type='application/ld+json']")[0].text())
    assert (data["@type"], data["headline"], data["isPartOf"]["@type"]) == (
        "TechArticle", TITLE, "Book")
    assert data["description"].endswith("</script>.")
    front = json.loads(page("book/index")("script[type='application/ld+json']")[0].text())
    assert (front["@type"], front["name"]) == ("Book", BOOK)


def test_the_page_for_wrong_addresses_is_in_no_index_and_has_no_place(address):
    css = page("404", {})
    assert content(css("meta[name=robots]")) == "noindex"
    assert not css("link[rel=canonical]")
    assert not css("meta[name=description]")
