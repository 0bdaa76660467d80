"""The stepper of a torch graph: what torch recorded, and the backward pass as it ran."""

import json
import random
import re

import pytest
import torch
from torch.autograd.graph import get_gradient_edge

from inside.autograd.observe.torch_graph import reach
from inside.widgets.graph_stepper import LIMIT, GraphStepper, spell
from inside.widgets.torch_graph import text
from oracles import scalar_graphs as graphs
from oracles.scalar_graphs import torch_leaf as leaf
from tests.helpers import depth
from tests.helpers.languages import CHINESE
from tests.helpers.stepper_states import states, stepper

pytestmark = pytest.mark.programs("book/web/**/*", "package-lock.json")

__all__ = ["stepper"]  # a fixture
GRAPHS = depth.cases(50)


def graph_of(tensor, names=None):
    return json.loads(GraphStepper.of_torch(tensor, names).graph)


def watch(root):
    """[(node, gradient received)] as hooks of our own see `root.backward()`, and the leaves."""
    nodes, seen, leaves = reach(root.grad_fn, 10**6), [], []
    for node in nodes:
        node.register_prehook(lambda grads, node=node: seen.append((node, grads[0].clone())))
        if hasattr(node, "variable"):
            leaves.append(node.variable)
    root.backward(retain_graph=True)
    return seen, leaves


def draw(seed):
    size = random.Random(seed).randint(2, LIMIT)
    return graphs.Builder(seed, size, graphs.torch_leaf).build()


def fits(seed):
    root = draw(seed)[1][-1]
    return len(reach(root.grad_fn, 10**6)) <= LIMIT


class Case:
    """One random graph: its dump, then its backward pass as hooks of the test see it."""

    def __init__(self, seed):
        self.program, values = draw(seed)
        self.root = values[-1]
        self.names = {f"t{n}": t for n, t in enumerate(values) if n % 3 and t.requires_grad}
        self.graph = graph_of(self.root, self.names)
        self.values = values
        self.seen, self.leaves = watch(self.root)
        self.takes = [s for s in self.graph["steps"] if s["kind"] == "take"]
        self.nodes = self.graph["nodes"]


@pytest.fixture(scope="module")
def cases():
    made = list(map(Case, filter(fits, range(GRAPHS))))
    assert len(made) > 0.9 * GRAPHS
    return made


def op(node):
    return "" if hasattr(node, "variable") else node.name()


def test_nodes_run_in_the_order_in_which_hooks_see_them(cases):
    for case in cases:
        told = [(case.nodes[s["node"]]["op"], s["grad"]) for s in case.takes]
        assert told == [(op(node), text(grad)) for node, grad in case.seen], case.program


def test_the_order_is_that_of_the_engine(cases):
    """Of the ready nodes an AccumulateGrad goes first, then the one that was made last."""
    early = 0
    for case in cases:
        first, ready = None, set()
        for step in case.graph["steps"][len(case.nodes):]:
            if step["kind"] == "take":
                rank = {n: (not case.nodes[n]["op"], n * bool(case.nodes[n]["op"])) for n in ready}
                assert rank[step["node"]] == max(rank.values()), case.program
                early += not case.nodes[step["node"]]["op"] and step["node"] < max(ready)
                assert first in (None, step["node"]), "the next one stands first"
            first, ready = next(iter(step["ready"]), None), set(step["ready"])
    assert early > GRAPHS / 4, "a leaf that runs before older nodes is where Scalar differs"


def test_gradients_are_those_that_torch_leaves_in_the_leaves(cases):
    for case in cases:
        *_, last = states(case.graph)
        ours = sorted(last[node["number"]][1] for node in case.nodes if not node["op"])
        assert ours == sorted(text(t.grad) for t in case.leaves), case.program


def test_what_a_node_receives_is_the_sum_of_what_was_passed_to_it(cases):
    for case in cases:
        arrived = {len(case.nodes) - 1: "1"}
        for step in case.graph["steps"]:
            if step["kind"] == "flow":
                to = case.nodes[step["node"]]["operands"][step["operand"]]["node"]
                assert step["before"] == arrived.get(to)
                arrived[to] = step["after"]
            if step["kind"] == "take":
                assert arrived[step["node"]] == step["grad"], case.program
        assert set(arrived) == set(range(len(case.nodes)))


