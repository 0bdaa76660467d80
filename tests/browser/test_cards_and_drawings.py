"""Cards and drawings stand on their section's page as the build's sources say."""

import pytest

from book.pipeline.cards import claims as card_claims
from book.pipeline.cards.rules import refuted_ids

pytestmark = pytest.mark.browser


def text(locator):
    return locator.evaluate("e => e.textContent").strip()


def test_the_cards_of_the_section_stand_on_its_page_in_order(visit, section, cards):
    page = visit().open(section)
    ids = page.locator("article.card").evaluate_all("cards => cards.map((card) => card.id)")
    assert ids == [card["id"] for card in cards(section)]
    assert ids


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_card_hides_its_answer_until_its_fold_is_opened(visit, section, lang):
    page = visit().open(section, lang=lang)
    for card in page.locator("article.card").all():
        answer = card.locator(".card-answer")
        assert card.locator(".card-question").is_visible()
        assert not answer.is_visible()
        card.locator("summary").first.focus()
        page.keyboard.press("Enter")
        assert answer.is_visible()
        assert len(answer.inner_text()) > 60


def test_a_card_shows_what_its_code_printed_and_the_mended_code(visit, section, cards):
    page = visit().open(section)
    with_code = [card for card in cards(section) if "code" in card]
    assert any(card["kind"] == "bug" for card in with_code)
    for card in with_code:
        box = page.locator(f"article[id={card['id']}]")
        assert text(box.locator("> .highlight pre").first) == card["snippets"][0].strip()
        expected = [card[key][0].strip() for key in ("shown", "shown_fixed") if card.get(key)]
        shown = [text(pre) for pre in box.locator(".card-shown").all()]
        assert shown == [line for line in expected if line]
        if card["kind"] == "bug":
            mended = text(box.locator("> details > .highlight pre").first)
            assert mended == card["snippets_fixed"][0].strip()
            assert shown


def test_a_card_says_the_false_claims_that_it_refutes(visit, section, cards):
    page = visit().open(section, lang="zh")
    for card in cards(section):
        if refuted_ids(card):
            page.locator(f"article[id={card['id']}] summary").first.click()
    for lang in ("zh", "en"):
        page.locator(f"[data-set-lang={lang}]").click()
        read_claims(page, cards(section), lang)


def read_claims(page, cards, lang):
    claims = card_claims.read()
    refuting = [card for card in cards if refuted_ids(card)]
    items = page.locator("article.card li:has(small)")
    assert items.count() == sum(len(refuted_ids(card)) for card in refuting)
    for card in refuting:
        box = page.locator(f"article[id={card['id']}]")
        said = [item.inner_text() for item in box.locator("li:has(small)").all()]
        expected = [claims[name][lang].replace("`", "") for name in refuted_ids(card)]
        assert [text.rpartition("（" if lang == "zh" else " (")[0] for text in said] == expected


def svg_outputs(book):
    return ["".join(output["data"]["image/svg+xml"]) for cell in book["cells"]
            for output in cell.get("outputs", []) if "image/svg+xml" in output.get("data", {})]


def test_drawings_are_inline_and_no_picture_is_a_file(visit, section, notebook):
    page = visit().open(section)
    outputs = svg_outputs(notebook(section))
    assert page.locator("figure.drawing > svg").count() == len(outputs)
    assert page.locator("article img[src$='.svg']").count() == 0


def test_a_drawing_has_its_alternative_text_as_accessible_name(
        visit, section, notebook, open_all):
    page = visit().open(section, lang="zh")
    open_all(page)
    for lang in ("zh", "en"):
        page.locator(f"[data-set-lang={lang}]").click()
        alts = [cell["metadata"]["alt"][lang] for cell in notebook(section)["cells"]
                if "alt" in cell["metadata"]]
        assert [page.get_by_role("figure", name=alt, exact=True).count() for alt in alts] == [
            1 for _ in alts], lang


def test_the_text_of_a_drawing_can_be_selected_in_the_readers_language(
        visit, section, notebook, open_all):
    page = visit().open(section, lang="zh")
    open_all(page)
    for lang, mine, other in (("zh", ".lang-zh", ".lang-en"), ("en", ".lang-en", ".lang-zh")):
        page.locator(f"[data-set-lang={lang}]").click()
        read_drawings(page, notebook(section), mine, other)


def read_drawings(page, book, mine, other):
    drawings = page.locator("figure.drawing > svg:has(.lang-zh)").all()
    assert len(drawings) == sum("lang-zh" in svg for svg in svg_outputs(book))
    for svg in drawings:
        selected = svg.evaluate("""(svg) => {
          getSelection().selectAllChildren(svg);
          return getSelection().toString();
        }""")
        labels = [text(label) for label in svg.locator(f"text{mine}").all()]
        hidden = {text(label) for label in svg.locator(f"text{other}").all()}
        assert labels
        assert all(label in selected for label in labels)
        assert not any(label in selected for label in hidden - set(labels))
