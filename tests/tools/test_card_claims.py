"""Readers see what a false claim says, in both languages, wherever a card refutes it."""

import re

import pytest
import yaml

from book.extension import status
from book.extension.card_html import CLAIM_KINDS, card_html
from book.pipeline.cards import book as cards
from book.pipeline.cards import claims as card_claims
from tests.helpers.card_examples import card, write_book

STATED = {"kind": "wrong", "chapter": 1, "zh": "`view` 会复制数据", "en": "`view` copies the data"}
PROVED = {"sources": [{"target": "torch.Tensor.view", "url": "https://github.com/pytorch/pytorch"}],
          "snippets": []}


def found(tmp_path, claim, *names):
    """Problems of a book whose one card refutes `names` and whose errata are T01 and this T04."""
    write_book(tmp_path, card(corrects=list(names) or None))
    groups = {"T": {"T01": {"kind": "wrong", "chapter": 1}, "T04": claim}}
    (tmp_path / card_claims.FILE).write_text(yaml.safe_dump(groups, allow_unicode=True), "utf-8")
    return [str(problem) for problem in card_claims.problems(cards.load(tmp_path)[0])]


def without(*fields):
    return {key: value for key, value in STATED.items() if key not in fields}


def test_a_stated_claim_and_one_that_no_card_refutes_have_no_problem(tmp_path):
    assert found(tmp_path, STATED, "T04") == []
    assert found(tmp_path, without("zh", "en")) == []


@pytest.mark.parametrize(("claim", "expected"), [
    (without("zh", "en"), ["T04.zh is missing: card 'tensors-one' refutes it",
                           "T04.en is missing: card 'tensors-one' refutes it"]),
    (without("en"), ["T04.en is missing: card 'tensors-one' refutes it"]),
    (STATED | {"zh": ""}, ["T04.zh is missing: card 'tensors-one' refutes it"]),
    (STATED | {"zh": "`view` 会复制" + "数据" * 29}, ["T04.zh has 62 characters, 60 are allowed"]),
    (STATED | {"en": "`view` copies" + " data" * 24}, ["T04.en has 26 words, 25 are allowed"]),
    (STATED | {"en": "`view` copies the data."}, ["T04.en ends in a full stop"]),
    (STATED | {"zh": "`view` 会复制\n数据"}, ["T04.zh ends in a full stop or has several lines",
                                          "T04.zh: line break inside Chinese"]),
    (STATED | {"en": "It copies the data"}, ["T04.zh: inline code only in Chinese: `view`"]),
])
def test_a_missing_or_careless_text_is_named_with_its_line(tmp_path, claim, expected):
    texts = found(tmp_path, claim, "T04")
    assert [text.startswith(f"{card_claims.FILE}:") for text in texts] == [True] * len(expected)
    for text, part in zip(texts, expected, strict=True):
        assert part in text


def test_a_claim_that_only_a_distractor_refutes_must_be_stated_too(tmp_path):
    wrong = [{"text": "4", "why": {"zh": "错", "en": "no"}, "corrects": ["T04"]}]
    write_book(tmp_path, card(distractors=wrong))
    texts = [str(problem) for problem in card_claims.problems(cards.load(tmp_path)[0])]
    assert len(texts) == 2
    assert all("card 'tensors-one' refutes it" in text for text in texts)


def test_a_text_in_one_language_only_is_a_problem_even_before_a_card_refutes_the_claim(tmp_path):
    [text] = found(tmp_path, without("zh"))
    assert "T04.zh is missing: the other language has it" in text


def test_the_card_of_a_page_says_the_claims_that_it_refutes():
    page = card_html(card(corrects=["T04"]) | PROVED, {"T04": STATED})
    assert "<code>view</code> 会复制数据<small>（错误）</small>" in page
    assert "<code>view</code> copies the data <small>(wrong)</small>" in page
    assert "T04" not in page
    assert "refutes" not in card_html(card() | PROVED, {"T04": STATED})


def test_a_page_is_not_made_of_a_card_that_refutes_an_unstated_claim():
    with pytest.raises(ValueError, match=r"errata.yaml: T04 has no zh or no en.*'tensors-one'"):
        card_html(card(corrects=["T04"]) | PROVED, {"T04": without("zh")})


def test_the_status_page_gives_each_refuted_id_with_its_claim_and_open_ids_bare():
    left = {"T01": {"kind": "wrong", "chapter": 1}}
    page = status.errata({"errata": {"refuted": {"T04": ["tensors-one"]}, "open": left},
                          "claims": {"T04": STATED, **left}})
    cells = re.findall(r"<td>(.*?)</td>", page)
    assert cells[1] == "1"
    assert cells[5] == "T01"
    assert cells[6] == "T04"
    assert "<code>view</code> 会复制数据" in cells[7]
    assert "<code>view</code> copies the data" in cells[7]
    assert "wrong" in cells[8]


def test_every_kind_of_claim_has_words():
    kinds = {claim["kind"] for claim in card_claims.read().values()}
    assert kinds == CLAIM_KINDS.keys()
    assert all(zh and en for zh, en in CLAIM_KINDS.values())
