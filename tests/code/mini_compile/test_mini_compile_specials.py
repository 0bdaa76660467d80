"""Whatever mini_compile takes apart, forward and backward, at NaN, infinities and both zeros."""

import functools

import pytest
import torch
from torch.nn import functional as F

import mini_compile
import mini_compile_build
from oracles.compile_agree import batched

pytestmark = pytest.mark.usefixtures("one_thread", "own_cache", "quick")
nan, inf = float("nan"), float("inf")
EDGES = [nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 3.0, -3.0, 6.0, -6.0, 2.0, 20.5, -20.5,
         1e-30, 300.0]
NEAR = {torch.float32: 1e-5, torch.float64: 1e-10, torch.bfloat16: 3e-2, torch.float16: 4e-3}


def three(fn, value, x, y):
    return fn(x, y, y.flip(0), value=value)


ONE = {
    "softmax": lambda x: F.softmax(x, -1), "log_softmax": lambda x: F.log_softmax(x, -1),
    "softmax of columns": lambda x: F.softmax(x, 0), "logsumexp": lambda x: torch.logsumexp(x, -1),
    "log_softmax of columns": lambda x: F.log_softmax(x, 0), "var": lambda x: x.var(-1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:]), "std": lambda x: x.std(-1),
    "var, correction 0": lambda x: x.var(-1, correction=0), "var of all": torch.var,
    "mean of var_mean": lambda x: torch.var_mean(x, -1)[1],
    "gelu tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu, "tanh": torch.tanh,
    "gelu": lambda x: F.gelu(x.masked_fill(x == inf, 1)), "sigmoid": torch.sigmoid,
    "relu": F.relu, "threshold": lambda x: F.threshold(x, 0.5, 7.0), "leaky_relu": F.leaky_relu,
    "leaky_relu, negative": lambda x: F.leaky_relu(x, -0.5), "elu": F.elu, "selu": F.selu,
    "celu": F.celu, "celu, negative": lambda x: F.celu(x, -2.0), "hardtanh": F.hardtanh,
    "elu, negative": lambda x: F.elu(x, -1.5), "relu6": F.relu6, "hardswish": F.hardswish,
    "hardtanh from -inf": lambda x: F.hardtanh(x, -inf, 3.0), "hardsigmoid": F.hardsigmoid,
    "softplus": F.softplus, "softplus, threshold": lambda x: F.softplus(x, 2.0, 5.0),
    "logsigmoid": F.logsigmoid, "mish": F.mish, "softsign": F.softsign, "logit": torch.logit,
    "logit, eps": lambda x: torch.logit(x, 0.1), "nan_to_num": torch.nan_to_num,
    "nan_to_num, numbers": lambda x: torch.nan_to_num(x, 1.0, 2.0, 3.0), "frac": torch.frac,
    "sinc": torch.sinc, "isfinite": torch.isfinite, "xlogy": lambda x: torch.xlogy(x, 2.0),
    "xlogy, number first": lambda x: torch.xlogy(0.0, x), "sgn": torch.sgn, "abs": torch.abs,
    "masked_fill": lambda x: x.masked_fill(x > 0, nan), "clamp": lambda x: x.clamp(-1, 1),
    "masked_fill of NaN": lambda x: x.masked_fill(x != x, 0.0), "square": lambda x: x ** 2,
    "full_like": lambda x: torch.full_like(x, nan), "rsqrt": torch.rsqrt, "sqrt": torch.sqrt,
    "new_full": lambda x: x.new_full((3,), inf), "log1p": torch.log1p, "erf": torch.erf,
}
TWO = {
    "mse_loss": lambda x, y: F.mse_loss(x, y, reduction="none"), "mse_loss, mean": F.mse_loss,
    **{f"smooth_l1_loss, beta {b}": functools.partial(F.smooth_l1_loss, reduction="none", beta=b)
       for b in (1.0, 0.5, 0.0)},
    "smooth_l1_loss, mean": F.smooth_l1_loss, "huber_loss, mean": F.huber_loss,
    **{f"huber_loss, delta {d}": functools.partial(F.huber_loss, reduction="none", delta=d)
       for d in (1.0, 0.5)},
    "l1_loss": lambda x, y: F.l1_loss(x, y, reduction="none"), "xlogy": torch.xlogy,
    **{f"lerp {w}": functools.partial(torch.lerp, weight=w) for w in (0.0, 0.3, 0.7, 1.0)},
    "lerp, tensor": lambda x, y: torch.lerp(x, y, y), "maximum": torch.maximum,
    **{f"addcmul {v}": functools.partial(three, torch.addcmul, v)
       for v in (0.5, 0.0)},
    **{f"addcdiv {v}": functools.partial(three, torch.addcdiv, v)
       for v in (0.5, 0.0)},
    "fill": lambda x, y: torch.fill(x, y[0, 0]), "atan2": torch.atan2,
    "dropout_backward": lambda x, y: torch.ops.aten.native_dropout_backward(x, y > 0, 2.0),
    "binary_cross_entropy": lambda x, y: F.binary_cross_entropy_with_logits(
        x, y, reduction="none"),
}


