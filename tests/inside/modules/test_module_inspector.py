"""The inspector shows what torch holds and calls, for a real model and for a typed one."""

import json
import re
from collections import Counter

import pytest
import torch
from torch import nn
from traitlets import TraitError

from inside.modules.observe.module_calls import CallError, record_calls
from inside.widgets.module_inspector import (
    ESM,
    ModuleInspector,
    called_rows,
    held_rows,
    inspect,
)
from inside.widgets.typed_model import LAYERS, TypedModelError, build
from inside.widgets.web_module import joined_module
from oracles.typed_models import Typist, in_torch
from oracles.web.javascript import evaluate
from tests.helpers import depth
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.programs("book/web/**/*", "package-lock.json")

CASES = depth.cases(600)
FITS = {"last", "dims", "channels", "tail", "kernel", "one", "ints", "range", "order"}


class Tiny(nn.Module):
    """A tied weight, a BatchNorm, a buffer that is not saved, and a list that hides a layer."""

    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(10, 4)
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.tok.weight
        self.extra = [nn.Linear(4, 4)]
        self.register_buffer("mask", torch.ones(4), persistent=False)

    def forward(self, x):
        x = self.norm(self.tok(x) * self.mask)
        return self.head(self.extra[0](x))


INPUT = torch.tensor([1, 2, 3])


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """Evaluate JavaScript over `m`, the module that a notebook gets, and `data`."""
    file = tmp_path_factory.mktemp("inspector") / "joined.mjs"
    file.write_text(joined_module(ESM), encoding="utf-8")
    return lambda expression, data=None: evaluate(file, expression, data)


# ---------------------------------------------------------------- a typed model is torch's
@pytest.fixture(scope="module")
def cases(module):
    """(text and shape, what torch makes of them, what the page makes of them)."""
    typed = [Typist(seed).program() for seed in range(CASES)]
    theirs = [in_torch(*one) for one in typed]
    ours = module("data.map(([text, shape]) => m.inspected(text, shape))", typed)
    return list(zip(typed, theirs, ours, strict=True))


def test_the_cases_hold_what_the_claims_are_about(cases):
    codes = Counter(ours["error"]["code"] for _, _, ours in cases if "error" in ours)
    assert codes.keys() >= FITS | {"missing", "value", "unknown", "groups", "padding"}, codes
    fit = [ours["model"] for _, _, ours in cases if "model" in ours]
    assert len(fit) > CASES / 2
    layers = Counter(row["type"] for model in fit for row in model["rows"] if "type" in row)
    assert layers.keys() == LAYERS | {"Sequential"}
    assert sum(bool(model["ties"]) for model in fit) > CASES / 30
    assert sum(row["again"] for model in fit for row in model["rows"] if "type" in row) > CASES / 30


def test_what_fits_is_shown_as_torch_has_it(cases):
    """Names, shapes, bytes, shared modules, sums, calls: the same JSON."""
    compared = 0
    for typed, theirs, ours in cases:
        if "model" in theirs or "model" in ours:
            assert ours.get("model") == theirs.get("model"), (typed, ours.get("error"))
            compared += 1
    assert compared > CASES / 2


def test_what_does_not_fit_is_refused_in_the_same_layer_with_the_same_shape(cases):
    for typed, theirs, ours in cases:
        if "model" not in theirs:
            assert ours["error"].get("call") == theirs.get("call"), typed


def test_every_refusal_is_one_sentence_in_both_languages(cases, module):
    errors = list({json.dumps(ours["error"]): ours["error"] for _, _, ours in cases
                   if "error" in ours}.values())
    told = module("data.map((error) => m.refusalWords(error, Object.keys(m.LAYERS)))", errors)
    for error, (zh, en) in zip(errors, told, strict=True):
        assert CHINESE.search(zh), error
        assert not CHINESE.search(en), error
        assert (zh[-1], en[-1]) == ("。", "."), error
        assert not re.search(r"undefined|null|NaN|\[object", zh + en), error


