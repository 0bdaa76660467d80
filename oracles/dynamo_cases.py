"""What a case of the corpus of mini_dynamo is, and all that can be seen of a program that runs.

A case makes a fresh function and fresh arguments for each side. `run` calls it and writes down all
that a caller could notice: results, exceptions, printed text, gradients, what became of arguments
and of watched objects, who is the same object, and the random state.
"""

import contextlib
import io
import math
import random
import sys
import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

CASES: list["Case"] = []
ATOMS = (int, float, complex, str, bytes, bool, type(None), type(...), torch.dtype, torch.device,
         torch.Size, torch.layout, torch.memory_format, range, slice, type)


class Kw(dict):
    """The keyword arguments of a call: the last of its arguments."""


@dataclass
class Case:
    """`make()` gives a fresh function, the argument factories of its calls, and what to watch.

    `world` are the globals that the case may write, with the values they start from.
    """

    kind: str
    name: str
    make: Callable
    home: dict
    world: dict = field(default_factory=dict)

    def __str__(self):
        return f"{self.kind}: {self.name}"


def _add(fn, make, world):
    kind = fn.__module__.rpartition(".")[2].replace("_", " ")
    CASES.append(Case(kind, fn.__name__, make, fn.__globals__, world))
    return fn


def case(*calls, **world):
    """The function itself is the program; each call is a factory of one argument or of a tuple."""
    return lambda fn: _add(fn, lambda: (fn, calls or [lambda: t(3)], ()), world)


def built(fn):
    """The function makes the program: (function, call factories) or with a third, the watched."""
    return _add(fn, lambda: (*fn(), ())[:3], {})


def t(*shape, grad=False, dtype=torch.float32, start=-2):
    """Small exact numbers: start/4 + 1/8, each a quarter more than the one before."""
    count = math.prod(shape)
    numbers = (torch.arange(count) + start) * 0.25 + 0.125
    return numbers.reshape(shape).to(dtype).clone().requires_grad_(grad)


def pos(*shape, **options):
    return t(*shape, start=0, **options)


def neg(*shape, **options):
    return t(*shape, start=-1 - math.prod(shape), **options)


# ---- what is seen --------------------------------------------------------------------------------

class Eye:
    """Turns objects into comparable values; an object that comes again is named by its number."""

    def __init__(self):
        self.numbers, self.storages, self.kept = {}, {}, []

    def see(self, value):
        if isinstance(value, ATOMS):
            return (type(value).__name__, repr(value))
        if id(value) in self.numbers:
            return ("the same as", self.numbers[id(value)])
        self.numbers[id(value)] = len(self.numbers)
        self.kept.append(value)                          # so that no other object gets its id
        return (type(value).__name__, *self.parts(value))

    def parts(self, value):
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, np.ndarray | np.generic):
            return (str(value.dtype), repr(value.tolist()))
        if isinstance(value, dict):
            held = [(self.see(k), self.see(v)) for k, v in list(value.items())]
            return (held, self.attributes(value))
        if isinstance(value, set | frozenset):
            return (sorted(map(repr, value)),)
        if isinstance(value, list | tuple):
            return ([self.see(one) for one in value], self.attributes(value))
        if isinstance(value, types.FunctionType):
            return (value.__name__, self.see(value.__defaults__), self.see(value.__kwdefaults__),
                    [self.cell(one) for one in value.__closure__ or ()], self.attributes(value))
        if isinstance(value, types.MethodType):
            return (value.__name__, self.see(value.__self__))
        if isinstance(value, torch.nn.Module):
            names = ("training", "_parameters", "_buffers", "_modules")
            others = {k: v for k, v in vars(value).items() if not k.startswith("_")}
            return ([(n, self.see(getattr(value, n))) for n in names], self.see(others))
        if isinstance(value, BaseException):
            return (str(value), self.attributes(value))
        return (self.attributes(value),)

    def cell(self, cell):
        try:
            return self.see(cell.cell_contents)
        except ValueError:
            return "empty"

    def attributes(self, value):
        slots = [name for one in type(value).__mro__ for name in getattr(one, "__slots__", ())
                 if type(name) is str and not name.startswith("__") and hasattr(value, name)]
        found = {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
        own = type(value).__module__ not in sys.stdlib_module_names
        return [(name, self.see(one)) for name, one in found.items()] if own else []

    def tensor(self, x):
        place = self.storages.setdefault(x.untyped_storage()._cdata, len(self.storages))
        self.kept.append(x.untyped_storage())
        grad = self.see(x.grad) if x.is_leaf and x.grad is not None else None
        return (str(x.dtype), tuple(x.shape), x.stride(), f"storage {place}", x.storage_offset(),
                x.requires_grad, x.is_leaf, type(x.grad_fn).__name__, repr(x.tolist()), grad)


def tensors_of(value, found):
    """Adds to `found`, by their id, the tensors in lists, tuples and dicts."""
    if id(value) in found:
        return found
    found[id(value)] = value
    if isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            tensors_of(one, found)
    return found


def go_back(result):
    """The gradients of what came out reach the leaves."""
    for end in list(tensors_of(result, {}).values()):
        if not isinstance(end, torch.Tensor) or end.grad_fn is None:
            continue
        with contextlib.suppress(RuntimeError):          # freed already by the program
            end.sum().backward(retain_graph=True)


def one_call(fn, arguments, watched, world):
    arguments = arguments()
    plain_tuple = type(arguments) is tuple           # a namedtuple is one argument
    values = list(arguments) if plain_tuple else [arguments]
    named = values.pop() if values and isinstance(values[-1], Kw) else {}
    eye, text, result, raised = Eye(), io.StringIO(), None, None
    with contextlib.redirect_stdout(text):
        try:
            result = fn(*values, **named)
        except Exception as error:
            raised = error
    go_back(result)
    return {
        "raised": raised and (type(raised).__name__, str(raised), chain(raised)),
        "result": eye.see(result),
        "arguments": [eye.see(one) for one in (values, dict(named))],
        "watched": eye.see(watched), "globals": eye.see(world()), "printed": text.getvalue(),
        "grad mode": torch.is_grad_enabled(), "default dtype": str(torch.get_default_dtype()),
        "random": (torch.get_rng_state().sum().item(), torch.rand(1).item(),
                   random.random(), np.random.rand())}


def chain(error):
    """The types of what an exception came from."""
    return (type(error.__cause__).__name__, type(error.__context__).__name__)


def run(case, compiler):
    """What each call of a case shows when `compiler(function)` is called in its place.

    Returns (list of what is seen, the compiled function).
    """
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    case.home.update(case.world)
    fn, calls, watched = case.make()
    compiled = compiler(fn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world = lambda: {name: case.home[name] for name in case.world}
        seen = [one_call(compiled, call, watched, world) for call in calls]
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    return seen, compiled


def difference(plain, other, path=""):
    """Where two seen values differ first, in words; None if they are equal."""
    if type(plain) is not type(other) or not isinstance(plain, dict | list | tuple):
        return None if plain == other else f"{path}: plain {plain!r}, compiled {other!r}"
    if len(plain) != len(other):
        return f"{path}: plain {plain!r}, compiled {other!r}"
    if isinstance(plain, dict):
        if list(plain) != list(other):
            return f"{path}: plain {list(plain)}, compiled {list(other)}"
        pairs = [(f"{path}.{key}", plain[key], other[key]) for key in plain]
    else:
        pairs = [(f"{path}[{i}]", *both) for i, both in enumerate(zip(plain, other, strict=True))]
    return next(filter(None, (difference(a, b, where) for where, a, b in pairs)), None)
