"""The plot of hit rates agrees with a cache of that size."""

import pytest
import torch

from inside.data.pictures.hit_rates import draw_hit_rates, hits
from mini_cache import LRU, Cached, reuse_distances
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


@pytest.mark.parametrize("room", [1, 7, 20, 40])
def test_the_share_is_that_of_a_cache(room):
    generator = torch.Generator().manual_seed(0)
    order = [i for _ in range(2) for i in torch.randperm(40, generator=generator).tolist()]
    cached = Cached([torch.zeros(1) for _ in range(40)], LRU(4 * room))
    for i in order[:40]:
        cached[i]
    cached.cache.hits = cached.cache.misses = 0
    for i in order[40:]:
        cached[i]
    assert hits(reuse_distances(order)[40:], room) == pytest.approx(100 * cached.cache.hit_rate)


def test_picture():
    picture = draw_hit_rates({"in order": reuse_distances([*range(9)] * 2)[9:]}, 9)
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert "LRU, in order: 0 at 0, 0 at 50, 1e+02 at 100" in picture.text
