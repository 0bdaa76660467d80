"""mini_compile: what becomes one loop, what stays alone and why, shapes, aliases, front ends."""

import re

import pytest
import torch
from torch.nn import functional as F

import mini_compile
import mini_compile_build as build
import mini_dynamo

pytestmark = [pytest.mark.usefixtures("one_thread", "own_cache"),
              pytest.mark.filterwarnings("ignore:Guards may run slower")]    # Python 3.13.0


def compiled(fn, **options):
    torch._dynamo.reset()
    return torch.compile(fn, backend=mini_compile.backend, **options)


def explained(fn, *args):
    return mini_compile.explain(fn, *args)


def loops_in(source):
    return len(re.findall(r"\bfor \(", source))


def numbers(*shape, dtype=torch.float32):
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(0))


# --- 1. One loop ----------------------------------------------------------------------------------

def test_a_chain_of_pointwise_operators_is_one_loop_and_writes_one_tensor():
    seen = explained(lambda x, y: ((x * 2 + y).tanh() - x).exp().clamp(0, 1) * y,
                     numbers(3, 5), numbers(3, 5))
    assert not seen.alone
    assert [len(loop.nodes) for loop in seen.loops] == [7]
    assert loops_in(seen.source) == 1
    assert len(re.findall(r"\] = ", seen.source)) == 1


def test_broadcasting_stays_one_kernel_with_one_loop_for_each_dimension():
    seen = explained(lambda x, b: (x + b) * 2, numbers(3, 5), numbers(5))
    assert (len(seen.loops), loops_in(seen.source)) == (1, 2)


def test_softmax_is_one_kernel_of_three_sweeps():
    seen = explained(lambda x: F.softmax(x, -1), numbers(4, 7))
    assert not seen.alone
    assert len(seen.loops) == 1
    assert loops_in(seen.source) == 1 + 3


def test_layer_norm_with_gelu_is_one_kernel():
    seen = explained(lambda x: F.gelu(F.layer_norm(x, (7,))), numbers(4, 7))
    assert not seen.alone
    assert len(seen.loops) == 1


def test_a_sum_takes_its_producer_into_its_loop():
    seen = explained(lambda x, y: ((x - y) ** 2).sum(), numbers(4, 7), numbers(4, 7))
    assert len(seen.loops) == 1
    assert loops_in(seen.source) == 1


def test_two_chains_over_one_shape_share_a_loop():
    seen = explained(lambda x, y: (x * 2 + 1, y.abs() - 1), numbers(4, 7), numbers(4, 7))
    assert (len(seen.loops), loops_in(seen.source)) == (1, 1)


def test_a_matmul_parts_two_loops():
    seen = explained(lambda x: (x * 2).relu() @ (x.t() + 1) * 3, numbers(4, 7))
    assert len(seen.loops) == 3
    assert {node.name: why for node, why in seen.alone.items()}["mm"] == "no rule in the table"


def test_the_order_of_loops_has_no_circle():
    """exp and mul could share a loop, if there were not a matmul on the way between them."""
    def f(x):
        a = x.exp()
        return a * (a @ a)
    seen = explained(f, numbers(5, 5))
    assert len(seen.loops) == 2
    assert torch.allclose(compiled(f)(numbers(5, 5)), f(numbers(5, 5)))


def test_a_reduction_over_the_first_dimension_stays_alone_and_says_so():
    seen = explained(lambda x: (x * 2).sum(0), numbers(4, 7))
    assert "a reduction over other dimensions than the last ones" in seen.alone.values()


