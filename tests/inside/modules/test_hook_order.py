"""The order of the hooks is the one that running them gives, and so are their powers."""

import xml.etree.ElementTree as ET

import torch
from torch import nn
from torch.nn.modules import module as everywhere

from inside.modules.observe import hook_order
from inside.modules.pictures.hook_order import draw_hook_order
from tests.helpers.pictures import PHONE, assert_every_text_lies_inside, size


def test_every_kind_ran_once():
    assert sorted(call.name for call in hook_order.hook_calls()) == sorted(hook_order.SIGNATURES)


def test_global_hooks_run_before_the_modules_own():
    names = [call.name for call in hook_order.hook_calls()]
    for own in ("forward_pre_hook", "forward_hook", "full_backward_pre_hook", "full_backward_hook"):
        assert names.index(f"module_{own}") + 1 == names.index(own)


def test_the_order_is_that_of_hooks_registered_by_hand():
    layer, log = nn.Linear(2, 2), []
    layer.weight.register_post_accumulate_grad_hook(lambda p: log.append(
        "weight.post_accumulate_grad_hook"))
    layer.register_full_backward_hook(lambda *a: log.append("full_backward_hook"))
    layer.register_full_backward_pre_hook(lambda *a: log.append("full_backward_pre_hook"))
    layer.register_forward_hook(lambda *a: log.append("forward_hook"))
    layer.register_forward_pre_hook(lambda *a: log.append("forward_pre_hook"))
    layer(torch.ones(1, 2, requires_grad=True)).sum().backward()
    assert log == [call.name for call in hook_order.hook_calls() if call.name in log]


def test_a_full_backward_hook_changes_no_gradient_of_its_own_parameters():
    changes = {call.name: call.changes for call in hook_order.hook_calls()}
    assert changes["full_backward_hook"] == ("x.grad",)
    assert changes["full_backward_pre_hook"] == ("x.grad", "weight.grad")
    assert changes["weight.post_accumulate_grad_hook"] == ()


def test_no_global_hook_is_left_behind():
    hook_order.hook_calls()
    assert not everywhere._has_any_global_hook()


def test_a_dot_is_drawn_for_each_change_and_a_number_for_each_hook():
    calls, picture = hook_order.hook_calls(), draw_hook_order()
    circles = list(ET.fromstring(picture.svg).iter("{http://www.w3.org/2000/svg}circle"))
    assert sum(c.get("r") == "5" for c in circles) == sum(len(call.changes) for call in calls)
    assert sum(c.get("r") == "11" for c in circles) == len(calls) == len(repr(picture).splitlines())


def test_every_text_lies_inside_the_picture():
    assert_every_text_lies_inside(draw_hook_order())


def test_a_phone_shows_its_whole_width():
    picture = draw_hook_order()
    assert f"{size(picture)[0]:g}px)" in picture.svg, "it never shrinks below its own units"
    assert size(picture)[0] <= PHONE
