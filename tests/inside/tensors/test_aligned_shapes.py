"""Shapes are aligned as torch broadcasts them: in JavaScript, and in the table without it."""

import random
import re
from collections import Counter
from math import prod

import pytest
import torch

from inside.widgets.aligned_shapes import ESM, AlignedShapes, fallback, read, summed
from oracles.web.javascript import evaluate
from tests.helpers import depth
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.programs("book/web/**/*", "package-lock.json")

CASES = depth.cases(600)
RULE, WORDS = ESM.with_name("broadcast.js"), ESM.with_name("words.js")
EDGES = [[(), ()], [(), (2,)], [(1,), (1, 1, 1)], [(0,), (1,)], [(0,), (3,)], [(0,), (3, 1)],
         [(1, 1), (0, 0, 0)], [(2,), (3,), (5, 1)], [(2, 1), (1, 3), (5, 2, 4)], [(), (), ()],
         [(1024, 1), (1024,)], [(3, 4), (3,)], [(1, 1, 1), (1,)]]


def random_shapes(rng):
    """Shapes that often fit: each is cut from one common shape, with sizes put to 1 or changed."""
    common = [rng.choice([0, 1, 2, 3, 4, 5]) for _ in range(rng.randint(0, 4))]
    return [tuple(1 if rng.random() < 0.35 else rng.randint(0, 5) if rng.random() < 0.3 else n
                  for n in common[rng.randint(0, len(common)):] or common[:])
            for _ in range(rng.choice([2, 2, 3]))]