def test_an_integer_division_by_a_tensor_stays_alone_and_raises_as_eager_does():
    x = torch.arange(4)
    seen = explained(lambda x, y: (x + 1) // y, x, x + 1)
    assert any("divisor may be 0" in why for why in seen.alone.values())
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        compiled(lambda x, y: (x + 1) // y)(x, x)


def test_explain_shows_the_backward_graph():
    w = numbers(5).requires_grad_()
    seen = explained(lambda x: (x * w).tanh().sum(), numbers(3, 5))
    assert [one.kind for one in seen.graphs] == ["forward", "backward"]
    assert w.grad is None
    assert "forward graph: 1 loops" in repr(seen)


# --- 2. Shapes ------------------------------------------------------------------------------------

def test_another_batch_compiles_no_cpp_again():
    def f(x):
        return F.softmax(x * 2 + 1, -1)
    fast = compiled(f, dynamic=True)
    fast(numbers(5, 9))
    before = build.counts.compiled
    for batch in (6, 33, 128):
        x = numbers(batch, 9)
        assert torch.allclose(fast(x), f(x))
    assert build.counts.compiled == before


def test_without_symbols_another_batch_finds_the_same_code():
    def f(x, b):
        return (x * 2 + b).exp()
    fast = compiled(f, dynamic=False)
    fast(numbers(5, 9), numbers(9))
    before = build.counts.compiled
    for batch in (6, 33):
        x = numbers(batch, 9)
        assert torch.allclose(fast(x, x[0]), f(x, x[0]))
    assert build.counts.compiled == before


def test_a_symbolic_number_is_an_argument():
    def f(x):
        return x * x.shape[0] + x.shape[1] * 2
    fast = compiled(f, dynamic=True)
    for shape in ((4, 7), (6, 5)):
        assert torch.equal(fast(numbers(*shape)), f(numbers(*shape)))


@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0, 2), (1, 1, 1)])
def test_small_shapes(shape):
    x = numbers(*shape)
    assert torch.equal(compiled(lambda x: (x * 2 - 1).abs() + x)(x), (x * 2 - 1).abs() + x)
    assert torch.equal(compiled(lambda x: (x + 1).sum())(x), (x + 1).sum()) or x.numel() > 1


def test_strides_of_the_result_are_those_of_eager():
    x = numbers(4, 6, 5, 3).to(memory_format=torch.channels_last)
    for f in (lambda x: x * 2 + 1, lambda x: x.permute(3, 0, 1, 2).exp(),
              lambda x: x.transpose(0, 1) + x.transpose(0, 1)):
        assert compiled(f)(x).stride() == f(x).stride()
        assert torch.allclose(compiled(f)(x), f(x))


def test_a_size_that_only_the_data_tell_stays_alone():
    def f(x):
        return (x[x > 0] * 2 + 1).relu()
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        assert torch.equal(compiled(f)(numbers(9)), f(numbers(9)))


# --- 3. What is written and what is shared --------------------------------------------------------

def test_an_input_is_changed_in_place():
    def f(x):
        x.mul_(2).add_(1)
        return x.tanh()
    a, b = numbers(4), numbers(4)
    assert torch.allclose(compiled(f)(a), f(b))
    assert torch.equal(a, b)


def test_a_view_of_an_input_is_changed_in_place():
    def f(x):
        x[1:3].add_(10)
        return x * 2
    a, b = numbers(4), numbers(4)
    assert torch.equal(compiled(f)(a), f(b))
    assert torch.equal(a, b)


def test_outputs_share_memory_as_in_eager():
    def f(x):
        y = x * 2
        return y, y.view(-1), x, x[0]
    x = numbers(2, 3)
    y, flat, same, first = compiled(f)(x)
    assert flat.data_ptr() == y.data_ptr()
    assert same is x
    assert first.data_ptr() == x.data_ptr()


def test_the_same_tensor_twice():
    x = numbers(5)
    assert torch.equal(compiled(lambda a, b: a * b + a)(x, x), x * x + x)


def test_a_graph_without_operations():
    x = numbers(5)
    assert compiled(lambda a: (a, a))(x)[0] is x


def test_random_numbers_are_drawn_in_the_order_of_eager():
    def f(x):
        a = torch.rand_like(x @ x) * 2
        return a + torch.rand_like(x), torch.randn(5) + 1
    results = []
    for run in (f, compiled(f)):
        torch.manual_seed(3)
        results.append(run(numbers(5, 5)))
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))


# --- 4. Front ends --------------------------------------------------------------------------------

@pytest.mark.parametrize("front", [torch.compile, mini_dynamo.compile])
def test_a_model_trains_as_in_eager(front):
    losses = []
    for wrap in (lambda step: step, lambda step: front(step, backend=mini_compile.backend)):
        torch._dynamo.reset()
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(),
                                    torch.nn.LayerNorm(16), torch.nn.Linear(16, 4))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss_of = wrap(lambda x, y: F.cross_entropy(model(x), y))  # noqa: B023
        seen = []
        for _ in range(5):
            loss = loss_of(numbers(32, 8), torch.arange(32) % 4)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        losses.append(seen)
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[0][-1] < losses[0][0]


def test_two_threads_give_the_same(monkeypatch):
    x = numbers(1 << 17)
    one = compiled(lambda x: ((x * 3).tanh() + 1, x.view(64, -1).softmax(-1)))(x)
    torch.set_num_threads(2)
    try:
        two = compiled(lambda x: ((x * 3).tanh() + 1, x.view(64, -1).softmax(-1)))(x)
    finally:
        torch.set_num_threads(1)
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