@pytest.mark.parametrize(("text", "shape"), [
    ("BatchNorm1d(3, affine=False, track_running_stats=False)", (2, 4)),  # nothing to compare with
    ("BatchNorm1d(3, affine=False)", (2, 4)), ("BatchNorm1d(4, track_running_stats=False)", (1, 4)),
    ("BatchNorm1d(4)", (1, 4, 2)), ("BatchNorm2d(4)", (1, 4, 1, 1)), ("Flatten(0)", ()),
    ("Flatten()", ()), ("Flatten(2, 1)", (2, 3, 4)), ("MaxPool2d(2, padding=2)", (1, 4, 4)),
    ("MaxPool2d(3)", (1, 2, 4)), ("MaxPool2d(3, 2, 1)", (1, 1, 1)), ("Conv2d(1, 1, 3)", (1, 3, 2)),
    ("Sequential()", (2,)), ("Embedding(3, 4)", ()), ("Linear(1, 2)", ()),
    ("Sequential(Sequential(), Embedding(3, 4), Sequential())", (2,)),
    ("Sequential(Identity(), Embedding(3, 4))", (2,)),
    ("b = Sequential(ReLU()); Sequential(Sequential(b), b, ReLU())", (2,)),
])
def test_at_its_edges_a_rule_is_torchs(module, text, shape):
    ours, theirs = module("m.inspected(...data)", [text, shape]), in_torch(text, shape)
    assert ours.get("model") == theirs.get("model")
    assert ours.get("error", {}).get("call") == theirs.get("call")


# ---------------------------------------------------------------- how it may be written
@pytest.mark.parametrize(("text", "same"), [
    ("Ｓｅｑｕｅｎｔｉａｌ（Linear（４，８），ReLU（））", "Sequential(Linear(4, 8), ReLU())"),
    ("torch.nn.Sequential(torch.nn.Linear(4, 8,), nn.ReLU(),)", "Sequential(Linear(4, 8), ReLU())"),
    ("a = Linear(4, 8)\n\na\n", "Linear(4, 8)"),
    ("Linear(\n  4,\n  out_features=8)", "Linear(in_features=4, out_features=8)"),
    ("m = Linear(4, 8)", "Linear(4, 8, bias=True)"),
    ("Sequential(LayerNorm((4)))", "Sequential(LayerNorm((4,), elementwise_affine=True))"),
])
def test_two_ways_to_write_the_same(module, text, same):
    found, expected = module("data.map((text) => m.inspected(text, [2, 4]))", [text, same])
    assert "error" not in found, found
    assert found == expected
    assert found["model"] == in_torch(same, (2, 4))["model"]


@pytest.mark.parametrize(("text", "code", "words"), [
    ("", "empty", "Sequential(Linear(4, 8)"), ("Linear(4, 8) ReLU()", "syntax", "`ReLU`"),
    ("Linear(4, 8", "syntax", "`,` or `)`"), ("Linear(4, 8), ReLU()", "syntax", "`,`"),
    ("Lin(4, 8)", "layer", "`BatchNorm1d`"), ("Linear", "name", "`Linear(…)`"),
    ("toString", "name", "`toString`"), ("constructor(4)", "layer", "`constructor`"),
    ("Linear(4)", "missing", "`out_features`"), ("Linear(4, 8, size=1)", "unknown", "`bias`"),
    ("Linear(4, 8, in_features=3)", "unknown", "`in_features`"),
    ("Linear(4, 8, True, 1)", "many", "3"), ("Linear(0, 4)", "value", "`in_features`"),
    ("Linear(4.0, 4)", "value", "`in_features`"), ("Dropout(2)", "value", "from 0 to 1"),
    ("Linear(in_features=4, 8)", "syntax", "named"), ("Linear(-x)", "syntax", "`x`"),
    ("Linear(4, __import__('os'))", "syntax", "`__import__`"), ("1 + 1", "syntax", "`1`"),
    ("Conv2d(3, 4, 3, groups=2)", "groups", "groups=2"),
    ("Linear(4000, 4000)", "large", "1,000,000"), ("Linear(4, 8)" + " " * 600, "long", "600"),
    ("Embedding(3, 4, padding_idx=7)", "padding", "`padding_idx`"),
    ("Linear(5, 8)", "last", "size 5"), ("Conv2d(2, 3, 3)", "dims", "3 or 4"),
    ("Sequential(Embedding(9, 4), Embedding(9, 4))", "ints", "integer"),
    ("; ".join(["a = ReLU()", *("a = Sequential(a, a)" for _ in range(9)), "a"]), "calls", "120"),
    ("Sequential(" * 50, "syntax", "layer"),
    ("ModuleList([Linear(4, 8)])", "uncalled", "no `forward`"),
])
def test_what_cannot_be_read_is_explained_in_both_languages(module, text, code, words):
    error = module("m.inspected(data, [2, 4]).error", text)
    assert error["code"] == code, error
    zh, en = module("m.refusalWords(data, Object.keys(m.LAYERS))", error)
    assert CHINESE.search(zh)
    assert not CHINESE.search(en)
    assert (zh[-1], en[-1]) == ("。", ".")
    assert words in en
    assert not re.search(r"undefined|null|NaN|\[object", zh + en)


