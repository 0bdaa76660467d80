"""A card folds its answer away and says what its code printed; a drawing is part of the page."""

import pytest

pytestmark = pytest.mark.browser

CARDS = ["why-shared", "slice-write", "clone-write", "view-or-copy", "shared-list", "bytes-held",
         "keep-rows"]
CLAIMS = {
    "zh": ["切片总是复制数据（错误）", "clone 不占内存（误传）"],
    "en": ["A slice always copies its data (wrong)", "clone takes no memory (myth)"],
}


def text(locator):
    return locator.evaluate("e => e.textContent").strip()


def test_a_card_hides_its_answer_until_its_fold_is_opened(page_of):
    page = page_of("section", lang="en")
    cards = page.locator("article.card").all()
    assert [card.get_attribute("id") for card in cards] == [f"tensors-{name}" for name in CARDS]
    for card in cards:
        answer = card.locator(".card-answer")
        assert card.locator(".card-question").is_visible()
        assert not answer.is_visible()
        card.locator("summary").first.focus()
        page.keyboard.press("Enter")
        assert answer.is_visible()
        assert len(answer.inner_text()) > 60


def test_a_card_shows_what_its_code_printed_and_the_mended_code(page_of):
    card = page_of("section").locator("article[id=tensors-shared-list]")
    assert text(card.locator("> .highlight pre").first).startswith("import torch\nvalue = 5")
    assert [text(pre) for pre in card.locator(".card-shown").all()] == ["[5.0, 5.0]", "[0.0, 0.0]"]
    assert "t.clone()" in text(card.locator("> details > .highlight pre").first)


@pytest.mark.parametrize(("lang", "label"), [("zh", "如果追问"), ("en", "If they push")])
def test_a_card_in_layers_says_its_line_large_then_the_reasons_then_the_limit(page_of, lang, label):
    card = page_of("section", lang=lang).locator("article[id=tensors-view-or-copy]")
    card.locator("summary").first.click()
    parts = card.locator(".card-answer > *").all()
    assert [part.get_attribute("class") for part in parts] == [
        "card-line", "card-because", None, "card-limit"]
    assert parts[2].inner_text() == label
    assert all(part.is_visible() for part in parts)
    line, because = (part.evaluate("""e => {
      const { fontSize, fontWeight } = getComputedStyle(e);
      return [parseFloat(fontSize), Number(fontWeight)];
    }""") for part in parts[:2])
    assert line[0] > because[0]
    assert line[1] > because[1]


@pytest.mark.parametrize("lang", CLAIMS)
def test_a_card_says_the_false_claims_that_it_refutes(page_of, lang):
    page = page_of("section", lang=lang)
    card = page.locator("article[id=tensors-shared-list]")
    card.locator("summary").first.click()
    said = card.locator("li:has(small)").all_inner_texts()
    assert [item.strip() for item in said] == CLAIMS[lang]


# ---- drawings -----------------------------------------------------------------------------------

@pytest.fixture
def section(page_of, open_all):
    page = page_of("section", lang="zh")
    open_all(page)
    return page


def test_drawings_are_inline_and_no_picture_is_a_file(section):
    assert section.locator("figure.drawing > svg").count() == 1
    assert section.locator("article img").count() == 0


def test_a_drawing_has_its_alternative_text_as_accessible_name(section):
    for lang, alt in (("zh", "切片和原来的张量共用一块存储。"),
                      ("en", "A slice and its tensor share one storage.")):
        section.locator(f"[data-set-lang={lang}]").click()
        assert section.get_by_role("figure", name=alt, exact=True).count() == 1, lang


def test_the_text_of_a_drawing_can_be_selected_in_the_readers_language(section):
    words = {"zh": {"两个名字", "一块存储"}, "en": {"two names", "one storage"}}
    for lang, other in (("zh", "en"), ("en", "zh")):
        section.locator(f"[data-set-lang={lang}]").click()
        selected = section.locator("figure.drawing > svg").evaluate("""(svg) => {
          getSelection().selectAllChildren(svg);
          return getSelection().toString();
        }""")
        assert all(label in selected for label in words[lang])
        assert not any(label in selected for label in words[other])