def test_known_values_are_those_of_the_forward_pass(cases):
    known = unknown = 0
    for case in cases:
        made = [t for t in case.values if t.grad_fn is not None]
        values = {}
        for tensor in made:
            values.setdefault(tensor.grad_fn._sequence_nr(), text(tensor))
        inner = [node for node in case.nodes if node["op"]]
        numbers = sorted(n._sequence_nr() for n in reach(case.root.grad_fn, 99) if op(n))
        for node, number in zip(inner, numbers, strict=True):
            known += node["value"] != "?"
            unknown += node["value"] == "?"
            if node["value"] != "?" and number in values:
                assert node["value"] == values[number], case.program
        labels = {node["label"]: node["value"] for node in case.nodes if node["label"]}
        assert labels == {name: text(t) for name, t in case.names.items()} or len(
            {id(t.grad_fn or t) for t in case.names.values()}) < len(case.names)
    assert known > 2 * GRAPHS
    assert unknown > GRAPHS / 3, (known, unknown)


def neuron():
    names = {name: leaf(value) for name, value in (("w", 0.75), ("x", -2.0), ("b", 0.5))}
    w, x, b = names.values()
    h = (w * x + b).tanh()
    return (h - 0.25) ** 2 + 0.1 * w ** 2, names | {"h": h}


def test_the_neuron_of_the_page_runs_its_bias_before_the_product():
    """Scalar takes the leaves last; torch accumulates into `b` as soon as it can."""
    root, names = neuron()
    graph = graph_of(root, names)
    assert [(n["label"], n["op"], n["value"]) for n in graph["nodes"]][:6] == [
        ("w", "", "0.75"), ("x", "", "-2"), ("b", "", "0.5"), ("", "MulBackward0", "?"),
        ("", "AddBackward0", "?"), ("h", "TanhBackward0", "-0.7616")]
    taken = [s["node"] for s in graph["steps"] if s["kind"] == "take"]
    assert taken == [10, 9, 8, 7, 6, 5, 4, 2, 3, 0, 1]
    leaf_of_b = get_gradient_edge(names["b"]).node
    assert leaf_of_b._sequence_nr() == 2**64 - 1 > root.grad_fn._sequence_nr()
    assert sorted(graph["nodes"][3]["saved"]) == [["other", "-2"], ["self", "0.75"]]
    assert graph["nodes"][6]["operands"] == [{"node": 5}, {"constant": "None"}]


def test_nothing_changes_in_the_graph_or_its_leaves():
    root, names = neuron()
    names["w"].grad = held = torch.tensor(5.0, dtype=torch.float64)
    before = [len(names["x"]._backward_hooks or ()), names["x"].grad]
    stepper = GraphStepper.of_torch(root, names)
    assert names["w"].grad is held
    assert held.item() == 5.0
    assert [len(names["x"]._backward_hooks or ()), names["x"].grad] == before
    first, again = stepper.graph, GraphStepper.of_torch(root, names).graph
    assert first == again
    root.backward()
    assert spell(names["x"].grad.item()) == "-0.6373"