def test_one_entry_is_told_in_the_singular(module):
    told = module("['p', 'b', 't', 's'].map((list) => m.listWords(list, [1, 8], new Set())[1])")
    assert "1 tensor, " in told[0]
    assert "It goes" in told[1]
    assert "1 entry." in told[3]
    assert not re.search(r"1 (tensors|entries)", " ".join(told))


@pytest.mark.parametrize(("text", "shape"), [
    ("(2, 4)", [2, 4]), ("2,4", [2, 4]), ("２，４", [2, 4]), ("2x4", [2, 4]), ("2 4", [2, 4]),
    ("[2, 4]", [2, 4]), ("(4,)", [4]), ("()", []), ("", None), ("a, b", None), ("-1, 2", None)])
def test_the_shape_of_the_input_may_be_written_in_many_ways(module, text, shape):
    assert module("m.shapeOf(data)", text) == shape


@pytest.mark.parametrize("shape", [None, [2, 0]])
def test_an_input_that_cannot_be_made_is_refused(module, shape):
    assert module("m.inspected('ReLU()', data).error.code", shape) == "shape"


def test_the_examples_of_the_page_are_read_and_all_but_the_last_fit(module):
    found = module("m.EXAMPLES.map(([text, shape]) => [text, m.shapeOf(shape), "
                   "m.inspected(text, m.shapeOf(shape))])")
    for text, shape, ours in found[:-1]:
        assert ours["model"] == in_torch(text, shape)["model"]
    assert found[-1][2]["error"]["call"] == in_torch(*found[-1][:2])["call"]


@pytest.mark.parametrize("text", [
    "__import__('os')", "Linear(4, open('x'))", "Sequential(*[1])", "Linear(**{})", "import os",
    "Linear(4, 8).weight", "nn.functional.relu(1)", "Bilinear(2, 2, 2)", "a", "(", "",
    "Linear(10000, 10000)", "x" * 700])
def test_torch_builds_nothing_but_the_named_layers(text):
    with pytest.raises(TypedModelError) as caught:
        build(text)
    assert "\n" not in str(caught.value)


# ---------------------------------------------------------------- a real model
def test_each_list_marks_what_torch_puts_into_it():
    model = Tiny()
    found = {list_: {row["path"] for row in inspect(model)["rows"] if list_ in row["lists"]}
             for list_ in "pbts"}
    assert found["p"] == {name for name, _ in model.named_parameters()}
    assert found["b"] == {name for name, _ in model.named_buffers()}
    assert found["t"] == found["p"] | found["b"]
    assert found["s"] == set(model.state_dict())


