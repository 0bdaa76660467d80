"""The steps of each call are those that ran, and the picture draws them."""

import xml.etree.ElementTree as ET

import torch
from torch._dynamo import callback

from inside.compile.observe.capture_steps import STEPS, calls
from inside.compile.pictures.capture_steps import draw_capture_steps
from tests.helpers.pictures import PHONE, assert_every_text_lies_inside, size


def test_compile_captures_nothing_and_the_first_call_does():
    made, first, second = calls([torch.ones(2), torch.zeros(2)])
    assert made == ()
    assert first == STEPS
    assert second == ("graph", "effect")


def test_a_new_dtype_is_captured_again():
    assert calls([torch.ones(2), torch.ones(2).double()])[2] == STEPS


def test_nobody_listens_to_dynamo_afterwards():
    before = list(callback.callback_handler.start_callbacks)
    calls([torch.ones(2)])
    assert callback.callback_handler.start_callbacks == before


def test_a_dot_is_drawn_for_each_step():
    picture = draw_capture_steps()
    circles = list(ET.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}circle"))
    assert len(circles) == 2 * len(STEPS) + 2
    assert repr(picture).splitlines()[0].endswith("nothing")


def test_every_text_lies_inside_the_picture_on_a_phone():
    assert_every_text_lies_inside(draw_capture_steps())
    assert size(draw_capture_steps())[0] <= PHONE
