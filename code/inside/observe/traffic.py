"""How many bytes the operators of a function read and write, and how few a single loop could.

Nothing is computed: the function runs on the meta device, where tensors have shapes and no data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode


class Traffic(NamedTuple):
    """Bytes of each operator in order, bytes of the arguments and the result, FLOPs of matmuls."""

    operators: list[tuple[str, int]]
    least: int
    flops: int

    @property
    def bytes(self) -> int:
        """What all operators read and write together."""
        return sum(moved for _, moved in self.operators)


class Counting(TorchDispatchMode):
    """Notes what each operator reads and writes; views move nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.operators: list[tuple[str, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            moved = nbytes(args, kwargs, result)
            self.operators.append((func.overloadpacket.__name__, moved))
        return result


def traffic(fn: Callable[..., Any], *shapes: tuple[int, ...]) -> Traffic:
    """The traffic of `fn` called in eager mode with float32 tensors of these shapes."""
    args = [torch.empty(shape, dtype=torch.float32, device="meta") for shape in shapes]
    counting, flops = Counting(), FlopCounterMode(display=False)
    with torch.no_grad(), counting:
        result = fn(*args)
    with torch.no_grad(), flops:
        fn(*args)
    return Traffic(counting.operators, nbytes(args, result), flops.get_total_flops())


def nbytes(*values: Any) -> int:
    """Bytes of all tensors in nested tuples, lists and dicts, each as often as it is there."""
    return sum(leaf.nbytes for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor))
