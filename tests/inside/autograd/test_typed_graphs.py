"""An expression typed on the page makes the graph that Scalar makes of it in Python."""

import re
from collections import Counter

import pytest

from inside.widgets import graph_stepper
from inside.widgets.graph_stepper import LIMIT
from oracles import scalar_graphs as graphs
from oracles.typed_expressions import Typist, in_python
from tests.helpers import depth
from tests.helpers.languages import CHINESE
from tests.helpers.stepper_states import EXACT, floats, stepper

__all__ = ["stepper"]  # a fixture
CASES = depth.cases(300)
TOLD = f"""data.map((text) => {{
    const {{ nodes, error }} = m.typed(text);
    if (error) return {{ error }};
    const shown = m.displayed(nodes);
    return {{ nodes: JSON.parse(m.readable(nodes)), steps: {EXACT}(nodes), again: m.textOf(nodes),
      rows: m.rows(shown, shown.steps.length - 1) }};
}})"""


class Case:
    """One expression in Python, after `backward`; `told` is what the page makes of it."""

    told: dict

    def __init__(self, lines, root):
        self.lines, self.root = lines, root
        self.text = "; ".join(lines)
        self.nodes = graph_stepper.read(root)
        root.backward()
        self.made = root.nodes()[::-1]
        self.scale = graphs.flow(root)


def draw():
    """Expressions that Python accepts and that are small enough to be shown."""
    for seed in range(100 * CASES):
        lines = Typist(seed).program()
        root = in_python(lines)
        if root is not None and len(root.nodes()) <= LIMIT:
            yield Case(lines, root)


@pytest.fixture(scope="module")
def cases(stepper):
    made = [case for case, _ in zip(draw(), range(CASES), strict=False)]
    for case, case.told in zip(made, stepper(TOLD, [c.text for c in made]), strict=True):
        assert "error" not in case.told, (case.text, case.told)
    return made


def test_the_cases_hold_what_the_claims_are_about(cases):
    found = Counter()
    for case in cases:
        scalars = case.made
        edges = [edge for node in case.nodes for _, edge in node.edges()]
        found["none flows"] += any(edge.local is None for edge in edges)
        found["divisions"] += any(hasattr(edge.local, "y") for edge in edges)
        found["inf"] += any(abs(s.data) == float("inf") for s in scalars)
        found["nan"] += any(s.grad != s.grad for s in scalars)
        found["labels"] += any(s.op and s.label for s in scalars)
        found["shared"] += len({e.node for e in edges}) < len(edges)
        found["unbracketed powers of a negative"] += bool(re.search(r"-\w+ \*\*", case.text))
        found.update({s.op for s in scalars})
    assert len(found) == 7 + 6 + 7, found  # an op of "" is a leaf
    assert min(found.values()) >= CASES / 150, found


def test_nodes_operations_and_operands_are_those_of_scalar(cases):
    for case in cases:
        for node, found in zip(case.nodes, case.told["nodes"], strict=True):
            assert (str(node.number), node.label, node.op) == (
                found["number"], found["label"], found["op"]), case.text
            assert [str(o.node) for o in node.operands] == [
                o.get("node", "None") for o in found["operands"]], case.text
            assert [o.local is None for o in node.operands if o.node is not None] == [
                o["local"] is None for o in found["operands"] if "node" in o], case.text


def test_values_and_gradients_are_those_of_scalar(cases):
    exact = total = 0
    for case in cases:
        grads = [0.0] * len(case.nodes)
        for step in floats(case.told["steps"]):
            if step["kind"] == "take":
                grads[step["node"]] = step["grad"]
        for n, scalar in enumerate(case.made):
            value = float(case.told["nodes"][n]["value"])
            assert graphs.near(value, scalar.data, abs(scalar.data), 1e-12), case.text
            assert graphs.near(grads[n], scalar.grad, case.scale[scalar], 1e-9), case.text
            exact += graphs.same_bits(value, scalar.data)
            exact += graphs.same_bits(grads[n], scalar.grad)
            total += 2
    assert exact > 0.95 * total, f"{exact} of {total} bit for bit"


def test_nodes_run_backward_in_the_order_of_scalar(cases):
    for case in cases:
        taken = [case.made[step["node"]] for step in case.told["steps"] if step["kind"] == "take"]
        assert taken == case.root.nodes(), case.text


def test_every_text_of_the_table_is_that_of_python(cases):
    for case in cases:
        ours = [[f"#{n}", *row] for n, row in enumerate(graph_stepper.rows_of(case.nodes))]
        assert case.told["rows"] == ours, case.text


# ---------------------------------------------------------------- how it may be written
def test_a_graph_written_as_text_and_read_again_is_the_same(cases, stepper):
    written = [case for case in cases if case.told["again"]]
    assert len(written) > 0.8 * CASES, len(written)
    read = stepper(TOLD, [case.told["again"] for case in written])
    for case, again in zip(written, read, strict=True):
        assert again == case.told, (case.text, case.told["again"])


