"""A card answers in one text or in layers: the line, the reasons, and how far it holds."""

import pytest

from book.extension import drill
from book.extension.card_html import card_html, snippet
from book.pipeline.cards import book as cards
from book.pipeline.cards import layers
from book.pipeline.cards.report import report
from book.pipeline.pages import cards as page_cards
from book.pipeline.pages.built import Page, Site
from tests.helpers.card_examples import EN, ZH, card, layered, line_of, write_book, write_cards

FILE = "chapters/01-tensors/cards/views.yaml"
PROVED = {"sources": [{"target": "torch.Tensor.view", "url": "https://github.com/pytorch/pytorch"}],
          "snippets": [], "digest": "0" * 64}
LEFT_OUT = {"zh": "删掉的", "en": "left out"}


def problems(root):
    return [str(problem) for problem in cards.load(root)[1]]


def words(count, lang):
    return {"en": " ".join(["word"] * count), "zh": "字" * count}[lang]


def one(count, lang, name="because", **changes):
    """A card whose layer has a text of this length in one language."""
    texts = {"zh": ZH, "en": EN} if name == "because" else dict(layered()[name])
    return layered(**{name: texts | {lang: words(count, lang)}}, **changes)


# ---- the two forms ------------------------------------------------------------------------------

def test_a_card_may_answer_in_layers_with_a_limit_or_without(tmp_path):
    write_book(tmp_path, layered(), layered("tensors-short", limit=None), card())
    assert problems(tmp_path) == []


@pytest.mark.parametrize(("row", "has"), [
    (card(answer=None), "neither"),
    (layered(answer={"zh": ZH, "en": EN}), "answer, line, because, limit"),
    (layered(because=None), "line, limit"),
    (layered(line=None, limit=None), "because"),
    (card(limit=LEFT_OUT), "answer, limit"),
])
def test_a_card_has_exactly_one_form_of_answer(tmp_path, row, has):
    path = write_book(tmp_path, row)
    assert problems(tmp_path) == [
        f"{FILE}:{line_of(path, '- id:')}: card '{row['id']}': write `answer`, or `line` and "
        f"`because` with or without `limit`; the card has {has}"]


def test_a_layer_is_written_in_both_languages(tmp_path):
    path = write_book(tmp_path, layered(limit={"zh": "到此为止。"}))
    assert problems(tmp_path) == [
        f"{FILE}:{line_of(path, 'limit:')}: card 'tensors-layers': limit.en is missing"]


# ---- lengths ------------------------------------------------------------------------------------

@pytest.mark.parametrize(("lang", "most", "unit"), [("zh", 25, "characters"), ("en", 15, "words")])
def test_a_line_is_said_in_one_breath(tmp_path, lang, most, unit):
    write_book(tmp_path, one(most, lang, "line"))
    assert problems(tmp_path) == []
    write_book(tmp_path, one(most + 1, lang, "line"))
    [found] = problems(tmp_path)
    assert f"line.{lang} has {most + 1} {unit}, {most} are allowed: say it in one breath" in found


def test_a_line_has_no_code(tmp_path):
    write_book(tmp_path, layered(line={"zh": "`view` 不复制。", "en": "A view copies nothing."}))
    [found] = problems(tmp_path)
    assert "line.zh has code in backticks: say it in words" in found


RANGES = {  # a kind or level, a language: what is meant, what is tolerated
    ("bug", "junior", "en"): (35, 60, 28, 72), ("bug", "senior", "zh"): (60, 110, 48, 132),
    ("predict", "junior", "en"): (35, 60, 28, 72),
    ("explain", "junior", "en"): (60, 100, 48, 120),
    ("compare", "senior", "zh"): (110, 180, 88, 216),
    ("design", "senior", "en"): (130, 200, 104, 240),
    ("estimate", "senior", "zh"): (220, 340, 176, 408),
    ("explain", "staff", "en"): (130, 200, 104, 240), ("bug", "staff", "zh"): (220, 340, 176, 408),
}


