"""mini_dynamo: graphs, breaks and where it goes on, the cache, frames given up, what it says."""

import gc
import sys

import pytest
import torch

import mini_dynamo
import mini_dynamo_opcodes

pytestmark = pytest.mark.usefixtures("one_thread")
X = torch.tensor([1.0, -2.0, 3.0])


def after(fn, *calls, **options):
    """The Stats after some calls; each gives what plain Python gives."""
    fast = mini_dynamo.compile(fn, **options)
    for args in calls:
        torch.testing.assert_close(fast(*args), fn(*args))
    return mini_dynamo.stats(fast)


# ---- graphs --------------------------------------------------------------------------------------

def test_a_call_gives_a_graph_of_its_tensor_operations_and_nothing_else():
    def f(x, n):
        names = [str(k) for k in range(n)]
        return (x * len(names)).sum()
    seen = after(f, (X, 2))
    assert [node.target for node in seen.graph_modules[0].graph.nodes if node.op[:4] == "call"] == [
        sys.modules["_operator"].mul, "sum"]


def test_the_back_end_gets_the_graph_and_its_inputs_and_what_it_returns_is_called():
    given = []

    def backend(module, inputs):
        given.append(inputs)
        return lambda *tensors: tuple(t + 100 for t in module.forward(*tensors))
    fast = mini_dynamo.compile(lambda x, y: x @ y, backend)
    assert fast(X, X).item() == 114
    assert given[0][0] is X
    assert len(given) == 1


def test_nothing_is_compiled_before_the_first_call():
    fast = mini_dynamo.compile(lambda x: x + 1)
    assert mini_dynamo.stats(fast).graphs == 0


@pytest.mark.parametrize("of", ["method", "module", "decorator"])
def test_methods_modules_and_decorated_functions_are_compiled(of):
    net = torch.nn.Linear(3, 2)
    fast = {"method": lambda: mini_dynamo.compile(net.forward),
            "module": lambda: mini_dynamo.compile(net),
            "decorator": lambda: mini_dynamo.compile()(lambda x: net(x))}[of]()
    torch.testing.assert_close(fast(X), net(X))
    assert mini_dynamo.stats(fast).graphs == 1


def test_gradients_flow_through_a_compiled_function():
    w = torch.ones(3, requires_grad=True)
    mini_dynamo.compile(lambda x, w: (x * w).sum())(X, w).backward()
    torch.testing.assert_close(w.grad, X)


# ---- breaks --------------------------------------------------------------------------------------

def test_a_break_ends_the_graph_and_the_rest_is_a_graph_of_its_own(capsys):
    def f(x):
        y = x + 1
        print("here")
        return y * 2
    seen = after(f, (X,), (X,))
    assert (seen.graphs, seen.breaks, seen.recompiles) == (2, 1, 0)
    assert seen.break_reasons == ["call of print"]
    assert capsys.readouterr().out == "here\n" * 4      # two calls, each beside plain Python


def test_a_branch_on_data_goes_both_ways_after_one_break():
    def f(x):
        if x.sum() > 0:
            return x + 1
        return x - 1
    seen = after(f, (X,), (-X,), (X,))
    assert (seen.graphs, seen.breaks) == (3, 1)


def test_a_break_in_a_call_breaks_the_caller_there_and_the_callee_runs_as_a_frame(capsys):
    def inner(x):
        y = x + 1
        print("inside")
        return y * 2

    def outer(x):
        return inner(x * 3) - 1
    seen = after(outer, (X,))
    assert (seen.graphs, seen.breaks) == (4, 2)


def test_a_break_inside_no_grad_goes_on_inside_it(capsys):
    def f(x, w):
        with torch.no_grad():
            y = x * w
            print(torch.is_grad_enabled())
            z = y * w
        return z * w
    w = torch.ones(3, requires_grad=True)
    fast = mini_dynamo.compile(f)
    found = fast(X, w)
    assert capsys.readouterr().out == "False\n"
    assert found.requires_grad
    assert torch.is_grad_enabled()
    assert mini_dynamo.stats(fast).graphs == 2


