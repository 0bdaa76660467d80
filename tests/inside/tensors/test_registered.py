"""Who answers for an operator while it is registered, as read from torch and as drawn."""

import xml.etree.ElementTree as ET

import pytest
import torch

from inside.tensors.observe.registered import KEYS, answers
from inside.tensors.pictures.registered import draw_answers

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def library():
    made = torch.library.Library("registered_here", "DEF")
    yield made
    made._destroy()


def test_each_step_fills_the_rows_that_it_registers(library):
    library.define("twice(Tensor x) -> Tensor")
    stages = {"define": answers("registered_here::twice")}
    library.impl("twice", lambda x: x * 2, "CPU")
    stages["impl"] = answers("registered_here::twice")
    library.impl("twice", lambda x: x.new_empty(x.shape), "Meta")
    stages["fake"] = answers("registered_here::twice")
    library.impl("twice", lambda x: x, "Autograd")
    stages["gradient"] = answers("registered_here::twice")
    before = "nothing"
    for stage, key in zip(("impl", "fake", "gradient"), ("CPU", "Meta", "AutogradCPU"),
                          strict=True):
        assert stages[stage][key] == "kernel"
        assert stages["define"][key] != "kernel"
    assert stages["define"]["CPU"] == stages["gradient"]["CUDA"] == before
    assert stages["gradient"]["FuncTorchBatched"] == "fallback"
    assert stages["gradient"]["AutocastCPU"] == "fallthrough"


def test_an_unknown_operator_is_refused_by_name():
    with pytest.raises(ValueError, match="aten::nonsense: no such operator"):
        answers("aten::nonsense")


def test_the_picture_has_a_dot_for_each_kernel_and_a_sign_elsewhere():
    stages = {"one": dict.fromkeys(KEYS, "nothing") | {"CPU": "kernel"},
              "two": dict.fromkeys(KEYS, "fallback") | {"CPU": "kernel", "Meta": "fallthrough"}}
    picture = draw_answers(stages)
    drawn = ET.fromstring(picture.svg)
    assert len(drawn.findall(f".//{SVG}circle")) == 2
    words = [element.text for element in drawn.iter(f"{SVG}text")]
    assert [words.count(sign) for sign in "·○↓"] == [5, 4, 1]
    assert {"one", "two", *KEYS} <= set(words)
    assert "CPU               kernel" in str(picture)
