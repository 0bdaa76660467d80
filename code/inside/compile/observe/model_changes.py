"""What a compiled model notices of a change that is made to it after its first call.

Each change is made to a fresh model, once it is compiled and has run. Whether torch compiled again
is read from its own records; whether the change took effect, from comparing with the same model
called without compiling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from inside.compile.observe.compiled import watch

AT_ONCE, RECOMPILED, UNREAD, UNNOTICED = "at once", "recompiled", "unread", "unnoticed"


class Outcome(NamedTuple):
    """What followed a change: the line that made it and one of the four fates above."""

    change: str
    fate: str


def fates(make: Callable[[], nn.Module], changes: dict[str, Callable], x: Tensor) -> list[Outcome]:
    """For each change, a function of the model, what the compiled model made of it.

    `make` returns a new model, always the same one; `x` is the input of its calls. Raises
    `AssertionError` if the results are wrong before the change.
    """
    return [Outcome(name, fate(make(), change, x)) for name, change in changes.items()]


def fate(model: nn.Module, change: Callable[[nn.Module], object], x: Tensor) -> str:
    """Compile `model`, call it, change it, call it again: which of the four it was."""
    seen = watch(model)
    with torch.no_grad():
        before = model(x)
        assert torch.equal(seen(x), before), "the compiled model differs before the change"
        change(model)
        after, wanted = seen(x), model(x)
    if seen.recompiles():            # not new graphs: a hook may be a frame of its own
        return RECOMPILED
    if torch.equal(wanted, before):
        return UNREAD
    return AT_ONCE if torch.equal(after, wanted) else UNNOTICED
