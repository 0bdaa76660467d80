"""The picture of the machine says what the tensors and the dispatcher say."""

import re
import xml.etree.ElementTree as ET

import pytest
import torch

from inside.drawing import SMALLEST
from inside.kernels import active, kernels, keys
from inside.tensor_machine import Calls, draw_machine

SVG = "{http://www.w3.org/2000/svg}"
CALLS = {"t = x.t()": lambda x: x.t(), "y = t.add(1)": lambda t: t.add(1)}


@pytest.fixture
def x():
    return torch.tensor([[0.0, 1, 2], [3, 4, 5]], requires_grad=True)


@pytest.fixture
def picture(x):
    return draw_machine("x", x, CALLS)


@pytest.fixture(scope="module")
def watched():
    """An operator whose kernels note the key under which they run."""
    library = torch.library.Library("machine_test", "DEF")
    library.define("double(Tensor x) -> Tensor")
    ran = []

    def note(key):
        def kernel(x):
            ran.append(key)
            above = {"AutogradCPU": ["AutogradCPU"],
                     "ADInplaceOrView": ["AutogradCPU", "ADInplaceOrView"]}[key]
            excluded = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
            for name in above:
                excluded = excluded.add(getattr(torch._C.DispatchKey, name))
            with torch._C._ExcludeDispatchKeyGuard(excluded):
                return torch.ops.machine_test.double(x)
        return kernel

    for key in ("AutogradCPU", "ADInplaceOrView"):
        library.impl("double", note(key), key)
    library.impl("double", lambda x: ran.append("CPU") or x * 2, "CPU")
    yield torch.ops.machine_test.double, ran
    library._destroy()


def situations():
    yield "plain", torch.ones(2), torch.enable_grad()
    yield "no_grad", torch.ones(2), torch.no_grad()
    with torch.inference_mode():
        made = torch.ones(2)
    yield "inference tensor", made, torch.inference_mode()
    yield "old tensor in inference mode", torch.ones(2), torch.inference_mode()


def test_the_kernels_named_are_those_that_run_in_that_order(watched):
    operator, ran = watched
    seen = {}
    for name, tensor, mode in situations():
        ran.clear()
        with mode:
            expected = kernels("machine_test::double", tensor)
            operator(tensor)
        assert ran == expected, name
        seen[name] = expected
    assert seen["plain"] == seen["no_grad"] == ["AutogradCPU", "ADInplaceOrView", "CPU"]
    assert seen["inference tensor"] == ["CPU"]


def test_autocast_takes_part_only_where_it_has_a_kernel():
    x = torch.ones(2, 2)
    assert kernels("aten::linear", x)[0] == "AutogradCPU"
    with torch.autocast("cpu"):
        assert active(x)[0] == "AutocastCPU"
        assert kernels("aten::linear", x)[0] == "AutocastCPU"
        assert kernels("aten::relu", x)[0] == "AutogradCPU"


def test_keys_of_several_tensors_are_united():
    with torch.inference_mode():
        bare = torch.ones(2)
    assert "AutogradCPU" not in keys(bare)
    assert keys(bare, torch.ones(2)) == keys(torch.ones(2))


def test_the_objects_are_described_as_they_are(picture, x):
    t = x.t()
    assert f"x: sizes {tuple(x.shape)}, strides {x.stride()}" in picture.text
    assert f"t: sizes {tuple(t.shape)}, strides {t.stride()}" in picture.text
    assert "grad_fn TBackward0" in picture.text
    assert "grad_fn AddBackward0" in picture.text


def test_who_shares_is_read_from_the_tensors(picture):
    assert "version 0: x, t\nversion 0: y" in picture.text
    assert "storage [0 1 2 3 4 5], 24 bytes: x, t" in picture.text
    assert "storage [1 2 3 4 5 6], 24 bytes: y" in picture.text
    apart = draw_machine("x", torch.zeros(2), {"t = x.clone()": lambda x: x.clone()})
    assert "24 bytes" not in apart.text
    assert re.findall(r"^(?:version|storage).*: (\w.*)$", apart.text, re.M) == ["x", "t"] * 2


def test_the_path_of_each_call(picture):
    assert picture.text.splitlines()[-2:] == [
        "t = x.t(): aten::t: AutocastCPU excluded, AutogradCPU kernel, "
        "ADInplaceOrView kernel, CPU kernel",
        "y = t.add(1): aten::add.Tensor: AutocastCPU excluded, AutogradCPU kernel, "
        "ADInplaceOrView fallthrough, CPU kernel"]


def test_the_tracer_names_the_operators_below_autograd():
    x = torch.ones(2, 2)
    with Calls() as calls:
        torch.nn.functional.linear(x, x)
    assert calls.operators == ["aten::t", "aten::mm"]


def test_every_text_lies_inside_the_picture(picture):
    root = ET.fromstring(picture.svg)
    _, _, width, height = map(float, root.get("viewBox").split())
    for node in root.iter(f"{SVG}text"):
        room = len(node.text) * 0.61 * float(node.get("font-size"))
        if node.get("class") != "lang-zh":
            left = float(node.get("x")) - (room / 2 if node.get("text-anchor") else 0)
            assert left >= -1, node.text
            assert left + room <= width + 1, node.text
        assert 0 < float(node.get("y")) <= height, node.text


def test_it_is_narrow_enough_for_a_phone(picture):
    width = float(ET.fromstring(picture.svg).get("viewBox").split()[2])
    assert width * SMALLEST / 12 <= 342  # a phone of 390 px less the margins of page and output


def test_a_tensor_elsewhere_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"^m: is on meta; the machine is drawn for the CPU$"):
        draw_machine("m", torch.ones(2, device="meta"), CALLS)
