"""The graph stepper: its steps are Scalar's, its contract holds, page and table tell the same."""

import json
import math
import random
import re
import struct
from collections import Counter
from html import unescape
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch
from traitlets import TraitError

from inside.widgets import graph_stepper
from inside.widgets.graph_stepper import ESM, LIMIT, GraphStepper
from inside.widgets.web_module import joined_module
from oracles import scalar_graphs as graphs
from oracles.web.javascript import evaluate
from pytorch_deep_dive import Scalar
from tests.helpers import depth
from tests.helpers.languages import CHINESE
from tests.helpers.stepper_states import EXACT, floats, states, stepper

pytestmark = pytest.mark.programs("book/web/**/*", "package-lock.json")

__all__ = ["stepper"]  # a fixture

GRAPHS = depth.cases(100)
BEND = 0.4  # lanes that an edge takes where it passes a layer
DIGITS = 0.011  # lanes: two positions rounded to two digits

# What each kind of step holds, as the module says: text, a number, a list, or text or null.
FIELDS = {
    "forward": {"node": int},
    "start": {"node": int, "grad": str, "ready": list},
    "take": {"node": int, "grad": str, "ready": list},
    "flow": {"node": int, "operand": int, "grad": str, "flow": (str, type(None)), "before": str,
             "after": str, "waiting": int, "ready": list},
    "done": {"node": int, "ready": list},
}


class Case:
    """One random graph: in torch and in Scalar after backward, and as the stepper has it.

    `contract` is what the notebook sends; `steps` (exact) and `shown` (texts and places) are what
    the browser makes of it.
    """

    steps: list
    shown: dict

    def __init__(self, seed):
        size = random.Random(seed).randint(1, LIMIT)
        self.program, self.theirs = graphs.Builder(seed, size, graphs.torch_leaf).build()
        self.theirs[-1].backward()
        self.ours = graphs.run(self.program, Scalar)
        self.root = self.ours[-1]
        self.nodes = graph_stepper.read(self.root)
        self.contract = graph_stepper.contract(self.nodes)
        self.root.backward()
        self.made = self.root.nodes()[::-1]  # oldest first, as the stepper numbers them

    def final(self):
        """The gradients that the steps end with, node by node."""
        grads = dict.fromkeys(range(len(self.nodes)), 0.0)
        for step in self.steps:
            if step["kind"] == "start":
                grads[step["node"]] = step["grad"]
            if step["kind"] == "flow":
                grads[self.nodes[step["node"]].operands[step["operand"]].node] = step["after"]
        return list(grads.values())


@pytest.fixture(scope="module")
def cases(stepper):
    made = [Case(seed) for seed in range(GRAPHS)]
    told = stepper(f"data.map((graph) => [{EXACT}(m.exactNodes(graph)), m.readGraph(graph)])",
                   [case.contract for case in made])
    for case, (steps, case.shown) in zip(made, told, strict=True):
        case.steps = floats(steps)
    return made


@pytest.fixture(scope="module")
def neuron():
    """The graph on the page of the book; `w` is used twice."""
    w, x, b = Scalar(0.75, label="w"), Scalar(-2.0, label="x"), Scalar(0.5, label="b")
    return ((w * x + b).tanh() - 0.25) ** 2 + 0.1 * w ** 2


@pytest.fixture
def shown(stepper):
    """What the browser shows of the graphs below some roots."""
    return lambda *roots: stepper("data.map(m.readGraph)", list(map(contract_of, roots)))


def contract_of(root):
    return graph_stepper.contract(graph_stepper.read(root))


def test_the_cases_hold_what_the_claims_are_about(cases):
    found = Counter()
    for case in cases:
        edges = [edge for node in case.nodes for _, edge in node.edges()]
        grads = [scalar.grad for scalar in case.made]
        found["shared"] += graphs.shares_a_subexpression(case.program)
        found["twice in one node"] += any(len({e.node for _, e in node.edges()})
                                          < len(node.edges()) for node in case.nodes)
        found["none flows"] += any(edge.local is None for edge in edges)
        found["constants"] += len(edges) < sum(len(node.operands) for node in case.nodes)
        found["bends"] += any(o.get("via") for n in case.shown["nodes"] for o in n["operands"])
        found["nan"] += any(map(math.isnan, grads))
        found["inf"] += any(map(math.isinf, grads))
        found[len(case.nodes)] += 1
    words = ("shared", "twice in one node", "none flows", "constants", "bends", "nan", "inf")
    assert min(found[word] for word in words) >= GRAPHS / 40, found
    assert all(found[size] for size in range(1, LIMIT + 1)), found


