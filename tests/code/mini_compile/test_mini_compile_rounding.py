"""Each rule of mini_compile's table on random numbers, for the bits that eager gives.

Edge values don't find where an operator of several steps rounds; thousands of random ones do. Of a
small float, an operator of one tensor is asked for each of its 65536 values.
"""

from itertools import chain

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import mini_compile
import mini_compile_build
from mini_compile_decompositions import DECOMPOSITIONS, FROM_TORCH, OF_WIDE_FLOATS
from mini_compile_operators import name_of

pytestmark = pytest.mark.usefixtures("one_thread", "own_cache", "quick")
aten = torch.ops.aten
HALVES = (torch.bfloat16, torch.float16)
FLOATS = (*HALVES, torch.float32, torch.float64)
SINGLE = ["neg", "abs", "sign", "sgn", "reciprocal", "rsqrt", "square", "floor", "ceil", "trunc",
          "round", "relu", "isnan", "isinf", "signbit", "logical_not"]
PAIRS = ["add", "sub", "mul", "div", "remainder", "fmod", "floor_divide", "maximum", "minimum",
         "eq", "ne", "lt", "le", "gt", "ge"]
EXPONENTS = (0, 1, 2, 3, -1, -2, 2.0, 3.0)            # others call pow, near eager's
ROOTS = (0.5, -0.5)                                   # exact beside small floats only
SUMS = ("_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data",
        "logsumexp", "native_layer_norm_backward")
FUNCTIONS = ("silu", "elu", "mish", "softplus", "log_sigmoid_forward")
NUMBERS = (3, 0.3, -1.7, 0.09521484375, 257.3)


@pytest.fixture(scope="module")
def quick(own_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mini_compile_build, "FLAGS", ["-O1", *mini_compile_build.FLAGS[1:]])
        yield


def drawn(dtype, seed):
    """4000 numbers of all sizes."""
    seeded = torch.Generator().manual_seed(seed)
    sizes = torch.exp(torch.randn(4000, generator=seeded) * 1.5) * 8
    return (torch.randn(4000, generator=seeded) * sizes).to(dtype)


def each_value(dtype):
    if dtype not in HALVES:
        return drawn(dtype, 3)
    return torch.arange(2**16, dtype=torch.int32).to(torch.int16).view(dtype)


def rounding(mode):
    return lambda a, b: torch.div(a, b, rounding_mode=mode)


def of_one_tensor(dtype):
    x = each_value(dtype)
    yield from ((name, getattr(torch, name), x) for name in SINGLE)
    for power in (*EXPONENTS, *(ROOTS if dtype in HALVES else ())):
        yield f"pow {power}", lambda x, power=power: x ** power, x
    if dtype in HALVES:
        yield "sqrt", torch.sqrt, x


def operators(names):
    yield from ((name, getattr(torch, name)) for name in names)
    yield from ((f"div {mode}", rounding(mode)) for mode in ("trunc", "floor"))


def of_two_tensors(dtype):
    a, b = drawn(dtype, 1), drawn(dtype, 2)
    for name, fn in operators(PAIRS):
        yield name, fn, a, b
        for number in NUMBERS[1:3]:
            one = torch.tensor([number], dtype=dtype)
            for other in (one, one[0], one.expand(4000)):
                yield f"{name}, a tensor of one", fn, a, other
                yield f"{name}, a tensor of one first", fn, other, a


def with_a_number(dtype):
    a = drawn(dtype, 1)
    for name, fn in operators(PAIRS):
        for number in NUMBERS if name not in ("maximum", "minimum") else ():
            yield f"{name}, a number", lambda x, fn=fn, number=number: fn(x, number), a
    for name, fn in operators(["add", "sub", "mul", "div", "floor_divide"]):
        for number in NUMBERS:
            yield f"{name}, a number first", lambda x, fn=fn, number=number: fn(number, x), a
    for number in NUMBERS:
        yield "number - x", lambda x, number=number: number - x, a
        yield "number / x", lambda x, number=number: number / x, a
        yield "number // x", lambda x, number=number: number // x, a
        yield "clamp", lambda x, number=number: x.clamp(-number, abs(number)), a
        yield "where", lambda x, number=number: torch.where(x > number, x, number), a


