"""The exercises on mini_index: usual mistakes fail by name.

What holds of all exercises is in test_exercises.py.
"""


import pytest

from book.pipeline.ground.paths import CHAPTERS
from book.pipeline.notebooks import faded
from tests.helpers.exercise_checks import load, sources, teller

LIST = CHAPTERS / "01-tensors/exercises-writing-by-index.yaml"
EXERCISES = faded.read(LIST)
SOURCES = sources(EXERCISES)


@pytest.fixture
def told(tmp_path, capsys):
    return teller(EXERCISES, load(EXERCISES.check), tmp_path, capsys)


@pytest.mark.parametrize(("name", "old", "new"), [
    ("Place.select", "i % size * stride", "i * stride"),
    ("Place.select", "if not -size <= i < size:", "if i >= size:"),
    ("Place.slice", "self.offset += start * self.stride[dim]", "self.offset += start"),
    ("Place.slice", "self.offset += start * self.stride[dim]",
     "self.offset = start * self.stride[dim]"),
    ("Place.slice", "len(range(start, stop, step))", "(stop - start) // step"),
    ("Place.slice", "self.stride[dim] *= step", "self.stride[dim] = step"),
    ("choices", "tensor.nonzero().unbind(1), dim)", "tensor.nonzero().unbind(1))"),
    ("choices", "tensor.nonzero().unbind(1), dim)", "tensor.nonzero().unbind(0), dim)"),
    ("choices", "torch.broadcast_tensors(*found.values())", "found.values()"),
    ("choices", "if list(tensor.shape) != place.size[dim:dim + tensor.dim()]:", "if False:"),
    ("addresses", "max(chosen) - min(chosen) == len(chosen) - 1", "True"),
    ("addresses", "max(chosen) - min(chosen) == len(chosen) - 1", "False"),
    ("addresses", "min(chosen) if side_by_side else 0, jump", "0, jump"),
    ("addresses", "torch.arange(place.size[dim]) * place.stride[dim] for dim in kept",
     "torch.arange(place.size[dim]) for dim in kept"),
    ("positions", "torch.where(tensor < 0, tensor + size, tensor)", "tensor.abs()"),
    ("positions", "torch.where(tensor < 0, tensor + size, tensor)", "tensor"),
    ("positions", "(tensor < -size) | (tensor >= size)", "tensor >= size"),
    ("positions", "(tensor < -size) | (tensor >= size)", "(tensor < -size) | (tensor > size)"),
    ("positions", "(whole or not size) and ", ""),
    ("positions", "(whole or not size) and ", "whole and "),
    ("index_put", "storage[address] + new if accumulate else new", "new"),
    ("index_put", "value.squeeze(0)", "value"),
    ("index_put", ".expand(where.shape).clone()", ".expand(where.shape)"),
    ("index_put", "    if key is False:", "    if False:"),
    ("index_put", "None if key is True else key", "key"),
    ("index_put", "torch.full((), value, dtype=x.dtype)", "torch.as_tensor(value)"),
    ("index_put", "torch.full((), value, dtype=x.dtype)", "torch.as_tensor(value).to(x.dtype)"),
    ("index_put", "place.chosen and value.dtype", "False and value.dtype"),
    ("index_put", "    return x\n\n\n# ---", "    return x.clone()\n\n\n# ---"),
    ("along", "key[dim] = idx", "key[0] = idx"),
    ("along", "(idx < 0) | (idx >= x.shape[dim])", "idx >= x.shape[dim]"),
    ("along", "idx.shape[d] > x.shape[d] for d in others", "False for d in others"),
])
def test_a_usual_mistake_fails_by_its_name(told, name, old, new):
    text = SOURCES["mini_index"]
    if old == "value.squeeze(0)":                        # as it stands, this would never end
        old, new = "while value.shape[:1] == (1,):", "while False:"
    assert text.count(old) == 1
    assert told("mini_index", text.replace(old, new))[name] == "fails"
