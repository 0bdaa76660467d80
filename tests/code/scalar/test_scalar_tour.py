"""The tour's printed text, exit status and Graphviz output."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import pytorch_deep_dive as deep_dive
import scalar_tour
from book.pipeline.ground.paths import CODE
from pytorch_deep_dive import Scalar

COMPANION = CODE / "pytorch_deep_dive.py"


def run(*arguments):
    return subprocess.run([sys.executable, COMPANION, *arguments], capture_output=True,
                          text=True, encoding="utf-8")


@pytest.mark.parametrize(("lang", "verdict"), [("zh", "全部相等"), ("en", "All equal")])
def test_the_tour_prints_equal_in_both_languages(lang, verdict):
    done = run("--lang", lang)
    assert (done.returncode, done.stderr) == (0, "")
    assert verdict in done.stdout
    text = scalar_tour.TEXT[lang]
    rows = re.findall(rf"^  \w .*{text['yes']}$", done.stdout, re.MULTILINE)
    assert len(rows) == sum(len(rules) for *_, rules in scalar_tour.EXAMPLES) == 9
    for part in ("p    = w * x         1", "f    = p + b         2", "d_w = d_p * x = 0.5"):
        assert part in done.stdout


def test_both_languages_print_the_same_numbers():
    numbers = [re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", run("--lang", lang).stdout)
               for lang in scalar_tour.TEXT]
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) > 50


def test_both_languages_have_the_same_texts_and_none_mixes_them():
    zh, en = scalar_tour.TEXT["zh"], scalar_tour.TEXT["en"]
    assert zh.keys() == en.keys()
    chinese = re.compile(r"[\u4e00-\u9fff]")
    assert all(chinese.search(str(part)) for part in zh.values())
    assert not any(chinese.search(str(part)) for part in en.values())


def test_tour_fails_when_a_gradient_is_wrong(monkeypatch, capsys):
    right = Scalar.tanh

    def wrong(self):
        node = right(self)
        node.dleft *= 1 + 1e-9
        return node

    monkeypatch.setattr(Scalar, "tanh", wrong)
    assert scalar_tour.main(["--lang", "en"]) == 1
    out = capsys.readouterr().out
    assert "Some gradients differ" in out
    assert re.search(r"^  z .* no$", out, re.MULTILINE)


def test_tour_fails_when_the_hand_derived_rule_is_wrong(monkeypatch, capsys):
    title, function, inputs, rules = scalar_tour.EXAMPLES[0]
    broken = (title, function, inputs, (*rules[:-1], ("b", "2")))
    monkeypatch.setattr(scalar_tour, "EXAMPLES", (broken, *scalar_tour.EXAMPLES[1:]))
    assert scalar_tour.main(["--lang", "zh"]) == 1
    assert "有梯度不相等" in capsys.readouterr().out


def test_tour_fails_when_torch_says_otherwise(monkeypatch, capsys):
    monkeypatch.setattr(scalar_tour, "torch_gradients",
                        lambda function, inputs: dict.fromkeys("pfzhLwxb", float("nan")))
    assert scalar_tour.main([]) == 1
    assert "All equal" not in capsys.readouterr().out


@pytest.mark.parametrize(("lang", "words"), [("zh", "没有安装 torch"), ("en", "not installed")])
def test_without_torch_one_line_and_status_3(monkeypatch, capsys, lang, words):
    monkeypatch.setitem(sys.modules, "torch", None)          # makes `import torch` fail
    assert scalar_tour.main(["--lang", lang]) == 3
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert words in shown.err


def check_dot(source):
    """One statement per node and edge, every edge between declared nodes."""
    declared = set(re.findall(r'^  (n\w+) \[label="', source, re.MULTILINE))
    edges = re.findall(r'^  (n\w+) -> (n\w+) \[label="', source, re.MULTILINE)
    assert source.startswith("digraph {\n")
    assert source.rstrip().endswith("}")
    assert len(declared) == 11
    assert len(edges) == 11
    assert {end for edge in edges for end in edge} == declared
    assert ("nw", "nv8") in edges                            # w is shared: it has two users
    assert len([edge for edge in edges if edge[0] == "nw"]) == 2


def test_dot_writes_the_graph_to_stdout():
    done = run("--dot")
    assert (done.returncode, done.stderr) == (0, "")
    check_dot(done.stdout)


def test_dot_writes_the_graph_to_a_file(tmp_path, capsys):
    target = tmp_path / "graph.gv"
    assert scalar_tour.main(["--dot", str(target)]) == 0
    check_dot(target.read_text(encoding="utf-8"))
    assert capsys.readouterr().out == ""


def test_dot_needs_no_torch(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert scalar_tour.main(["--dot"]) == 0
    check_dot(capsys.readouterr().out)


def test_dot_to_an_unwritable_file_says_so_in_one_line(tmp_path, capsys):
    assert scalar_tour.main(["--dot", str(tmp_path / "no" / "graph.gv")]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "graph.gv" in error


def test_dot_shows_masked_and_divided_derivatives():
    source = scalar_tour.dot((Scalar(-1.0).relu() / 4).log())
    assert re.findall(r'-> n\w+ \[label="(.*)"\]', source) == ["none", "1/4", "1/0"]


def test_the_lesson_stays_readable_in_one_sitting():
    lines = Path(deep_dive.__file__).read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 265
    assert max(map(len, lines)) <= 100
