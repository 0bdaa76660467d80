"""The traced world: the same instructions, but a tensor operation becomes a node of a graph.

Tracer is what torch calls InstructionTranslator with its OutputGraph. Here stand: wrapping what
comes from outside (with a guard), recording an operation, names, and the small questions an
instruction asks. Attributes are in mini_dynamo_attributes.py, calls in mini_dynamo_calls.py.
Source: torch/_dynamo/output_graph.py, variables/builder.py (VariableBuilder), variables/tensor.py.
"""
import builtins
import contextlib
import keyword
import logging
import operator
import sys
import types
import warnings

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorMode,
    UnsupportedFakeTensorException,
)

import mini_dynamo_guards as guards
from mini_dynamo_attributes import Attributes
from mini_dynamo_bytecode import NULL
from mini_dynamo_calls import Calls
from mini_dynamo_guards import Source
from mini_dynamo_run import Break, Real
from mini_dynamo_values import Lazy, Obj, Traced, has_identity, is_constant
from mini_dynamo_wrap import Wrapping


class Tracer(Wrapping, Attributes, Calls, Real):
    """The state of one capture: a graph, guards, and a log of what would change outside."""

    foreign = KeyboardInterrupt, MemoryError

    def __init__(self, frame):
        self.graph, self.mode = torch.fx.Graph(), FakeTensorMode()
        self.guards = list(guards.ambient())
        self.inputs, self.unwritten, self.known, self.by_fake = [], {}, {}, {}
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

    def forget(self):
        """Let go of what the frame held: the stand-ins and the tracer hold each other."""
        vars(self).clear()

    def outside(self, value, source):
        """A local of the traced frame, unread; a cell is known by its source."""
        if isinstance(value, types.CellType):
            self.cell_sources.setdefault(id(value), source)
            return value
        return Lazy(value, source)

    # --- 1. Recording an operation ----------------------------------------------------------------

    def record(self, op, target, args, kwargs):
        """Write a node, and do the operation on fakes to know what comes out."""
        name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
        if kwargs.get("requires_grad") is True:       # a graph has no leaves of its own
            raise Break(f"{name} with requires_grad=True")
        if hard := [word for word in kwargs if keyword.iskeyword(word)]:
            raise Break(f"{name} with {hard[0]}=, which no code of a graph can say")
        fakes = [swap(a, lambda t: t.fake) for a in (tuple(args), kwargs)]
        nodes = [swap(a, lambda t: t.node) for a in (tuple(args), kwargs)]
        node = self.graph.create_node(op, target, *nodes)
        try:
            with self.mode, silence():
                function = getattr(fakes[0][0], target) if op == "call_method" else target
                out = function(*(fakes[0][1:] if op == "call_method" else fakes[0]), **fakes[1])
        except Exception as error:
            said = (str(error).splitlines() or [""])[0][:120]
            needs_numbers = isinstance(error, (
                UnsupportedFakeTensorException, DynamicOutputShapeException, NotImplementedError,
                DataDependentOutputException))
            raise Break(f"{name}: {type(error).__name__}: {said}",
                        hopeless=not needs_numbers) from error
        return self.traced(out, node)

    def traced(self, out, node):
        if isinstance(out, torch.Tensor):
            if not hasattr(out, "fake_mode"):
                raise Break(f"{node.target} gave a tensor with numbers")
            self.kept.append(out)
            return self.by_fake.setdefault(id(out), Traced(self, node, out))
        if isinstance(out, (tuple, list)) and not isinstance(out, torch.Size) and out:
            parts = [self.traced(part, self.graph.call_function(
                operator.getitem, (node, k))) for k, part in enumerate(out)]
            return type(out)(parts)
        if out is None or is_constant(out):
            return out
        raise Break(f"{node.target} gave a {type(out).__name__}")

    # --- 2. Names ---------------------------------------------------------------------------------

    def load_local(self, f, name):
        if f is self.frame and name not in f.locals and name not in self.real_state["L"]:
            self.guard(guards.missing(Source("L"), name))
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

    def delete_cell(self, f, name):
        raise Break(f"del of {name}, which closures share")

    def delete_global(self, f, name):
        raise Break(f"del of the global {name}")

    # --- 3. Questions -----------------------------------------------------------------------------

    def pin(self, value):
        """Of a function only the code is guarded, until somebody asks which one it is."""
        if type(value) is types.FunctionType and id(value) in self.sources:
            self.guard(guards.identical(self.sources[id(value)], value))

    def same(self, a, b):
        if all((is_constant(v) or isinstance(v, tuple)) and not has_identity(v) for v in (a, b)):
            raise Break(f"`is` of a {type(a).__name__} and a {type(b).__name__}", hopeless=True)
        self.pin(a), self.pin(b)
        return a is b

    def contains(self, container, value):
        self.pin(value)
        return super().contains(container, value)

    def binary(self, function, a, b):
        self.pin(a), self.pin(b)
        if function is operator.mod and isinstance(a, (str, bytes)) and type(b) is Obj:
            raise Break("an object as an argument of a format")
        return super().binary(function, a, b)

    def put(self, container, method, value):
        if type(value) is Obj and type(container) is dict:
            raise Break("** of an object")
        super().put(container, method, value)

    def merge(self, f, into, new):
        if type(new) is Obj:
            raise Break("** of an object")
        super().merge(f, into, new)

    def format(self, value, spec):
        return self.call(format, [value, spec], {}, None)

    def exception(self, error, cause=NULL):
        error = super().exception(error, cause)
        if isinstance(error, self.foreign):
            raise Break(f"{type(error).__name__} is raised", hopeless=True)
        return error

    def active(self, f):
        raise Break("`raise` of an exception that is handled further out")

    def import_name(self, f, name, names, level):
        if level or name not in sys.modules:
            raise Break(f"import of {name}")
        module = __import__(name, f.globals, None, names, level)
        found = f"__import__('sys').modules[{module.__name__!r}]"
        self.sources.setdefault(id(module), Source(found))
        return module


@contextlib.contextmanager
def silence():
    """Fake operations log what they refuse and warn; the program will say it itself."""
    log = logging.getLogger("torch._subclasses.fake_tensor")
    before, log.disabled = log.disabled, True
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)                       # a warning that comes once is not used up
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        torch.set_warn_always(always)
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