@pytest.mark.parametrize(("kind", "graphs"), [("for", 0), ("while", 0), ("try", 0)])
def test_a_break_in_a_loop_or_in_try_gives_the_frame_up(kind, graphs, capsys):
    def for_(x):
        for _ in range(2):
            x = x + 1
            print("x")
        return x

    def while_(x):
        n = 2
        while n:
            n, x = n - 1, x + 1
            print("x")
        return x

    def try_(x):
        try:
            y = x + 1
            print("x")
        except ValueError:
            return x
        return y * 2
    seen = after({"for": for_, "while": while_, "try": try_}[kind], (X,))
    assert seen.graphs == graphs
    assert len(seen.skipped) == 1


def test_fullgraph_raises_the_reason():
    fast = mini_dynamo.compile(lambda x: x.sum().item(), fullgraph=True)
    with pytest.raises(mini_dynamo.Unsupported, match=r"^Tensor\.item$"):
        fast(X)


# ---- frames given up -----------------------------------------------------------------------------

def test_an_instruction_without_a_rule_gives_the_whole_frame_up(monkeypatch):
    rules = dict(mini_dynamo_opcodes.RULES)
    del rules["BINARY_OP"]
    monkeypatch.setattr(mini_dynamo, "RULES", rules)

    def f(log, x):
        log.append(1)
        return x + 1
    log, fast = [], mini_dynamo.compile(f)
    fast(log, X)
    assert log == [1]
    (name, why), = mini_dynamo.stats(fast).skipped
    assert name.endswith("f")
    assert why == "no rule for the instruction BINARY_OP"


def test_a_generator_and_a_function_that_asks_for_its_locals_run_as_plain_python():
    def numbers(x):
        yield x + 1

    def asks(x):
        return sorted(locals()), x + 1
    for fn, said in ((numbers, "a generator"), (asks, "locals()")):
        fast = mini_dynamo.compile(fn)
        list(fast(X))
        assert said in mini_dynamo.stats(fast).skipped[0][1]


def test_after_eight_entries_a_frame_runs_as_plain_python_and_says_so():
    seen = after(lambda x, word: x * len(word), *((X, "a" * k) for k in range(12)))
    assert (seen.graphs, seen.recompiles) == (8, 7)
    assert seen.skipped[0][1] == "recompile limit of 8 reached"


# ---- the cache -----------------------------------------------------------------------------------

def test_a_second_call_runs_the_same_graph_and_another_value_makes_another():
    seen = after(lambda x, n: x * n, (X, 2), (X, 2), (X, 3), (X, 2))
    assert seen.graphs == 2
    assert seen.recompile_reasons == ["L['n'] == 2"]


def test_the_cache_belongs_to_the_code_so_two_closures_share_it():
    def scaled(k):
        def inner(x):
            print(end="")                             # break: inner is a frame of its own
            return x * k
        return inner

    def f(x, fns):
        return [x + fn(x) for fn in fns] if False else (fns[0](x) + fns[1](x))
    seen = after(f, (X, (scaled(2), scaled(2))))
    assert seen.graphs == 2
    assert seen.recompiles == 0


def test_the_cache_keeps_no_input_alive():
    fast = mini_dynamo.compile(lambda x: x + 1)
    fast(torch.ones(3))
    gc.collect()
    points = fast.session.points.values()
    assert all(not hasattr(entry, "tracer") for point in points for entry in point.entries)


# ---- errors --------------------------------------------------------------------------------------

def test_an_error_of_a_running_graph_comes_after_the_side_effects_before_it():
    def f(log, x, index):
        log.append("before")
        y = x[index]
        log.append("after")
        return y
    log, fast = [], mini_dynamo.compile(f)
    fast([], X, torch.tensor([1]))
    with pytest.raises(IndexError):
        fast(log, X, torch.tensor([7]))
    assert log == ["before"]


def test_an_error_in_a_region_without_gradients_leaves_the_mode_as_it_was():
    def f(x, index):
        with torch.no_grad():
            return x[index]
    fast = mini_dynamo.compile(f)
    fast(X, torch.tensor([1]))
    with pytest.raises(IndexError):
        fast(X, torch.tensor([7]))
    assert torch.is_grad_enabled()
