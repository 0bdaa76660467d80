"""The life of a call under mini_dynamo is noted as it happens, and drawn whole."""

import torch

from inside.compile.observe.dynamo_life import CAPTURE, GUARDS, life
from inside.compile.pictures.dynamo_life import State, draw_dynamo_life, noisy


def test_the_second_call_checks_guards_where_the_first_one_captured():
    x = torch.tensor([0.5, 0.25])
    first, second = life(noisy, [(x, State()), (x, State())])
    assert [event.kind for event in first] == [
        "capture", "graph", "changes", "real", "capture", "graph"]
    assert [event.kind.replace(GUARDS, CAPTURE) for event in second] == [
        event.kind for event in first]


def test_the_picture_says_both_calls():
    assert [line.split(":")[0] for line in draw_dynamo_life().text.splitlines()] == [
        "first call", "second call"]