# ---------------------------------------------------------------- the steps
def test_final_gradients_are_bit_for_bit_those_of_scalar(cases):
    for case in cases:
        for ours, scalar in zip(case.final(), case.made, strict=True):
            assert graphs.same_bits(ours, scalar.grad), case.program


def test_final_gradients_of_leaves_are_those_of_torch(cases):
    for case in cases:
        scale, grads = graphs.flow(case.root), dict(zip(case.made, case.final(), strict=True))
        for ours, theirs in zip(case.ours, case.theirs, strict=True):
            if not ours.op:
                assert graphs.near(grads[ours], theirs.grad.item(), scale[ours], 1e-9), case.program


def test_nodes_are_taken_in_the_order_of_scalar(cases):
    for case in cases:
        taken = [case.made[step["node"]] for step in case.steps if step["kind"] == "take"]
        assert taken == case.root.nodes()


def test_a_shared_subexpression_is_taken_once_after_all_its_edges(stepper):
    x = Scalar(3.0)
    s = x * x
    exact = stepper(f"{EXACT}(m.exactNodes(data))", contract_of(s * s + s))
    steps = floats(exact)[4:]
    told = [(step["kind"], step["node"], step.get("after"), step.get("waiting")) for step in steps]
    assert told == [
        ("start", 3, None, None),
        ("take", 3, None, None), ("flow", 3, 1.0, 0), ("flow", 3, 1.0, 2),
        ("take", 2, None, None), ("flow", 2, 10.0, 1), ("flow", 2, 19.0, 0),
        ("take", 1, None, None), ("flow", 1, 57.0, 1), ("flow", 1, 114.0, 0),
        ("take", 0, None, None), ("done", 3, None, None),
    ]


def test_where_the_local_derivative_is_none_nothing_flows_but_the_edge_counts(shown):
    x = Scalar(-1.0, label="x")
    graph, = shown(x.relu() * math.inf + 2 * x)
    relu = next(node for node in graph["nodes"] if node["op"] == "relu")
    assert relu["operands"] == [{"node": 0, "local": None, "via": relu["operands"][0]["via"]}]
    flow, = (s for s in graph["steps"] if s["kind"] == "flow" and s["node"] == relu["number"])
    assert (flow["grad"], flow["flow"], flow["before"], flow["after"]) == ("inf", None, "2", "2")
    assert (flow["waiting"], flow["ready"]) == (0, [0])


def test_constants_stand_on_their_side_and_have_no_edge(shown):
    x = Scalar(3.0)
    operands = {
        "x - 1": (x - 1, [0, "1"]), "1 - x": (1 - x, ["1", 0]), "2 ** x": (2 ** x, ["2", 0]),
        "x ** -0.5": (x ** -0.5, [0, "-0.5"]), "1e7 * x": (1e7 * x, [0, "1e+07"]),
    }
    for words, (root, expected) in operands.items():
        *_, node = shown(root)[0]["nodes"]
        found = [operand.get("node", operand.get("constant")) for operand in node["operands"]]
        assert found == expected, words
        assert [set(o) for o in node["operands"] if "constant" in o] == [{"constant"}], words


def test_the_smallest_graph_is_one_leaf(shown):
    graph, = shown(Scalar(-0.0))
    assert [step["kind"] for step in graph["steps"]] == ["forward", "start", "take", "done"]
    assert graph["nodes"] == [
        {"number": 0, "label": "", "op": "", "value": "-0", "x": 0.5, "y": 0, "operands": []}]


