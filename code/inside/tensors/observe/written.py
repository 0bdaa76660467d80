"""How many bytes a function writes into tensors when it puts pieces together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

WRITING = {"cat", "stack", "copy_"}  # `t[i] = row` calls `copy_`


class Writing(TorchDispatchMode):
    """Adds up the bytes of what `cat`, `stack` and `copy_` return, which is what they write."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ in WRITING:
            self.bytes += result.nbytes
        return result


def written(fn: Callable[..., Any], *args: Any) -> int:
    """Bytes that `cat`, `stack` and `copy_` write while `fn(*args)` runs; other operators are free.

    The arguments are used as they are, so the function really runs on their device.
    """
    with torch.no_grad(), Writing() as writing:
        fn(*args)
    return writing.bytes