def of_rows(dtype):
    x = drawn(dtype, 1).reshape(50, 80)
    for name in ("amax", "amin"):
        yield name, lambda x, name=name: getattr(torch, name)(x, -1), x


def taken_apart(dtype):
    """Whatever comes with a decomposition, by the operator's name and what else is said."""
    every = each_value(dtype)
    every = every[every.isfinite()]
    a, b, c = (drawn(dtype, seed) for seed in (1, 2, 3))
    rows, few = a.view(50, 80), (b / 8).view(50, 80)
    for name in ("gelu", "silu", "elu", "hardtanh", "hardswish", "hardsigmoid", "softplus", "mish",
                 "celu", "nan_to_num", "frac", "isfinite", "sinc", "leaky_relu"):
        yield name, getattr(aten, name), every
    for said, *more in (("elu", 2.0, 3.0, 0.5), ("hardtanh", -0.3, 1.7), ("celu", 1.7),
                        ("softplus", 0.7, 5.0), ("leaky_relu", 0.3), ("xlogy", 2.7)):
        yield said, lambda x, said=said, more=more: getattr(aten, said)(x, *more), every
    yield "gelu", lambda x: aten.gelu(x, approximate="tanh"), every
    yield "log_sigmoid_forward", lambda x: aten.log_sigmoid_forward(x)[0], every
    yield "log_sigmoid_backward", aten.log_sigmoid_backward, a, b, aten.log_sigmoid_forward(b)[1]
    yield "tanh_backward", aten.tanh_backward, a, b.tanh()
    yield "sigmoid_backward", aten.sigmoid_backward, a, b.sigmoid()
    yield "gelu_backward", lambda g, x: aten.gelu_backward(g, x, approximate="tanh"), a, b
    for said, *more in (("gelu_backward",), ("silu_backward",), ("threshold_backward", 0.3),
                        ("threshold_backward", 0), ("leaky_relu_backward", 0.3, False),
                        ("softplus_backward", 0.7, 5.0)):
        yield said, lambda g, x, said=said, more=more: getattr(aten, said)(g, x, *more), a, b
    for mean in (0, 1):
        for said, *more in (("mse_loss", mean), ("smooth_l1_loss", mean, 3.7),
                            ("huber_loss", mean, 3.7)):
            yield said, lambda x, y, said=said, more=more: getattr(aten, said)(x, y, *more), a, b
        yield "mse_loss_backward", lambda g, x, y, mean=mean: aten.mse_loss_backward(
            g, x, y, mean), c[0] if mean else c, a, b
    for value in (1, 0.3):
        yield "addcmul", lambda x, y, z, v=value: aten.addcmul(x, y, z, value=v), a, b, c
        yield "addcdiv", lambda x, y, v=value: aten.addcdiv(x, x, y, value=v), a, b
        yield "lerp", lambda x, y, v=value: aten.lerp(x, y, v), a, b
    yield "lerp", aten.lerp, a, b, c.sigmoid()
    yield "xlogy", aten.xlogy, a, b.abs()
    yield "native_dropout_backward", lambda g, m: aten.native_dropout_backward(
        g, m > 0, 1 / 0.7), a, b
    for dim in (0, -1):
        for said in ("_softmax", "_log_softmax"):
            out = getattr(aten, said)(few, dim, False)
            yield said, lambda x, s=said, d=dim: getattr(aten, s)(x, d, False), few
            yield f"{said}_backward_data", lambda g, x, s=f"{said}_backward_data", d=dim: getattr(
                aten, s)(g, x, d, x.dtype), rows, out
        yield "logsumexp", lambda x, d=dim: aten.logsumexp(x, [d]), few
    weight = c[:80].clone()
    norm = aten.native_layer_norm(rows, [80], weight, weight, 1e-5)
    for k in range(3):
        yield "native_layer_norm_backward", lambda *given, k=k: aten.native_layer_norm_backward(
            *given[:2], [80], *given[2:], [True] * 3)[k], few, rows, *norm[1:], weight, weight


