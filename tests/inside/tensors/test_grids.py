"""Tables of cells: every label is written, marked cells differ, and nothing leaves the picture."""

import re

import pytest

from inside.tensors.pictures.grids import Grid, draw_grids

LEFT = Grid("right", [[("t0", True), ("t1", False)], [("t2", False), ("t3", True)]])
RIGHT = Grid("other", [[("", True)], [("", False)], [("", False)]])


def boxes(picture):
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="(\d+)" height="(\d+)" (s\w+)',
                       picture.svg)
    return [(*map(float, numbers), kind == "style") for *numbers, kind in found]


def test_every_cell_is_drawn_and_the_marked_ones_are_tinted():
    picture = draw_grids(LEFT, RIGHT)
    assert len(boxes(picture)) == 7
    assert sum(marked for *_, marked in boxes(picture)) == 3
    assert all(f">{label}</text>" in picture.svg for label in ("t0", "t1", "t2", "t3"))
    assert picture.text == "right\n[t0] t1\nt2 [t3]\nother\n[]\n.\n."


def test_titles_are_in_both_languages():
    for title in ("对的写法", "right", "other"):
        assert f">{title}</text>" in draw_grids(LEFT, RIGHT).svg


@pytest.mark.parametrize("across", [1, 2, 3])
def test_no_cell_leaves_the_picture_or_covers_another(across):
    picture = draw_grids(LEFT, RIGHT, LEFT, across=across)
    width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', picture.svg).groups())
    found = boxes(picture)
    assert all(x + w <= width and y + h <= height for x, y, w, h, _ in found)
    assert len({(x, y) for x, y, *_ in found}) == len(found)
    for x, y, w, h, _ in found:
        assert not any(x < a < x + w and y - h < b < y + h for a, b, *_ in found)
