"""The picture of symptoms names each tool and what it said."""

import pytest

from inside.compile.pictures.symptoms import LEAVES, TREE, draw_symptoms
from tests.helpers.pictures import (
    assert_every_text_lies_inside,
    assert_narrow_enough_for_a_phone,
)


def said():
    """The longest answers that the cases give."""
    return dict.fromkeys(LEAVES, "OutputGraph.call_user_compiler")


def test_every_leaf_hangs_on_one_branch():
    assert sorted(name for names in TREE.values() for name in names) == sorted(LEAVES)


def test_text_tells_tool_and_answer():
    lines = draw_symptoms(said() | {"nan": "call_method log"}).text.splitlines()
    assert len(lines) == len(LEAVES)
    assert "wrong, there is a NaN: torch.fx.Interpreter -> call_method log" in lines


def test_a_missing_answer_is_refused():
    with pytest.raises(KeyError):
        draw_symptoms({"nan": "call_method log"})


def test_every_text_lies_inside_the_picture():
    assert_every_text_lies_inside(draw_symptoms(said()))


def test_it_is_narrow_enough_for_a_phone():
    assert_narrow_enough_for_a_phone(draw_symptoms(said()))
