"""One call beside eager: what mini_compile gives, forward and backward."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

import mini_compile

# What can become of a case. Only the first two tell something about mini_compile.
SAME, DIFFERENT = "same", "different"
TORCH_TOO, REFUSED, UNSTEADY = "torch too", "eager refuses", "unsteady"


class Verdict(NamedTuple):
    outcome: str
    why: str = ""
    loops: int = 0


class Seen(NamedTuple):
    """What a call gives: an error, or outputs, inputs as they are after it, and gradients."""

    error: str
    outputs: list[Any]
    inputs: list[Any]
    gradients: list[Any]


def again(value: Any) -> Any:
    """A tensor with its own memory and the same strides; anything else as it is."""
    if not isinstance(value, torch.Tensor):
        return value
    plain = type(value) is torch.Tensor and value.layout is torch.strided and not (
        value.is_conj() or value.is_neg() or value.is_quantized)
    if not plain:
        return value.detach().clone().requires_grad_(value.requires_grad)
    room = value.detach().untyped_storage().clone()
    made = torch.empty(0, dtype=value.dtype).set_(
        room, value.storage_offset(), value.shape, value.stride())
    return made.requires_grad_(value.requires_grad)


def seen(function: Callable, leaves: list[Any], spec: Any, gradient: bool, compiled: Any) -> Seen:
    """Call a function with copies of its arguments; with `compiled`, through that back end."""
    own = copy.deepcopy(function) if isinstance(function, torch.nn.Module) else function
    leaves = [again(leaf) for leaf in leaves]
    args, kwargs = tree_unflatten(leaves, spec)
    torch.manual_seed(0)
    try:
        if compiled:
            torch._dynamo.reset()
            run = torch.compile(own, backend=compiled)
        else:
            run = own
        outputs = tree_flatten(run(*args, **kwargs))[0]
        slopes = gradients(own, outputs, leaves) if gradient else []
    except Exception as error:
        return Seen(f"{type(error).__name__}: {str(error).strip()[:200]}", [], [], [])
    return Seen("", outputs, leaves, slopes)


def gradients(function: Callable, outputs: list[Any], leaves: list[Any]) -> list[Any]:
    """Of a random weighing of the outputs, by the inputs and parameters that require one."""
    wanted = [out for out in outputs if isinstance(out, torch.Tensor) and out.requires_grad]
    by = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    by += function.parameters() if isinstance(function, torch.nn.Module) else []
    if not wanted or not by:
        return []
    draw = torch.Generator().manual_seed(1)
    weights = [torch.randn(out.shape, generator=draw, dtype=out.dtype) for out in wanted]
    return list(torch.autograd.grad(wanted, by, weights, allow_unused=True))


def compare(function: Callable, args: tuple, kwargs: dict, *, gradient: bool,
            near: tuple[float, float] | None = None) -> Verdict:
    """mini_compile beside eager; a case that torch's own parts before it get wrong is apart."""
    leaves, spec = tree_flatten((args, kwargs))
    wanted = seen(function, leaves, spec, gradient, None)
    if wanted.error:
        return Verdict(REFUSED, wanted.error)
    if unlike(wanted, seen(function, leaves, spec, gradient, None), near):
        return Verdict(UNSTEADY)
    if gradient and not wanted.gradients:
        return Verdict(REFUSED, "nothing requires a gradient")
    before = mini_compile.stats.loops
    why = unlike(wanted, seen(function, leaves, spec, gradient, mini_compile.backend), near)
    loops = mini_compile.stats.loops - before
    if why and unlike(wanted, seen(function, leaves, spec, gradient, "aot_eager"), near):
        return Verdict(TORCH_TOO, why, loops)
    return Verdict(DIFFERENT if why else SAME, why, loops)


def unlike(wanted: Seen, found: Seen, near: tuple[float, float] | None) -> str:
    """What differs first, in words, or nothing."""
    if found.error:
        return found.error
    for name in ("outputs", "inputs", "gradients"):
        pair = getattr(wanted, name), getattr(found, name)
        if len(pair[0]) != len(pair[1]):
            return f"{len(pair[1])} {name}, in eager {len(pair[0])}"
        for k, (a, b) in enumerate(zip(*pair, strict=True)):
            if words := apart(a, b, near, strides=name == "outputs"):
                return f"{name[:-1]} {k}: {words}"
    return ""


def apart(a: Any, b: Any, near: tuple[float, float] | None, strides: bool) -> str:
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return "" if type(a) is type(b) and repr(a) == repr(b) else f"{b!r}, in eager {a!r}"
    if a.requires_grad != b.requires_grad:
        return f"requires_grad is {b.requires_grad}"
    rtol, atol = near or (None, None)
    try:
        torch.testing.assert_close(b.detach(), a.detach(), rtol=rtol, atol=atol, equal_nan=True)
    except Exception as error:  # not all that it refuses is an AssertionError
        return " ".join(str(error).split())[:160]
    if strides and a.layout is torch.strided and steps(a) != steps(b):
        return f"strides {b.stride()}, in eager {a.stride()}"
    return ""


def steps(t: torch.Tensor) -> list[int]:
    return [s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1] if t.numel() else []
