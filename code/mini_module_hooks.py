"""The level below mini_module: handles that remove a hook, and hooks on the backward pass.

A module is only passed on to its hooks here; this file knows no Module.
"""
import itertools
import warnings
import weakref
from collections import OrderedDict

import torch

IDS = itertools.count()


class Handle:
    """What a register_…_hook returns: `remove()` takes the hook out again.

    It holds the table weakly, so that a handle keeps nothing alive, and may be removed twice. As a
    context manager it removes the hook at the end. Copied with its module, it belongs to the copy.
    """

    def __init__(self, table, hook, prepend=False):
        self.table, self.id = weakref.ref(table), next(IDS)
        table[self.id] = hook
        if prepend:
            table.move_to_end(self.id, last=False)

    def remove(self):
        table = self.table()
        if table is not None:
            table.pop(self.id, None)

    def __getstate__(self):                          # a weak reference can't be copied or pickled
        return self.table(), self.id

    def __setstate__(self, state):
        table, self.id = state
        self.table = weakref.ref(OrderedDict() if table is None else table)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Hookable:
    """The three ways to hang a hook on a module; each returns a handle."""

    def register_forward_pre_hook(self, hook, *, prepend=False):
        """Call hook(module, args) before each forward; a handle whose `remove` undoes it."""
        return Handle(self._forward_pre_hooks, hook, prepend)

    def register_forward_hook(self, hook, *, prepend=False):
        """Call hook(module, args, output) after each forward."""
        return Handle(self._forward_hooks, hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """Call hook(module, grad_input, grad_output) when both are known, in tuples."""
        return Handle(self._backward_hooks, hook, prepend)


class Gate(torch.autograd.Function):
    """The identity, as one node of the graph: all the tensors of a module's side go through it."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.mark_non_differentiable(*[t for t in tensors if not t.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return grads


class BackwardHook:
    """One call's full backward hooks: a gate before forward, a gate behind it.

    The gate behind learns grad_output first, the gate before learns grad_input last; then both are
    known, and the hooks are called. Where no input needs a gradient, there is no gate before, and
    they are called at once, with None for each input.
    Source: torch/utils/hooks.py:BackwardHook.
    """

    def __init__(self, module):
        self.module, self.hooks = module, list(module._backward_hooks.values())
        self.grad_outputs, self.inputs = None, None

    def on_inputs(self, args):
        """args, the tensors among them replaced by those behind the first gate."""
        self.count = len(args)
        args, self.inputs = through_gate(args, self._inputs_known)
        return args

    def on_outputs(self, result):
        """The result, a tensor or a tuple of them, behind the second gate; a warning for others."""
        if not isinstance(result, (torch.Tensor, tuple)):
            warnings.warn("For backward hooks to be called, module output should be a Tensor or a "
                          f"tuple of Tensors but received {type(result)}", stacklevel=3)
        alone = not isinstance(result, tuple)
        result = (result,) if alone else result
        self.outputs_count = len(result)
        result, self.outputs = through_gate(result, self._outputs_known)
        return result[0] if alone else result

    def _outputs_known(self, _, grads):
        self.grad_outputs = spread(grads, self.outputs, self.outputs_count)
        if self.inputs is None:
            warnings.warn("Full backward hook is firing when gradients are computed with respect "
                          "to module outputs since no inputs require gradients.", stacklevel=2)
            self._call((None,) * self.count)

    def _inputs_known(self, grads, _):
        if self.grad_outputs is None:                # the gradient came by another way
            return None
        new = self._call(spread(grads, self.inputs, self.count))
        return tuple(new[i] for i in self.inputs)

    def _call(self, grad_inputs):
        """grad_inputs, or what the hooks make of it."""
        for hook in self.hooks:
            new = hook(self.module, grad_inputs, self.grad_outputs)
            if new is None:
                continue
            if self.inputs is None:
                if all(grad is None for grad in new):
                    continue
                raise RuntimeError("Backward hook for Modules where no input requires gradient "
                                   "should always return None or None for all gradients.")
            if len(new) != len(grad_inputs):
                raise RuntimeError("Backward hook returned an invalid number of grad_input, got "
                                   f"{len(new)}, but expected {len(grad_inputs)}")
            grad_inputs = new
        self.grad_outputs = None
        return grad_inputs


def through_gate(values, known):
    """The values with their tensors behind a gate whose gradients `known` is told; their places.

    Without a tensor that needs a gradient, or without recording: the values as they are, and None.
    """
    places = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor)]
    if not (torch.is_grad_enabled() and any(values[i].requires_grad for i in places)):
        return values, None
    tensors = Gate.apply(*(values[i] for i in places))
    next(t.grad_fn for t in tensors if t.requires_grad).register_hook(known)
    new = list(values)
    for i, tensor in zip(places, tensors, strict=True):
        new[i] = tensor
    return tuple(new) if type(values) is tuple else type(values)(*new), places   # a namedtuple


def spread(grads, places, count):
    """Gradients at their places among `count`, None elsewhere."""
    found = dict(zip(places, grads, strict=True))
    return tuple(found.get(i) for i in range(count))
