"""The picture of masks shows which tokens of other documents a token sees."""

import pytest
import torch

from inside.data.pictures.who_sees_whom import draw_who_sees_whom
from mini_samples import block_mask
from tests.helpers.pictures import (
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)

DOCUMENTS = torch.tensor([0, 0, 1, -1])
CAUSAL = torch.ones(4, 4, dtype=torch.bool).tril()


def drawn(**masks):
    return draw_who_sees_whom(masks, "ab1.", DOCUMENTS)


def test_a_causal_mask_shows_other_documents():
    picture = drawn(causal=CAUSAL)
    assert picture.text == ("causal:\n  a sees a of its own, - of others\n"
                            "  b sees ab of its own, - of others\n"
                            "  1 sees 1 of its own, ab of others\n"
                            "  . sees . of its own, ab1 of others")
    assert picture.svg.count("<circle") == 5


def test_a_block_mask_shows_none():
    assert drawn(block_mask=block_mask(DOCUMENTS)).svg.count("<circle") == 0


@pytest.mark.parametrize("names", [("causal",), ("causal", "block_mask")])
def test_picture(names):
    for length in (4, 12):
        documents = torch.arange(length) // 3
        masks = {"causal": torch.ones(length, length, dtype=torch.bool).tril(),
                 "block_mask": block_mask(documents)}
        picture = draw_who_sees_whom({name: masks[name] for name in names}, "1" * length, documents)
        assert_every_text_lies_inside(picture)
        assert_narrow_enough_for_a_phone(picture)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="3 masks of 4 tokens"):
        drawn(causal=CAUSAL, block_mask=CAUSAL, third=CAUSAL)
    with pytest.raises(ValueError, match="1 masks of 13 tokens"):
        draw_who_sees_whom({"causal": CAUSAL}, "1" * 13, [0] * 13)
