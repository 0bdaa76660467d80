"""Without scripts a page is still a page: both languages, the options, the outputs, the folds."""

import pytest

from tests.helpers.contrast import luminance

pytestmark = pytest.mark.browser


@pytest.fixture
def bare(page_of):
    """Open a page with scripts off."""
    return lambda name: page_of(name, java_script_enabled=False)


def test_both_languages_show_dark_on_light_and_the_switch_is_hidden(bare, template):
    page = bare(template)
    hidden = page.evaluate("""() => [...document.querySelectorAll('.lang-zh, .lang-en')].filter(
      (element) => getComputedStyle(element).display === 'none').length""")
    assert hidden == 0
    assert page.locator("h1 .lang-zh:visible").count() == 1
    assert not page.locator(".site-header button").locator("visible=true").count()
    text_is_dark_on_light(page)


def text_is_dark_on_light(page):
    colour, ground = page.evaluate("""() => {
      const { color, backgroundColor } = getComputedStyle(document.body);
      return [color, backgroundColor];
    }""")
    assert luminance(ground) > 0.9
    assert luminance(colour) < 0.1


def test_options_can_be_read_and_outputs_and_cards_opened(bare):
    page = bare("section")
    cells = page.locator("predict-cell").all()
    assert len(cells) == 2
    for cell in cells:
        assert all(text.is_visible() for text in cell.locator(".predict-choice").all())
        assert not cell.locator("button, .predict-hint").locator("visible=true").count()
        output = cell.locator("details pre").first
        assert not output.is_visible()
        cell.locator("summary").first.click()
        assert output.is_visible()
    card = page.locator("article.card").first
    card.locator("summary").first.click()
    assert card.locator(".card-answer").is_visible()
    layers = page.locator("article.card:has(.card-line)")
    layers.locator("summary").first.click()
    assert all(part.is_visible() for part in layers.locator(".card-answer > *").all())


def test_explanations_show_and_no_note_says_that_they_wait(bare):
    page = bare("section")
    assert all(part.is_visible() for part in page.locator(".explanation > .bi-pair").all())
    assert not page.locator(".explanation-note").locator("visible=true").count()


def test_the_explorer_is_a_table_of_addresses(bare):
    table = bare("explorer").locator("stride-explorer table")
    assert table.is_visible()
    assert table.locator("td").all_inner_texts() == [str(address) for address in range(12)]


def test_aligned_shapes_are_a_table_of_what_torch_makes_of_them(bare):
    table = bare("explorer").locator("aligned-shapes table")
    assert table.is_visible()
    assert "(3, 4)" in table.locator("caption").inner_text()
    assert table.locator("td").all_inner_texts() == [
        "(3, 1)", "(1, 0)", "12", "dim=1", "(4,)", "(0, 1)", "16", "dim=0"]


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1100, 1280, 1920])
def test_the_text_has_the_wide_column_at_every_width(bare, width):
    """The contents stand beside it, or below it where they have no place."""
    page = bare("section")
    page.set_viewport_size({"width": width, "height": 800})
    text, contents = (page.locator(part).bounding_box() for part in ("h1", "#contents"))
    assert text["width"] >= min(600, width - 40)
    assert text["y"] < 400
    if width < 1024:
        assert contents["y"] > text["y"] + text["height"]
    else:
        assert contents["x"] + contents["width"] <= text["x"]
    assert page.evaluate("document.documentElement.scrollWidth") == width
