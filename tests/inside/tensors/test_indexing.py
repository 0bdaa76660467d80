"""The picture of `x[key]` follows the shapes that torch gives."""

import re

import pytest
import torch

from inside.tensors.observe.indexing import landing
from inside.tensors.pictures.indexing import draw_landing

X = torch.zeros(2, 3, 4, 5)
IDS, J = torch.zeros(6, dtype=torch.int64), torch.zeros(6, dtype=torch.int64)


@pytest.mark.parametrize(("key", "origins"), [
    (":, i, j, :", [0, "index", 3]),
    (":, i, :, j", ["index", 0, 2]),
    (":, 0, :, j", [0, 2, "index"]),
    (":, [0], :, j", ["index", 0, 2]),
    ("i, None, j, :, :", ["index", "new", 2, 3]),
])
def test_the_origins_are_those_of_the_result(key, origins):
    made = landing(X, key, i=IDS, j=J)
    assert [origin for _, origin in made.result] == origins
    assert made.source[0] == (2, key.split(", ")[0])


def test_a_block_of_indices_brings_both_of_its_dimensions():
    made = landing(X, ":, i, :, :", i=torch.zeros(6, 7, dtype=torch.int64))
    assert [origin for _, origin in made.result] == [0, "index", "index", 2, 3]


def test_sizes_that_would_not_tell_are_refused():
    with pytest.raises(ValueError, match=r"\[3, 3, 6\] must differ"):
        landing(torch.zeros(3, 3), ":, i", i=IDS)
    with pytest.raises(ValueError, match="1 entries for 4 dimensions"):
        landing(X, "i", i=IDS)
    with pytest.raises(ValueError, match="nothing to draw"):
        draw_landing()


def test_a_line_leads_from_each_surviving_dimension_and_the_indexed_ones_are_heavy():
    picture = draw_landing(landing(X, ":, 0, :, j", j=J))
    assert len(re.findall(r"<path ", picture.svg)) == 3
    assert picture.svg.count('stroke-width="2.2"') == 1
    assert picture.text == "x[:, 0, :, j] -> (2, 4, 6), from [0, 2, 'index']"
