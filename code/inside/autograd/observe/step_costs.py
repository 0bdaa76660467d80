"""FLOPs and bytes of each operator that a function runs, backward and optimizer included.

Run it on meta tensors, which have shapes and no data: then nothing is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from inside.observe.traffic import nbytes

# Results of these are other names of their inputs, though their schemas don't say so.
ALIASES = ("_unsafe_view",)


class Cost(NamedTuple):
    """One operator: FLOPs as torch counts them (0 unless a product or a convolution), bytes."""

    name: str
    flops: int
    bytes: int


class Costs(TorchDispatchMode):
    """Notes the cost of each operator; views move nothing and are left out."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: list[Cost] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        name = func.overloadpacket.__name__
        if not func.is_view and name not in ALIASES:
            count = flop_registry.get(func.overloadpacket, lambda *_, **__: 0)
            self.operators.append(Cost(name, count(*args, **kwargs, out_val=result),
                                       nbytes(once(args, kwargs), result)))
        return result


def once(*values: Any) -> list[torch.Tensor]:
    """The tensors in nested values, each once: an operator needs to read a tensor once only."""
    tensors = (leaf for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor))
    return list({id(tensor): tensor for tensor in tensors}.values())


def costs(fn: Callable[[], Any]) -> list[Cost]:
    """What each operator of `fn()` costs, in the order in which they run.

    Bytes are those of all tensors that go in, each once, and that come out. An operator that
    returns nothing, such as the fused and foreach ones of optimizers, counts what goes in.
    """
    with Costs() as noted:
        fn()
    return noted.operators


def roofline_time(operators: Iterable[Cost], flops_per_s: float, bytes_per_s: float) -> float:
    """Estimated seconds of the operators, one after another, on such a machine.

    Each takes the longer of the time for its FLOPs and the time for its bytes. Launches, which
    would add to it, and caches, which could save some of it, are left out.
    """
    return sum(max(one.flops / flops_per_s, one.bytes / bytes_per_s) for one in operators)
