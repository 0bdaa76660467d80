"""The picture of a split shows what stands between its parts and the dataset behind them."""

import pytest
from torch.utils.data import Subset

from inside.data.pictures.split_parts import draw_split, follow
from mini_samples import Transformed
from tests.helpers.pictures import assert_every_text_lies_inside, assert_narrow_enough_for_a_phone


class Letters(str):
    transform = None


def upper(letter):
    return letter.upper()


def twice(letter):
    return letter * 2


def test_a_part_is_followed_through_its_functions_to_the_dataset():
    letters = Letters("abcd")
    part = follow("train", Transformed(Transformed(Subset(letters, [2, 0]), upper), twice))
    assert part.functions == ("twice", "upper")
    assert part.indices == (2, 0)
    assert part.dataset is letters


@pytest.mark.parametrize("count", [2, 5, 8])
@pytest.mark.parametrize("transform", [None, upper])
def test_picture(count, transform):
    letters = Letters("abcdefgh"[:count])
    letters.transform = transform
    parts = Subset(letters, range(count - 1)), Subset(letters, [count - 1])
    picture = draw_split(train=Transformed(parts[0], upper), val=parts[1])
    assert_every_text_lies_inside(picture)
    assert_narrow_enough_for_a_phone(picture)
    assert "train: in front upper, indices [0" in picture.text
    assert f"val: in front nothing, indices [{count - 1}]" in picture.text
    assert picture.text.endswith("transform upper" if transform else "transform none")


def test_an_arrow_leads_from_each_index_to_its_sample():
    letters = Letters("abcde")
    picture = draw_split(train=Subset(letters, [4, 1, 0]), val=Subset(letters, [3, 2]))
    assert picture.svg.count("l-4 -8h8z") == 5


def test_parts_of_two_datasets_are_refused():
    with pytest.raises(ValueError, match="one dataset"):
        draw_split(train=Subset(Letters("abc"), [0]), val=Subset(Letters("abcd"), [1]))


def test_nine_samples_do_not_fit():
    letters = Letters("abcdefghi")
    with pytest.raises(ValueError, match="9 samples"):
        draw_split(train=Subset(letters, range(6)), val=Subset(letters, range(6, 9)))
