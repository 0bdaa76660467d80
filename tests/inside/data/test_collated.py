"""The picture of a collated batch shows what torch read of the samples."""

import xml.etree.ElementTree as ET

import pytest
import torch
from torch.utils.data import default_collate

from inside.data.pictures.collated import draw_collated, watch
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def batch(place, size=8):
    samples = [{"x": torch.ones(2), "weight": 0.5} for _ in range(size)]
    del samples[place]["weight"]
    return samples


def test_values_up_to_the_gap_are_read():
    seen = watch(batch(3))
    assert [("x" in asked, "weight" in asked) for _, asked in seen.samples] == (
        [(True, True)] * 4 + [(True, False)] * 4)
    assert (seen.error, seen.batch) == ("KeyError: 'weight'", {})


def test_a_key_that_the_first_sample_lacks_is_never_read():
    seen = watch(batch(0))
    assert all(asked == {"x"} for _, asked in seen.samples)
    assert (seen.error, seen.batch) == ("", {"x": "float32 (8, 2)"})


def test_watching_changes_nothing():
    made = default_collate([{"x": torch.ones(2), "weight": 0.5}] * 3)
    assert watch([{"x": torch.ones(2), "weight": 0.5}] * 3).batch == {
        key: f"{str(t.dtype)[6:]} {tuple(t.shape)}" for key, t in made.items()}


@pytest.mark.parametrize(
    "batches", [[batch(3), batch(0)], [batch(0)], [batch(1, 2), batch(0, 4)]])
def test_picture(batches):
    picture = draw_collated(*batches)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)


def test_the_gap_that_stops_collating_is_marked():
    def marks(place):
        root = ET.fromstring(draw_collated(batch(place)).svg)
        return sum(node.text == "?" for node in root.iter(f"{SVG}text"))
    assert (marks(3), marks(0)) == (1, 0)


def test_three_batches_do_not_fit():
    with pytest.raises(ValueError, match="3 batches"):
        draw_collated(*[batch(0)] * 3)