@pytest.mark.parametrize(("value", "text"), [
    (0.0, "0"), (-0.0, "-0"), (math.inf, "inf"), (-math.inf, "-inf"), (math.nan, "nan"),
    (0.42, "0.42"), (1 / 3, "0.3333"), (-2.0, "-2"), (123456.0, "123456"), (123456.7, "1.235e+05"),
    (1e6, "1e+06"), (5e-324, "4.941e-324"), (1e300, "1e+300"), (7, "7"),
])
def test_quantities_are_spelled_as_text(value, text):
    assert graph_stepper.spell(value) == text


def test_page_and_table_spell_every_number_alike(stepper):
    rng, numbers, ties = random.Random(3), list(graphs.SPECIAL), []
    for k in range(depth.cases(1_000)):
        ties.append((k + 0.5) / 2 ** rng.randint(0, 12))
        numbers += [ties[-1], struct.unpack("d", rng.randbytes(8))[0],
                    rng.uniform(-1, 1) * 10 ** rng.randint(-6, 7),
                    rng.randint(-2_000_000, 2_000_000)]
    halfway = [x for x in ties if f"{x:.5g}"[-1] == "5" and float(f"{x:.5g}") == x]
    assert len(halfway) > len(ties) / 100, "numbers between two texts are where languages differ"
    told = stepper("data.map((text) => m.spell(m.exactly(text)))",
                   list(map(graph_stepper.exact, numbers)))
    assert told == list(map(graph_stepper.spell, numbers))


def test_a_derivative_that_is_a_division_is_spelled_as_one(shown):
    x = Scalar(3.0)
    roots = (x / 2.0, x / -0.0, x / math.nan, x.log(), x / 1e-310)
    texts = ["1/2", "1/(-0)", "1/nan", "1/3", "1/1e-310"]
    edges = [graph["nodes"][-1]["operands"][0] for graph in shown(*roots)]
    assert [edge["local"] for edge in edges] == texts
    rows = [graph_stepper.rows_of(graph_stepper.read(root))[-1] for root in roots]
    assert [row[2].split(", ")[0] for row in rows] == [f"#0 × {text}" for text in texts]


# ---------------------------------------------------------------- the contract
def check_fields(graph):
    """Every node, operand and step has the fields that the module describes, and no other."""
    assert set(graph) == {"nodes", "steps"}
    for place, node in enumerate(graph["nodes"]):
        assert set(node) == {"number", "label", "op", "value", "x", "y", "operands"}
        assert node["number"] == place
        assert all(type(node[field]) is str for field in ("label", "op", "value"))
        assert bool(node["op"]) == bool(node["operands"])
        for operand in node["operands"]:
            assert set(operand) in ({"constant"}, {"node", "local", "via"})
            assert type(operand.get("constant", "")) is str
            assert isinstance(operand.get("local"), (str, type(None)))
            assert operand.get("node", -1) < place
    for step in graph["steps"]:
        fields = FIELDS[step["kind"]]
        assert set(step) == {"kind", *fields}
        assert all(isinstance(step[field], kind) for field, kind in fields.items())


def check_passes(graph):
    """Forward by age, then backward: grads and edges counted anew from the texts alone."""
    size, steps = len(graph["nodes"]), graph["steps"]
    assert [s["node"] for s in steps[:size]] == list(range(size))
    assert {s["kind"] for s in steps[:size]} == {"forward"}
    edges = [(n["number"], place, o["node"], o["local"]) for n in graph["nodes"]
             for place, o in enumerate(n["operands"]) if "node" in o]
    grads, ready = dict.fromkeys(range(size), "0") | {size - 1: "1"}, {size - 1}
    waiting, delivered = Counter(to for *_, to, _ in edges), []
    start, *middle, done = steps[size:]
    assert start == {"kind": "start", "node": size - 1, "grad": "1", "ready": [size - 1]}
    for step in middle:
        if step["kind"] == "take":
            taken = step["node"]
            assert taken == max(ready)
            ready.remove(taken)
        else:
            assert step["node"] == taken
            _, _, to, local = edge = next(e for e in edges if e[:2] == (taken, step["operand"]))
            assert step["before"] == grads[to]
            assert (step["flow"] is None) == (local is None)
            delivered.append(edge)
            grads[to] = step["after"]
            waiting[to] -= 1
            ready |= {to} if not waiting[to] else set()
            assert step["waiting"] == waiting[to]
        assert step["grad"] == grads[taken]
        assert step["ready"] == sorted(ready, reverse=True)
    assert done == {"kind": "done", "node": size - 1, "ready": []}
    assert sorted(delivered, key=str) == sorted(edges, key=str)


