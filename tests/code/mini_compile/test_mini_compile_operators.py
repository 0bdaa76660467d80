"""Each rule of mini_compile's table against eager: its dtypes, NaN, inf, -0.0, int min."""

from itertools import chain

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

import mini_compile
import mini_compile_build
from mini_compile_dtypes import CPP
from mini_compile_operators import COMMON, REDUCTIONS, RESULT, TRUTH, UNARY

pytestmark = pytest.mark.usefixtures("one_thread", "own_cache", "quick")
aten = torch.ops.aten
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.75, 2.5, -3.5, 100.25, float("nan"), float("inf"),
         -float("inf"), 1e-3, 7.0]
# Equal in each bit; of the others the last places may differ.
LAST_PLACES = {*UNARY.split(), "sigmoid", "rsqrt", "pow", "atan2", "sum", "mean"}
NEAR = {torch.float64: 1e-13, torch.float32: 2e-6, torch.float16: 2e-3, torch.bfloat16: 1e-2}
PAIRS = ["add", "sub", "rsub", "mul", "div", "maximum", "minimum", "atan2", "pow", "remainder",
         "fmod", "floor_divide", "bitwise_and", "bitwise_or", "bitwise_xor", "eq", "ne", "lt", "le",
         "gt", "ge", "logical_and", "logical_or", "logical_xor"]
SINGLE = sorted(name for name in {*RESULT, *COMMON, *TRUTH} - {*PAIRS, "clamp"}
                if hasattr(aten, name)
               and "default" in getattr(aten, name).overloads()
               and [a.name for a in getattr(aten, name).default._schema.arguments
                    if not a.has_default_value()] == ["self"])
# What has no rule for a dtype, and says why.
STAYS_ALONE = {"pow": ["integer power"], "remainder": ["divi", "outside"],
               "fmod": ["divi", "outside"], "floor_divide": ["divi", "outside", "small float"],
               "rsqrt": ["small float"], "mul": ["small float"],
               "div": ["small float"], "clamp": ["outside"]}


