"""After the graph: the values that are still needed, made real, and the log of changes, applied.

A recipe is a function of one run (graph outputs, objects from outside) that gives a real value. It
is worked out once, when the graph is made. Whatever was one object while tracing is one object
afterwards, because each recipe runs once a run. torch writes bytecode for the same purpose:
torch/_dynamo/side_effects.py, codegen.py (PyCodegen).
"""
import types

from mini_dynamo_bytecode import NULL
from mini_dynamo_run import Break
from mini_dynamo_values import (
    CONTAINERS,
    DELETED,
    GradMethod,
    GradSwitch,
    Lazy,
    Obj,
    TensorMethod,
    Traced,
    is_constant,
)
from mini_dynamo_wrap import picture


class Run:
    """One use of the recipes: what the graph gave, what was fetched before, what is made so far.

    `hollow`: while a function is made, what fills its new cells; one may hold the function itself.
    """

    def __init__(self, outputs, fetched):
        self.outputs, self.fetched, self.made, self.hollow = outputs, fetched, {}, None


class Recipes:
    """Recipes for everything alive at the end of a trace.

    `outputs` are the nodes that the graph has to return, `sources` what must be fetched before it
    runs, since the changes may move things.
    """

    def __init__(self, tracer):
        self.tracer, self.outputs, self.sources, self.memo = tracer, [], [], {}
        self.keep = []
        self.external = {id(shadow): source for shadow, _, source, _ in tracer.shadows}
        self.cell_sources = tracer.cell_sources

    def of(self, value):
        """The recipe of a value; Break if there is none."""
        if value is NULL or is_constant(value):
            return lambda run: value
        if type(value) is Lazy:
            return self.fetched(value.source)
        if id(value) not in self.memo:
            self.keep.append(value)                   # so that its id stays its own
            self.memo[id(value)] = None
            recipe = self.new(value)
            self.memo[id(value)] = once(id(value), recipe)
        known = self.memo[id(value)]
        # A container inside itself: by the time this runs, the outer recipe has made it.
        return known or made_before(id(value))

    def fetched(self, source):
        self.sources.append(source)
        place = len(self.sources) - 1
        return lambda run: run.fetched[place]

    def new(self, value):
        kind = type(value)
        if kind is Traced:
            return self.tensor(value)
        if id(value) in self.external:
            return self.fetched(self.external[id(value)])
        if kind is Obj:
            return self.object(value)
        if kind in CONTAINERS or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            return self.container(value)
        if issubclass(kind, tuple):                   # what torch.max and its kin return
            return self.results(value)
        maker = {TensorMethod: self.tensor_method, types.MethodType: self.method,
                 types.FunctionType: self.function, types.CellType: self.cell,
                 GradMethod: self.grad_method, GradSwitch: self.grad_switch,
                 types.BuiltinMethodType: self.builtin, slice: self.slice}.get(kind)
        if maker:
            return maker(value)
        if isinstance(value, BaseException):
            args = self.of(value.args)
            return lambda run: kind(*args(run))
        if isinstance(value, (type, types.ModuleType)) or (callable(value) and (
                kind.__module__ in ("builtins", "torch._ops"))):
            return lambda run: value
        raise Break(f"a {kind.__name__} is alive, which cannot be rebuilt", resumable=False)

    # --- 1. Values --------------------------------------------------------------------------------

    def tensor(self, value):
        if value.source:                              # an input: the very object, changed or not
            return self.fetched(value.source)
        self.outputs.append(value.node)
        place = len(self.outputs) - 1
        return lambda run: run.outputs[place]

    def object(self, obj):
        if obj.source:
            return self.fetched(obj.source)
        cls = obj.cls                                 # not obj: an entry must hold no tracer
        return lambda run: object.__new__(cls)        # its attributes come with the changes

    def container(self, value):
        kind = type(value)
        if kind is dict:
            items = [(self.of(key), self.of(item)) for key, item in value.items()]
            return filled(dict, lambda made, run: made.update(
                (key(run), item(run)) for key, item in items), id(value))
        parts = [self.of(part) for part in value]
        if kind is list:
            return filled(list, lambda made, run: made.extend(p(run) for p in parts), id(value))
        make = kind._make if hasattr(kind, "_make") else kind
        return lambda run: make(part(run) for part in parts)

    def results(self, value):
        kind, parts = type(value), [self.of(part) for part in value]
        return lambda run: kind([part(run) for part in parts])

    def slice(self, value):
        parts = [self.of(part) for part in (value.start, value.stop, value.step)]
        return lambda run: slice(*(part(run) for part in parts))

    def tensor_method(self, value):
        tensor, name = self.of(value.tensor), value.name
        return lambda run: getattr(tensor(run), name)

    def builtin(self, value):
        if value.__self__ is None or isinstance(value.__self__, types.ModuleType):
            return lambda run: value
        this, name = self.of(value.__self__), value.__name__
        return lambda run: getattr(this(run), name)

    def method(self, value):
        function, this = self.of(value.__func__), self.of(value.__self__)
        return lambda run: types.MethodType(function(run), this(run))

    def function(self, value):
        if id(value) in self.tracer.sources:
            return self.fetched(self.tracer.sources[id(value)])
        closure = [self.of(cell) for cell in value.__closure__ or ()]
        defaults = self.of(value.__defaults__)
        named = self.of(value.__kwdefaults__)
        code, scope, name = value.__code__, value.__globals__, value.__name__
        more = {n: getattr(value, n) for n in ("__qualname__", "__annotations__")}
        key = id(value)

        def make(run):
            run.hollow = []
            cells = tuple(cell(run) for cell in closure)
            fills, run.hollow = run.hollow, None
            made = run.made[key] = types.FunctionType(code, scope, name, None, cells or None)
            for fill in fills:
                fill()
            made.__defaults__ = defaults(run)
            for attribute, what in {**more, "__kwdefaults__": named(run)}.items():
                setattr(made, attribute, what)
            return made
        return make

    def cell(self, value):
        if id(value) in self.cell_sources:
            return self.fetched(self.cell_sources[id(value)])
        try:
            content = value.cell_contents
        except ValueError:
            return lambda run: types.CellType()
        content, key = self.of(content), id(value)

        def make(run):
            made = run.made[key] = types.CellType()
            def fill():
                made.cell_contents = content(run)
            run.hollow.append(fill) if run.hollow is not None else fill()
            return made
        return make

    def grad_switch(self, value):
        def make(run):
            made = value.cls.__new__(value.cls)
            made.prev, made.mode = value.before, value.mode
            return made
        return make

    def grad_method(self, value):
        switch = self.of(value.switch)
        return lambda run: getattr(switch(run), value.name)

    # --- 2. Changes -------------------------------------------------------------------------------

    def changes(self):
        """The log as actions of a run: objects, containers, cells, globals; each thing once."""
        tracer, actions = self.tracer, []
        for obj in tracer.objects:
            if obj.source or id(obj) in self.memo:
                actions += [self.attribute(obj, *item) for item in obj.attrs.items()]
        for shadow, _, _, before in tracer.shadows:
            if picture(shadow) != before:
                actions.append(self.content(shadow))
        for cell, value, written in tracer.cells.values():
            if written:
                actions.append(action(setattr, self.of(cell), "cell_contents", self.of(value)))
        for (_, name), (scope, value) in tracer.global_writes.items():
            actions.append(global_write(scope, name, self.of(value)))
        return actions

    def attribute(self, obj, name, value):
        target = self.of(obj)
        if value is DELETED:
            return lambda run: delattr(target(run), name)
        how = setattr if obj.real is not None else object.__setattr__
        return action(how, target, name, self.of(value))

    def content(self, shadow):
        target, fresh = self.of(shadow), self.container(shadow)

        def apply(run):
            real, made = target(run), fresh(run)
            if isinstance(real, list):
                real[:] = made
            else:
                real.clear()
                real.update(made)
        return apply


def made_before(key):
    return lambda run: run.made[key]


def once(key, recipe):
    def make(run):
        if key not in run.made:
            run.made[key] = recipe(run)
        return run.made[key]
    return make


def filled(kind, fill, key):
    """Make it empty, remember it, then fill it: it may contain itself."""
    def make(run):
        made = kind()
        run.made.setdefault(key, made)
        fill(made, run)
        return made
    return make


def action(function, target, name, value):
    return lambda run: function(target(run), name, value(run))


def global_write(scope, name, value):
    return lambda run: scope.__setitem__(name, value(run))
