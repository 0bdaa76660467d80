"""The book's own cards: what they refute is stated, and each has its place in the drill."""

import json

from book.extension import drill
from book.pipeline.cards import book as cards
from book.pipeline.cards import claims as card_claims
from book.pipeline.cards.results import whole_cards
from book.pipeline.cards.rules import refuted_ids
from book.pipeline.ground.paths import ROOT


def test_every_claim_that_a_card_of_the_book_refutes_is_stated_in_both_languages():
    book, wrong = cards.load(ROOT)
    assert wrong == []
    assert [str(problem) for problem in card_claims.problems(book)] == []
    refuted = {name for row in book.cards for name in refuted_ids(row.data)}
    assert len(refuted) > 50
    assert all(book.errata[name]["zh"] and book.errata[name]["en"] for name in refuted)


def test_book_lists_129_errata_and_48_myths():
    book, _ = cards.load(ROOT)
    kinds = [row["kind"] for row in book.errata.values()]
    assert len(kinds) - kinds.count("myth") == 129
    assert kinds.count("myth") == 48
    assert {row["chapter"] for row in book.errata.values()} <= set(range(11))


def test_index_and_texts_of_every_committed_card_are_made():
    files = {name: json.loads(text) for name, text in drill.files(ROOT, set()).items()}
    committed = {row["id"]: row for file in sorted((ROOT / "chapters").glob("*/cards/*.yaml"))
                 for row in whole_cards(file)}
    index = files[drill.INDEX]
    assert [row["id"] for row in index["cards"]] == list(committed)
    assert len(committed) > 10
    for row in index["cards"]:
        text = files[f"drill-cards/{row['chapter']}/{row['section']}.json"][row["id"]]
        assert text["edition"] == committed[row["id"]]["digest"][:12]
        assert len(text["points"]) == len(committed[row["id"]]["points"])
        assert row["scored"] == (len(text["myths"]) > 0 and row["kind"] == "predict")
    assert index["chapters"][0]["name"] == {"zh": "张量", "en": "Tensors"}
