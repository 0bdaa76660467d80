"""The picture of slots shows how many are lent, with a worker and idle."""

import pytest

from inside.data.pictures.slots import draw_slots
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


@pytest.mark.parametrize("rows", [
    {"3 kept": (3, 2, 0)},
    {"18 kept": (18, 2, 0), "36 kept": (18, 2, 2), "let go": (0, 0, 22)},
])
def test_picture(rows):
    picture = draw_slots(rows)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert picture.text.splitlines() == [
        f"{name}: {lent} lent, {busy} with the worker, {idle} idle"
        for name, (lent, busy, idle) in rows.items()]
    assert picture.svg.count('fill-opacity="0.6"') == sum(lent for lent, _, _ in rows.values())
    assert picture.svg.count('stroke-width="2"') == sum(busy for _, busy, _ in rows.values())
    assert picture.svg.count('stroke-opacity="0.35"') == sum(idle for _, _, idle in rows.values())
