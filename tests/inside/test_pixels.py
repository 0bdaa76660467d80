"""The picture of small pictures: ink where the tensor has it, equal pictures counted once."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch

from inside.pictures.pixels import draw_pictures


def rectangles(picture):
    """The pixels drawn: [(x, y, opacity)]."""
    root = ET.fromstring(picture.svg)
    return [(float(r.get("x")), float(r.get("y")), float(r.get("fill-opacity")))
            for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("fill-opacity")]


def test_a_pixel_is_drawn_where_the_tensor_has_ink():
    pictures = torch.zeros(2, 3, 3)
    pictures[0, 0, 2], pictures[1, 2, 0] = 1.0, 0.5
    (x1, y1, ink1), (x2, y2, ink2) = rectangles(draw_pictures(one=pictures))
    assert (ink1, ink2) == (1, 0.5)
    assert x2 - x1 == 3 * 7 + 9 - 2 * 7  # the next picture's first column
    assert y2 - y1 == 2 * 7


def test_values_outside_the_range_are_drawn_as_the_nearer_end():
    drawn = rectangles(draw_pictures(one=torch.tensor([[[-3.0, 0.0, 7.0]]])))
    assert [ink for *_, ink in drawn] == [1]


def test_the_text_counts_nearly_equal_pictures_once():
    pictures = torch.zeros(3, 2, 2)
    pictures[1] += 0.05
    pictures[2] += 0.5
    picture = draw_pictures(before=pictures, after=pictures[:2])
    assert repr(picture).splitlines() == ["before: 3 pictures, 2 of them different",
                                          "after: 2 pictures, 1 of them different"]


def test_both_languages_are_selectable_text():
    svg = draw_pictures(input=torch.zeros(1, 2, 2)).svg
    assert re.search(r"<text[^>]*lang-zh[^>]*>输入</text>", svg)
    assert re.search(r"<text[^>]*lang-en[^>]*>input</text>", svg)


def test_other_shapes_are_refused_by_name():
    with pytest.raises(ValueError, match="input: pictures are"):
        draw_pictures(input=torch.zeros(2, 2))
