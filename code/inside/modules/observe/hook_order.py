"""The hooks around one layer in the order in which they run, and what their results change.

Nothing here is looked up: each kind is registered on an `nn.Linear`, the layer is called and runs
backward, and then once more with a hook of this kind that returns twice what it got.
"""

from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.modules import module as everywhere

# name, without its `register_` -> what the hook is called with, and which of it to double
SIGNATURES = {
    "module_forward_pre_hook": ("module, args", 1),
    "forward_pre_hook": ("module, args", 1),
    "module_forward_hook": ("module, args, output", 2),
    "forward_hook": ("module, args, output", 2),
    "output.hook": ("grad", 0),
    "module_full_backward_pre_hook": ("module, grad_output", 1),
    "full_backward_pre_hook": ("module, grad_output", 1),
    "weight.hook": ("grad", 0),
    "weight.post_accumulate_grad_hook": ("param", 0),
    "module_full_backward_hook": ("module, grad_input, grad_output", 1),
    "full_backward_hook": ("module, grad_input, grad_output", 1),
}


@dataclass(frozen=True)
class HookCall:
    """One hook that ran: its name, its arguments, and what its result changed."""

    name: str
    gets: str
    changes: tuple[str, ...]
    backward: bool


def hook_calls():
    """All hooks of `SIGNATURES` around one call and its backward, in the order they ran."""
    ran, before = run(SIGNATURES, lambda *args: None)
    calls = []
    for name in ran:
        gets, which = SIGNATURES[name]
        _, after = run([name], lambda *args, which=which: doubled(args[which]))
        changes = tuple(key for key in before if not torch.equal(before[key], after[key]))
        calls.append(HookCall(name, gets, changes, "grad" in gets or gets == "param"))
    return calls


def run(names, result):
    """([names of hooks in the order they ran], {"output", "x.grad", "weight.grad": tensor}).

    Each hook returns `result(*its arguments)`.
    """
    layer, ran = nn.Linear(2, 2), []
    nn.init.ones_(layer.weight)
    nn.init.ones_(layer.bias)
    x = torch.ones(1, 2, requires_grad=True)

    def hook(name):
        def called(*args):
            assert len(args) == len(SIGNATURES[name][0].split(", ")), name
            ran.append(name)
            return result(*args)
        return called

    with ExitStack() as handles:
        for name in names:
            if name != "output.hook":
                handles.enter_context(register(layer, name, hook(name)))
        output = layer(x)
        if "output.hook" in names:
            output.register_hook(hook("output.hook"))
        output.sum().backward()
    return ran, {"output": output.detach(), "x.grad": x.grad, "weight.grad": layer.weight.grad}


def register(layer, name, hook):
    """Register it on the layer, its weight or all modules; returns the handle."""
    owner = layer
    if name.startswith("weight."):
        owner, name = layer.weight, name.removeprefix("weight.")
    elif name.startswith("module_"):
        owner = everywhere
    return getattr(owner, f"register_{name}")(hook)


def doubled(value):
    """Twice a tensor, or each tensor of a tuple; a parameter as it is, its hook has no result."""
    if isinstance(value, tuple):
        return tuple(2 * each for each in value)
    return None if isinstance(value, nn.Parameter) else 2 * value