class Half(torch.autograd.Function):
    """Passes a gradient to its first operand alone."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        return grad * 3, None


def test_a_function_of_the_readers_own_passes_none():
    a, b = leaf(2.0), leaf(5.0)
    graph = graph_of(Half.apply(a, b) + b, {"a": a, "b": b})
    flows = [s for s in graph["steps"] if s["kind"] == "flow" and s["node"] == 2]
    assert [(s["flow"], s["before"], s["after"]) for s in flows] == [
        ("3", None, "3"), (None, "1", "1")]
    assert graph["nodes"][2]["saved"] == [["saved_tensors[0]", "2"]]
    lonely = graph_of(Half.apply(a, b), {"a": a, "b": b})
    assert [s["grad"] for s in lonely["steps"] if s["kind"] == "take"] == ["1", "3", "None"]


def test_tensors_of_more_than_one_element_show_their_elements_or_their_shape():
    v, m = leaf([1.0, 2.0]), leaf([[1.0, 2.0], [3.0, 4.0]])
    graph = graph_of((m @ v).sum(), {"v": v, "m": m})
    assert [node["value"] for node in graph["nodes"]] == ["[1, 2]", "(2, 2)", "?", "16"]
    assert [s["grad"] for s in graph["steps"] if s["kind"] == "take"][1:] == [
        "[1, 1]", "(2, 2)", "[4, 6]"]
    assert text(torch.ones(4)) == "(4,)"


def too_many():
    x = leaf(1.0)
    for _ in range(LIMIT):
        x = x + 1
    return x


def freed():
    root = leaf(1.0).exp() * 2
    root.backward()
    return root


def written():
    x = leaf(1.0)
    y = x.exp()
    root = y * 2
    with torch.no_grad():
        y.add_(1)
    return root + y


@pytest.mark.parametrize(("make", "kind", "words"), [
    (lambda: 3, TypeError, "got an object of type int; pass the tensor of a loss"),
    (lambda: torch.tensor(1.0), ValueError, "no graph; give a leaf requires_grad=True"),
    (lambda: torch.stack([leaf(1.0)] * 2), ValueError, "has 2 elements of torch.float64; pass one"),
    (lambda: leaf([1.0, 2.0]).unbind()[0] * 1, ValueError, "UnbindBackward0 has 2 results; the st"),
    (too_many, ValueError, "the graph has more than 24 nodes; step through a smaller one"),
    (freed, ValueError, "torch cannot run this graph: Trying to backward through the graph"),
    (written, ValueError, "torch cannot run this graph: one of the variables needed for gradient"),
])
def test_what_cannot_be_shown_is_refused_in_one_line(make, kind, words):
    with pytest.raises(kind, match=re.escape(words)) as error:
        GraphStepper.of_torch(make())
    assert str(error.value).startswith("GraphStepper.of_torch: ")
    assert "\n" not in str(error.value)


def test_a_name_of_another_graph_is_refused():
    for other in (leaf(1.0), torch.tensor(1.0)):
        with pytest.raises(ValueError, match=r"names\['w'\] is not in this graph; leave it out"):
            GraphStepper.of_torch(leaf(2.0) * 3, {"w": other})


def test_a_refused_graph_keeps_the_gradients_of_its_leaves():
    x = leaf([1.0, 2.0])
    x.grad = held = torch.ones(2, dtype=torch.float64)
    with pytest.raises(ValueError, match="results"):
        GraphStepper.of_torch(x.unbind()[0] * 1)
    assert x.grad is held


# ---------------------------------------------------------------- on the page
def test_the_page_replays_the_steps_of_torch(cases, stepper):
    expression = """data.map((given) => { const graph = m.readGraph(given);
        return graph.steps.map((_, k) => m.rows(graph, k).map((row) => row.slice(-2))); })"""
    some = [case.graph for case in cases[:60]]
    for graph, shown in zip(some, stepper(expression, some), strict=True):
        assert [[tuple(pair) for pair in state] for state in shown] == list(states(graph))


def test_every_step_of_torch_is_told_in_both_languages(cases, stepper):
    some = [case.graph for case in cases[:60]]
    root, names = neuron()
    some += [graph_of(root, names), graph_of(Half.apply(leaf(1.0), leaf(2.0)))]
    expression = """data.map((given) => { const graph = m.readGraph(given);
        return graph.steps.map((_, k) => m.describe(graph, k)); })"""
    reasons = set()
    for graph, told in zip(some, stepper(expression, some), strict=True):
        for step, (zh, en) in zip(graph["steps"], told, strict=True):
            assert CHINESE.search(zh)
            assert not CHINESE.search(en)
            assert not re.search(r"undefined|null|NaN|\[object|local", zh + en)
            assert (zh[-1], en[-1]) == ("。", ".")
            numbers = {int(number) for number in re.findall(r"#(\d+)", zh + en)}
            assert all(graph["nodes"][number]["op"] for number in numbers), "a leaf has a name"
            bold = [re.findall(r"\*\*(.+?)\*\*", words) for words in (zh, en)]
            assert bold[0] == bold[1]
            if step["kind"] == "take":
                assert bold[0] == [step["grad"]]
                reasons.add(("AccumulateGrad` has" in en, "newest" in en, "Only" in en))
            if step["kind"] == "flow" and step["flow"] is not None:
                assert bold[0] == [step["flow"]] + [step["after"]] * (step["before"] is not None)
    assert len(reasons) == 4, reasons  # each of them alone, and none between two leaves


def test_boxes_stand_apart_for_operations_of_many_operands(stepper):
    xs = [leaf(float(n)) for n in range(5)]
    graph = graph_of(torch.stack(xs).sum())
    expression = "[...m.geometry(m.readGraph(data)).edges.values()].map(({ x1, y1 }) => [x1, y1])"
    ends = stepper(expression, graph)
    assert len(graph["nodes"][5]["operands"]) == 5
    assert len(set(map(tuple, ends))) == len(ends) == 6


def test_without_javascript_a_table_holds_what_torch_found():
    root, names = neuron()
    html = GraphStepper.of_torch(root, names, step=3)._repr_mimebundle_()[0]["text/html"]
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(<th sc.*?)</tr>", html)]
    cells = [row for row in rows if row]
    assert html.startswith('<graph-stepper step="3" graph=')
    assert [row[-1] for row in cells][:4] == ["1.849", "-0.6373", "-0.8497", "-0.8497"]
    assert cells[3][1:] == ["<code>MulBackward0</code>", "#0, #1", "?", "-0.8497"]
    assert "局部导数" not in html.partition("<table>")[2]
