"""mini_module against torch.nn: what an assignment, a registration and `del` do to the tables."""

import copy

import pytest
import torch

from oracles.module_trees import ENGINES
from oracles.module_views import plain

# ---- assignments, one by one ---------------------------------------------------------------------

def blank(side):
    return side.Module.__new__(side.Module)             # as before super().__init__()


def holder(side):
    """A module with an entry of each kind."""
    box = side.Box()
    box.p, box.b = side.Parameter(torch.ones(2)), side.Buffer(torch.ones(2))
    box.t, box.m, box.plain = side.Buffer(torch.ones(2), persistent=False), side.Linear(1, 1), 3
    return box


VALUES = {"None": lambda side: None, "number": lambda side: 1, "text": lambda side: "x",
          "tensor": lambda side: torch.zeros(2), "list": lambda side: [side.Linear(1, 1)],
          "Parameter": lambda side: side.Parameter(torch.zeros(2)),
          "Buffer": lambda side: side.Buffer(torch.zeros(2)),
          "transient": lambda side: side.Buffer(torch.zeros(2), persistent=False),
          "Module": lambda side: side.Linear(1, 1)}
PLACES = {"blank": blank, "holder": holder}
NAMES = ("p", "b", "t", "m", "plain", "new", "forward", "training", "a.b", "")


def tables(box):
    kept = {name: [(key, type(value).__name__) for key, value in box.__dict__.get(name, {}).items()]
            for name in ("_parameters", "_buffers", "_modules")}
    return kept, box.__dict__.get("_non_persistent_buffers_set"), sorted(
        {*NAMES} & {*vars(box)} - {*kept})


def outcome(side, place, action):
    box = place(side)
    try:
        found = action(box)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        found = plain(error)
    return found, tables(box)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_an_assignment_does_what_it_does_in_torch(place, value):
    for name in NAMES:
        ours, theirs = (outcome(side, place, lambda box, side=side: setattr(
            box, name, value(side))) for side in ENGINES)  # noqa: B023
        assert ours == theirs, name


@pytest.mark.parametrize("way", ["register_parameter", "register_buffer", "add_module"])
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_registration_does_what_it_does_in_torch(way, value):
    for name in (*NAMES, 3, None):
        ours, theirs = (outcome(side, holder, lambda box, side=side: getattr(box, way)(
            name, value(side))) for side in ENGINES)  # noqa: B023
        assert ours == theirs, name


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_reading_and_deleting_find_what_they_find_in_torch(place):
    for name in NAMES:
        for action in (hasattr, lambda box, name: type(getattr(box, name)).__name__, delattr):
            ours, theirs = (outcome(side, place, lambda box: action(box, name))  # noqa: B023
                            for side in ENGINES)
            assert ours == theirs, (action, name)


def test_the_result_of_an_operation_on_a_parameter_is_a_plain_tensor():
    for side in ENGINES:
        weight = side.Parameter(torch.ones(2))
        assert type(weight * 2) is type(weight.detach()) is type(weight.sum()) is torch.Tensor
        box = side.Box()
        box.kept = weight * 2
        assert not list(box.parameters())
        assert weight.is_leaf
        assert weight.requires_grad


def test_a_parameter_shares_its_storage_and_a_copy_does_not():
    for side in ENGINES:
        data = torch.ones(2)
        weight = side.Parameter(data, requires_grad=False)
        assert weight.data_ptr() == data.data_ptr()
        twice = copy.deepcopy([weight, weight])
        assert twice[0] is twice[1]
        assert type(twice[0]) is type(weight)
        assert not twice[0].requires_grad
        assert twice[0].data_ptr() != data.data_ptr()