def test_a_graph_that_no_text_makes_is_not_written(stepper):
    nodes = "m.typed('a = 2; s = a * a; s * s').nodes"
    assert stepper(f"m.textOf({nodes})") == "a = 2; s = a * a; s * s"
    for label in ("", "tanh", "two words"):
        blank = f"{nodes}.map((node, n) => (n === 1 ? {{ ...node, label: data }} : node))"
        assert stepper(f"m.textOf({blank})", label) == "", label


@pytest.mark.parametrize(("text", "same"), [
    ("ａ＝２；ｂ＝−３；（ａ×ｂ＋ａ）。tanh（）÷ｂ", "a=2;b=-3;(a*b+a).tanh()/b"),
    ("a = 2\nb = 3\n\na * b\n", "a = 2; b = 3; a * b"),
    ("a = 2; (a +\n 1) * a", "a = 2; (a + 1) * a"),
    ("  a=2 ;; a²+a³ ; ", "a = 2; a ** 2 + a ** 3"),
    ("a = 2; exp(a)", "a = 2; a.exp()"),
    ("a = 2; a ** -a ** 2", "a = 2; a ** (-(a ** 2))"),
    ("a = 2; -a ** 2", "a = 2; -(a ** 2)"),
    ("a = 1e-3; .5 * a - 2.", "a=0.001; 0.5*a - 2"),
    ("a = 2; b = a; b * 3", "a = 2; a * 3"),
    ("a = tanh(0) - 1 / 0; a", "a = -inf; a"),
    ("a = (-8) ** 0.5; a", "a = nan; a"),
    ("unused = 7; a = 2; a", "a = 2"),
])
def test_two_ways_to_write_the_same(stepper, text, same):
    found, expected = stepper(TOLD, [text, same])
    assert "error" not in found, found
    assert found == expected


def test_the_last_statement_is_the_root_and_the_first_name_the_label(stepper):
    *_, last = stepper(TOLD, ["a = 2; h = a * a; k = h"])[0]["nodes"]
    assert (last["label"], last["op"], last["value"]) == ("h", "*", "4")


@pytest.mark.parametrize(("text", "code", "words"), [
    ("", "empty", "a = 2; a * a"), (" ; \n", "empty", "a = 2; a * a"),
    ("2 + 3", "number", "a = 2"),
    ("a * 2", "name", "`a = 1;`"), ("toString", "name", "`toString`"),
    ("constructor = 1; __proto__", "name", "`__proto__`"),
    ("a = 2; sin(a)", "function", "`sin`"), ("a = 2; a.constructor()", "function", "`tanh`"),
    ("a = 2; a.neg()", "function", "`neg`"),
    ("a = 2; exp", "bare", "`exp(…)`"), ("exp = 2", "taken", "`exp`"),
    ("inf = 2", "taken", "`inf`"), ("a = 2; a ^ 2", "caret", "`**`"),
    ("a = 2; 2a", "syntax", "`a`"), ("a = 2; (a", "syntax", "`)`"), ("a = ", "syntax", "`(`"),
    ("a = 2; a +", "syntax", "`(`"), ("a = 2; a.tanh", "syntax", "`(`"),
    ("a = 2; a.", "syntax", "function"), ("a = 2; a)", "syntax", "`)`"),
    ("a = 2; exp(a, a)", "syntax", "`,`"), ("权 = 2", "syntax", "`权`"),
    ("a = 2\nb = a +\n a", "syntax", "`(`"), ("a = 2; alert('x')", "function", "`alert`"),
    ("a = 2; a[0]", "syntax", "`[`"), ("a = 2; 😀", "syntax", "`😀`"), ("a == 2", "syntax", "`=`"),
    ("a = 1; " + "a = a + a;" * 24, "many", "25"), ("a = 1;" + " " * 400, "long", "400"),
    ("a = 1; " + "(" * 393, "syntax", "`(`"),
])
def test_what_cannot_be_read_is_explained_in_both_languages(stepper, text, code, words):
    error, said = stepper(
        "[m.typed(data).error, m.refusalWords(m.typed(data).error)]", text)
    zh, en = said
    assert error["code"] == code
    assert CHINESE.search(zh.replace("权", ""))
    assert not CHINESE.search(en.replace("权", ""))
    assert (zh[-1], en[-1]) == ("。", ".")
    assert words in en
    assert not re.search(r"undefined|null|NaN|\[object", zh + en)


def test_the_place_of_what_cannot_be_read_is_counted_from_one(stepper):
    zh, en = stepper("m.refusalWords(m.typed('a ＝ 2；a ＋＊ a').error)")
    assert "第 10 个字符 `*`" in zh
    assert "`*` at character 10" in en


def test_24_nodes_are_drawn(stepper):
    told, = stepper(TOLD, ["a = 1; " + "a = a + a;" * (LIMIT - 1)])
    assert len(told["nodes"]) == LIMIT


def test_every_example_of_the_page_can_be_read(stepper):
    examples = stepper("m.EXAMPLES")
    told = stepper(TOLD, [text for text, _ in examples])
    assert len(told) == 4
    assert all("error" not in one for one in told)
    for _, (zh, en) in examples:
        assert CHINESE.search(zh)
        assert not CHINESE.search(en)
    texts = {row[column] for one in told for row in one["rows"] for column in (3, 4, 5)}
    assert "nan" in texts
    assert any("None" in text for text in texts)
