"""What a value looks like as plain data, so that two processes can compare what they saw.

Numbers, types, shapes, strides, `requires_grad`, and which parts are one object. Not addresses, not
which of two equal constants it is, not the order of a set, not the code of a function.
"""

from __future__ import annotations

import math
import re
import unittest
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import torch

DEEP, LONG, MANY = 5, 2000, 200  # levels, numbers of a tensor, items of a container
NEAR = {"torch.float16": 2e-3, "torch.bfloat16": 2e-2, "torch.complex32": 2e-3}
CONSTANTS = (bool, int, float, complex, str, bytes, type(None), type(...), range, slice)


def summary(value: Any, seen: dict[int, int] | None = None, deep: int = 0) -> Any:
    """Nested tuples and dicts; an object that was met before is its number."""
    seen = {} if seen is None else seen
    if type(value) in CONSTANTS:
        return type(value).__name__, repr(value)
    if isinstance(value, (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType)):
        return "named", getattr(value, "__qualname__", value.__name__)
    if isinstance(value, unittest.TestCase):
        return "named", type(value).__qualname__
    if id(value) in seen:
        return "again", seen[id(value)]
    if type(value) is not tuple:  # which of two equal tuples it is doesn't matter
        seen[id(value)] = len(seen)
    if deep > DEEP:
        return "deep", type(value).__name__
    try:
        return _compound(value, seen, deep + 1)
    except Exception as error:  # a stand-in, a broken subclass: what it refuses is all there is
        return "unreadable", type(value).__name__, type(error).__name__


def _compound(value: Any, seen: dict[int, int], deep: int) -> Any:
    kind = type(value).__name__
    if isinstance(value, torch.Tensor):
        with torch._C.DisableTorchFunction(), torch.no_grad():
            return tensor(value, kind, seen, deep)
    if isinstance(value, np.ndarray):
        return kind, str(value.dtype), value.shape, repr(value.tolist()[:MANY])
    if isinstance(value, dict):
        pairs = list(dict.items(value))[:MANY]
        return kind, [(summary(k, seen, deep), summary(v, seen, deep)) for k, v in pairs]
    if isinstance(value, (set, frozenset)):
        return kind, sorted(repr(summary(one, {}, deep)) for one in value)
    if isinstance(value, (list, tuple)):
        items = [summary(one, seen, deep) for one in list.__iter__(value)] \
            if isinstance(value, list) else [summary(one, seen, deep)
                                             for one in tuple.__iter__(value)]
        return (kind, items[:MANY])
    if isinstance(value, torch.nn.Module):
        named = [*value.named_parameters(), *value.named_buffers()]
        return kind, value.training, {name: summary(one, seen, deep) for name, one in named}
    if isinstance(value, BaseException):
        return kind, without_addresses(str(value))
    inside = getattr(value, "__dict__", {})
    return kind, {name: summary(one, seen, deep) for name, one in list(inside.items())[:MANY]
                  if not name.startswith("__")}


def without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x…", text)


def tensor(t: torch.Tensor, kind: str, seen: dict[int, int], deep: int) -> dict[str, Any]:
    told = {"type": kind, "dtype": str(t.dtype), "shape": tuple(map(int, t.shape)),
            "requires_grad": t.requires_grad, "leaf": t.is_leaf, "device": t.device.type}
    if t.layout is torch.strided:
        told["strides"] = [s for n, s in zip(t.shape, t.stride(), strict=True) if n > 1]
    if t.is_leaf and t.grad is not None:
        told["grad"] = summary(t.grad, seen, deep)
    if t.device.type == "cpu" and not t.is_quantized:
        told["numbers"] = numbers(t)
    return told


def numbers(t: torch.Tensor) -> list[Any]:
    t = t.detach().to_dense() if t.layout is not torch.strided else t.detach()
    t = t.resolve_conj().resolve_neg().reshape(-1)[:LONG]
    if t.is_complex():
        t = torch.view_as_real(t).reshape(-1)
    return t.double().tolist() if t.is_floating_point() else t.tolist()


def difference(wanted: Any, found: Any, where: str = "") -> str:
    """The first place where two summaries differ, in words; empty if they are alike."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name in [*wanted, *(name for name in found if name not in wanted)]:
            if name not in found or name not in wanted:
                return f"{where}.{name}: only {'here' if name in found else 'in Python'}"
            if name == "numbers":
                words = far(wanted, found)
            else:
                words = difference(wanted[name], found[name], f"{where}.{name}")
            if words:
                return words if name != "numbers" else f"{where}: {words}"
        return ""
    if isinstance(wanted, (list, tuple)) and isinstance(found, (list, tuple)):
        if len(wanted) != len(found):
            return f"{where}: {len(found)} parts, in Python {len(wanted)}"
        for k, (a, b) in enumerate(zip(wanted, found, strict=True)):
            if words := difference(a, b, f"{where}[{k}]"):
                return words
        return ""
    return "" if wanted == found else f"{where}: {brief(found)}, in Python {brief(wanted)}"


def far(wanted: dict[str, Any], found: dict[str, Any]) -> str:
    near = NEAR.get(wanted["dtype"], 1e-5)
    for k, (a, b) in enumerate(zip(wanted["numbers"], found["numbers"], strict=False)):
        if a != b and not (a != a and b != b) and not (
                math.isfinite(a) and abs(a - b) <= near * max(1, abs(a))):
            return f"number {k} is {b}, in Python {a}"
    return ""


def brief(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 80 else text[:77] + "…"
