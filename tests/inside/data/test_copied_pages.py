"""The picture of copied pages agrees with the addresses that it stands for."""

from inside.data.pictures.copied_pages import copied, draw_copied_pages
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


def test_a_page_is_copied_once_however_many_of_its_strings_are_read():
    assert copied([0, 1, 50, 51, 52], size=80, page=4096) == [0, 1]
    assert copied([51 * 80], size=80, page=4096) == [79]
    assert copied([], size=80, page=4096) == []


def test_picture():
    picture = draw_copied_pages({"shuffled": [3, 70, 200, 900], "in order": [0, 1, 2]}, size=80)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert picture.text.splitlines() == ["shuffled: 3 strings read, 3 of 8 pages copied",
                                         "in order: 3 strings read, 1 of 8 pages copied"]