def test_what_to_moves_is_what_changes_its_dtype():
    model = Tiny()
    moved = {row["path"] for row in inspect(model)["rows"] if "t" in row["lists"]}
    before = {row["path"]: row["shape"] for row in inspect(model)["rows"] if "shape" in row}
    model.to(torch.float64)
    after = {row["path"]: row["shape"] for row in inspect(model)["rows"] if "shape" in row}
    changed = {path for path in before if before[path] != after[path]}
    assert changed - {"head.weight"} == moved - {"norm.num_batches_tracked"}  # the tie; an integer
    assert "float64" not in after["extra[0].weight"]


def test_sums_count_a_tied_weight_once_and_its_entries_twice():
    sums = inspect(Tiny())["sums"]
    assert sums == {"p": [3, 192], "b": [4, 56], "t": [7, 248], "s": [7, 232]}


def test_calls_are_recorded_with_their_callers_and_shapes():
    calls = inspect(Tiny(), INPUT)["calls"]
    assert [(c["path"], c["type"], c["depth"], c["received"], c["returned"]) for c in calls] == [
        ("", "Tiny", 0, "(3,) int64", "(3, 10)"), ("tok", "Embedding", 1, "(3,) int64", "(3, 4)"),
        ("norm", "BatchNorm1d", 1, "(3, 4)", "(3, 4)"),
        ("extra[0]", "Linear", 1, "(3, 4)", "(3, 4)"), ("head", "Linear", 1, "(3, 4)", "(3, 10)")]


def test_recording_sees_what_the_models_own_hooks_make_of_an_output():
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].register_forward_pre_hook(lambda module, args: (args[0][:1],))
    model[0].register_forward_hook(lambda module, args, output: output.double())
    assert inspect(model, torch.ones(3, 2))["calls"][1] == {
        "path": "0", "type": "Linear", "depth": 1, "received": "(3, 2)",
        "returned": "(1, 2) float64", "values": ""}


def test_recording_leaves_the_model_and_the_generator_as_they_were():
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5))
    buffers = {name: (b, b.clone()) for name, b in model.named_buffers()}
    state = torch.get_rng_state()
    inspect(model, torch.rand(3, 4, generator=torch.Generator().manual_seed(0)))
    assert torch.equal(torch.get_rng_state(), state)
    for name, buffer in model.named_buffers():
        assert buffer is buffers[name][0]
        assert torch.equal(buffer, buffers[name][1])
    assert [m._forward_hooks or m._forward_pre_hooks for m in model.modules()] == [{}, {}, {}]


def test_values_are_the_first_of_each_output():
    model = nn.Sequential(nn.Identity(), nn.ReLU())
    calls = inspect(model, torch.tensor([-1.0, 2, 3.14159, 4]), values=3)["calls"]
    assert [call["values"] for call in calls] == ["0 2 3.14 …", "-1 2 3.14 …", "0 2 3.14 …"]
    assert inspect(model, torch.ones(4, device="meta"), values=3)["calls"][0]["values"] == ""


def test_outputs_that_are_no_tensor_are_spelled():
    calls = record_calls(nn.LSTM(2, 3), torch.ones(4, 2))
    assert calls[0].returned == "[(4, 3), [(1, 3), (1, 3)]]"


def test_a_lazy_model_is_run_as_any_other():
    calls = record_calls(nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d()), torch.ones(4, 2))
    assert [call.returned for call in calls] == ["(4, 3)"] * 3


def test_a_model_that_does_not_run_is_refused_with_its_place():
    with pytest.raises(CallError, match=r"^0: Linear got \(2, 5\): .*cannot be multiplied"):
        ModuleInspector(nn.Sequential(nn.Linear(4, 8)), torch.ones(2, 5))


# ---------------------------------------------------------------- the widget in Python
def test_what_is_typed_is_built_and_run_by_torch():
    widget = ModuleInspector(Tiny(), INPUT)
    given = widget.module
    widget.typed = {"text": "Sequential(Linear(4, 8), ReLU())", "shape": [2, 4]}
    assert [type(m).__name__ for m in widget.module] == ["Linear", "ReLU"]
    assert [call["returned"] for call in widget.model["calls"]] == ["(2, 8)"] * 3
    with pytest.raises(TraitError, match=r"^Linear got \(2, 5\): "):
        widget.typed = {"text": "Linear(4, 8)", "shape": [2, 5]}
    assert widget.typed["shape"] == [2, 4]
    assert len(widget.module) == 2
    widget.typed = {}
    assert widget.module is given
    assert widget.model == inspect(given, INPUT)