@pytest.fixture(scope="module")
def quick(own_cache):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mini_compile_build, "FLAGS", ["-O1", *mini_compile_build.FLAGS[1:]])
        yield


def inputs(dtype, count):
    """Rows with all edge values, with one kind of them alone, and with one value throughout."""
    edges = torch.tensor(EDGES, dtype=torch.float64).to(dtype)
    if count == 2:
        return [edges[:, None].repeat(1, len(edges)).requires_grad_(),
                edges[None].repeat(len(edges), 1).requires_grad_()]
    calm = edges.nan_to_num(0.25, 0.25, 0.25)
    rows = [edges, calm, *(torch.where((edges == v) | ((v != v) & edges.isnan()), edges, calm)
                           for v in (nan, inf, -inf))]
    return [torch.stack([*rows, *(torch.full_like(edges, v) for v in (nan, inf, -inf))]
                        ).requires_grad_()]


def slope_of(output, kind):
    if kind == "ones":
        return torch.ones_like(output)
    some = torch.tensor([1.0, nan, 0.0, inf, -inf, -2.0], dtype=output.dtype)
    return some.repeat(output.numel() // 6 + 1)[:output.numel()].reshape(output.shape)


def results(fn, args, kind):
    found = fn(*args)
    found = found[0] if isinstance(found, (tuple, list)) else found
    slopes = torch.autograd.grad(found, args, slope_of(found, kind),
                                 allow_unused=True) if found.requires_grad else ()
    return [found.detach(), *slopes]


def unlike(found, wanted):
    if found is None or wanted is None:
        return found is not wanted
    if not wanted.is_floating_point():
        return not torch.equal(found, wanted)
    near = NEAR[wanted.dtype]
    return not torch.allclose(found.double(), wanted.double(), near, near, equal_nan=True)


def graph_of(fn, count):
    graph = torch.fx.Graph()
    holders = tuple(graph.placeholder(f"x{k}") for k in range(count))
    graph.output((graph.call_function(lambda *given: fn(*given), holders),))
    return torch.fx.GraphModule(torch.nn.Module(), graph)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", NEAR)
def test_what_is_taken_apart_is_as_in_eager_outside_of_finite_numbers(dtype):
    wrong = []
    with batched():
        made = [(name, fn, inputs(dtype, count)) for table, count in ((ONE, 1), (TWO, 2))
                for name, fn in table.items()]
        fast = [mini_compile.backend(graph_of(fn, len(args)), list(args)) for _, fn, args in made]
        for (name, fn, args), run in zip(made, fast, strict=True):
            for kind in ("ones", "edges"):
                pairs = zip(results(run, args, kind), results(fn, args, kind), strict=True)
                wrong += [(name, kind, k, a, b) for k, (a, b) in enumerate(pairs) if unlike(a, b)]
    assert not wrong, f"{len(wrong)}: {[one[:3] for one in wrong]} {wrong[0]}"


@pytest.mark.parametrize("fn", [F.elu, F.hardtanh, F.hardswish])
def test_eager_gives_two_slopes_at_nan_and_ours_is_the_same(fn):
    x = torch.full((17,), nan).requires_grad_()       # the last number is no part of a vector
    wanted, = torch.autograd.grad(fn(x).sum(), x)
    found, = torch.autograd.grad(torch.compile(fn, backend=mini_compile.backend)(x).sum(), x)
    assert torch.equal(found.nan_to_num(7), wanted.nan_to_num(7))
