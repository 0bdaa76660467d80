"""Curves are legible without colour, in both themes and on a phone, and give the same bytes."""

import itertools
import math
import re
import xml.etree.ElementTree as ET

import pytest

from inside.autograd.pictures.accumulated import draw_accumulated
from inside.modules.pictures.layer_sizes import SHOWN, draw_layer_sizes
from inside.pictures.loss_curves import draw_loss_curves
from inside.pictures.plot import PAGE, STYLES, draw_curves, powers
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)

GROWS = [10.0**k for k in range(40)]
FALLS = [10.0 ** (-k / 2) for k in range(40)]
PAPERS = {"light": "#ffffff", "dark": "#14181e"}  # the grounds of the theme's two modes


def drawn(log=True):
    curves = {"grows": GROWS, "falls": FALLS, ("不变", "stays"): [1.0] * 40}
    return draw_curves(curves, ("第几层", "layer"), ("均方根", "root mean square"), log=log)


def nodes(picture, kind):
    return list(ET.fromstring(picture.svg).iter(SVG + kind))


def lines(picture):
    """The curves: {colour: (dashes, path)} of the strokes with more than two points."""
    found = {}
    for node in nodes(picture, "path"):
        style = dict(part.split(": ") for part in node.get("style", "").split("; ") if part)
        if node.get("d").count("L") > 1:
            found[style["stroke"]] = (style.get("stroke-dasharray"), node.get("d"))
    return found


def test_the_same_values_give_the_same_bytes():
    assert drawn() == drawn()


def test_a_rounding_error_changes_no_byte():
    nudged = [value * (1 + 1e-6) for value in FALLS]
    first, second = (draw_curves({"a": values}, ("横", "x"), ("纵", "y"), log=True)
                     for values in (FALLS, nudged))
    assert first == second


def test_each_curve_has_dashes_of_its_own():
    curves = {str(k): [k, k + 1, k + 2] for k in range(4)}
    found = lines(draw_curves(curves, ("横", "x"), ("纵", "y")))
    assert len(found) == 4
    assert len({dashes for dashes, _ in found.values()}) == 4


def test_a_curve_that_grows_rises():
    path = lines(drawn())[STYLES[0][0]][1]
    ys = [float(y) for _, y in re.findall(r"[ML] (\S+) (\S+)", path)]
    assert ys == sorted(ys, reverse=True)
    steps = [a - b for a, b in itertools.pairwise(ys)]
    assert max(steps) - min(steps) < 0.21  # powers of ten: a straight line


def contrast(one, other):
    """The ratio of two colours by WCAG 2."""
    def light(colour):
        parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
    dim, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("paper", PAPERS)
def test_colours_stand_out_in_both_themes(paper):
    for colour, _ in STYLES:
        assert colour == PAGE or contrast(colour, PAPERS[paper]) >= 3, colour


def test_axes_and_words_take_the_colour_of_the_page():
    picture = drawn()
    own = {colour for colour, _ in STYLES} - {PAGE}
    body = re.sub(r"<style>.*?</style>", "", picture.svg)
    assert set(re.findall(r"#[0-9a-f]{3,6}\b", body)) <= own
    assert "white" not in body
    assert {node.get("fill") for node in nodes(picture, "text")} == {"currentColor"}


def test_every_word_is_in_both_languages_or_the_same_in_both():
    zh = [node.text for node in nodes(drawn(), "text") if node.get("class") == "lang-zh"]
    en = [node.text for node in nodes(drawn(), "text") if node.get("class") == "lang-en"]
    assert (zh, en) == (["均方根", "不变", "第几层"], ["root mean square", "stays", "layer"])


def test_a_logarithmic_axis_is_labelled_in_powers_of_ten():
    labels = [node.text for node in nodes(drawn(), "text")]
    assert {"1", "10²⁰", "10⁻¹⁰", "10³⁰"} <= set(labels)


