"""mini_compile at the edges: numbers outside a dtype, odd strides, bits, numbers from the data."""

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import mini_compile
import mini_compile_build

pytestmark = [pytest.mark.usefixtures("one_thread", "own_cache", "quick"),
              pytest.mark.filterwarnings("ignore:Guards may run slower")]    # Python 3.13.0
FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


@pytest.fixture(scope="module")
def quick(own_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mini_compile_build, "FLAGS", ["-O1", *mini_compile_build.FLAGS[1:]])
        yield


def compiled(fn, **options):
    torch._dynamo.reset()
    return torch.compile(fn, backend=mini_compile.backend, **options)


def numbers(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def graph_of(fn, *args):
    return mini_compile.compile_graph(
        make_fx(lambda *given: (fn(*given),), tracing_mode="fake")(*args))


def same_bits(found, wanted):
    """Whether two tensors are equal with the sign of 0; NaN equals NaN."""
    assert found.dtype == wanted.dtype
    if not wanted.is_floating_point():
        return torch.equal(found, wanted)
    found, wanted = found.double(), wanted.double()
    return (torch.equal(found.nan_to_num(7.5), wanted.nan_to_num(7.5))
            and torch.equal(found.isnan(), wanted.isnan())
            and torch.equal(found.signbit() | found.isnan(), wanted.signbit() | wanted.isnan()))


# --- 1. Strides -----------------------------------------------------------------------------------

@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (1, 1), (3, 4), (1, 3, 1)])
@pytest.mark.parametrize("reduce", [torch.mean, torch.sum])
def test_a_gradient_that_is_one_number_for_all_may_have_a_size_of_1(shape, reduce):
    slopes = []
    for run in (lambda w: reduce(w * 2), compiled(lambda w: reduce(w * 2))):
        w = numbers(*shape).requires_grad_()
        run(w).backward()
        slopes.append(w.grad)
    assert torch.equal(*slopes)


def test_a_training_step_with_one_row_is_that_of_eager():
    def loss_of(x, y, w, b):
        return torch.nn.functional.cross_entropy(torch.nn.functional.silu(x @ w + b), y)
    slopes = []
    for run in (loss_of, compiled(loss_of)):
        w, b = numbers(4, 3).requires_grad_(), numbers(3).requires_grad_()
        run(numbers(1, 4), torch.tensor([1]), w, b).backward()
        slopes.append(torch.cat([w.grad.flatten(), b.grad]))
    assert torch.allclose(*slopes)


def test_other_strides_than_the_loop_was_written_for_are_copied_or_refused():
    run = graph_of(lambda x: x * 2, torch.ones(1, 3).expand(2, 3)).program
    assert run(torch.ones(2, 3))[0].tolist() == [[2] * 3] * 2
    with pytest.raises(RuntimeError, match="strides"):
        run(torch.arange(6.0).reshape(2, 3))
    run = graph_of(lambda x: x * 2, torch.ones(2, 3)).program
    assert run(torch.arange(6.0).reshape(3, 2).t())[0].tolist() == [[0, 4, 8], [2, 6, 10]]


def test_a_tensor_of_zeros_without_memory_is_filled_first():
    run = graph_of(lambda x: x + 1, torch.ones(5)).program
    assert run(torch._efficientzerotensor((5,)))[0].tolist() == [1] * 5


# --- 2. Numbers that the dtype cannot hold --------------------------------------------------------