def unlike(found, wanted):
    """How many numbers differ, with the sign of 0; NaN equals NaN."""
    assert found.dtype == wanted.dtype
    if not wanted.is_floating_point():
        return (found != wanted).sum().item()
    same = ((found == wanted) & (found.signbit() == wanted.signbit())) | (
        found.isnan() & wanted.isnan())
    return (~same).sum().item()


@pytest.mark.parametrize("calls", [of_one_tensor, of_two_tensors, with_a_number, of_rows])
@pytest.mark.parametrize("dtype", FLOATS)
def test_a_rule_rounds_as_eager_does(dtype, calls):
    asked = list(calls(dtype))
    given = [args for _, _, *args in asked]
    graph = make_fx(lambda given: tuple(one[1](*args) for one, args in zip(
        asked, given, strict=True)), tracing_mode="fake")(given)
    made = mini_compile.compile_graph(graph)
    assert not made.problem
    results = made.program(*chain.from_iterable(given))
    wrong = {name: count for found, (name, fn, *args) in zip(results, asked, strict=True)
             if (count := unlike(found, fn(*args)))}
    assert not wrong, wrong
    assert len(asked) > 10 * len(made.alone) or dtype in HALVES


@pytest.mark.parametrize("dtype", HALVES)
def test_what_is_taken_apart_rounds_as_eager_does(dtype):
    """Bit for bit; with sums within a few of the last bits of the largest, functions nearly so."""
    asked = list(taken_apart(dtype))
    assert {name for name, *_ in asked} == {
        *FROM_TORCH.split(), *OF_WIDE_FLOATS.split(), "threshold_backward"}
    given = [args for _, _, *args in asked]
    graph = make_fx(lambda given: tuple(one[1](*args) for one, args in zip(
        asked, given, strict=True)), tracing_mode="fake", decomposition_table=DECOMPOSITIONS)(given)
    left = {name_of(node) for node in graph.graph.nodes}
    assert left.isdisjoint(FROM_TORCH.split())
    assert left.issuperset(OF_WIDE_FLOATS.split())
    made = mini_compile.compile_graph(graph)
    wrong = []
    for (name, fn, *args), found in zip(asked, made.program(*chain.from_iterable(given)),
                                        strict=True):
        wanted = fn(*args)
        if name in SUMS:
            near = wanted.float().abs().max().item() * 2 * torch.finfo(dtype).eps
            torch.testing.assert_close(found, wanted, rtol=0, atol=near)
        elif (count := unlike(found, wanted)) > (len(wanted) / 2000 if name in FUNCTIONS else 0):
            wrong.append((name, count, len(wanted)))
    assert not wrong, wrong


@pytest.mark.parametrize("dtype", HALVES)
def test_a_root_of_which_eager_gives_two_answers_stays_alone(dtype):
    fn = torch.rsqrt
    x = each_value(dtype)
    apart = torch.stack([x, x], 1)[:, 0]              # the same numbers, with steps
    assert unlike(fn(apart), fn(x)) > 1000
    for given in (x, apart):
        made = mini_compile.compile_graph(make_fx(lambda x: (fn(x),), tracing_mode="fake")(given))
        assert unlike(made.program(given)[0], fn(given)) == 0


@pytest.mark.parametrize("dtype", HALVES)
def test_logit_of_a_small_float_is_rounded_at_each_step_as_in_eager(dtype):
    x = each_value(dtype)
    torch._dynamo.reset()
    mine = torch.compile(torch.logit, backend=mini_compile.backend)(x)
    torch.testing.assert_close(mine, torch.logit(x), rtol=0, atol=0, equal_nan=True)
