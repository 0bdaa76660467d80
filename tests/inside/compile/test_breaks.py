"""What `compile.observe.breaks` says of a break is what Dynamo did, and the picture shows that."""

import xml.etree.ElementTree as ET

import pytest
import torch
from torch._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._dynamo.exc import TorchRuntimeError

import break_cases
from break_cases import between
from inside.compile.observe.breaks import EAGER, PYTHON, capture, graphs_of, lines_of, tensor_lines
from inside.compile.pictures.breaks import CASES, draw_breaks
from tests.helpers.pictures import PHONE, assert_every_text_lies_inside, size

X = torch.tensor([0.5, 0.25])


def test_a_break_splits_the_function_and_gives_its_reason():
    found = capture(break_cases.straight, X)
    assert found.operations == [["sin"], ["cos"]]
    assert found.reason == "Failed to trace builtin operator"


def test_a_function_without_a_break_has_one_graph_and_no_reason():
    assert capture(between("y = y + 1"), X) == ([["sin", "add", "cos"]], "")


def test_fullgraph_captures_what_breaks_without_it():
    found = capture(between("y = y * y.sum().item()"), X)
    assert len(found.operations) == 2
    assert found.reason == ""


@pytest.mark.parametrize(("name", "graphs"), [
    ("straight", 2), ("in_a_with", 2), ("in_a_call", 4), ("in_a_loop", 0), ("in_a_try", 0)])
def test_how_far_a_break_reaches_depends_on_where_it_stands(name, graphs):
    fn = getattr(break_cases, name)
    assert len(graphs_of(fn, X)) == graphs
    assert torch.equal(torch.compile(fn, backend="eager")(X), fn(X))


def test_lines_carry_the_graph_that_took_them():
    lines = lines_of(break_cases.in_a_call, X, calls=(break_cases.helper,))
    assert [line.where for line in lines] == [None, 1, None, 4, None, 2, PYTHON, 3]
    assert lines[1].text == "    y = x.sin()"


def test_lines_of_a_skipped_frame_ran_in_eager_mode():
    wheres = [line.where for line in lines_of(break_cases.in_a_loop, X)]
    assert wheres == [None, EAGER, None, EAGER, PYTHON, EAGER]


def test_tensor_lines_are_those_that_call_torch_on_a_tensor():
    first = break_cases.in_a_with.__code__.co_firstlineno
    assert tensor_lines(break_cases.in_a_with, X) == {first + 1, first + 3, first + 5}


def test_the_picture_has_a_number_for_each_line_in_a_graph_and_a_square_for_each_that_is_in_none():
    wheres = [line.where for name, calls, *_ in CASES for line in lines_of(
        getattr(break_cases, name), X, calls=tuple(getattr(break_cases, c) for c in calls))]
    root = ET.fromstring(draw_breaks().svg)
    shapes = [each.tag.split("}")[1] for each in root.iter()]
    assert shapes.count("circle") == sum(isinstance(where, int) for where in wheres) + 1
    assert shapes.count("rect") == wheres.count(EAGER) + 1


def test_every_text_lies_inside_the_picture():
    assert_every_text_lies_inside(draw_breaks())


def test_a_phone_shows_its_whole_width():
    assert size(draw_breaks())[0] <= PHONE


@pytest.mark.parametrize(("line", "graphs"), [
    ("y = y + np.cumsum(np.arange(3))[0]", 1), ("y = y + np.random.rand(3)[0]", 1),
    ("y = y + np.interp(0.5, [0, 1], [0, 1])", 2), ("y = y + np.nansum(np.ones(3))", 2),
    ("y = y + np.isin(np.arange(3), [1]).sum()", 2)])
def test_only_the_numpy_that_torch_has_rewritten_is_traced(line, graphs):
    assert len(graphs_of(between(line), X)) == graphs


@pytest.mark.parametrize("attempt", ["y = {}['a']", "y = y + int('a')", "y = 1 / 0",
                                     "raise KeyError"])
def test_an_exception_is_traced(attempt):
    line = f"try: {attempt}\n    except Exception: y = y * 2"
    assert capture(between(line), X) == ([["sin", "mul", "cos"]], "")


def test_an_exception_of_a_tensor_operation_is_not_traced():
    fn = between("try: y = y @ torch.ones(7, 7)\n    except RuntimeError: y = y * 2")
    assert torch.equal(fn(X), (X.sin() * 2).cos())
    if torch.__version__ >= "2.15":
        assert len(graphs_of(fn, X, fullgraph=True)) == 1
    else:
        with pytest.raises(TorchRuntimeError, match="same reduction dim"):
            graphs_of(fn, X)


def test_a_resume_function_without_operations_has_no_guards():
    def kept(fn):
        known = set(fn.__globals__)
        graphs_of(fn, X)
        new = fn.__globals__.keys() - known
        resumed, = (name for name in new if name.startswith("__resume_at"))
        return len(_debug_get_cache_entry_list(fn.__globals__[resumed].__code__))

    def ends(x):
        y = x.sin()
        print(end="")
        return y

    def goes_on(x):
        y = x.sin()
        print(end="")
        return y.cos()

    assert (kept(ends), kept(goes_on)) == (0, 1)


def test_a_return_behind_the_break_hides_the_loop():
    def returns(x):
        for i in range(5):
            x = x * 2
            print(end="")
            if i == 9:
                return x.exp()
        return x.cos()

    assert len(graphs_of(returns, X)) == 6              # one before the break, and five turns