@pytest.fixture(scope="module")
def quick(own_cache):
    """Little optimising; test_mini_compile_agrees has loops with all of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mini_compile_build, "FLAGS", ["-O1", *mini_compile_build.FLAGS[1:]])
        yield


def values(dtype, edges=EDGES):
    if dtype == torch.bool:
        return torch.tensor([True, False, True, True])
    if dtype.is_floating_point:
        return torch.tensor(edges).to(dtype)
    limits = torch.iinfo(dtype)
    return torch.tensor([limits.min, limits.max, 0, 1, 2, 3, 100], dtype=dtype)


def in_eager(fn, args):
    """What eager gives; None where it refuses the dtype, or answers in one that has no rule."""
    try:
        wanted = fn(*args)
    except (RuntimeError, NotImplementedError):
        return None
    return wanted if wanted.dtype in CPP else None


def all_like_eager(name, calls):
    """How many calls are in loops; all are in one graph, which takes a fraction of the time."""
    asked = [(fn, args, wanted) for fn, *args in calls
             if (wanted := in_eager(fn, args)) is not None]
    given = [args for _, args, _ in asked]
    graph = make_fx(lambda given: tuple(one[0](*args) for one, args in zip(
        asked, given, strict=True)), tracing_mode="fake")(given)
    made = mini_compile.compile_graph(graph)
    for why in made.alone.values():
        assert any(words in why for words in STAYS_ALONE.get(name, ())), made
    results = made.program(*chain.from_iterable(given))
    for found, (_, args, wanted) in zip(results, asked, strict=True):
        assert found.dtype == wanted.dtype
        near = NEAR.get(wanted.dtype, 0) if name in LAST_PLACES else 0
        torch.testing.assert_close(found, wanted, rtol=near, atol=near, equal_nan=True,
                                   msg=lambda text, args=args: f"{args}: {text}")
    return len(asked) - len(made.alone)


@pytest.mark.parametrize("name", SINGLE)
def test_an_operator_of_one_tensor(name):
    fn = getattr(aten, name).default
    assert all_like_eager(name, [(fn, values(dtype)) for dtype in CPP])


def pairs_of(fn):
    """Tensors of two dtypes, a tensor and a number, a tensor and a tensor without dimensions."""
    for first in CPP:
        for second in (first, torch.float32):
            a, b = values(first), values(second)
            yield fn, a.repeat_interleave(len(b)), b.repeat(len(a))
        yield fn, values(first), torch.tensor(2.5, dtype=torch.float64)
        for number in (-3, 2.5, 0.1):
            yield (lambda x, number=number: fn(x, number)), values(first)


@pytest.mark.parametrize("name", PAIRS)
def test_an_operator_of_two_tensors(name):
    if name in ("maximum", "minimum", "atan2", "logical_and", "logical_or", "logical_xor"):
        calls = [call for call in pairs_of(getattr(torch, name)) if len(call) == 3]
        assert all_like_eager(name, calls) > 10
        return
    public = {"remainder": torch.remainder, "floor_divide": torch.floor_divide}
    assert all_like_eager(name, list(pairs_of(public.get(name) or getattr(torch, name)))) > 10


@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_a_division_that_rounds(mode):
    def fn(a, b):
        return torch.div(a, b, rounding_mode=mode)
    floats = [(fn, values(d).repeat_interleave(14), values(d).repeat(14)) for d in CPP
              if d.is_floating_point]
    numbers = [((lambda x, n=n: fn(x, n)), values(d)) for d in CPP for n in (3, -7, 1)]
    assert all_like_eager("floor_divide", floats + numbers) > 20


@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction(name):
    fn = getattr(torch, name)
    finite = {d: torch.arange(24).reshape(4, 6).sub(9).to(d) for d in CPP}
    with_nan = finite[torch.float32].clone()
    with_nan[1, 2], with_nan[2, 5] = float("nan"), float("inf")
    calls = [((lambda x, dim=dim, keep=keep: fn(x, dim=dim, keepdim=keep)), x)
             for x in (*finite.values(), with_nan, values(torch.int64).reshape(1, 7))
             for dim in (-1, (0, 1)) for keep in (False, True)]
    assert all_like_eager(name, calls) > 10


def conversions():
    for first in CPP:
        for second in CPP:
            x = values(first)
            if first.is_floating_point and not second.is_floating_point:
                x = x.nan_to_num(0, 0, 0).clamp(0 if second == torch.uint8 else -100, 100)
            yield (lambda x, second=second: torch.ops.prims.convert_element_type(x, second)), x


def test_a_conversion():
    assert all_like_eager("convert", list(conversions())) == len(CPP) ** 2


@pytest.mark.parametrize(("name", "calls"), [
    ("where", [(torch.where, values(torch.bool).repeat(7), values(torch.float32).repeat(2),
                torch.tensor(2))]),
    ("clamp", [((lambda x: x.clamp(-1, 2)), values(d)) for d in CPP if d != torch.bool]
     + [((lambda x: x.clamp(max=0.5)), values(torch.float64)),
        (torch.clamp, values(torch.float32), torch.tensor(-1.0), torch.tensor(float("nan")))]),
    ("add", [((lambda a, b: torch.add(a, b, alpha=3)), values(d), values(d)) for d in CPP
             if not d.is_floating_point and d != torch.bool]),
    ("bitwise_not", [(torch.bitwise_not, values(d)) for d in CPP]),
    ("pow", [((lambda x, e=e: x ** e), values(torch.float64)) for e in
             (0, 1, 2, 3, -1, -2, 0.5, -0.5, 1.5, 4)]),
])
def test_an_operator_with_more_arguments(name, calls):
    assert all_like_eager(name, calls)


def test_a_number_in_a_comparison_is_rounded_to_the_dtype_of_the_tensor():
    x = torch.tensor([0.1, 0.2], dtype=torch.bfloat16)
    assert all_like_eager("eq", [((lambda x: x == 0.1), x), ((lambda x: x >= 0.2), x)]) == 2


def test_functions_are_near_a_computation_in_double():
    x = torch.linspace(-20, 20, 4001)
    for fn in (torch.exp, torch.tanh, torch.sigmoid, torch.erf, torch.sin):
        graph = make_fx(lambda x: (fn(x),), tracing_mode="fake")(x)  # noqa: B023
        found, exact = mini_compile.compile_graph(graph).program(x)[0], fn(x.double())
        place = exact.abs().float().log2().floor().exp2() * 2**-23
        places = (found.double() - exact).abs() / place
        assert places[exact.abs() > 1e-30].max() < 5, fn.__name__