DIVISIONS = [
    ("int8", lambda x: x % 256), ("int8", lambda x: x // 256),
    ("uint8", lambda x: torch.fmod(x, 256)), ("int32", lambda x: torch.fmod(x, 2**32)),
    ("int16", lambda x: torch.div(x, 65536, rounding_mode="trunc")),
    ("int32", lambda x: x // 2**32)]


@pytest.mark.parametrize(("dtype", "fn"), DIVISIONS)
def test_a_divisor_that_becomes_0_in_the_dtype_stays_alone_and_raises(dtype, fn):
    x = torch.tensor([5, 7, 100], dtype=getattr(torch, dtype))
    graph = graph_of(fn, x)
    assert "outside" in str([*graph.alone.values()])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        graph.program(x)


def test_a_division_by_minus_1_stays_alone_and_says_so():
    graph = graph_of(lambda x: x // -1, torch.arange(4))
    assert "-1" in str([*graph.alone.values()])


@pytest.mark.parametrize(("dtype", "number"), [
    ("int32", 2**40), ("int32", 2**32 + 5), ("int32", -2**40), ("int64", 2**63), ("int8", 261),
    ("uint8", -251)])
def test_a_comparison_wraps_a_number_outside_the_dtype_as_eager_does(dtype, number):
    dtype = getattr(torch, dtype)
    x = torch.tensor([0, 5, torch.iinfo(dtype).min, torch.iinfo(dtype).max], dtype=dtype)
    for fn in (torch.lt, torch.gt, torch.eq, torch.ne, torch.le, torch.ge):
        graph = graph_of(lambda x: fn(x, number), x)  # noqa: B023
        assert torch.equal(graph.program(x)[0], fn(x, number)), fn


@pytest.mark.parametrize("fn", [
    lambda x: x.clamp(-300, 300), lambda x: x.clamp(max=1000), lambda x: torch.full_like(x, 300)])
def test_a_number_that_eager_refuses_is_refused(fn):
    x = torch.tensor([0, 127, -128], dtype=torch.int8)
    with pytest.raises(RuntimeError):
        fn(x)
    with pytest.raises(RuntimeError):
        compiled(lambda x: fn(x) + 1)(x)


def test_a_clamp_by_an_int_that_may_change_is_refused_as_in_eager():
    x, fast = torch.tensor([0, 127, -128], dtype=torch.int8), compiled(
        lambda x, k: x.clamp(-k, k) + 1, dynamic=True)
    assert torch.equal(fast(x, 100), x.clamp(-100, 100) + 1)
    with pytest.raises(RuntimeError):
        fast(x, 300)


# --- 3. Bits --------------------------------------------------------------------------------------

@pytest.mark.parametrize("fn", [
    lambda x: (x * 2).view(torch.int16) + 1, lambda x: (x * 2).view(torch.float16) + 1])
def test_bits_read_as_another_dtype_are_no_name(fn):
    x = numbers(7).bfloat16()
    assert same_bits(compiled(fn)(x), fn(x))


def test_bits_of_a_row_read_as_another_dtype_are_no_name():
    def f(x):
        return x.sum(-1, keepdim=True).view(torch.int32) + 1
    x = torch.arange(12.0).reshape(3, 4)
    assert torch.equal(compiled(f)(x), f(x))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("fn", [
    torch.relu, lambda x: x.clamp(min=0), lambda x: x.clamp(max=0), lambda x: x.clamp(0, 1),
    lambda x: x.clamp(-1, 0), torch.nn.functional.relu6, lambda x: x.clamp(max=float("nan")),
    lambda x: x.clamp(min=float("nan"), max=1)])
def test_the_sign_of_zero_and_nan_in_relu_and_clamp_are_those_of_eager(fn, dtype):
    x = torch.tensor([0.0, -0.0, float("nan"), 1, -1, 7, -float("inf")] * 3, dtype=dtype)
    assert same_bits(compiled(fn)(x), fn(x))


@pytest.mark.parametrize("number", [1 + 2**-24, 1 + 3 * 2**-24, 0.1, 1e39, -1e-46, 2**-150 * 3])
def test_a_number_is_rounded_to_float_once(number):
    x = torch.tensor([1.0, 3.0])
    assert same_bits(graph_of(lambda x: x * number, x).program(x)[0], x * number)


def test_a_number_keeps_its_short_form_in_the_source():
    assert "0.1f" in graph_of(lambda x: x * 0.1, numbers(3)).source


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "remainder", "fmod", "floor_divide",
                                  "maximum", "minimum", "pow", "atan2"])
def test_a_tensor_without_dimensions_beside_small_floats_is_rounded_as_in_eager(name, dtype):
    x, fn = (numbers(200) * 30).to(dtype), getattr(torch, name)
    for given in ((x, torch.tensor(0.1)), (torch.tensor(0.1), x), (x, torch.tensor(257.3)),
                  (x, torch.tensor(0.1, dtype=torch.float64)), (x, torch.tensor(3000))):
        found, wanted = graph_of(fn, *given).program(*given)[0], fn(*given)
        near = {"rtol": 1e-2, "atol": 1e-2} if name in ("pow", "atan2") else {"rtol": 0, "atol": 0}
        torch.testing.assert_close(found, wanted, equal_nan=True, **near)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_an_int_that_may_change_beside_small_floats_is_rounded_as_in_eager(dtype):
    x = (numbers(200) * 30).to(dtype)
    for fn in (lambda x, k: x * k + 1, lambda x, k: k / x, lambda x, k: x / k, lambda x, k: x + k,
               lambda x, k: x - k, lambda x, k: k - x, lambda x, k: x % k, lambda x, k: x // k,
               lambda x, k: x < k, lambda x, k: x.clamp(max=k)):
        fast = compiled(fn, dynamic=True)
        for k in (257, 2049):
            assert same_bits(fast(x, k), fn(x, k))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("alpha", [0.1, 0.3, 3, -1.7])
@pytest.mark.parametrize("fn", [torch.add, torch.sub, torch.rsub])
def test_alpha_beside_small_floats_is_rounded_as_in_eager(fn, alpha, dtype):
    a, b = numbers(200).to(dtype), numbers(400)[200:].to(dtype)
    wanted = fn(a, b, alpha=alpha)
    assert same_bits(graph_of(lambda a, b: fn(a, b, alpha=alpha), a, b).program(a, b)[0], wanted)


# --- 4. What only the data tell, and what is too large --------------------------------------------

@pytest.mark.parametrize("fn", [
    lambda x, n: (x * n.item() + 1).relu(), lambda x, n: (x > n.item()).float() * 2,
    lambda x, n: x.clamp(max=n.item()) * 2, lambda x, n: x.nonzero().shape[0] * x + 1])
def test_an_int_that_only_the_data_tell_stays_alone(fn):
    x, n = numbers(4), torch.tensor(3)
    with torch._dynamo.config.patch(capture_scalar_outputs=True,
                                    capture_dynamic_output_shape_ops=True):
        assert torch.equal(compiled(fn)(x, n), fn(x, n))


def test_a_loop_with_too_many_arguments_is_left_out():
    steps, given = iter(range(1, 2000)), []
    for _ in range(80):
        given.append(torch.empty_strided((2,) * 6, [next(steps) for _ in range(6)]).fill_(3))
    graph = graph_of(lambda *x: torch.stack([a * b for a, b in zip(x[::2], x[1::2], strict=True)]),
                     *given)
    assert "a loop with too many arguments" in graph.alone.values()
    assert graph.program(*given)[0].sum() == 40 * 64 * 9


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")
def test_explain_leaves_the_graph_of_the_caller():
    h = torch.nn.Linear(3, 3)(torch.ones(2, 3)).tanh()
    mini_compile.explain(lambda x: (x * 2).tanh(), h)
    h.sum().backward()


def test_a_result_of_another_dtype_than_its_fake_announced_is_read_as_what_it_is():
    def norm(x, w, b, mean, var):
        return torch.ops.aten._native_batch_norm_legit(x, w, b, mean, var, True, 0.5, 1e-5)[0]

    def after(fn):
        torch.manual_seed(0)
        args = [torch.rand(5, 5).bfloat16(), *torch.rand(4, 5).bfloat16()]
        fn(*args)
        return args[3:]    # the running mean and variance, which a loop converts

    torch._dynamo.reset()
    for mine, eager in zip(after(torch.compile(norm, backend=mini_compile.backend)), after(norm),
                           strict=True):
        torch.testing.assert_close(mine, eager)