def test_what_is_drawn_holds_together_at_every_step(cases):
    for case in cases:
        check_fields(case.shown)
        check_passes(case.shown)


def test_the_notebook_sends_every_float_exactly(cases):
    for case in cases:
        assert set(case.contract) == {"nodes"}
        for node, scalar in zip(case.contract["nodes"], case.made, strict=True):
            assert list(node) == ["number", "label", "op", "value", "operands"]
            assert graphs.same_bits(float(node["value"]), scalar.data)
        assert json.loads(json.dumps(case.contract, allow_nan=False)) == case.contract


def test_texts_are_the_exact_floats_spelled(cases):
    for case in cases:
        for node, field in zip(case.nodes, case.shown["nodes"], strict=True):
            assert field["value"] == graph_stepper.spell(case.made[node.number].data)
        for exact, step in zip(case.steps, case.shown["steps"], strict=True):
            for name in ("grad", "flow", "before", "after"):
                if exact.get(name) is not None:
                    assert step[name] == graph_stepper.spell(exact[name])
            if exact["kind"] == "flow" and exact["flow"] is not None:
                assert graphs.same_bits(exact["before"] + exact["flow"], exact["after"])


# ---------------------------------------------------------------- the layout
def edge_points(graph):
    """The points of every edge from operand to result, bends between."""
    nodes = graph["nodes"]
    for node in nodes:
        for operand in node["operands"]:
            if "node" in operand:
                first = nodes[operand["node"]]
                yield [(first["x"], first["y"]), *operand["via"], (node["x"], node["y"])]


def test_no_two_boxes_or_bends_of_a_layer_overlap(cases):
    for case in cases:
        rows = {}
        for node in case.shown["nodes"]:
            rows.setdefault(node["y"], []).append((node["x"], 1.0))
        for _, *bends, _ in edge_points(case.shown):
            for x, layer in bends:
                rows.setdefault(layer, []).append((x, BEND))
        for row in map(sorted, rows.values()):
            for (x, wide), (x1, wide1) in pairwise(row):
                assert x1 - x >= (wide + wide1) / 2 - DIGITS, case.program
        assert min(x - wide / 2 for row in rows.values() for x, wide in row) == 0


def test_operands_stand_above_their_results_and_edges_bend_in_each_layer_between(cases):
    for case in cases:
        for points in edge_points(case.shown):
            layers = [layer for _, layer in points]
            assert layers == list(range(layers[0], layers[-1] + 1)), case.program
        layers = [node["y"] for node in case.shown["nodes"]]
        assert set(layers) == set(range(max(layers) + 1))
        assert [n["number"] for n in case.shown["nodes"] if n["y"] == max(layers)] == [
            len(layers) - 1]


def test_equal_graphs_are_laid_out_equally(cases, shown):
    again = shown(*(graphs.run(case.program, Scalar)[-1] for case in cases[:50]))
    assert again == [case.shown for case in cases[:50]]


def test_few_edges_cross(cases, stepper):
    crossings = stepper("data.map(m.crossingsOf)", [case.shown["nodes"] for case in cases])
    assert sum(crossings) < 0.2 * GRAPHS
    assert sum(n == 0 for n in crossings) > 0.85 * GRAPHS


def test_a_chain_is_upright_and_a_pair_symmetric(neuron, shown, stepper):
    chain, pair, drawn = (graph["nodes"] for graph in shown(
        Scalar(1.0).exp().tanh().relu(), Scalar(1.0) * Scalar(2.0), neuron))
    assert [(node["x"], node["y"]) for node in chain] == [(0.5, 0), (0.5, 1), (0.5, 2), (0.5, 3)]
    assert [(node["x"], node["y"]) for node in pair] == [(0.5, 0), (1.5, 0), (1.0, 1)]
    assert stepper("m.crossingsOf(data)", drawn) == 0
    lanes = [node["x"] for node in drawn]
    assert len(set(lanes[4:8])) == len(set(lanes[8:10])) == 1


