"""The pipeline explorer: its record is what the compiler makes, and lines are linked as it says."""

import json
import re
from html import unescape

import pytest
from traitlets import TraitError

from inside.compile.observe.pipeline_stages import stages_of
from inside.widgets import pipeline_explorer
from inside.widgets.pipeline_explorer import ESM, RECORD, PipelineExplorer, spelled, versions
from inside.widgets.pipeline_words import FUNCTIONS, STAGES
from inside.widgets.web_module import joined_module
from oracles.web.javascript import evaluate
from tests.helpers.languages import CHINESE

pytestmark = pytest.mark.programs("book/web/**/*", "package-lock.json")

RECORDED = json.loads(RECORD.read_text(encoding="utf-8"))
MADE_WITH = {name: RECORDED[name] for name in ("torch", "python")}
pinned = pytest.mark.skipif(
    versions() != MADE_WITH, reason=f"the stages are recorded with {MADE_WITH}, here {versions()}")

MADE = [stage for stage in STAGES if stage != "times"]  # that one is measured, not made


def rows(function, stage, part=None):
    parts = RECORDED["functions"][function][stage]
    return [row for n, one in enumerate(parts) if part in (None, n) for row in one["rows"]]


def of_line(function, stage, line, part=None):
    """[head, text] of the rows that come from a line."""
    return [row[:2] for row in rows(function, stage, part) if line in row[2]]


# ---------------------------------------------------------------- the record
@pinned
def test_the_record_is_what_the_compiler_makes_today():
    assert RECORD.read_text(encoding="utf-8") == spelled(pipeline_explorer.record()) + "\n"


def test_the_record_names_no_object_path_or_device():
    text = RECORD.read_text(encoding="utf-8")
    varying = r"0x[0-9a-f]{6}|\d{7}|[0-9a-f]{8}_[0-9a-f]{4}|/\w|(?i:cuda)|cpu[:'\"]|<step>"
    assert not re.search(varying, text)
    assert {name: set(stages) for name, stages in RECORDED["functions"].items()} == {
        name: set(MADE) - ({"joint"} if name != "gradient" else set()) for name in FUNCTIONS}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_row_comes_from_lines_that_the_source_has(name):
    lines = FUNCTIONS[name].source.splitlines()
    for stage in RECORDED["functions"][name]:
        linked = [line for row in rows(name, stage) for line in row[2]]
        assert set(linked) <= set(range(1, len(lines) + 1))
        assert linked, stage
    for op, text, own in rows(name, "bytecode"):
        if op in ("LOAD_FAST", "STORE_FAST", "LOAD_METHOD") and not text.startswith("__"):
            assert any(re.search(rf"\b{text}\b", lines[line - 1]) for line in own), (op, text)


# ---------------------------------------------------------------- what each example shows
def test_a_straight_line_is_one_graph_and_one_call():
    assert of_line("straight", "graph", 3) == [["call_function", "y += 1; y_1 = y"]]
    called = [text for _, text, _ in rows("straight", "rewritten") if "compiled" in text]
    assert called == ["NULL + __compiled_fn_1"]


def test_each_value_of_a_flag_has_a_graph_and_a_guard():
    graphs = RECORDED["functions"]["flag"]["graph"]
    assert [len(part["rows"]) for part in graphs] == [4, 3]
    assert [of_line("flag", "guards", 2, part) for part in (0, 1)] == [
        [["TRUE_MATCH", "L['train'] == True"]], [["FALSE_MATCH", "L['train'] == False"]]]


def test_a_loop_is_once_in_the_bytecode_and_three_times_in_the_graph():
    assert [text for head, text in of_line("loop", "bytecode", 3) if head == "BINARY_OP"] == [
        "*", "+"]
    assert [text[-3:] for head, text in of_line("loop", "graph", 3) if " + " in text] == [
        "+ 0", "+ 1", "+ 2"]


def test_a_node_of_a_helper_belongs_to_both_lines():
    assert ["call_function", "y = l_x_ * 3", [2, 5]] in rows("helper", "graph")
    assert any("G['scale'].__code__" in text for _, text in of_line("helper", "guards", 5))


def test_an_append_is_in_no_graph_and_replayed_after_it():
    assert of_line("list", "graph", 3) == []
    assert ["output", "return (add, y)", []] in rows("list", "graph")
    told = [head for head, *_ in rows("list", "rewritten")]
    assert of_line("list", "rewritten", 3) == [["LOAD_FAST", "log"]]
    assert told.index("CALL") < told.index("STORE_SUBSCR") < told.index("RETURN_VALUE")


def test_a_print_splits_the_function_into_two_graphs_and_a_resume_function():
    parts = RECORDED["functions"]["break"]["graph"]
    assert [part["title"] for part in parts] == ["step", "torch_dynamo_resume_in_step_at_3"]
    assert (of_line("break", "graph", 2, 1), of_line("break", "graph", 4, 0)) == ([], [])
    names = [text for _, text, _ in rows("break", "rewritten", 0)]
    assert (names.index("NULL + __compiled_fn_1") < names.index("'print'")
            < names.index("__resume_at_70"))
    assert "NULL + __compiled_fn_2" in [text for _, text, _ in rows("break", "rewritten", 1)]


def test_a_second_size_makes_the_size_a_symbol():
    first, second = ([text for _, text in of_line("dynamic", "graph", 2, part)] for part in (0, 1))
    assert "y = l_x_ * 4" in first
    assert "y = l_x_ * s77" in second
    conditions = [text for _, text, _ in rows("dynamic", "guards", 1)]
    assert "2 <= L['x'].size()[0] <= 4096" in conditions, "4096 comes from Inductor's code for sums"
    assert any("size=[None]" in text for text in conditions)