def test_a_typed_model_can_be_given_from_the_start():
    widget = ModuleInspector("Linear(4, 8)", (2, 4))
    assert repr(widget) == "ModuleInspector(Linear: 3 rows, 1 calls)"
    assert widget.typed == {"text": "Linear(4, 8)", "shape": [2, 4]}
    with pytest.raises(ValueError, match="cannot be multiplied"):
        ModuleInspector("Linear(4, 8)", (2, 5))


def test_building_leaves_the_generator_as_it_was():
    state = torch.get_rng_state()
    ModuleInspector("Linear(4, 8)", (2, 4))
    assert torch.equal(torch.get_rng_state(), state)


def test_the_tables_without_scripts_say_the_same():
    widget = ModuleInspector(Tiny(), INPUT)
    html = widget._repr_mimebundle_()[0]["text/html"]
    assert html.count("<table>") == 2
    assert json.loads(re.search(r"model='([^']*)'", html)[1]) == widget.model
    assert called_rows(widget.model)[3] == ["extra[0]", "Tiny", "(3, 4)", "(3, 4)"]
    rows = held_rows(widget.model)
    assert [row[0] for row in rows[:4]] == ["Tiny", "mask", "extra[0]: Linear", "extra[0].weight"]
    assert [row[4] for row in rows if row[0].endswith("k.weight") or row[0] == "head.weight"] == [
        "A", "A"]
    assert "<table>" in ModuleInspector(Tiny())._repr_mimebundle_()[0]["text/html"]


# ---------------------------------------------------------------- the steps on the page
def test_each_call_has_one_step_or_two(module):
    model = nn.Sequential(nn.Sequential(nn.ReLU(), nn.ReLU()), nn.Tanh())
    steps = module("m.stepsOf(data)", inspect(model, torch.ones(2)))
    assert [(s["call"], s["kind"]) for s in steps] == [
        (0, "enter"), (1, "enter"), (2, "leaf"), (3, "leaf"), (1, "return"), (4, "leaf"),
        (0, "return")]
    assert module("m.stepsOf(data)", inspect(model)) == []


def test_every_step_is_told_in_both_languages(module):
    model = inspect(Tiny(), INPUT, values=2)
    model["rows"][0]["hooks"] = [["_forward_hooks", 2]]
    told = module("""m.stepsOf(data).map(({ call, kind }) => {
      const one = data.calls[call];
      return m.stepWords(one, kind, { caller: m.callerOf(data.calls, call), turn: call || 1,
        row: data.rows.find((row) => row.path === one.path) });
    })""", model)
    assert len(told) == 6
    for zh, en in told:
        assert CHINESE.search(zh)
        assert not CHINESE.search(en)
        assert "undefined" not in zh + en
    assert "isn't registered" in told[3][1]
    assert "`_forward_hooks` ×2" in told[0][1]
    assert "`Tiny` calls `norm` (`BatchNorm1d`): the shape stays `(3, 4)`." in told[2][1]


def test_a_mark_tells_listed_from_met_before_and_from_missed(module):
    rows = inspect(Tiny())["rows"]
    marks = module("data.map((row) => [row.path, ...'pbts'].map((list, n) => "
                   "(n ? m.markOf(row, list) : row.path)))", rows)
    found = {path: "".join(rest) for path, *rest in marks}
    assert found["tok.weight"] == "✓✗✓✓"
    assert found["head.weight"] == "=✗=✓"
    assert found["mask"] == "✗✓✓✗"
    assert found["extra[0].weight"] == "✗✗✗✗"
    assert found["norm.running_mean"] == "✗✓✓✓"