# ---------------------------------------------------------------- what it refuses
@pytest.mark.parametrize("thing", [3, 2.5, None, "x", torch.tensor(1.0), [Scalar(1.0)]])
def test_what_is_no_scalar_is_refused_in_one_line(thing):
    with pytest.raises(TypeError, match=rf"GraphStepper: an? {type(thing).__name__} has no `") as e:
        GraphStepper(thing)
    assert str(e.value).endswith("; pass a Scalar")
    assert "\n" not in str(e.value)


def chain(size):
    x = Scalar(1.0)
    for _ in range(size - 1):
        x = x + 1
    return x


def test_24_nodes_are_shown_and_25_refused_in_one_line():
    assert repr(GraphStepper(chain(LIMIT))).startswith("GraphStepper(24 nodes")
    assert LIMIT == 24
    with pytest.raises(ValueError, match="the graph has more than 24 nodes; step through") as error:
        GraphStepper(chain(LIMIT + 1))
    assert "\n" not in str(error.value)


def like_scalar(number, op="", left=None, right=None):
    return SimpleNamespace(data=1.0, op=op, left=left, dleft=1.0, right=right, dright=None,
                           number=number, label="")


def test_any_object_with_the_fields_is_read(shown):
    graph, = shown(like_scalar(70, "+", like_scalar(40), like_scalar(50)))
    assert [operand["node"] for operand in graph["nodes"][2]["operands"]] == [0, 1]
    check_fields(graph)
    check_passes(graph)


def test_an_operand_that_is_not_older_is_refused_in_one_line():
    with pytest.raises(ValueError, match="an operand of `neg` is not older than its res") as error:
        GraphStepper(like_scalar(7, "neg", like_scalar(8)))
    assert "\n" not in str(error.value)


def test_a_node_that_is_its_own_operand_is_refused():
    node = like_scalar(7, "neg")
    node.left = node
    with pytest.raises(ValueError, match="an operand of `neg` is not older than its result"):
        GraphStepper(node)


# ---------------------------------------------------------------- the widget
@pytest.mark.parametrize("step", [-1, 35, 10**9])
def test_a_step_out_of_range_is_refused_in_one_line(neuron, step):
    with pytest.raises(ValueError, match=rf"^step {step}: this graph has the steps 0 to 34$"):
        GraphStepper(neuron, step=step)


def test_setting_a_step_is_sent_to_the_page(neuron, monkeypatch):
    w, sent = GraphStepper(neuron), []
    monkeypatch.setattr(w, "_send", lambda message, buffers=None: sent.append(message))
    w.step = 34
    assert [message["state"] for message in sent] == [{"step": 34}]
    assert repr(w) == "GraphStepper(11 nodes, step 34 of 34)"
    assert json.loads(w.get_state()["graph"]) == contract_of(neuron)


def test_a_step_by_the_reader_reaches_the_kernel(neuron):
    w, seen = GraphStepper(neuron), []
    w.observe(lambda change: seen.append(change.new), "step")
    w.set_state({"step": 5})
    assert (w.step, seen) == (5, [5])


@pytest.mark.parametrize("bad", [-1, 35])
def test_a_bad_step_is_rolled_back(neuron, bad):
    w = GraphStepper(neuron, step=3)
    with pytest.raises(ValueError, match="the steps 0 to 34"):
        w.step = bad
    assert w.step == 3
    with pytest.raises(TraitError, match="the steps 0 to 34"):
        w.set_state({"step": bad})
    assert w.step == 3


def test_the_widget_changes_nothing_in_the_graph():
    x = Scalar(2.0)
    root = x * x
    x.grad, root.grad = 5.0, 7.0
    GraphStepper(root, step=3)
    assert (x.grad, root.grad, x.data, root.data) == (5.0, 7.0, 2.0, 4.0)


