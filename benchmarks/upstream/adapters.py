"""mini_module, mini_layers and mini_index where a test would meet torch: what takes whose place.

Each is a context in which a test runs. It counts how often the companion was met (`calls`), and
keeps what was asked of it that it leaves out (`missing`), which ends the test.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.testing._internal import common_nn, common_utils

import mini_index
import mini_layers
import mini_layers_attention
import mini_module
import mini_module_containers
import mini_module_layers


class LeftOut(Exception):
    """What a test asks of a companion that it says it has not."""


# ---- mini_module: other classes under the names of torch.nn --------------------------------------

CLASSES = {name: getattr(home, name)
           for home in (mini_module_layers, mini_module_containers, mini_module)
           for name in home.__all__}
EXAMPLES = (nn.Sequential(), nn.ModuleList(), nn.ModuleDict(), nn.Parameter(), nn.Linear(1, 1),
            nn.Dropout(), nn.ReLU(), nn.BatchNorm1d(1))
# Tests compare these by what they hold.
CONTAINERS = {name: getattr(nn, name) for name in ("Sequential", "ModuleList", "ModuleDict")}
ABSENT = re.compile(r"has no attribute '(\w+)'")
NO_ARGUMENT = re.compile(r"unexpected keyword argument '(\w+)'")
SAID = re.compile(r"defines (\w+).*, which mini_module leaves out")


class Names(ModuleType):
    """torch.nn as a file of tests sees it: the companion's classes, and no others while it runs.

    Other files, torch's own among them, still get what is there.
    """

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        place = Modules.here
        if place is None or sys._getframe(1).f_code.co_filename not in place.files:
            return value
        if name in CLASSES:
            return CLASSES[name]
        if place.running and isinstance(value, type):
            place.missing = place.missing or f"nn.{name}"
            raise LeftOut(place.missing)
        return value



class Modules:
    """A file of tests, and what torch has of tests' networks, with mini_module for torch.nn."""

    here: Modules | None = None

    def __init__(self, file: Path, running: bool = True) -> None:
        self.files, self.running = {str(file), common_nn.__file__}, running
        self.calls, self.missing = 0, ""

    def __enter__(self) -> Modules:
        Modules.here, self.made = self, mini_module.Module.__init__
        nn.__class__ = nn.parameter.__class__ = Names
        vars(common_utils).update({name: CLASSES[name] for name in CONTAINERS})

        def counting(module: Any, *args: Any, **kwargs: Any) -> None:
            self.calls += 1
            self.made(module, *args, **kwargs)
        mini_module.Module.__init__ = counting
        return self

    def __exit__(self, *_: Any) -> None:
        nn.__class__ = nn.parameter.__class__ = ModuleType
        vars(common_utils).update(CONTAINERS)
        Modules.here, mini_module.Module.__init__ = None, self.made

    def explain(self, error: str) -> None:
        """A name or argument that torch's modules have and the companion has not."""
        found = ABSENT.search(error)
        if not (found and any(hasattr(one, found[1]) for one in EXAMPLES)):
            found = NO_ARGUMENT.search(error) or SAID.search(error)
        if found:
            self.missing = self.missing or found[1]


# ---- mini_layers and mini_index: functions of torch, computed by a companion ---------------------

class Functions(TorchFunctionMode):
    """Each function of a table in the place of torch's; inside of it torch is torch again."""

    table: ClassVar[dict[Callable, Callable]]

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file, self.calls, self.missing = str(file), 0, ""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        mine = self.table.get(function) if self.meets(sys._getframe(1)) else None
        if mine is None:
            return function(*args, **kwargs or {})
        self.calls += 1
        try:
            plain(*args, *(kwargs or {}).values())
            return mine(*args, **kwargs or {})
        except LeftOut as error:
            self.missing = self.missing or str(error)
            raise

    def meets(self, frame: Any) -> bool:
        return True

    def explain(self, error: str) -> None:
        """All that is left out has been said."""


def plain(*values: Any) -> None:
    """LeftOut for a tensor that isn't strided, or not in the memory of the CPU."""
    for one in values:
        if isinstance(one, torch.Tensor) and (
                type(one) not in (torch.Tensor, nn.Parameter) or one.layout != torch.strided
                or one.device.type != "cpu" or one.is_quantized):
            raise LeftOut("another kind of tensor")


