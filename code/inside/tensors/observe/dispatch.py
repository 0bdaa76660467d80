"""What the dispatcher does with an operator call: table, kernels that run, calls below autograd.

    slots("mm")             the dispatch table: what stands at each key
    kernels("mm", x, w)     the keys whose kernels a call may run, worked out from table and keys
    with Spy("mm") as spy:  the kernels of one operator that run, in order, with their key sets
    with Trace() as trace:  every operator that arrives below autograd, with shapes

Operators are named as in native_functions.yaml, overload included: `mm`, `add.Tensor`.
"""

import warnings
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# The keys that a call on ordinary CPU tensors meets, highest priority first: no conjugate or
# negative view, no functorch transform, no dispatch mode.
LAYERS = ("AutocastCPU", "AutogradCPU", "ADInplaceOrView", "BackendSelect", "CPU")


def slots(op):
    """The dispatch table of an operator: {key name: kind}.

    Kinds are torch's own words: `kernel` (registered for this key), `autograd kernel`,
    `math kernel` (CompositeImplicitAutograd), `default backend kernel`
    (CompositeExplicitAutograd), `backend fallback`; and `fallthrough` where the key is skipped.
    Raises `ValueError` for an unknown operator.
    """
    if not torch._C._dispatch_has_kernel(f"aten::{op}"):
        raise ValueError(f"aten::{op}: no such operator; write the overload, as in add.Tensor")
    table = {}
    for line in torch._C._dispatch_dump_table(f"aten::{op}").splitlines():
        key, _, entry = line.partition(": ")
        kind = entry[entry.rfind("[") + 1 : -1]
        table[key] = "fallthrough" if entry.startswith("fallthrough") else kind
    return table


def key_names(keys):
    """The keys of a key set by name, highest priority first."""
    top = keys.highestPriorityTypeId()
    return [] if top == torch.DispatchKey.Undefined else [top.name, *key_names(keys.remove(top))]


def reachable(*tensors):
    """The key set before exclusion: the tensors' keys and those the thread includes."""
    keys = torch._C._dispatch_tls_local_include_set()
    for tensor in tensors:
        keys = keys | torch._C._dispatch_keys(tensor)
    return keys


def active(*tensors):
    """The key set that takes part: `reachable`, less what the thread excludes."""
    return reachable(*tensors) - torch._C._dispatch_tls_local_exclude_set()


def kernels(op, *tensors):
    """Names of the keys whose kernels a call may run, in order; `ValueError` as in `slots`.

    The first one runs. Each kernel but the last masks its own key and those above it, and
    dispatches again; a composite one calls other operators instead.
    """
    table = slots(op)
    return [key for key in key_names(active(*tensors)) if table[key] != "fallthrough"]


# ---------------------------------------------------------------- kernels of one operator
@dataclass(frozen=True)
class Step:
    """One kernel that ran: its key, the dtype of its first tensor, the key set it was given."""

    key: str
    dtype: torch.dtype | None
    keys: torch._C.DispatchKeySet

    def __str__(self):
        dtype = str(self.dtype).removeprefix("torch.")
        return f"{self.key:<15} {dtype:<8} keys: {' '.join(key_names(self.keys))}"


class Spy:
    """Record which kernels of one operator run on CPU tensors, in order.

    Within the `with` block a wrapper stands at each key of `LAYERS` that has a kernel; it notes
    the call and hands the arguments on to torch's own kernel. The table is the process's, so
    calls from other threads are recorded too; it is restored at the end of the block. Give the
    operator tensors: a Python number in place of one arrives unwrapped and is refused.
    """

    def __init__(self, op):
        self.op = op
        self.steps = []

    def __enter__(self):
        table = slots(self.op)
        self.steps.clear()
        self._stack = ExitStack()
        library = self._stack.enter_context(torch.library._scoped_library("aten", "IMPL"))
        with warnings.catch_warnings():  # torch says that a kernel is replaced, which is meant
            warnings.simplefilter("ignore")
            for key in LAYERS:
                if table[key] != "fallthrough":
                    wrapper = self._wrapper(key)
                    library.impl(self.op, wrapper, key, with_keyset=True, allow_override=True)
        return self

    def _wrapper(self, key):
        kernel = torch.library.get_kernel(f"aten::{self.op}", key)

        def wrapper(keys, *args, **kwargs):
            tensors = (a for a in tree_leaves((args, kwargs)) if isinstance(a, torch.Tensor))
            self.steps.append(Step(key, getattr(next(tensors, None), "dtype", None), keys))
            return kernel.call_boxed(keys, *args, **kwargs)

        return wrapper

    def __exit__(self, *error):
        self._stack.close()

    def __str__(self):
        return "\n".join(map(str, self.steps))


# ---------------------------------------------------------------- one call in a situation
@dataclass(frozen=True)
class Situation:
    """One call in a situation: the state of each layer, and what came out."""

    name: str
    states: dict[str, str]
    dtype: str
    node: str


def situation(op, name, context, args):
    """Call the operator once within `context` and note what the dispatcher did."""
    table = slots(op)
    with Spy(op) as spy, context:
        before, after = reachable(*args), active(*args)
        packet, _, overload = op.partition(".")
        result = getattr(getattr(torch.ops.aten, packet), overload or "default")(*args)
    order = [step.key for step in spy.steps]
    states = {key: state(key, table[key], before, after, order) for key in LAYERS}
    dtype = str(result.dtype).removeprefix("torch.")
    node = "None" if result.grad_fn is None else result.grad_fn.name()
    return Situation(name, states, dtype, node)


def state(name, kind, before, after, order):
    """What became of one key: its place in the order, or why it has none."""
    key = getattr(torch.DispatchKey, name)
    if name in order:
        return str(order.index(name) + 1)
    if not before.has(key):
        return "absent"
    if not after.has(key):
        return "excluded"
    return "skipped" if kind == "fallthrough" else "not called"


# ---------------------------------------------------------------- operators below autograd
@dataclass(frozen=True)
class Call:
    """One operator call: its name, the shapes of the tensors that go in and come out."""

    name: str
    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]

    def __str__(self):
        ins, outs = (" ".join(map(str, shapes)) for shapes in (self.inputs, self.outputs))
        return f"{self.name}  {ins} -> {outs}".replace("   ->", "  ->")


class Trace(TorchDispatchMode):
    """Record each operator that reaches the key Python, which lies below autograd.

    `print(trace)` shows a line for each call; `trace.names` has the names alone. What a kernel
    of a backend calls in turn is not seen: its calls do not come this way again.
    """

    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.calls.append(Call(func.name(), shapes((args, kwargs)), shapes(result)))
        return result

    @property
    def names(self):
        return [call.name.removeprefix("aten::") for call in self.calls]

    def __str__(self):
        return "\n".join(map(str, self.calls)) or "no operator"


def shapes(tree):
    """The shapes of the tensors in nested arguments, in order."""
    return tuple(tuple(x.shape) for x in tree_leaves(tree) if isinstance(x, torch.Tensor))
