"""The pictures beside links to the book are drawn anew when what they say has changed."""

import json
from xml.etree import ElementTree

import pytest

from book.pipeline import share_pictures
from book.pipeline.ground import digests

MARK = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path d="M1 1h6v6z"/></svg>'


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """A book without chapters whose picture is stored."""
    monkeypatch.setattr(share_pictures, "FOLDER", tmp_path)
    monkeypatch.setattr(share_pictures, "NOTED", tmp_path / "drawn.json")
    (tmp_path / "book.png").touch()
    digest = digests.of(share_pictures.wanted(tmp_path)["book"])
    (tmp_path / "drawn.json").write_text(json.dumps({"book": digest}))
    return tmp_path


def test_a_picture_that_is_as_noted_is_not_drawn_again(drawn):
    assert share_pictures.stale(drawn) == []


def test_other_words_are_seen(drawn, monkeypatch):
    monkeypatch.setattr(share_pictures, "BOOK", ("另一本书", "Another book"))
    assert share_pictures.stale(drawn) == ["book"]


def test_a_missing_file_and_one_that_nothing_asks_for_are_seen(drawn):
    noted = share_pictures.noted() | {"09-gone": "0"}
    (drawn / "drawn.json").write_text(json.dumps(noted))
    assert share_pictures.stale(drawn) == ["09-gone"]
    (drawn / "book.png").unlink()
    assert share_pictures.stale(drawn) == ["09-gone", "book"]


def test_words_of_a_title_are_text_and_not_markup():
    svg = share_pictures.drawing(MARK, ("甲 <b>", "A & B"), ("下", "below"), ("上", "above"))
    texts = [text.text for text in ElementTree.fromstring(svg).iter(
        "{http://www.w3.org/2000/svg}text")]
    assert texts == ["上 · above", "甲 <b>", "A & B", "下 · below"]