def adapted(mine: Callable, theirs: Callable, **renamed: str) -> Callable:
    """`mine` with the arguments of `theirs`; LeftOut for one that it hasn't, but for its default.

    What stands first may have any name.
    """
    own, signature = list(inspect.signature(mine).parameters), inspect.signature(theirs)
    names = dict(zip(signature.parameters, own[:1], strict=False)) | renamed

    def called(*args: Any, **kwargs: Any) -> Any:
        given = {}
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            default = signature.parameters[name].default
            if names.get(name, name) in own and not beyond(name, value):
                given[names.get(name, name)] = value
            elif value is not default and not (isinstance(value, int | float)
                                               and value == default) and name != "_stacklevel":
                raise LeftOut(f"{name} of {mine.__name__}")
        return mine(**given)
    return called


def beyond(name: str, value: Any) -> bool:
    """Padding in words; no dimension for softmax."""
    return (name == "padding" and isinstance(value, str)) or (name == "dim" and value is None)


# Functions of C++ don't say what their arguments are called.
def linear(input, weight, bias=None):
    """torch._C._nn.linear"""


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """torch.conv2d"""


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
              enable_gqa=False):
    """torch._C._nn.scaled_dot_product_attention"""


def cross_entropy(logits, target, *args, **kwargs):
    if target.is_floating_point():
        raise LeftOut("probabilities as targets")
    return BY_CLASS(logits, target, *args, **kwargs)


BY_CLASS = adapted(mini_layers.cross_entropy, functional.cross_entropy)


class Layers(Functions):
    """torch.nn.functional, wherever it is called: torch's own modules compute with it, too."""

    table: ClassVar = {functional.linear: adapted(mini_layers.linear, linear),
                       functional.conv2d: adapted(mini_layers.conv2d, conv2d),
                       functional.cross_entropy: cross_entropy} | {
        getattr(functional, name): adapted(getattr(mini_layers, name), getattr(functional, name))
        for name in ("embedding", "dropout", "batch_norm", "layer_norm", "rms_norm", "softmax",
                     "log_softmax", "binary_cross_entropy_with_logits")} | {
        functional.scaled_dot_product_attention: adapted(
            mini_layers_attention.scaled_dot_product_attention, attention, attn_mask="mask")}


def read(x, key):
    known(key)
    return mini_index.index(x, key)


def write(x, key, value):
    known(key, x)
    mini_index.index_put(x, key, value)


def put_(x, indices, values, accumulate=False):
    key = tuple(slice(None) if one is None else one for one in indices)
    known(key, x)
    return mini_index.index_put(x, key, values, accumulate)


def put(x, indices, values, accumulate=False):
    return put_(x.clone(), indices, values, accumulate)


def gather(x, dim, index, *, sparse_grad=False):
    sized(x, index)
    return mini_index.gather(x, dim, index)


def add(x, dim, index, src):
    sized(x, index)
    return mini_index.scatter_add(x, dim, index, src)


def add_(x, dim, index, src):
    return x.copy_(add(x, dim, index, src))


def take_along(x, indices, dim=None):
    sized(x, indices)
    return mini_index.take_along_dim(x, indices, dim)


def known(key: Any, target: Any = None) -> None:
    """LeftOut for what mini_index says it leaves out."""
    items = key if isinstance(key, tuple | list) else (key,)
    for item in items:
        plain(item)
        if type(item).__module__ == "numpy":
            raise LeftOut("NumPy in a key")
        if target is not None and isinstance(item, torch.Tensor) and item.dtype == torch.uint8:
            raise LeftOut("writing by a uint8 mask")
    if sum(item is ... for item in items) > 1:
        raise LeftOut("a second ...")
    if target is not None and any(
            step == 0 and size > 1 for size, step in zip(target.shape, target.stride(),
                                                         strict=True)):
        raise LeftOut("a destination whose elements share cells")


def sized(x: torch.Tensor, index: torch.Tensor) -> None:
    if not x.dim() or not index.dim() or not index.numel():
        raise LeftOut("no dimensions or no elements along a dimension")


class Indexing(Functions):
    """x[key], x[key] = value and their kin, where the file of tests itself asks for them."""

    table: ClassVar = {
        torch.Tensor.__getitem__: read, torch.Tensor.__setitem__: write,
        torch.Tensor.index_put_: put_, torch.index_put_: put_,
        torch.Tensor.index_put: put, torch.index_put: put,
        torch.Tensor.gather: gather, torch.gather: gather,
        torch.Tensor.scatter_add: add, torch.scatter_add: add, torch.Tensor.scatter_add_: add_,
        torch.Tensor.take_along_dim: take_along, torch.take_along_dim: take_along}

    def meets(self, frame: Any) -> bool:
        return frame.f_code.co_filename == self.file
