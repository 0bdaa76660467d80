"""The pictures of windows and of masks show what the tensors say."""

import torch

from inside.modules.observe.windows import cells
from inside.modules.pictures.visible import draw_visible
from inside.modules.pictures.windows import draw_windows
from mini_layers import windows
from mini_layers_attention import causal_mask
from tests.helpers.pictures import (
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def test_the_cells_of_a_view_are_those_it_reads():
    storage = torch.arange(60)
    for view in (storage.view(6, 10), storage.view(6, 10).t(), storage[7:31:2].view(3, 4),
                 storage.as_strided((3, 2, 4), (5, 0, 2), 3)):
        assert cells(view, 1) == view.flatten(1).tolist()
    assert cells(storage[:0].view(0, 3), 1) == []


def test_windows_show_the_positions_in_the_storage():
    image = torch.zeros(4, 4)
    view = windows(image[None, None], (2, 2))[0, 0]
    picture = draw_windows(image, view, mark=5)
    lines = picture.text.splitlines()
    assert lines[:3] == ["image (4, 4), stride (4, 1)", "view (3, 3, 2, 2), stride (4, 1, 4, 1)",
                         " 0  1  4  5"]
    assert lines[-1] == "cell 5 is in 4 windows"
    assert picture.svg.count('font-weight="700"') == 5            # once in the image
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)


def test_masks_show_what_each_query_sees():
    masks = {"counted from 0": torch.ones(2, 5, dtype=torch.bool).tril(),
             "after the cache": causal_mask(2, 5)}
    picture = draw_visible(masks, cached=3)
    assert picture.text.splitlines() == [
        "counted from 0:", "  q3 sees k0", "  q4 sees k0 k1",
        "after the cache:", "  q3 sees k0 k1 k2 k3", "  q4 sees k0 k1 k2 k3 k4"]
    assert picture.svg.count("<circle") == 3 + 9
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    nothing = draw_visible({"none": torch.zeros(1, 2, dtype=torch.bool)}, cached=1)
    assert nothing.text.endswith("q1 sees nothing")