def in_torch(shapes):
    """What torch does: its error, or the layouts of the operands and the gradients' shapes."""
    leaves = [torch.zeros(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    try:
        expanded = torch.broadcast_tensors(*leaves)
    except RuntimeError as error:
        return {"error": str(error).partition("\n")[0]}
    return {"result": list(expanded[0].shape), "numel": expanded[0].numel(),
            "expanded": [list(t.stride()) for t in expanded]}


def backward_of(shape, result):
    """A gradient of whole numbers for the result, and what comes of it at an operand."""
    leaf = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
    grad = torch.arange(prod(result), dtype=torch.float64).view(result)
    leaf.expand(result).backward(grad)
    return grad, leaf.grad


@pytest.fixture(scope="module")
def cases():
    rng = random.Random(5)
    shapes = EDGES + [random_shapes(rng) for _ in range(CASES)]
    return [(one, in_torch(one)) for one in shapes]


@pytest.fixture(scope="module")
def aligned(cases):
    expression = """data.map((shapes) => {
      const { conflict, ...made } = m.align(shapes);
      return { ...made, error: conflict && m.torchSays(conflict), bad: m.unalignable(shapes) };
    })"""
    return evaluate(RULE, expression, [shapes for shapes, _ in cases])


def test_the_cases_lie_on_both_sides_of_the_rule_and_reach_every_part(cases, aligned):
    refused = sum("error" in answer for _, answer in cases)
    assert len(cases) * 0.1 < refused < len(cases) * 0.6
    parts = Counter(part for one in aligned for column in one["columns"]
                    for part in column["parts"])
    print(parts)
    assert set(parts) == {"equal", "stretched", "added", "filled", "conflict", "one"}
    assert min(parts.values()) > CASES / 30


def test_shapes_fit_or_conflict_with_the_error_of_torch(cases, aligned):
    for (shapes, answer), one in zip(cases, aligned, strict=True):
        assert one.get("error") == answer.get("error"), shapes
        assert one["bad"] is None, shapes


def test_the_result_and_the_strides_after_expand_are_those_of_torch(cases, aligned):
    for (shapes, answer), one in zip(cases, aligned, strict=True):
        if "error" in answer:
            continue
        assert (one["result"], one["numel"]) == (answer["result"], answer["numel"]), shapes
        assert [o["expanded"] for o in one["operands"]] == answer["expanded"], shapes
        assert [o["strides"] for o in one["operands"]] == [
            list(torch.empty(shape).stride()) for shape in shapes]


def test_a_stride_is_zero_exactly_where_something_is_repeated(cases, aligned):
    for (shapes, answer), one in zip(cases, aligned, strict=True):
        if "error" in answer:
            continue
        for column, size in zip(one["columns"], one["result"], strict=True):
            for k, part in enumerate(column["parts"]):
                stride = one["operands"][k]["expanded"][column["d"]]
                assert part in {"equal", "stretched", "added", "filled"}, shapes
                if part in {"stretched", "added"}:
                    assert stride == 0, shapes
                    assert size != 1, shapes
                elif part == "equal" and size:
                    assert stride > 0, shapes


def test_an_operand_is_read_as_often_as_its_elements_occur(cases, aligned):
    for (shapes, answer), one in zip(cases, aligned, strict=True):
        for shape, operand in zip(shapes, one.get("operands", []), strict="error" not in answer):
            cells = torch.arange(prod(shape)).view(shape).expand(answer["result"])
            found = Counter(cells.flatten().tolist())
            assert operand["read"] == len(found), shapes
            assert set(found.values()) <= {operand["times"]}, shapes


def test_backward_sums_over_the_dimensions_that_are_named(cases, aligned):
    compared = 0
    for (shapes, _), one in zip(cases, aligned, strict=True):
        for shape, operand in zip(shapes, one.get("operands", []), strict="operands" in one):
            grad, given = backward_of(shape, one["result"])
            total = grad.sum(operand["sums"], keepdim=True) if operand["sums"] else grad
            assert torch.equal(total.reshape(shape), given), (shapes, operand)
            assert operand["sums"] == summed(shape, one["result"])
            left = [n for d, n in enumerate(one["result"]) if d not in operand["sums"]]
            assert prod(left) == prod(shape) or 0 in one["result"], "no dimension is left out"
            compared += len(operand["sums"]) > 0
    assert compared > CASES / 4


def test_a_conflict_is_marked_in_the_dimension_of_the_error(cases, aligned):
    for (shapes, answer), one in zip(cases, aligned, strict=True):
        marked = [column["d"] for column in one["columns"] if column["size"] is None]
        assert bool(marked) == ("error" in answer), shapes


@pytest.mark.parametrize(("text", "code", "k"), [
    ("(3, 1)", "operands", 0), ("(3,) | (3,) | (3,) | (3,)", "operands", 0),
    ("(3, 1) | three", "shape", 1), ("(3, 1) | ", "shape", 1), ("3,, | (1,)", "shape", 0),
    ("(3, 1) | (4,) | (-1,)", "negative", 2), ("(1, 1, 1, 1, 1, 1, 1) | ()", "dims", 0),
    ("(999999999, 1) | (999999999,)", "large", 0), ("(94906249, 1) | (94906249,)", "large", 0),
    ("(0, 999999999, 999999999) | ()", "large", 0),
    ("(999999999, 999999999, 2) | (3,)", "large", 0),
])
def test_what_cannot_be_aligned_here_is_said_in_both_languages(text, code, k):
    bad = evaluate(RULE, "m.unalignable(m.readShapes(data))", text)
    assert (bad["code"], bad["k"]) == (code, k)
    zh, en = evaluate(WORDS, "m.alignRefusal(data)", bad)
    assert CHINESE.search(zh)
    assert zh.endswith("。")
    assert not CHINESE.search(en)
    assert en.endswith(".")
    assert "undefined" not in zh + en


@pytest.mark.parametrize(("shapes", "verdicts"), [
    ([(3, 1), (4,)], ["**stretched from missing**: `b` lacks it, counts as 1 and goes to 3",
                      "**stretched**: `a` goes from 1 to 4"]),
    ([(2, 3), (2, 3)], ["**equal**: all have 2", "**equal**: all have 3"]),
    ([(1, 3), (3,)], ["**equal**: `b` lacks it and counts as 1", "**equal**: all have 3"]),
    ([(3, 4), (3,)], ["**stretched from missing**: `b` lacks it, counts as 1 and goes to 3",
                      "**conflict**: `a` has 4, `b` has 3; they differ, and none of them is 1"]),
    ([(0,), (1,)], ["**stretched**: `b` goes from 1 to 0"]),
])
def test_the_verdict_on_each_dimension_is_in_words(shapes, verdicts):
    file = {"shapes": shapes, "rule": RULE.as_uri()}
    words = evaluate(WORDS, """await import(data.rule).then(
        ({ columns }) => columns(data.shapes).map(m.verdictWords))""", file)
    assert [en for _, en in words] == verdicts
    assert all(CHINESE.search(zh) and not CHINESE.search(en) for zh, en in words)


def test_presets_are_shapes_that_can_be_aligned():
    presets = evaluate(ESM, "m.PRESETS.map(({ text, shapes }) => [text, shapes])")
    assert sum("error" in in_torch(shapes) for _, shapes in presets) == 1
    for text, shapes in presets:
        assert text == " | ".join(str(tuple(shape)) for shape in shapes)
        AlignedShapes(*shapes)


# ---- in a notebook -----------------------------------------------------------------------------

def test_html_is_the_element_with_a_table_by_torch():
    data = AlignedShapes((1024, 1), (1024,), itemsize=2)._repr_mimebundle_()[0]
    html = data["text/html"]
    assert html.startswith(
        '<aligned-shapes shapes="(1024, 1) | (1024,)" itemsize="2">\n<table>')
    assert "The result has shape <code>(1024, 1024)</code>" in html
    assert re.findall(r"<td>(.*?)</td>", html) == [
        "<code>(1024, 1)</code>", "<code>(1, 0)</code>", "2048", "<code>dim=1</code>",
        "<code>(1024,)</code>", "<code>(0, 1)</code>", "2048", "<code>dim=0</code>"]
    assert data["text/plain"] == "AlignedShapes((1024, 1), (1024,))"


def test_the_table_of_shapes_that_conflict_holds_the_error_of_torch():
    html = fallback([(3, 4), (3,)])
    assert html.count("The size of tensor a (4) must match the size of tensor b (3)") == 2
    assert "expand" not in html


@pytest.mark.parametrize(("shapes", "words"), [
    ([(3,)], "two or three"), ([(3,)] * 4, "two or three"), ([(3,), (-1,)], "cannot be negative"),
    ([(1,) * 7, ()], "at most 6"), ([(10**9,), (1,)], "at most 999999999"),
    ([(2**25, 1), (2**25,)], "more than 562949953421312 elements"),
    ([(0, 2**29, 2**29), ()], "more than"), ([(2**29, 2**29, 2), (3,)], "more than"),
    ([3, 4], "3 is no shape"), (["31", "4"], "'31' is no shape"), ([(1.5,), ()], "is no shape"),
])
def test_shapes_it_cannot_show_are_refused_in_one_line(shapes, words):
    with pytest.raises(ValueError, match=words) as error:
        AlignedShapes(*shapes)
    assert "\n" not in str(error.value)


def test_the_front_end_sends_shapes_and_a_refused_text_changes_nothing():
    w = AlignedShapes((3, 1), (4,))
    w.set_state({"shapes": "(2,) | () | (1, 1)", "itemsize": 8})
    assert (read(w.shapes), w.itemsize) == ([(2,), (), (1, 1)], 8)
    for wrong in ("three | (1,)", "(2,)", "3,,1 | (4)", "((3)) | (4,)", "(3 | 4)", "1_0 | (3,)",
                  "٣ | (3,)", " | "):
        with pytest.raises(ValueError, match="shapes"):
            w.shapes = wrong
    assert w.shapes == "(2,) | () | (1, 1)"


def test_what_can_be_counted_exactly_is_the_same_in_python_and_in_javascript():
    most = [(2**25, 1), (2**24,)]  # 2**49 elements: 16 bytes each make 2**53
    assert evaluate(RULE, "m.unalignable(data)", most) is None
    assert f"<code>{most[0]}</code>" in AlignedShapes(*most)._repr_mimebundle_()[0]["text/html"]


def test_an_empty_result_reads_nothing():
    assert re.findall(r"<td>(\d+)</td>", fallback([(0, 2), (3, 1, 1)])) == ["0", "0"]


def test_sizes_may_be_any_integers_of_python():
    w = AlignedShapes(torch.ones(2, 3).shape, [torch.tensor(3)])
    assert w.shapes == "(2, 3) | (3,)"
    w.shapes = " 2, 1 | ( ) |(4)"
    assert w.shapes == "(2, 1) | () | (4,)"


def test_an_item_size_that_no_dtype_has_is_refused():
    with pytest.raises(ValueError, match="itemsize 3"):
        AlignedShapes((3,), (), itemsize=3)