@pytest.mark.parametrize(("values", "shown"), [
    ([1e-3, 1e3], [1e-3, 1e-2, 0.1, 1, 10, 100, 1e3]),
    ([2e-20, 5e52], [1e-20, 1, 1e20, 1e40]),
    ([3.0, 4.0], [1, 10]),
    ([1e-300, 1e300], [1e-300, 1e-200, 1e-100, 1, 1e100, 1e200, 1e300]),
])
def test_powers_of_ten_stand_at_even_distances_with_one_among_them(values, shown):
    assert powers([values]) == pytest.approx(shown, rel=1e-9)


def test_it_fits_a_phone():
    for log in (True, False):
        picture = draw_curves({"a": [0.5, 1.0]}, ("横轴", "x"), ("纵轴", "y"), log=log)
        assert_narrow_enough_for_a_phone(picture)
        assert_every_text_lies_inside(picture)
        assert {float(node.get("font-size")) for node in nodes(picture, "text")} == {12}


def test_it_brings_no_name_and_no_style_sheet_into_the_page():
    picture = drawn()
    assert not re.search(r' id="|href|clip-path|<defs|stroke-linejoin: round}', picture.svg)


def test_what_cannot_be_shown_is_a_gap():
    values = [1.0, math.inf, 1.0, 1.0, 0.0, 1.0]
    for log, pieces in ((False, 2), (True, 3)):
        picture = draw_curves({"a": [*values, 2.0, 3.0]}, ("横", "x"), ("纵", "y"), log=log)
        assert lines(picture)[STYLES[0][0]][1].count("M") == pieces


def test_the_text_tells_first_middle_and_last():
    assert drawn().text.splitlines()[0] == "grows: 1 at 1, 1e+20 at 21, 1e+39 at 40"


@pytest.mark.parametrize(("curves", "message"), [
    ({str(k): [1.0] for k in range(5)}, "5 curves: at most 4 are told apart"),
    ({"a": [math.nan]}, "no value can be shown"),
    ({"a": []}, "no value can be shown"),
])
def test_what_cannot_be_drawn_is_refused_in_one_line(curves, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        draw_curves(curves, ("横", "x"), ("纵", "y"))


@pytest.mark.parametrize("of", SHOWN)
def test_sizes_of_layers_begin_at_the_input_and_say_what_they_are(of):
    picture = draw_layer_sizes({"a": [1.0, 10.0, 100.0]}, of)
    assert picture.text == "a: 1 at 0, 10 at 1, 1e+02 at 2"
    assert set(SHOWN[of]) <= {node.text for node in nodes(picture, "text")}


def test_sizes_of_something_else_are_refused():
    with pytest.raises(ValueError, match=r"^of is 'loss': one of activations, gradients$"):
        draw_layer_sizes({"a": [1.0]}, "loss")


def test_losses_of_runs_begin_at_step_0_and_both_axes_have_their_words():
    picture = draw_loss_curves({"wrong": [37.0, 20.0, 12.0], "right": [37.0, 9.0, 0.0]})
    assert_narrow_enough_for_a_phone(picture)
    assert picture.text == "wrong: 37 at 0, 20 at 1, 12 at 2\nright: 37 at 0, 9 at 1, 0 at 2"
    shown = {node.text for node in nodes(picture, "text")}
    assert {"训练步", "training step", "损失", "loss"} <= shown


def test_sums_of_micro_batches_begin_at_1_and_say_what_they_are():
    picture = draw_accumulated({"bfloat16": [0.25, 0.5, 0.5], "float32": [0.25, 0.5, 0.75]})
    assert_narrow_enough_for_a_phone(picture)
    assert picture.text.startswith("bfloat16: 0.25 at 1, 0.5 at 2, 0.5 at 3\n")
    shown = {node.text for node in nodes(picture, "text")}
    assert {"第几个 micro-batch", "value of .grad"} <= shown
