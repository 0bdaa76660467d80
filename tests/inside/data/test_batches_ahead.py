"""The picture of batches ahead shows what a loader has asked for and nobody has trained on."""

import pytest

from inside.data.pictures.batches_ahead import draw_ahead
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


@pytest.mark.parametrize("rows", [{"2 workers": (6, 10)},
                                  {"no workers": (6, 6), "3 workers": (6, 12), "end": (16, 16)}])
def test_picture(rows):
    picture = draw_ahead(rows, total=16)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert picture.text.splitlines() == [
        f"{name}: {trained} trained on, {asked - trained} more asked for"
        for name, (trained, asked) in rows.items()]
    assert picture.svg.count('fill-opacity="0.6"') == sum(trained for trained, _ in rows.values())
    assert picture.svg.count('stroke-width="2"') == sum(
        asked - trained for trained, asked in rows.values())