# ---------------------------------------------------------------- without JavaScript
def test_html_is_the_element_with_its_attributes_and_the_same_each_time():
    x = Scalar(2.0, label="it's <b>\"a\" & b</b>")
    first, second = (GraphStepper(x.exp(), step=1)._repr_mimebundle_()[0] for _ in range(2))
    assert first["text/html"] == second["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in first
    assert first["text/plain"] == "GraphStepper(2 nodes, step 1 of 6)"
    element = re.compile(r"<graph-stepper step=\"1\" graph='([^'<>]*)'>\n<table>")
    attribute = element.match(first["text/html"])[1]
    assert json.loads(unescape(attribute)) == contract_of(x.exp())
    assert "<b>" not in first["text/html"]


def table_of(nodes):
    return graph_stepper.fallback({}, 0, graph_stepper.rows_of(nodes))


def table_cells(nodes):
    rows = re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", table_of(nodes))
    return [[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in rows]


def test_the_last_column_of_the_table_is_the_gradients(cases):
    for case in cases:
        rows = table_cells(case.nodes)
        for row, scalar in zip(rows, case.made, strict=True):
            assert row[-1] == graph_stepper.spell(scalar.grad + 0.0), case.program
            assert row[-2] == graph_stepper.spell(scalar.data)
        assert [row[0] for row in rows] == [f"#{n}" for n in range(len(rows))]


def test_the_table_speaks_both_languages(neuron):
    table = table_of(graph_stepper.read(neuron))
    zh = re.findall(r'<span class="lang-zh" lang="zh-Hans">(.*?)</span>', table)
    en = re.findall(r'<span class="lang-en" lang="en">(.*?)</span>', table)
    assert len(zh) == len(en) == 1 + 5 + 3  # caption, five heads (grad is one word), three leaves
    assert all(map(CHINESE.search, zh))
    assert not any(map(CHINESE.search, en))
    assert re.findall(r"</span> <span", table) == ["</span> <span"] * len(zh)


# ---------------------------------------------------------------- in JavaScript
def test_the_module_stands_alone_and_agrees_on_the_limit(stepper):
    assert not re.search(r"^\s*import\b|\bimport\(", joined_module(ESM), re.MULTILINE)
    assert GraphStepper._esm is not None
    assert stepper("[m.LIMIT, m.BEND, typeof m.default.render]") == [LIMIT, BEND, "function"]
    assert evaluate(ESM, "typeof m.default.render") == "function"


def test_kernel_and_page_count_the_same_steps(cases):
    for case in cases:
        assert graph_stepper.count_steps(case.nodes) == len(case.shown["steps"])


def test_javascript_ends_with_the_table_of_python(cases, stepper):
    expression = "data.map((graph) => m.rows(graph, graph.steps.length - 1))"
    found = stepper(expression, [case.shown for case in cases])
    for case, rows in zip(cases, found, strict=True):
        for row, cells in zip(rows, table_cells(case.nodes), strict=True):
            number, label, op, *rest = row
            assert [number, label, *rest] == [cells[0], cells[1], *cells[3:]]
            assert cells[2] == (f"<code>{op}</code>" if op else graph_stepper.spans("叶子", "leaf"))


def test_javascript_replays_every_step(cases, stepper):
    some = [case.shown for case in cases[:60]]
    expression = """data.map((graph) => graph.steps.map((_, k) =>
        m.rows(graph, k).map((row) => row.slice(-2))))"""
    for graph, shown in zip(some, stepper(expression, some), strict=True):
        assert [[tuple(pair) for pair in state] for state in shown] == list(states(graph))


def numbers_of(graph, step):
    """The quantities that a sentence about this step puts in bold."""
    if step["kind"] == "forward":
        return [graph["nodes"][step["node"]]["value"]]
    if step["kind"] == "flow":
        return [step["after"]] if step["flow"] is None else [step["flow"], step["after"]]
    if step["kind"] == "done":
        *_, last = states(graph)
        return [last[node["number"]][1] for node in graph["nodes"] if not node["op"]]
    return [step["grad"]]


def test_every_step_is_told_in_both_languages_with_its_numbers(cases, stepper):
    some = [case.shown for case in cases[:60]]
    expression = "data.map((graph) => graph.steps.map((_, k) => m.describe(graph, k)))"
    kinds = Counter()
    for graph, told in zip(some, stepper(expression, some), strict=True):
        for step, (zh, en) in zip(graph["steps"], told, strict=True):
            kinds[step["kind"], step.get("flow", "") is None] += 1
            assert CHINESE.search(zh)
            assert not CHINESE.search(en)
            bold = [re.findall(r"\*\*(\S+?)\*\*", words) for words in (zh, en)]
            assert bold == [numbers_of(graph, step)] * 2
            assert not re.search(r"undefined|null|NaN|\[object", zh + en)
            assert (zh[-1], en[-1]) == ("。", ".")
            if step["kind"] == "flow":
                left = step["waiting"]
                assert (f"还差 {left} 份" if left else "已收齐，就绪") in zh
                assert (f"waits for {left} contribution{'s' * (left > 1)}." if left
                        else "has received everything and is ready.") in en
    assert len(kinds) == 6, kinds  # each kind, and a flow of nothing


def test_a_forward_sentence_is_an_equation_that_holds(stepper, shown):
    w, x = Scalar(-1.5, label="w"), Scalar(-2.0, label="x")
    roots = [w + x, w - x, 2 - x, w * x, -3 * w, w / x, x ** 2, x ** -1, x ** x, w - (-1)]
    told = stepper("data.map((graph) => m.describe(graph, graph.nodes.length - 1)[1])",
                  shown(*roots))
    for root, words in zip(roots, told, strict=True):
        names, values, result = re.search(r"`([^`]+)` = ([^`]+?) = \*\*(\S+)\*\*", words).groups()
        assert eval(values) == root.data == float(result), words
        assert not re.search(r"[-+*/] -", names + values), words
        assert eval(names, {"w": w, "x": x}).data == root.data, words


def test_nodes_that_share_a_label_are_told_apart(stepper, shown):
    root = Scalar(2.0, label="x") * Scalar(3.0, label="x")
    zh, en = stepper("m.describe(data, 2)", shown(root)[0])
    assert "`#0 * #1`" in zh
    assert "`#0 * #1`" in en


def test_boxes_are_drawn_apart_and_edges_run_from_box_to_box(cases, stepper):
    expression = """data.map((graph) => { const g = m.geometry(graph);
        return { ...g, boxes: [...g.boxes.values()], edges: [...g.edges.values()] }; })"""
    some = [case.shown for case in cases]
    for graph, drawn in zip(some, stepper(expression, some), strict=True):
        boxes = drawn["boxes"]
        assert len(boxes) == len(graph["nodes"])
        for n, a in enumerate(boxes):
            assert a["left"] >= drawn["left"]
            assert a["left"] + a["width"] <= drawn["left"] + drawn["width"]
            assert a["top"] >= 0
            assert a["top"] + a["height"] <= drawn["height"]
            assert not any(touch(a, b) for b in boxes[:n])
        for edge in drawn["edges"]:
            check_edge(edge, boxes)


def touch(a, b, room=4):
    """Whether two boxes come nearer than `room` pixels."""
    return all(a[at] < b[at] + b[size] + room and b[at] < a[at] + a[size] + room
               for at, size in (("left", "width"), ("top", "height")))


def check_edge(edge, boxes):
    """It leaves its operand below, enters its result above and passes no box between."""
    operand, result = boxes[edge["node"]], boxes[edge["to"]]
    assert edge["y0"] == pytest.approx(operand["top"] + operand["height"])
    assert edge["y1"] == pytest.approx(result["top"])
    for box, x in ((operand, edge["x0"]), (result, edge["x1"])):
        assert box["left"] < x < box["left"] + box["width"]
    for bend in edge["bends"]:
        line = {"left": bend["x"], "width": 0, "top": bend["y"], "height": bend["height"]}
        assert not any(touch(line, box) for box in boxes)
