"""The stride explorer follows torch: in Python, in JavaScript, in the table without JavaScript."""

import random
import re

import pytest
import torch

from inside import stride_explorer
from inside.stride_explorer import ESM, LIMIT, StrideExplorer, contiguous_strides, refusal
from tests.javascript import evaluate

CASES = 3000


def random_view(rng):
    """A view that is sometimes legal: sizes may be 0 or 1, strides and offset may be negative."""
    dims = rng.randint(0, 4)
    shape = tuple(rng.choice([0, 1, 1, 2, 3, 4, 5]) for _ in range(dims))
    strides = tuple(rng.choice([0, 1, 1, 2, 3, 4, 6, 8, 12]) for _ in range(dims))
    if rng.random() < 0.3:
        strides = contiguous_strides(shape)
    if rng.random() < 0.05 and dims:
        strides = (-1, *strides[1:])
    offset = rng.choice([0, 0, 0, 1, 2, 5, -1])
    return {"shape": shape, "strides": strides, "offset": offset, "size": rng.randint(0, 40)}


def in_torch(view):
    """What torch says: None where it refuses, else addresses and contiguity."""
    storage = torch.arange(view["size"])
    try:
        t = storage.as_strided(view["shape"], view["strides"], view["offset"])
    except RuntimeError:
        return None
    return {"addresses": t.flatten().tolist(), "contiguous": t.is_contiguous()}


@pytest.fixture(scope="module")
def cases():
    rng = random.Random(7)
    views = [random_view(rng) for _ in range(CASES)]
    expected = [in_torch(view) for view in views]
    refused = sum(answer is None for answer in expected)
    assert CASES * 0.2 < refused < CASES * 0.8, "the cases must lie on both sides of the rule"
    return list(zip(views, expected, strict=True))


def test_python_accepts_and_refuses_as_torch_does(cases):
    for view, answer in cases:
        assert (refusal(**view) is None) == (answer is not None), view


def test_javascript_accepts_refuses_and_addresses_as_torch_does(cases):
    expression = """data.map((v) => m.refusal(v) ? null : {
        addresses: m.indices(v.shape).map((i) => m.address(i, v.strides, v.offset)),
        contiguous: m.contiguity(v).contiguous })"""
    answers = evaluate(ESM, expression, [view for view, _ in cases])
    for (view, expected), answer in zip(cases, answers, strict=True):
        assert answer == expected, view


def test_javascript_names_the_dimension_that_breaks_contiguity():
    views = [
        {"shape": [4, 3], "strides": [1, 4]},
        {"shape": [3, 2], "strides": [4, 1]},
        {"shape": [2, 1, 3], "strides": [3, 99, 1]},
        {"shape": [2, 3, 2], "strides": [6, 1, 1]},
    ]
    assert evaluate(ESM, "data.map(m.contiguity)", views) == [
        {"contiguous": False, "dim": 1, "stride": 4, "want": 1},
        {"contiguous": False, "dim": 0, "stride": 4, "want": 2},
        {"contiguous": True},
        {"contiguous": False, "dim": 1, "stride": 1, "want": 2},
    ]


def test_javascript_finds_every_reader_of_a_cell():
    view = {"shape": [5, 4], "strides": [2, 1], "offset": 0, "size": 12}
    t = torch.arange(12).as_strided((5, 4), (2, 1))
    found = evaluate(ESM, "m.readers(data)", view)
    assert found == [(t == cell).nonzero().tolist() for cell in range(12)]


def test_presets_are_what_their_code_gives_in_torch():
    presets = evaluate(ESM, "m.PRESETS.map(({ code, view }) => ({ code, ...view }))")
    assert len(presets) == 6
    for preset in presets:
        t = eval(preset["code"], {"x": torch.arange(preset["size"])})
        given = preset["shape"], preset["strides"], preset["offset"]
        assert given == (list(t.shape), list(t.stride()), t.storage_offset()), preset["code"]


