"""The chart of losses draws both runs to one scale, the second one from its restart on."""

import re
import xml.etree.ElementTree as ET

import pytest

from inside.modules.pictures.losses import draw_losses
from tests.helpers.pictures import (
    SVG,
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)

RUN, RESUMED = [4.0, 2.0, 1.0, 0.0], [4.0, 1.0]


def curves(picture):
    """The points of each line that is a curve, without those of the key."""
    paths = [node.get("d") for node in ET.fromstring(picture.svg).iter(f"{SVG}path")
             if node.get("stroke-width") == "1.8"]
    found = [[tuple(map(int, point.split())) for point in re.split("[ML]", path)[1:]]
             for path in paths]
    return [points for points in found if len({y for _, y in points}) > 1]


def test_both_runs_share_one_scale():
    run, resumed = curves(draw_losses(RUN, RESUMED, 2))
    height = dict(zip(RUN, (y for _, y in run), strict=True))
    assert height[0.0] > height[1.0] > height[2.0] > height[4.0]
    assert [y for _, y in resumed] == [height[4.0], height[1.0]]


def test_the_second_run_begins_at_the_restart():
    run, resumed = curves(draw_losses(RUN, RESUMED, 2))
    assert [x for x, _ in resumed] == [x for x, _ in run[2:]]


@pytest.mark.parametrize(("resumed", "at"), [([], 1), (RESUMED, 0), (RESUMED, 3)])
def test_a_second_run_outside_the_first_is_refused(resumed, at):
    with pytest.raises(ValueError, match=f"{len(resumed)} steps from step {at} on"):
        draw_losses(RUN, resumed, at)


def test_it_fits_on_a_phone():
    picture = draw_losses(RUN, RESUMED, 2)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
