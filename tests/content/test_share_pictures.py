"""The stored pictures beside links say what the book and its chapters are called today."""

import struct

import pytest

from book.pipeline import share_pictures


def test_each_picture_that_is_stored_says_what_the_book_says():
    assert share_pictures.stale() == [], "run python -m book.pipeline.share_pictures"


@pytest.mark.parametrize("name", share_pictures.noted())
def test_each_picture_has_the_size_that_link_previews_ask_for_and_is_light(name):
    content = (share_pictures.FOLDER / f"{name}.png").read_bytes()
    assert struct.unpack(">II", content[16:24]) == (1200, 630)
    assert len(content) < 60_000
