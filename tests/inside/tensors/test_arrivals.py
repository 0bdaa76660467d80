"""Powers of two tell which values arrive, and the picture draws exactly these as heavy lines."""

import pytest

from inside.tensors.observe.arrivals import arrivals
from inside.tensors.pictures.arrivals import draw_arrivals

INDEX = [0, 2, 2, 2]


def put(target, index, values):
    target[index] = values


def add(target, index, values):
    target.index_add_(0, index, values)


def test_all_values_arrive_where_duplicates_are_added():
    assert arrivals(add, 3, INDEX) == [[0], [], [1, 2, 3]]


def test_one_value_arrives_where_duplicates_overwrite():
    places = arrivals(put, 3, INDEX)
    assert places[:2] == [[0], []]
    assert len(places[2]) == 1
    assert places[2][0] in (1, 2, 3)


def test_too_many_values_are_refused():
    with pytest.raises(ValueError, match="63 values are too many"):
        arrivals(put, 3, [0] * 63)
    with pytest.raises(ValueError, match="nothing to draw"):
        draw_arrivals(INDEX)


def test_lost_values_are_dashed():
    picture = draw_arrivals(INDEX, put=[[0], [], [3]], add=[[0], [], [1, 2, 3]])
    assert picture.svg.count("stroke-dasharray") == 2
    assert picture.svg.count('stroke-width="2.2"') == 6
    assert picture.text == "put: [[0], [], [3]]\nadd: [[0], [], [1, 2, 3]]"
