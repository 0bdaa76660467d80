"""Does a compiled graph take what eager takes, and refuse what eager refuses? In words, where not.

    for words in disagreements(CALLS, dtypes): print(words)
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional as F

import mini_compile
from mini_compile_decompositions import DECOMPOSITIONS
from oracles.compile_agree import batched, copied

DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool,
          torch.complex64)
aten = torch.ops.aten

# What is taken apart, with arguments of which eager refuses some.
ONE = {
    "softmax": lambda x: F.softmax(x, -1), "log_softmax": lambda x: F.log_softmax(x, -1),
    "softmax half to float": lambda x: aten._softmax(x, -1, True),
    "softmax with dtype": lambda x: F.softmax(x, -1, dtype=torch.float32),
    "logsumexp": lambda x: torch.logsumexp(x, -1), "var": lambda x: x.var(-1),
    "var of all": lambda x: x.var(), "std": lambda x: x.std(-1),
    "var, correction": lambda x: x.var(-1, correction=9),
    "var_mean": lambda x: torch.var_mean(x, -1), "var of 0-d": lambda x: x[0, 0].var(),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "layer_norm, negative eps": lambda x: F.layer_norm(x, (4,), eps=-1.0),
    "gelu": F.gelu, "gelu tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu,
    "gelu, unknown": lambda x: aten.gelu(x, approximate="nothing"),
    "leaky_relu": F.leaky_relu, "leaky_relu, negative": lambda x: F.leaky_relu(x, -1.5),
    "elu": F.elu, "selu": F.selu, "celu": F.celu, "celu of 0": lambda x: F.celu(x, 0.0),
    "hardtanh": F.hardtanh, "hardtanh of ints": lambda x: F.hardtanh(x, -1, 3),
    "hardtanh, turned": lambda x: F.hardtanh(x, 3.0, -1.0), "relu6": F.relu6,
    "hardswish": F.hardswish, "hardsigmoid": F.hardsigmoid, "softplus": F.softplus,
    "softplus of 0": lambda x: F.softplus(x, 0.0), "logsigmoid": F.logsigmoid, "mish": F.mish,
    "logit": torch.logit, "logit, eps": lambda x: torch.logit(x, 0.25), "frac": torch.frac,
    "sinc": torch.sinc, "isfinite": torch.isfinite, "nan_to_num": torch.nan_to_num,
    "nan_to_num, numbers": lambda x: torch.nan_to_num(x, 1.5, 300.0, -300.0),
    "xlogy": lambda x: torch.xlogy(x, 2), "xlogy, number first": lambda x: torch.xlogy(2.5, x),
    "masked_fill": lambda x: x.masked_fill(x == 1, 2.5),
    "masked_fill, too large": lambda x: x.masked_fill(x == 1, 70000),
    "masked_fill, a complex": lambda x: x.masked_fill(x == 1, 1j),
    "masked_fill by itself": lambda x: x.masked_fill(x, 1),
    "fill": lambda x: torch.fill(x, 1.5), "fill, too large": lambda x: torch.fill(x, 70000),
    "fill, a tensor": lambda x: torch.fill(x, torch.tensor(2.5)),
    "full_like": lambda x: torch.full_like(x, 2.5), "zeros_like": torch.zeros_like,
    "full_like, too large": lambda x: torch.full_like(x, 300),
    "new_full": lambda x: x.new_full((3,), 2.5), "new_ones": lambda x: x.new_ones(2),
    "new_full, too large": lambda x: x.new_full((3,), 70000),
    "threshold": lambda x: F.threshold(x, 1, 2.5), "dropout": lambda x: F.dropout(x, 0.0),
    "tanh_backward": lambda x: aten.tanh_backward(x, x),
    "sigmoid_backward": lambda x: aten.sigmoid_backward(x, x),
    "silu_backward": lambda x: aten.silu_backward(x, x),
    "gelu_backward": lambda x: aten.gelu_backward(x, x),
    "threshold_backward": lambda x: aten.threshold_backward(x, x, 0.5),
    "leaky_relu_backward": lambda x: aten.leaky_relu_backward(x, x, -0.5, True),
    "elu_backward": lambda x: aten.elu_backward(x, 1, 1, 1, False, x),
    "elu_backward, negative": lambda x: aten.elu_backward(x, -1.5, 1, 1, True, x),
    "hardsigmoid_backward": lambda x: aten.hardsigmoid_backward(x, x),
    "softplus_backward": lambda x: aten.softplus_backward(x, x, 1, 20),
    "softmax_backward": lambda x: aten._softmax_backward_data(x, x, -1, x.dtype),
    "mse_loss_backward": lambda x: aten.mse_loss_backward(x, x, x, 0),
}
TWO = {
    "mse_loss": lambda x, y: F.mse_loss(x, y), "huber_loss": lambda x, y: F.huber_loss(x, y),
    "mse_loss of each": lambda x, y: F.mse_loss(x, y, reduction="none"),
    "smooth_l1_loss": lambda x, y: F.smooth_l1_loss(x, y),
    "smooth_l1_loss, negative": lambda x, y: aten.smooth_l1_loss(x, y, 1, -1.0),
    "smooth_l1_loss of 0": lambda x, y: F.smooth_l1_loss(x, y, beta=0.0),
    "huber_loss of 0": lambda x, y: aten.huber_loss(x, y, 1, 0.0),
    "huber_loss, negative": lambda x, y: aten.huber_loss(x, y, 1, -1.0),
    "lerp": lambda x, y: torch.lerp(x, y, 0.25), "lerp, tensor": lambda x, y: torch.lerp(x, y, y),
    "lerp, 0-d": lambda x, y: torch.lerp(x, y, torch.tensor(0.25)),
    "addcmul": lambda x, y: torch.addcmul(x, y, y), "addcdiv": lambda x, y: torch.addcdiv(x, y, y),
    "addcmul, fraction": lambda x, y: torch.addcmul(x, y, y, value=0.5),
    "addcmul, number": lambda x, y: torch.addcmul(x, y, y, value=2),
    "addcdiv, fraction": lambda x, y: torch.addcdiv(x, y, y, value=0.5),
    "xlogy, tensors": lambda x, y: torch.xlogy(x, y),
    "layer_norm, weights": lambda x, y: F.layer_norm(x, (4,), y[0], y[1]),
    "masked_fill, tensor": lambda x, y: x.masked_fill(x == 1, y[0, 0]),
    "masked_fill, a row": lambda x, y: x.masked_fill(x == 1, y[0]),
    "masked_fill, mask": lambda x, y: x.masked_fill(y, 1),
    "dropout_backward": lambda x, y: aten.native_dropout_backward(x, y, 2.0),
    "tanh_backward of two": lambda x, y: aten.tanh_backward(x, y),
    "silu_backward of two": lambda x, y: aten.silu_backward(x, y),
}
# What the table has a rule for.


def beside(fn: Callable, number) -> Callable:
    return lambda x: fn(x, number)


def scaled(x, alpha):
    return torch.add(x, x, alpha=alpha)


def halved(x, mode):
    return torch.div(x, 2, rounding_mode=mode)


NAMES_OF_ONE = """neg abs sign sgn reciprocal rsqrt square sigmoid floor ceil trunc round relu exp
    exp2 expm1 log log2 log10 log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
    erf erfc isnan isinf signbit logical_not bitwise_not clone sum mean any all"""
RULES_ONE = {name: getattr(torch, name) for name in NAMES_OF_ONE.split()} | {
    "amax": lambda x: x.amax(-1), "amin": lambda x: x.amin(-1), "sum of rows": lambda x: x.sum(-1),
    "mean of rows": lambda x: x.mean(-1), "clamp": lambda x: x.clamp(0, 2),
    "clamp, fraction": lambda x: x.clamp(0.5, 2.5), "clamp min": lambda x: x.clamp(min=1),
    "clamp max": lambda x: x.clamp(max=300),
    "round, decimals": lambda x: torch.round(x, decimals=1),
    "invert": lambda x: ~x, "minus": lambda x: -x, "to bool": lambda x: x.to(torch.bool),
    "where": lambda x: torch.where(x, x, x), "sum, dtype": lambda x: x.sum(dtype=torch.int32),
    "mean, dtype": lambda x: x.mean(dtype=torch.float32),
    **{f"{word} {number}": beside(fn, number)
       for word, fn in (("add", torch.add), ("sub", torch.sub), ("rsub", torch.rsub),
                        ("mul", torch.mul), ("div", torch.div), ("pow", torch.pow),
                        ("remainder", torch.remainder), ("fmod", torch.fmod),
                        ("floor_divide", torch.floor_divide), ("and", torch.bitwise_and),
                        ("eq", torch.eq), ("lt", torch.lt), ("xor", torch.logical_xor))
       for number in (2, 2.5, True, -2, 0)},
    **{f"add, alpha {alpha}": functools.partial(scaled, alpha=alpha)
       for alpha in (2, 0.5, True)},
    **{f"div {mode}": functools.partial(halved, mode=mode)
       for mode in ("floor", "trunc", "nothing")},
}
NAMES_OF_TWO = """add sub rsub mul div maximum minimum atan2 pow remainder fmod floor_divide
    bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge logical_and logical_or logical_xor"""
RULES_TWO = {name: getattr(torch, name) for name in NAMES_OF_TWO.split()} | {
    "where of two": lambda x, y: torch.where(x == 1, x, y), "clamp, tensor": torch.clamp,
    "copy": lambda x, y: x.clone().copy_(y),
    "sub, alpha": lambda x, y: torch.sub(x, y, alpha=2),
}


def tensor(dtype: torch.dtype) -> torch.Tensor:
    return torch.tensor([[1, 2, 3, 1], [2, 1, 1, 4]]).to(dtype)


def calls(one: dict, two: dict, dtypes=DTYPES) -> Iterator[tuple[str, Callable, list]]:
    """Each function with each dtype, or pair of dtypes."""
    for dtype in dtypes:
        for name, fn in one.items():
            yield f"{name} of {dtype}", fn, [tensor(dtype)]
        for other in dict.fromkeys((dtype, torch.float64, torch.bool)):
            for name, fn in two.items():
                yield f"{name} of {dtype}, {other}", fn, [tensor(dtype), tensor(other)]


def tried(fn: Callable, args: list):
    """A list of tensors, or the error."""
    try:
        found = fn(*map(copied, args))
    except Exception as error:
        return error
    return several(found)


def compiled(fn: Callable, args: list):
    """A callable, or the error of compiling."""
    try:
        graph = make_fx(lambda *given: several(fn(*given)), decomposition_table=DECOMPOSITIONS,
                        tracing_mode="fake")(*map(copied, args))
        return mini_compile.compile_graph(graph).program
    except Exception as error:
        return error


def several(found) -> tuple:
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def unlike(found, wanted) -> str:
    """What differs between two outcomes, or nothing; any error is a refusal."""
    if isinstance(wanted, Exception):
        return "" if isinstance(found, Exception) else f"accepted; eager says {wanted}"
    if isinstance(found, Exception):
        return f"refused with {type(found).__name__}: {found}"
    for a, b in zip(found, wanted, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
        near = 2e-2 if b.dtype in (torch.bfloat16, torch.float16) else 1e-5
        if not torch.allclose(a, b, rtol=near, atol=near, equal_nan=True):
            return f"{a.tolist()}, not {b.tolist()}"
    return ""


def disagreements(asked) -> list[str]:
    asked, found = list(asked), []
    with batched(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message="mini_compile")
        made = [compiled(fn, args) for _, fn, args in asked]
        for (name, fn, args), run in zip(asked, made, strict=True):
            outcome = run if isinstance(run, Exception) else tried(run, args)
            if words := unlike(outcome, tried(fn, args)):
                found.append(f"{name}: {words}")
    return found