@pytest.mark.parametrize("case", RANGES, ids="-".join)
def test_reasons_are_as_long_as_their_kind_and_a_fifth_more_or_less(case):
    kind, level, lang = case
    low, high, least, most = RANGES[case]
    unit = layers.UNITS[lang]
    whose = "level staff" if level == "staff" else f"kind {kind}"

    def found(count):
        return [text for place, text in
                layers.errors(one(count, lang, kind=kind, level=level)) if place[1] == lang]
    assert found(least) == found(low) == found(high) == found(most) == []
    meant = f"{low}–{high} are meant for {whose} ({least}–{most} with a fifth of tolerance)"
    assert found(least - 1) == [f"because.{lang} has {least - 1} {unit}, {meant}: say more"]
    assert found(most + 1) == [f"because.{lang} has {most + 1} {unit}, {meant}: shorten it"]


def test_the_report_counts_the_cards_that_answer_in_layers(tmp_path):
    write_book(tmp_path, card(), layered(), layered("tensors-short", limit=None))
    assert report(cards.load(tmp_path)[0])["chapters"]["tensors"]["layers"] == 2


# ---- where they are shown -----------------------------------------------------------------------

def test_a_page_says_the_line_first_then_the_reasons_then_the_limit_under_its_label():
    row = layered() | PROVED
    page = card_html(row, {})
    fold = page.index("<details>")
    places = [page.index(part) for part in (
        "<p class='card-line'>", row["line"]["en"], "<p class='card-because'>",
        "如果追问", "If they push", "<p class='card-limit'>", row["limit"]["en"])]
    assert places == sorted(places)
    assert fold < places[0]


def test_a_page_has_no_label_for_a_limit_that_is_not_there():
    assert "If they push" not in card_html(layered(limit=None) | PROVED, {})
    assert "If they push" not in card_html(card() | PROVED, {})


@pytest.mark.parametrize(("row", "names"), [
    (card(), {"answer"}), (layered(), {"line", "because", "limit"}),
    (layered(limit=None), {"line", "because"})])
def test_the_drill_gets_the_layers_or_the_answer(row, names):
    made = drill.content_row(row | PROVED, {}, {}, {})
    assert made.keys() & set(layers.FORMS) == names
    assert all(made[name] == drill.rendered(row[name]) for name in names)


FAULTS = {
    "nothing": (lambda page: page, []),
    "a layer left out": (lambda page: page.replace("class='card-limit'", "class='card-line'"),
                         ["its answer has ['line', 'because', 'line']"]),
    "another text": (lambda page: page.replace(">A view shares", ">A copy shares", 1),
                     ["its line in en is `A copy shares"]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_check_of_built_pages_reads_every_layer(fault):
    change, expected = FAULTS[fault]
    [box] = Page(Site(), "x.html", change(card_html(layered() | PROVED, {}))).all("article.card")
    row = cards.Card("tensors-layers", layered(), FILE, (0,), None)
    found = list(page_cards.answer(box, row))
    assert len(found) == len(expected)
    assert all(part in text for part, text in zip(expected, found, strict=True))


# ---- history ------------------------------------------------------------------------------------

def test_a_card_that_moves_keeps_its_row_in_the_drill_but_for_the_section(tmp_path):
    def rows():
        book, wrong = cards.load(tmp_path)
        assert wrong == []
        return [drill.index_row(row.data, "01-tensors") for row in book.cards]
    path = write_book(tmp_path, layered())
    before = rows()
    path.unlink()
    write_cards(tmp_path, layered(section="strides"), section="strides")
    [after] = rows()
    assert before == [after | {"section": "views"}]


def test_fresh_numbers_stand_below_what_the_program_imports():
    card = {"snippets": ["n = 2\nk = 3\nimport torch\nfrom torch import nn\n\nprint(n * k)\n",
                         "n = 5\nk = 7\nprint(n)\n", "n = 1\nimport torch\n"],
            "variants": [{"n": 2, "k": 3}, {"n": 5, "k": 7}, {"n": 1}]}
    assert [snippet(card, at) for at in range(3)] == [
        "import torch\nfrom torch import nn\nn = 2\nk = 3\n\nprint(n * k)\n",
        "n = 5\nk = 7\nprint(n)\n", "import torch\nn = 1\n"]
    assert snippet({"snippets": ["import torch\n"]}) == "import torch\n"
