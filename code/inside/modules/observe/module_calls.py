"""One forward pass: which module is called by whom, what it receives and what it returns.

Recorded with forward hooks on all modules, those that hide in lists included. What a `forward`
does without calling a module, or by calling another module's `forward` itself, is not seen. A
module that passes its children over where none has a hook, such as `nn.TransformerEncoderLayer`
in eval mode, calls them here.
"""

from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch.nn.parameter import is_lazy

from inside.modules.observe.module_tree import read_module


@dataclass
class Call:
    """One call of a module; `depth` is the number of calls that have not returned yet.

    `received` and `returned` are shapes as text; `values` are the first values of the output.
    """

    path: str
    type: str
    depth: int
    received: str
    returned: str = ""
    values: str = ""


class CallError(ValueError):
    """The forward pass ended in the call `call`; one line says where and why."""

    def __init__(self, call, error):
        self.call = call
        place = f"{call.path}: {call.type}" if call.path else call.type
        super().__init__(f"{place} got {call.received or 'nothing'}: "
                         f"{str(error).partition(chr(10))[0]}")


def record_calls(model, *inputs, values=0):
    """Call `model(*inputs)` without gradients; the `Call`s in the order in which they begin.

    With `values`, so many elements of each output are spelled. Afterwards the buffers and torch's
    random state are as before; what a lazy module makes at its first call stays. Raises
    `CallError` where the model raises.
    """
    branches = [branch for branch in read_module(model).walk() if not branch.again]
    calls, running, handles = [], [], []
    for branch in branches:
        handles += hooks(branch, calls, running, values)
    try:
        with torch.no_grad(), unchanged(branches), random_state():
            model(*inputs)
    except Exception as error:  # whatever a forward raises is told by its place
        if not running:
            raise
        raise CallError(running[-1], error) from error
    finally:
        for handle in handles:
            handle.remove()
    return calls


def hooks(branch, calls, running, values):
    """Hooks that note each call of one module: the first before it, the last after it."""
    def begin(module, args, kwargs):
        given = [spell(value) for value in (*args, *kwargs.values())]
        running.append(Call(branch.path, branch.type, len(running), ", ".join(given)))
        calls.append(running[-1])

    def end(module, args, output):
        call = running.pop()
        call.returned = spell(output)
        if values and isinstance(output, torch.Tensor) and not output.is_meta:
            call.values = spell_values(output, values)

    return [branch.module.register_forward_pre_hook(begin, prepend=True, with_kwargs=True),
            branch.module.register_forward_hook(end)]


@contextmanager
def unchanged(branches):
    """Put back the buffers that the block changes, such as BatchNorm's running mean.

    A version counter would not tell: torch updates a running mean without counting it.
    """
    before = [(branch.module, name, tensor, tensor.clone()) for branch in branches
              for name, tensor in branch.module._buffers.items()
              if tensor is not None and not is_lazy(tensor)]
    try:
        yield
    finally:
        for module, name, tensor, values in before:
            module._buffers[name] = tensor
            if not tensor.is_meta and not torch.equal(tensor, values):
                tensor.copy_(values)


def random_state():
    """A block after which torch's generators are as before it."""
    has_gpu = torch.cuda.is_available()
    return torch.random.fork_rng([torch.cuda.current_device()] if has_gpu else [])


def spell(value):
    """The shape of a tensor, with a dtype that is not float32; of containers what they hold."""
    if isinstance(value, torch.Tensor):
        dtype = "" if value.dtype == torch.float32 else f" {value.dtype}".replace("torch.", "")
        return f"{tuple(value.shape)}{dtype}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(spell, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {spell(inner)}' for key, inner in value.items())}}}"
    return repr(value) if isinstance(value, int | float | str | None) else type(value).__name__


def spell_values(tensor, most):
    """The first elements, three digits each."""
    shown = tensor.flatten()[:most].tolist()
    more = " …" if tensor.numel() > most else ""
    return " ".join(f"{x:.3g}" if isinstance(x, float) else str(x) for x in shown) + more