def test_javascript_reads_shapes_as_readers_type_them():
    typed = ["3, 4", "(3, 4)", "3，4", "(10,)", " 2 ", "3,,4", "3 x 4", "", "1.5", "three"]
    expected = [[3, 4], [3, 4], [3, 4], [10], [2], None, None, None, None, None]
    assert evaluate(ESM, "data.map(m.parseInts)", typed) == expected


def test_the_module_stands_alone_and_agrees_on_the_limit():
    source = ESM.read_text(encoding="utf-8")
    assert not re.search(r"^\s*import\b|\bimport\(", source, re.MULTILINE)
    assert evaluate(ESM, "[m.LIMIT, typeof m.default.render]") == [LIMIT, "function"]


def test_fallback_table_holds_the_addresses_of_torch(cases):
    drawn = 0
    for view, answer in cases:
        if answer is None or stride_explorer.undrawable(view["shape"], view["size"]):
            continue
        cells = re.findall(r"<td>(\d+)</td>", stride_explorer.fallback(StrideExplorer(**view)))
        assert [int(c) for c in cells] == answer["addresses"], view
        drawn += 1
        if drawn == 100:  # a widget opens a comm: a hundred are enough
            break
    assert drawn == 100


def test_html_is_the_element_with_its_attributes_and_the_same_each_time():
    first, second = (StrideExplorer((2, 3), (1, 2), 4)._repr_mimebundle_()[0] for _ in range(2))
    assert first["text/html"] == second["text/html"]
    element = '<stride-explorer shape="2,3" strides="1,2" offset="4" size="12">\n<table>'
    assert first["text/html"].startswith(element)
    assert first["text/plain"] == "StrideExplorer(shape=(2, 3), strides=(1, 2), offset=4, size=12)"
    assert "application/vnd.jupyter.widget-view+json" in first
    assert first["text/html"].count('lang="zh-Hans"') == first["text/html"].count('lang="en"') == 1


def test_explorer_of_a_tensor_reads_the_tensor():
    t = torch.arange(12).view(3, 4).t()[1:]
    w = StrideExplorer.of(t)
    assert (w.shape, w.strides, w.offset, w.size) == ((3, 3), (1, 4), 1, 12)
    assert w.addresses() == t.tolist()


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (torch.zeros(65), "at most 64"),
        (torch.zeros(1000)[:3], "a storage of 1000 elements"),
        (torch.eye(3).to_sparse(), "no strides"),
        (torch.tensor(1.0), "1 to 3 dimensions"),
        (torch.zeros(2, 0), "1 to 3 dimensions"),
    ],
)
def test_explorer_of_a_tensor_it_cannot_draw_says_why_in_one_line(tensor, words):
    with pytest.raises(ValueError, match=words) as error:
        StrideExplorer.of(tensor)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ({"shape": (3, 4), "strides": (-4, 1)}, "no negative strides"),
        ({"shape": (3, 4), "strides": (5, 1), "size": 12}, "need 14 storage elements"),
        ({"shape": (3, 4), "strides": (4,)}, "differ in length"),
        ({"shape": (3, 4), "offset": -1, "size": 20}, "cannot be negative"),
    ],
)
def test_a_view_torch_refuses_is_refused(view, words):
    with pytest.raises(ValueError, match=words):
        StrideExplorer(**view)


def test_a_refused_change_leaves_the_last_good_view():
    w = StrideExplorer((3, 4))
    with pytest.raises(ValueError, match="need 14"):
        w.strides = (5, 1)
    with pytest.raises(ValueError, match="need 66"), w.hold_trait_notifications():
        w.shape, w.strides = (2, 2, 3), (60, 3, 1)
    assert (w.shape, w.strides) == ((3, 4), (4, 1))


def test_the_front_end_may_change_the_number_of_dimensions_in_one_message():
    w = StrideExplorer((3, 4))
    w.set_state({"shape": [2, 2, 3], "strides": [6, 3, 1], "offset": 0, "size": 12})
    assert w.addresses() == torch.arange(12).view(2, 2, 3).tolist()
