"""The picture of busy workers has a bar for each batch, on its worker's line, from begin to end."""

import re

from inside.data.pictures.busy_workers import draw_busy
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone

PLANS = {"in turn": [(0, 0, 3), (1, 0, 1), (0, 3, 6), (1, 1, 2)],
         "fewest": [(0, 0, 3), (1, 0, 1), (1, 1, 4), (1, 4, 5)]}


def test_picture():
    picture = draw_busy(PLANS)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert picture.text.splitlines() == [
        "in turn", "  worker 0: 0 (0-3) 2 (3-6)", "  worker 1: 1 (0-1) 3 (1-2)",
        "fewest", "  worker 0: 0 (0-3)", "  worker 1: 1 (0-1) 2 (1-4) 3 (4-5)"]


def test_a_bar_is_as_long_as_its_batch_took():
    widths = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)"', draw_busy(PLANS).svg)]
    second = widths[1]
    assert [round(width / second) for width in widths] == [3, 1, 3, 1, 3, 1, 3, 1]
