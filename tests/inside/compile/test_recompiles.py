"""The record says what served each call, and the picture shows one cell for each."""

import xml.etree.ElementTree as ET

import torch

from inside.compile.observe.recompiles import recompile_log, serve
from inside.compile.pictures.recompiles import CASES, KEY, draw_recompiles
from tests.helpers.pictures import PHONE, assert_every_text_lies_inside, size

X = torch.ones(3)


def tagged(x, name):
    return x + len(name)


def test_history_tells_new_graphs_from_old_ones_and_eager_calls():
    f = serve(tagged)
    for name in "abcdefghia":
        f(X, name)
    assert f.history == [*(f"new {k}" for k in range(8)), "eager", "graph 0"]


def test_the_log_names_the_guards_that_failed():
    f = serve(tagged)
    with recompile_log() as lines:
        f(X, "a")
        f(X, "b")
    assert lines[0] == "Recompiling function tagged"
    assert lines[-1].strip() == "- 0/0: name == 'a'"


def test_the_picture_has_a_cell_for_each_call_and_fits_a_phone():
    picture = draw_recompiles()
    shapes = [each.tag.split("}")[1] for each in ET.fromstring(picture.svg).iter()]
    assert shapes.count("rect") == sum(len(values) for *_, values in CASES) + len(KEY)
    assert_every_text_lies_inside(picture)
    assert size(picture)[0] <= PHONE
