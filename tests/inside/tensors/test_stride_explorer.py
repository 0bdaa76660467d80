"""The stride explorer follows torch: in Python, in JavaScript, in the table without JavaScript."""

import random
import re
from collections import Counter

import pytest
import torch

from inside.widgets import stride_explorer
from inside.widgets.stride_explorer import (
    DIMS,
    ESM,
    ITEMSIZES,
    LIMIT,
    StrideExplorer,
    contiguous_strides,
    refusal,
)
from inside.widgets.tensor_chain import METHODS, PROPERTIES, ChainError, run_chain
from inside.widgets.web_module import joined_module
from oracles.explorer_chains import DRAWS, draw_chains
from oracles.web.javascript import evaluate
from tests.helpers import depth
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.programs("book/web/**/*", "package-lock.json")

CASES = depth.cases(300)
CHAINS = depth.cases(800)  # the rarest refusal comes first in chain 692
REASONS = {
    "dim", "flat", "window", "bounds", "usage", "index", "twice", "negative", "matrix", "diagonal",
    "narrow", "ambiguous", "numel", "seam", "indices", "permute", "rank", "offset", "expand",
    "scalar", "stride", "expandDims", "step", "free", "leading", "order",
    "slice",
}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The file that a notebook gets: the parts joined to one."""
    file = tmp_path_factory.mktemp("explorer") / "joined.mjs"
    file.write_text(joined_module(ESM), encoding="utf-8")
    return file


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


def test_javascript_accepts_refuses_and_addresses_as_torch_does(cases, module):
    expression = """data.map((v) => m.refusal(v) ? null : {
        addresses: m.indices(v.shape).map((i) => m.address(i, v.strides, v.offset)),
        contiguous: m.contiguity(v).contiguous })"""
    answers = evaluate(module, expression, [view for view, _ in cases])
    for (view, expected), answer in zip(cases, answers, strict=True):
        assert answer == expected, view


def test_javascript_names_the_dimension_that_breaks_contiguity(module):
    views = [
        {"shape": [4, 3], "strides": [1, 4]},
        {"shape": [3, 2], "strides": [4, 1]},
        {"shape": [2, 1, 3], "strides": [3, 99, 1]},
        {"shape": [2, 3, 2], "strides": [6, 1, 1]},
    ]
    assert evaluate(module, "data.map(m.contiguity)", views) == [
        {"contiguous": False, "dim": 1, "stride": 4, "want": 1},
        {"contiguous": False, "dim": 0, "stride": 4, "want": 2},
        {"contiguous": True},
        {"contiguous": False, "dim": 1, "stride": 1, "want": 2},
    ]


def test_javascript_finds_every_reader_of_a_cell(module):
    view = {"shape": [5, 4], "strides": [2, 1], "offset": 0, "size": 12}
    t = torch.arange(12).as_strided((5, 4), (2, 1))
    found = evaluate(module, "m.readers(data)", view)
    assert found == [(t == cell).nonzero().tolist() for cell in range(12)]


def test_channels_last_is_seen_as_torch_sees_it(module):
    rng = random.Random(11)
    made = []
    for _ in range(depth.cases(60)):
        t = torch.empty([rng.choice([1, 2, 3]) for _ in range(4)])
        for one in (t, t.to(memory_format=torch.channels_last)):
            made.append(one.permute(rng.sample(range(4), 4)) if rng.random() < 0.5 else one)
    views = [{"shape": list(t.shape), "strides": list(t.stride())} for t in made]
    expected = [t.is_contiguous(memory_format=torch.channels_last) for t in made]
    assert 1 / 6 < sum(expected) / len(made) < 5 / 6
    assert evaluate(module, "data.map(m.channelsLast)", views) == expected


# ---- chains ------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def chains():
    return draw_chains(CHAINS)


@pytest.fixture(scope="module")
def ran(chains, module):
    """What the page makes of each chain."""
    expression = """data.map((text) => {
      const { rows, error } = m.run(text, 12);
      return { error, words: error && m.refusalWords(error), text: rows.map((r) => r.text),
        rows: rows.filter((r) => r.state).map(({ kind, state }) => {
          const { shape, strides, offset, storage: { size, values } } = state;
          return { kind, shape, strides, offset, size, contiguous: m.contiguity(state).contiguous,
            values: m.indices(shape).map((i) => values[m.address(i, strides, offset)]) };
        }) };
    })"""
    return evaluate(module, expression, [text for text, *_ in chains])


def test_chains_accept_refuse_and_lay_out_as_torch_does(chains, ran):
    for (text, seen, _, refused), answer in zip(chains, ran, strict=True):
        assert (refused is None) == (answer["error"] is None), (text, refused, answer["error"])
        assert answer["rows"] == seen, text


def test_the_chains_reach_every_operation_and_every_refusal(chains, ran, module):
    steps, kinds, reasons = Counter(), Counter(), Counter()
    for (_, seen, names, _), answer in zip(chains, ran, strict=True):
        steps.update(names)
        kinds.update(row["kind"] for row in seen)
        reasons.update([answer["error"]["code"]] if answer["error"] else [])
    for what in (steps, kinds, reasons):
        print(", ".join(f"{name} {count}" for name, count in what.most_common()))
    assert set(DRAWS) == METHODS | PROPERTIES | {"[]"} == set(
        evaluate(module, "Object.keys(m.METHODS)")) | PROPERTIES | {"[]"}
    assert min([steps[name] for name in DRAWS] + list(kinds.values())) > CHAINS / 25
    assert CHAINS * 0.2 < reasons.total() < CHAINS * 0.7
    assert set(reasons) == REASONS


def test_every_refusal_is_said_in_both_languages(ran):
    for answer in ran:
        if answer["error"]:
            zh, en = answer["words"]
            assert CHINESE.search(zh), answer
            assert not CHINESE.search(en), answer
            assert zh.startswith(f"`{answer['text'][-1]}`："), answer
            assert en.endswith("."), answer
            assert "undefined" not in zh + en, answer


def test_the_text_that_the_page_sends_is_the_chain_for_torch(chains, ran):
    for (text, seen, _, refused), answer in list(zip(chains, ran, strict=True))[:500]:
        if refused is None:
            head = text.partition(")")[0] + ")"
            t = run_chain(head + "".join(answer["text"][1:]))[-1]
            assert [list(t.shape), list(t.stride())] == [seen[-1]["shape"], seen[-1]["strides"]]


@pytest.mark.parametrize("text", [
    "x.view(3, 4).t()[1:, ::2]", "view(3,4).t()[1:,::2]", "t = x.view(3, 4).t()[1:, ::2]",
    "x．view（3，4）.t（）［1：，：：2］", "x.view(3、4)。t()【1:, ::2】",
    "torch.arange(12).view(size=(3, 4)).transpose(0, dim1=-1)[1:][..., ::2]",
    " x . view ( [3, 4] ) . T [ 1 : , : : 2 ] ", "x.view(−1, 4).t()[1:, ::2]",
    "torch.arange(12,).view(3, 4,).t()[1:, ::2]", "x.view(3, 4).t()[1:, ::2]  # a comment",
    "x.view(３, ４).t()[…, 1:,　：：２]",
])
def test_a_chain_is_read_however_it_is_typed(module, text):
    t = torch.arange(12).view(3, 4).t()[1:, ::2]
    state = evaluate(module, "m.run(data, 12).rows.at(-1).state", text)
    assert (state["shape"], state["strides"]) == (list(t.shape), list(t.stride()))


@pytest.mark.parametrize(("text", "code", "words"), [
    ("x.view(3,", "syntax", "Not finished: a whole number"),
    ("x[1", "syntax", "Not finished: `,` or `]` should"),
    ("x.view(3", "syntax", "Not finished: `,` or `)` should"),
    ("x.view(3 4)", "syntax", "Cannot read `4` at character 10"),
    ("x.view(3.0, 4)", "syntax", "Cannot read `.` at character 9"),
    ("x + 1", "syntax", "Cannot read `+` at character 3"),
    ("x..t()", "syntax", "the name of an operation"),
    ("x[]", "syntax", "Cannot read `]`"),
    ("x[,0]", "syntax", "Cannot read `,` at character 3"),
    ("x.view(012)", "syntax", "Cannot read `012` at character 8"),
    ("x.view(10³)", "syntax", "Cannot read `³` at character 10"),
    ("x.flip(dims=-3, dims=0)", "syntax", "Cannot read `dims` at character 17"),
    ("x.t(__proto__=1)", "usage", "do not fit `t()`"),
    ("x[:...].clone()", "slice", "a whole number or empty"),
    ("x[-1:(1,):None]", "slice", "a whole number or empty"),
    ("x.view(size=12)", "usage", "`view(*size)`"),
    ("x.view", "call", "`view(*size)`"),
    ("x.T()", "property", "without brackets"),
    ("x.numpy()", "unknown", "`numpy` is not known here"),
    ("x.constructor()", "unknown", "`constructor` is not known here"),
    ("x[[0, 1]]", "lists", "copies data"),
    ("torch.arange(1000)", "length", "from 0 to 999"),
    ("x.expand(999, 12).clone()", "huge", "11988 elements"),
    ("x" + ".t()" * 21, "long", "at most 20 steps"),
])
def test_what_cannot_be_read_or_shown_is_said(module, text, code, words):
    error, (zh, en) = evaluate(
        module, "((e) => [e, m.refusalWords(e)])(m.run(data, 12).error)", text)
    assert error["code"] == code
    assert words in en
    assert CHINESE.search(zh)


def test_presets_are_what_their_code_gives_in_torch():
    presets = evaluate(ESM, "m.PRESETS.map(({ code, view }) => ({ code, ...view }))")
    assert len(presets) == 8
    for preset in presets:
        t = eval(preset["code"], {"x": torch.arange(preset["size"])})
        given = preset["shape"], preset["strides"], preset["offset"]
        assert given == (list(t.shape), list(t.stride()), t.storage_offset()), preset["code"]


# ---- what else is typed, and bytes -------------------------------------------------------------

def test_javascript_reads_shapes_as_readers_type_them(module):
    typed = {
        "3, 4": [3, 4], "(3, 4)": [3, 4], "3，4": [3, 4], "（３，４）": [3, 4], "3、4": [3, 4],
        "10x3": [10, 3], "10 x 3": [10, 3], "10×3": [10, 3], "10*3": [10, 3], "3 4": [3, 4],
        "[3, 4]": [3, 4], "(10,)": [10], " 2 ": [2], "0": [0], "()": [], "[]": [], "-1": [-1],
        "3,,4": None, "": None, " ": None, "1.5": None, "three": None, "3,4)": None, "x3": None,
        "torch.Size([32, 1])": [32, 1], "torch.Size([])": [], "torch.Size": None,
        "10³": None, "2²,3": None, "①": None, "½": None, "３ｘ４": [3, 4],
    }
    assert evaluate(module, "data.map(m.parseInts)", list(typed)) == list(typed.values())


@pytest.mark.parametrize("itemsize", ITEMSIZES)
def test_a_byte_belongs_to_every_element_that_covers_it(module, itemsize):
    t = torch.arange(12).view(3, 4)[:, 1:3].unsqueeze(0).expand(2, 3, 2)
    words = evaluate(module, f"""Array.from({{ length: 12 * {itemsize} }}, (_, byte) =>
      m.byteWords(byte, {itemsize}, m.readers(data)[Math.floor(byte / {itemsize})])[1])""", {
        "shape": t.shape, "strides": t.stride(), "offset": t.storage_offset(), "size": 12})
    for byte, said in enumerate(words):
        covered = [index for index in torch.cartesian_prod(*map(torch.arange, t.shape)).tolist()
                   if t[tuple(index)] * itemsize <= byte < (t[tuple(index)] + 1) * itemsize]
        assert re.findall(r"`t\[(.+?)\]`", said) == [str(index)[1:-1] for index in covered]
        assert f"Byte **{byte}**" in said
        assert f"its byte {byte % itemsize} " in said


def test_the_joined_module_stands_alone_and_agrees_on_the_limits(module):
    source = joined_module(ESM)
    assert not re.search(r"^\s*import\b|\bimport\(", source, re.MULTILINE)
    assert StrideExplorer._esm is not None
    assert evaluate(module, "[m.LIMIT, m.DIMS, typeof m.default.render]") == [
        LIMIT, DIMS, "function"]
    assert evaluate(ESM, "typeof m.default.render") == "function"


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


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (torch.zeros(65), "at most 64"),
        (torch.zeros(1000)[:3], "a storage of 1000 elements"),
        (torch.eye(3).to_sparse(), "no strides"),
        (torch.zeros(1, 1, 1, 1, 1, 1, 1), "at most 6"),
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
    assert w.tensor.tolist() == torch.arange(12).view(2, 2, 3).tolist()


@pytest.mark.parametrize("t", [torch.arange(12)[5], torch.arange(12).view(3, 4)[:, :0],
                               torch.arange(0), torch.arange(12).view(2, 1, 3, 1, 2),
                               torch.arange(12).view(3, 4).t()[1:]])
def test_tensors_of_any_rank_and_empty_ones_are_shown(t):
    w = StrideExplorer.of(t)
    assert (w.shape, w.strides, w.offset) == (t.shape, t.stride(), t.storage_offset())
    assert w.size == t.untyped_storage().nbytes() // 8
    assert w.tensor.tolist() == t.tolist()
    cells = re.findall(r"<td>(\d+)</td>", stride_explorer.fallback(w))
    assert [int(c) for c in cells] == t.flatten().tolist()


# ---- a chain in the live notebook --------------------------------------------------------------

def layout(w):
    return w.shape, w.strides, w.offset, w.size


def test_a_chain_is_executed_by_torch():
    w = StrideExplorer(chain="x.view(3, 4).t()[1:]")
    assert layout(w) == ((3, 3), (1, 4), 1, 12)
    assert torch.equal(w.tensor, torch.arange(12).view(3, 4).t()[1:])
    w.chain = "torch.arange(6).expand(2, 6).contiguous()"
    assert layout(w) == ((2, 6), (6, 1), 0, 12)
    w.chain = "x.view(2, 3)"  # x is still that of the chain before
    assert layout(w) == ((2, 3), (3, 1), 0, 6)


def test_the_html_holds_the_chain():
    html = stride_explorer.fallback(StrideExplorer(chain="x.view(3, 4).T", itemsize=4))
    assert 'chain="torch.arange(12).view(3, 4).T" itemsize="4">' in html


@pytest.mark.parametrize(("chain", "words"), [
    ("x.view(5)", "invalid for input of size 12"), ("x.view(", "not a Python expression"),
    ("x.numpy()", "not an operation"), ("y.t()", "start with x"),
    ("x.view(int('3'), 4)", "only literal arguments"), ("x.expand(9, 12)", "has 108 elements"),
    ("torch.arange(99)", "at most 64"), ("torch.arange('3')", "one whole number"),
])
def test_a_refused_chain_changes_nothing(chain, words):
    w = StrideExplorer(chain="x.view(3, 4)")
    with pytest.raises(ValueError, match=words) as error:
        w.chain = chain
    assert "\n" not in str(error.value)
    assert (w.chain, layout(w)) == ("torch.arange(12).view(3, 4)", ((3, 4), (4, 1), 0, 12))


@pytest.mark.parametrize("text", [
    "__import__('os')", "x.__class__", "x.view.__self__", "x.view(*[3, 4])", "x.data", "(x)(1)",
    "(x).t()", "x[print(1)]", "x.view(lambda: 1)", "[x][0]", "x.view(3, 4), x",
    "torch.arange(12, **{})", "torch.save(x)", "x.apply_(print)", "x.view(size=print)",
    "x.view(**{'size': (3, 4)})",
])
def test_only_literal_operations_are_executed(text):
    with pytest.raises((ChainError, TypeError)):
        run_chain(text, torch.arange(12))


def test_numbers_set_by_hand_end_the_chain():
    w = StrideExplorer(chain="x.view(3, 4)")
    w.strides = (4, 0)
    assert (w.chain, w.strides) == ("", (4, 0))
    assert torch.equal(w.tensor, torch.arange(12).as_strided((3, 4), (4, 0)))


def test_the_front_end_sends_a_chain_with_its_numbers():
    w = StrideExplorer()
    w.set_state({"shape": [4, 3], "strides": [1, 4], "offset": 0, "size": 12, "itemsize": 8,
                 "chain": "torch.arange(12).view(3, 4).t()"})
    assert (w.chain, w.strides) == ("torch.arange(12).view(3, 4).t()", (1, 4))
    w.set_state({"shape": [2], "strides": [3], "offset": 1, "size": 12, "itemsize": 8, "chain": ""})
    assert (w.chain, layout(w)) == ("", ((2,), (3,), 1, 12))


def test_the_explorer_of_a_tensor_works_in_its_storage():
    t = torch.zeros(3, 4, dtype=torch.float16)
    w = StrideExplorer.of(t.t())
    assert w.itemsize == 2
    w.tensor[1, 2] = 5
    assert t[2, 1] == 5
    w.chain = "x.view(3, 4)[0]"
    w.tensor.fill_(7)
    assert t[0].tolist() == [7] * 4
    assert t.count_nonzero() == 5


def test_an_item_size_that_no_dtype_has_is_refused():
    with pytest.raises(ValueError, match="itemsize 3"):
        StrideExplorer(itemsize=3)
