"""Wrapping: the stand-in for a value from outside, together with the guard that belongs to it.

Source: torch/_dynamo/variables/builder.py (VariableBuilder).
"""
import enum
import functools
import re
import types

import torch

import mini_dynamo_guards as guards
from mini_dynamo_run import Break
from mini_dynamo_values import (
    CONTAINERS,
    TENSORS,
    GradMethod,
    GradSwitch,
    Obj,
    Traced,
    is_constant,
)

KEYS = (type, types.BuiltinFunctionType)         # beside constants: they are what they are
GRAD_MODES = {torch.no_grad: False, torch.enable_grad: True}


class Wrapping:

    # --- 1. Wrapping: what comes from outside -----------------------------------------------------

    def guard(self, guard):
        if repr(guard) not in self.said:
            self.said.add(repr(guard))
            self.guards.append(guard)

    def wrap(self, value, source):
        """The stand-in of a value found at `source`, with the guard that belongs to it."""
        if is_constant(value):
            self.guard(guards.equals(source, value))
            self.members(value, source)
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

    def members(self, value, source):
        """Of an Enum the repr may be the program's own: it is this very member, or another."""
        if isinstance(value, enum.Enum):
            self.guard(guards.identical(source, value))
        elif type(value) is tuple:
            for k, item in enumerate(value):
                self.members(item, source.item(k))

    def wrap_new(self, value, source):
        kind = type(value)
        if kind in TENSORS and value.layout is torch.strided:
            return self.input(value, source)
        if kind in CONTAINERS or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            return self.shadow(value, source)
        if kind is types.FunctionType and "session" in vars(value):    # compiled itself
            self.guard(guards.identical(source, value))
            return value
        if kind is types.FunctionType:
            self.guard(guards.same_code(source, value))
            return value
        if kind is types.MethodType:
            return self.wrap_method(value, source)
        if kind is types.BuiltinMethodType and not (is_constant(value.__self__) or isinstance(
                value.__self__, (types.ModuleType, type))):
            if type(value.__self__) in CONTAINERS:
                self.guard(guards.equals(source.attr("__name__"), value.__name__))
                return getattr(self.wrap(value.__self__, source.attr("__self__")), value.__name__)
            return self.opaque(value, source)
        if kind is types.MethodWrapperType:           # l.__len__, and whose it is
            return self.opaque(value, source)
        if isinstance(value, (type, types.ModuleType, types.BuiltinFunctionType)) or (callable(
                value) and kind.__module__ in ("builtins", "torch._ops")):
            self.guard(guards.identical(source, value))
            return value
        if kind is functools.partial:
            return self.wrap_partial(value, source)
        return self.opaque(value, source)

    def wrap_partial(self, value, source):
        self.guard(guards.typed(source, value))
        self.guard(guards.length(source.attr("args"), value.args))
        self.guard(guards.keys(source.attr("keywords"), value.keywords))
        return functools.partial(
            self.wrap(value.func, source.attr("func")),
            *(self.wrap(a, source.attr("args").item(k)) for k, a in enumerate(value.args)),
            **{n: self.wrap(a, source.attr("keywords").item(n))
               for n, a in value.keywords.items()})

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
        if type(this) in GradSwitch.KINDS and value.__name__ == "clone":
            self.guard(guards.typed(source.attr("__self__"), this))
            mode = GRAD_MODES.get(type(this))
            if mode is None:                          # set_grad_enabled as a decorator
                mode = self.wrap(this.mode, source.attr("__self__").attr("mode"))
            return GradMethod(GradSwitch(type(this), mode), "clone")
        return types.MethodType(self.wrap(value.__func__, source.attr("__func__")),
                                self.wrap(this, source.attr("__self__")))

    def mutable_sources(self):
        """Where the tensors, containers and objects came from that must stay different ones."""
        cells = [self.cell_sources[key] for key in self.cells if key in self.cell_sources]
        return [source for value, stand_in, source in self.known.values()
                if type(stand_in) in (Traced, Obj, list, dict, set)] + (
            cells if any(written for _, _, written in self.cells.values()) else [])

    def overlapping(self):
        """The inputs' sources, if one of them is written to: then it matters how they overlap."""
        written = [t for t in self.inputs if t.fake._version != self.unwritten[t.source]]
        return [t.source for t in self.inputs] if written else []

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
        self.unwritten[source] = fake._version
        self.inputs.append(traced)
        return traced

    def shadow(self, value, source):
        """A copy of a container from outside, of stand-ins; changes are made to the copy."""
        kind = type(value)
        own = [name for name in ("__getitem__", "__iter__", "__len__") if issubclass(kind, tuple)
               and getattr(kind, name) is not getattr(tuple, name)]
        if own:                                       # its items are not what it says they are
            raise Break(f"a tuple with {own[0]} of its own: {source}")
        self.guard(guards.keys(source, value) if kind is dict else guards.length(source, value))
        if kind in (set, frozenset):
            if not all(map(is_constant, value)):
                raise Break(f"a set of objects: {source}")
            self.guard(guards.equals(source, value))
            copy = set(value) if kind is set else value
        elif kind is dict:
            if not all(is_constant(key) or isinstance(key, KEYS) for key in value):
                raise Break(f"a dict with objects as keys: {source}")
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


def picture(container):
    """What a container holds, to see later whether it changed: its items, by identity."""
    if isinstance(container, dict):
        return [(key, id(item)) for key, item in container.items()]
    return set(container) if isinstance(container, set) else [id(item) for item in container]