def test_a_gradient_has_a_joint_graph_that_is_cut_in_two():
    joint = [text for _, text, _ in rows("gradient", "joint")]
    assert "tangents_1: float32[]" in joint
    assert {"sin = aten.sin.default(mul)", "cos = aten.cos.default(mul)"} <= set(joint)
    parts = RECORDED["functions"]["gradient"]["graphs"]
    assert [part["title"] for part in parts] == ["forward", "backward"]
    assert rows("gradient", "graphs", 0)[-1][1] == "return [sum_1, primals_1, primals_2]"
    again = [text for _, text, _ in rows("gradient", "graphs", 1)]
    assert "sin = aten.sin.default(mul)" in again, "it is computed again, not kept"
    assert [row[0] for part in (0, 1) for row in rows("gradient", "loops", part)] == ["loops"] * 2


def test_a_matrix_product_is_a_call_and_the_rest_one_nest_of_loops():
    assert rows("product", "loops") == [
        ["call", "mm", [2]], ["loops", "relu, amax, sub, exp, sum, div", [2, 3]]]
    written = [text.strip() for _, text, _ in rows("product", "code")]
    assert [text for text in written if text.startswith("for(")] == [
        "for(int64_t x0=0; x0<2; x0+=1)", *["for(int64_t x1=0; x1<8; x1+=1)"] * 3]
    assert "extern_kernels.mm(arg0_1, arg1_1, out=buf0)" in written


def test_a_symbol_is_an_argument_of_the_generated_function():
    first, second = (rows("dynamic", "code", part)[0][1] for part in (0, 1))
    assert "ks0" not in first
    assert second.endswith("const int64_t ks0)")


def test_several_functions_of_one_graph_are_refused():
    with pytest.raises(Exception, match=r"3 C\+\+ functions"):
        stages_of("def step(x, w):\n    return ((x + 1) @ w).sin() @ w + 1\n",
                  ["step(torch.ones(2, 2), torch.ones(2, 2))"])


def test_other_functions_can_be_read_too():
    """On every version: a number that changes before it meets a tensor is a constant."""
    stages = stages_of("def step(x, n):\n    n = n + 1\n    return x * n\n",
                       ["step(torch.ones(2), 1)"])
    assert [row for row in stages["graph"][0]["rows"] if row[0] == "call_function"] == [
        ["call_function", "mul = l_x_ * 2", [3]]]
    assert [part["title"] for part in stages["guards"]] == [""]


# ---------------------------------------------------------------- the page
@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """Evaluate JavaScript over `m`, the module that a notebook gets, and `data`."""
    file = tmp_path_factory.mktemp("explorer") / "joined.mjs"
    file.write_text(joined_module(ESM), encoding="utf-8")
    return lambda expression, data=None: evaluate(file, expression, data)


def test_the_page_counts_the_rows_of_a_line_as_they_are_recorded(module):
    parts = RECORDED["functions"]["break"]
    for line in range(1, 5):
        counted = module("Object.values(data[0]).map((one) => m.litRows(one, [data[1]]).length)",
                         [parts, line])
        assert counted == [len(of_line("break", stage, line)) for stage in parts]


def test_the_words_of_a_line_hold_the_same_numbers_in_both_languages(module):
    zh, en = module("m.litWords([2, 5], [[['守卫', 'Guards'], 3], [['图', 'Graph'], 0]])")
    assert CHINESE.search(zh)
    assert not CHINESE.search(en)
    assert re.findall(r"\d+", zh) == re.findall(r"\d+", en) == ["2", "5", "3", "0"]


def test_the_script_names_no_stage_but_takes_them_from_the_data():
    source = "".join(file.read_text(encoding="utf-8") for file in ESM.parent.glob("*.js"))
    assert [stage for stage in STAGES if re.search(rf"[\"'.]{stage}\b", source)] == []


# ---------------------------------------------------------------- the text and the widget
def test_html_is_the_element_with_its_data_and_each_row_as_text():
    first, second = (PipelineExplorer("loop", "break", lit=[3])._repr_mimebundle_()[0]["text/html"]
                     for _ in range(2))
    assert first == second
    data, choice = re.match(
        r"<pipeline-explorer pipeline='([^']*)' choice='([^']*)'>", first).groups()
    assert [one["key"] for one in json.loads(unescape(data))["functions"]] == ["loop", "break"]
    assert json.loads(unescape(choice)) == {"function": "loop", "lines": [3]}
    told = unescape(first[first.index(">") + 1:])
    for name in ("loop", "break"):
        for stage in RECORDED["functions"][name]:
            for head, text, lines in rows(name, stage):
                assert f"{','.join(map(str, lines)):>4}  {head} {text}".rstrip() in told
    assert told.count("<details open>") == 1
    assert f"torch {RECORDED['torch']}, Python {RECORDED['python']}" in told


@pytest.mark.parametrize(("names", "lit", "words"), [
    (["flags"], (), "no function 'flags'; take one of straight, flag, loop"),
    (["loop"], [9], "line 9: loop has no such line")])
def test_what_cannot_be_shown_is_refused_in_one_line(names, lit, words):
    with pytest.raises(ValueError, match=f"^{re.escape(words)}"):
        PipelineExplorer(*names, lit=lit)


def test_a_choice_that_is_not_there_leaves_the_widget_as_it_is():
    widget = PipelineExplorer("loop", "break")
    widget.choice = {"function": "break", "lines": [3]}
    with pytest.raises(TraitError):
        widget.choice = {"function": "flag", "lines": []}
    assert widget.choice == {"function": "break", "lines": [3]}
    assert repr(widget) == "PipelineExplorer: loop, break"
