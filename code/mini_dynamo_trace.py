"""The traced world: the same instructions, but a tensor operation becomes a node of a graph.

Tracer is what torch calls InstructionTranslator with its OutputGraph. Here stand: wrapping what
comes from outside (with a guard), recording an operation, names, and the small questions an
instruction asks. Attributes are in mini_dynamo_attributes.py, calls in mini_dynamo_calls.py.
Source: torch/_dynamo/output_graph.py, variables/builder.py (VariableBuilder), variables/tensor.py.
"""
import builtins
import contextlib
import functools
import logging
import re
import types

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import mini_dynamo_guards as guards
from mini_dynamo_attributes import Attributes
from mini_dynamo_bytecode import NULL
from mini_dynamo_calls import Calls
from mini_dynamo_guards import Source
from mini_dynamo_run import Break, Real
from mini_dynamo_values import (
    CONTAINERS, TENSORS, GradMethod, GradSwitch, Lazy, Obj, Traced, is_constant)


class Tracer(Attributes, Calls, Real):
    """The state of one capture: a graph, guards, and a log of what would change outside."""

    def __init__(self, frame):
        self.graph, self.mode = torch.fx.Graph(), FakeTensorMode()
        self.guards = list(guards.ambient())
        self.inputs, self.known, self.by_fake = [], {}, {}
        self.sources, self.shadows, self.objects = {}, [], []
        self.cells, self.cell_sources, self.made_cells = {}, {}, {}
        self.globals_sources = {id(frame.globals): Source("G")}
        self.global_writes, self.depth, self.kept, self.said = {}, 0, [], set()
        self.real_state = state_of(frame)
        self.frame = frame.copy()
        for name, value in frame.locals.items():
            self.frame.locals[name] = self.outside(value, Source(f"L[{name!r}]"))
        self.frame.stack = [value if value is NULL else self.wrap(value, Source(f"S[{k}]"))
                            for k, value in enumerate(frame.stack)]

    def outside(self, value, source):
        """A local of the traced frame, unread; a cell is known by its source."""
        if isinstance(value, types.CellType):
            self.cell_sources.setdefault(id(value), source)
            return value
        return Lazy(value, source)

    # --- 1. Wrapping: what comes from outside ----------------------------------------------------

    def guard(self, guard):
        if repr(guard) not in self.said:
            self.said.add(repr(guard))
            self.guards.append(guard)

    def wrap(self, value, source):
        """The stand-in of a value found at `source`, with the guard that belongs to it."""
        if is_constant(value):
            self.guard(guards.equals(source, value))
            return value
        if id(value) in self.known:
            _, stand_in, first = self.known[id(value)]
            if isinstance(value, (type, types.ModuleType)):
                self.guard(guards.identical(source, value))
            elif first.text != source.text:
                self.guard(guards.aliases(source, first))
            return stand_in
        stand_in = self.wrap_new(value, source)
        self.known.setdefault(id(value), (value, stand_in, source))
        self.sources.setdefault(id(stand_in), source)
        return stand_in

    def wrap_new(self, value, source):
        kind = type(value)
        if kind in TENSORS and value.layout is torch.strided:
            return self.input(value, source)
        if kind in CONTAINERS or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            return self.shadow(value, source)
        if kind is types.FunctionType:
            self.guard(guards.same_code(source, value))
            return value
        if kind is types.MethodType:
            return self.wrap_method(value, source)
        if kind is types.BuiltinMethodType and type(value.__self__) in CONTAINERS:
            return getattr(self.wrap(value.__self__, source.attr("__self__")), value.__name__)
        if kind is types.BuiltinMethodType and not isinstance(
                value.__self__, (types.ModuleType, type, type(None))) and not is_constant(value.__self__):
            return self.opaque(value, source)
        if isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)) or callable(
                value) and kind.__module__ in ("builtins", "torch._ops"):
            self.guard(guards.identical(source, value))
            return value
        if kind is functools.partial:
            return functools.partial(
                self.wrap(value.func, source.attr("func")),
                *(self.wrap(a, source.attr("args").item(k)) for k, a in enumerate(value.args)),
                **{n: self.wrap(a, source.attr("keywords").item(n))
                   for n, a in value.keywords.items()})
        return self.opaque(value, source)

    def opaque(self, value, source):
        """An object of which nothing is known but its type, until somebody asks."""
        kind = type(value)
        self.guard(guards.typed(source, value))
        obj = Obj(self, kind, value, source)
        self.objects.append(obj)
        return obj

    def wrap_method(self, value, source):
        this = value.__self__
        if type(this) in GradSwitch.KINDS and value.__name__ in ("__enter__", "__exit__"):
            self.guard(guards.typed(source.attr("__self__"), this))
            self.guard(guards.equals(source.attr("__self__").attr("prev"), this.prev))
            return GradMethod(GradSwitch(type(this), getattr(this, "mode", None), this.prev),
                              value.__name__)
        return types.MethodType(self.wrap(value.__func__, source.attr("__func__")),
                                self.wrap(this, source.attr("__self__")))

    def input(self, value, source):
        """A tensor from outside: a placeholder, and a fake with its properties."""
        try:
            fake = self.mode.from_tensor(value)
        except Exception as error:
            raise Break(f"no fake tensor for {source}: {error}") from error
        self.guard(guards.tensor(source, value))
        with self.graph.inserting_after(self.inputs[-1].node) if self.inputs else (
                self.graph.inserting_before(None)):
            node = self.graph.placeholder(re.sub(r"\W+", "_", source.text).lower())
        traced = self.by_fake[id(fake)] = Traced(self, node, fake, source)
        self.inputs.append(traced)
        return traced

    def shadow(self, value, source):
        """A copy of a container from outside, of stand-ins; changes are made to the copy."""
        kind = type(value)
        self.guard(guards.keys(source, value) if kind is dict else guards.length(source, value))
        if kind in (set, frozenset):
            if not all(map(is_constant, value)):
                raise Break(f"a set of objects: {source}")
            self.guard(guards.equals(source, value))
            copy = set(value) if kind is set else value
        elif kind is dict:
            copy = {}
            self.known[id(value)] = (value, copy, source)
            for k, (key, item) in enumerate(value.items()):
                at = source.item(key) if type(key) in guards.PLAIN_KEYS else source.of(
                    f"list({{}}.values())[{k}]")
                copy[key] = self.wrap(item, at)
        else:
            copy = []
            if kind is list:
                self.known[id(value)] = (value, copy, source)
            copy.extend(self.wrap(item, source.item(k)) for k, item in enumerate(value))
            copy = copy if kind is list else tuple(copy) if kind is tuple else kind._make(copy)
        self.shadows.append((copy, value, source, picture(copy)))
        return copy

    # --- 2. Recording an operation ---------------------------------------------------------------

    def record(self, op, target, args, kwargs):
        """Write a node, and do the operation on fakes to know what comes out."""
        fakes = [swap(a, lambda t: t.fake) for a in (tuple(args), kwargs)]
        nodes = [swap(a, lambda t: t.node) for a in (tuple(args), kwargs)]
        node = self.graph.create_node(op, target, *nodes)
        try:
            with self.mode, silence():
                function = getattr(fakes[0][0], target) if op == "call_method" else target
                out = function(*(fakes[0][1:] if op == "call_method" else fakes[0]), **fakes[1])
        except Exception as error:
            name = target if isinstance(target, str) else target.__name__
            raise Break(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:120]}"
                        if str(error) else f"{name}: {type(error).__name__}") from error
        return self.traced(out, node)

    def traced(self, out, node):
        if isinstance(out, torch.Tensor):
            if not hasattr(out, "fake_mode"):
                raise Break(f"{node.target} gave a tensor with numbers")
            self.kept.append(out)
            return self.by_fake.setdefault(id(out), Traced(self, node, out))
        if isinstance(out, (tuple, list)) and not isinstance(out, torch.Size) and out:
            parts = [self.traced(part, self.graph.call_function(
                __import__("operator").getitem, (node, k))) for k, part in enumerate(out)]
            return type(out)(parts)
        if out is None or is_constant(out):
            return out
        raise Break(f"{node.target} gave a {type(out).__name__}")

    # --- 3. Names --------------------------------------------------------------------------------

    def load_local(self, f, name):
        value = super().load_local(f, name)
        if isinstance(value, Lazy):
            value = f.locals[name] = self.wrap(value.value, value.source)
        return value

    def new_cell(self, cell):
        self.made_cells[id(cell)] = cell
        if cell_full(cell) and isinstance(cell.cell_contents, Lazy):
            lazy = cell.cell_contents
            cell.cell_contents = self.wrap(lazy.value, lazy.source)
        return cell

    def load_cell(self, f, name):
        cell = f.locals[name]
        if id(cell) in self.made_cells:
            return super().load_cell(f, name)
        if id(cell) not in self.cells:
            if not cell_full(cell):
                raise Break(f"{name} is not bound")
            source = self.cell_sources.get(id(cell))
            if source is None:
                raise Break(f"no way to find the cell of {name} again")
            self.cells[id(cell)] = [
                cell, self.wrap(cell.cell_contents, source.attr("cell_contents")), False]
        return self.cells[id(cell)][1]

    def store_cell(self, f, name, value):
        cell = f.locals[name]
        if id(cell) in self.made_cells:
            cell.cell_contents = value
        else:
            self.cells[id(cell)] = [cell, value, True]

    def load_global(self, f, name):
        if (id(f.globals), name) in self.global_writes:
            return self.global_writes[id(f.globals), name][1]
        source = self.globals_sources[id(f.globals)]
        if name in f.globals:
            return self.wrap(f.globals[name], source.item(name))
        self.guard(guards.missing(source, name))
        if not hasattr(builtins, name):
            raise Break(f"name '{name}' is not defined")
        return getattr(builtins, name)

    def store_global(self, f, name, value):
        self.global_writes[id(f.globals), name] = (f.globals, value)

    def import_name(self, f, name, names, level):
        import sys
        if level or name not in sys.modules:
            raise Break(f"import of {name}")
        module = __import__(name, f.globals, None, names, level)
        self.sources.setdefault(id(module), Source(f"__import__('sys').modules[{module.__name__!r}]"))
        return module


@contextlib.contextmanager
def silence():
    """Fake operations log what they refuse; the program will say it itself."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def state_of(frame):
    """What sources are expressions over."""
    return {"L": frame.locals, "G": frame.globals, "S": frame.stack}


def cell_full(cell):
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def picture(container):
    """What a container holds, to see later whether it changed: its items, by identity."""
    if isinstance(container, dict):
        return [(key, id(item)) for key, item in container.items()]
    return set(container) if isinstance(container, set) else [id(item) for item in container]


def swap(value, of):
    """The value with `of` each traced tensor in it; Break if it holds what no graph can hold."""
    if type(value) is Traced:
        return of(value)
    if type(value) is torch.Size:
        return tuple(value)
    if type(value) in (list, tuple):
        return type(value)(swap(item, of) for item in value)
    if type(value) is dict:
        return {key: swap(item, of) for key, item in value.items()}
    if type(value) is slice:
        return slice(*(swap(item, of) for item in (value.start, value.stop, value.step)))
    if is_constant(value):
        return value
    raise Break(f"a {type(value).__name__} as an argument of a tensor operation")
