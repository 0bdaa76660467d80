"""What mini_dynamo keeps, whom it lets through, and what it says to a wrong back end."""

import gc
import random
import threading
import warnings
import weakref
from collections import namedtuple

import pytest
import torch

import mini_dynamo


class Holds:
    k = 2


def test_a_compiled_function_called_by_another_is_followed():
    inner = mini_dynamo.compile(lambda x: x * 2)
    outer = mini_dynamo.compile(lambda x: inner(x) + 1, fullgraph=True)
    assert outer(torch.ones(2)).tolist() == [3, 3]
    twice = mini_dynamo.compile(mini_dynamo.compile(lambda x: x + 5))
    assert twice(torch.ones(2)).tolist() == [6, 6]


def test_a_compiled_function_that_calls_itself():
    @mini_dynamo.compile
    def down(x, n):
        return x if n == 0 else down(x, n - 1) + 1
    assert [down(torch.ones(1), n).item() for n in (3, 4)] == [4, 5]


def breaks(x, o):
    y = x * o.k
    print(end="")
    return y + 1


@pytest.mark.parametrize("fn", [lambda x, o: x * o.k, breaks])
def test_what_the_first_call_got_is_not_kept(fn):
    fast, x, o = mini_dynamo.compile(fn), torch.ones(3), Holds()
    seen = [weakref.ref(x), weakref.ref(o)]
    fast(x, o)
    del x, o
    gc.collect()
    assert [ref() for ref in seen] == [None, None]


def test_an_interrupt_while_tracing_is_let_through(monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt
    fast = mini_dynamo.compile(lambda x: x * 2)
    with monkeypatch.context() as patch:
        patch.setattr(torch.fx.Graph, "create_node", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fast(torch.ones(2))
    assert fast(torch.ones(2)).tolist() == [2, 2]
    assert not mini_dynamo.stats(fast).skipped


@pytest.mark.parametrize(("backend", "says"), [
    (lambda graph, examples: None, "must return a callable.* returned None"),
    (lambda graph, examples: lambda *x: graph(*x)[0], "must return a tuple .* returned a Tensor"),
    (lambda graph, examples: lambda *x: [1, 2], "must return a tuple .* returned a list")])
def test_a_back_end_that_returns_something_else_is_told(backend, says):
    with pytest.raises(TypeError, match=says):
        mini_dynamo.compile(lambda x: x * 2, backend)(torch.ones(3))


@pytest.mark.parametrize("wrong", [{"fn": 5}, {"fn": len, "backend": 5}])
def test_what_is_not_callable_is_told_at_once(wrong):
    with pytest.raises(TypeError, match="callable, not 5"):
        mini_dynamo.compile(**wrong)


def test_threads_capture_each_thing_once():
    fast, start = mini_dynamo.compile(lambda x, n: x * n), threading.Barrier(6)
    found = []

    def work(k):
        start.wait()
        found.extend(fast(torch.ones(1), k % 3).item() == k % 3 for _ in range(10))
    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 60
    assert mini_dynamo.stats(fast).graphs == 3


def test_a_warning_comes_as_often_as_in_python():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mini_dynamo.compile(lambda x: torch.nn.functional.softmax(x))(torch.ones(2))
    assert len(caught) == 1


def test_only_the_check_of_jit_trace_refuses_a_compiled_function():
    fast, x = mini_dynamo.compile(lambda x: x.sin() + 1), torch.ones(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(torch.jit.TracingCheckError):
            torch.jit.trace(fast, x)
        traced = torch.jit.trace(fast, x, check_trace=False)
    assert torch.equal(traced(x * 2), (x * 2).sin() + 1)


def test_a_function_of_c_that_belongs_to_nothing_is_not_run_on_stand_ins():
    assert torch._foreach_mul.__self__ is None    # _foreach_pow on stand-ins ended the process
    fast = mini_dynamo.compile(lambda xs: torch._foreach_mul(xs, 2.0))
    assert [one.tolist() for one in fast([torch.ones(2)])] == [[2, 2]]
    assert mini_dynamo.stats(fast).break_reasons == ["call of _VariableFunctionsClass._foreach_mul"]


class Odd(namedtuple("Odd", "a b")):
    def __getitem__(self, index):
        return "not an item"


@pytest.mark.parametrize("fn", [lambda t: t.a + 1, lambda t: t.b + (t[0] == "not an item")])
def test_a_namedtuple_that_hides_its_items_is_left_to_python(fn):
    fast, t = mini_dynamo.compile(fn), Odd(torch.zeros(2), torch.ones(2))
    assert [fast(t).tolist() for _ in range(2)] == [fn(t).tolist()] * 2


def test_what_a_back_end_draws_at_random_is_drawn_again():
    def tries(module, examples):
        module(*examples)
        random.random()
        return module.forward

    def draws(x):
        return x * torch.rand(2), random.random()

    def seeded(fn):
        torch.manual_seed(0)
        random.seed(0)
        return [(t.tolist(), number) for t, number in (fn(torch.ones(2)), fn(torch.ones(2)))]

    assert seeded(mini_dynamo.compile(draws, tries)) == seeded(draws)


def leaf_inside(x):
    leaf = torch.ones(2, requires_grad=True)
    return leaf, leaf * x


def test_a_leaf_that_is_made_inside_requires_its_gradient_under_aotautograd():
    backend = torch._dynamo.lookup_backend("aot_eager")
    leaf, out = mini_dynamo.compile(leaf_inside, backend)(torch.full((2,), 3.0))
    out.sum().backward()
    assert leaf.grad.tolist() == [3, 3]


def test_a_keyword_of_python_may_name_an_argument():
    def uniform(x):
        torch.manual_seed(0)
        return x.uniform_(**{"from": 2, "to": 3}) * 2

    fast = mini_dynamo.compile(uniform)
    assert fast(torch.ones(3)).tolist() == uniform(torch.ones(3)).tolist()


def test_hooks_on_saved_tensors_see_each_real_tensor_once_and_no_fake():
    seen = []

    def pack(t):
        seen.append(type(t))
        return t

    fast = mini_dynamo.compile(lambda x, y: x * y, torch._dynamo.lookup_backend("aot_eager"))
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        fast(x, torch.ones(2))
    assert seen == [torch.Tensor]
