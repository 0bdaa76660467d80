"""Calls in the traced world: record it, follow it, do it, or break.

A tensor operation is recorded. A Python function is followed (inlined) by the same interpreter. A
builtin that only moves values about is done at once, on the stand-ins. Anything else breaks.
Source: torch/_dynamo/trace_rules.py, variables/functions.py, variables/builtin.py, torch.py.
"""
import functools
import sys
import types
from abc import ABCMeta

import torch

import mini_dynamo_guards as guards
from mini_dynamo_attributes import MISSING, NEVER, static
from mini_dynamo_builtins import (
    BASIC,
    HIGHER,
    OPERATIONS,
    OPERATOR_NAMES,
    PURE,
    SPECIAL,
    asks_stand_ins,
    has_own_text,
    hooks_on_all,
    is_library,
    is_pure,
)
from mini_dynamo_bytecode import CO_GENERATOR, why_not
from mini_dynamo_functions import frame_of, named_generator
from mini_dynamo_guards import Source
from mini_dynamo_opcodes import RULES
from mini_dynamo_run import Break, run, run_generator
from mini_dynamo_values import (
    CONTAINERS,
    FUNCTIONS,
    Caller,
    GradMethod,
    GradSwitch,
    Lazy,
    Obj,
    Super,
    TensorMethod,
    is_constant,
)

DEPTH = 60


class Calls:

    def super(self, cls, this):
        if type(this) is Obj and isinstance(cls, type) and not issubclass(this.cls, cls):
            raise TypeError("super(type, obj): obj must be an instance or subtype of type")
        return Super(cls, this)

    def call(self, function, args, kwargs, f):
        args = list(args)
        kind = type(function)
        special = SPECIAL.get(function) if kind in (type, types.BuiltinFunctionType) or (
            isinstance(function, type)) else None
        if special:
            return special(self, f, *args, **kwargs)
        if kind is TensorMethod:
            return self.call_tensor_method(function, args, kwargs)
        if id(function) in OPERATIONS or type(function).__module__ == "torch._ops":
            return self.record("call_function", function, args, kwargs)
        if kind is types.MethodType:
            return self.call(function.__func__, [function.__self__, *args], kwargs, f)
        if kind is types.FunctionType and "session" in vars(function):
            return self.call(self.getattr(function, "__wrapped__"), args, kwargs, f)
        if kind is types.FunctionType:
            return self.inline(function, args, kwargs)
        if kind is functools.partial:
            return self.call(function.func, [*function.args, *args],
                             {**function.keywords, **kwargs}, f)
        if kind is Obj:
            return self.call_object(function, args, kwargs, f)
        if kind is GradMethod:
            return self.switch_gradients(function)
        return self.call_native(function, args, kwargs)

    # --- 1. Followed ------------------------------------------------------------------------------

    def inline(self, function, args, kwargs):
        """Run a Python function here, on its own frame. Any break in it is one at this call."""
        name = function.__qualname__
        if getattr(function, "_torchdynamo_disable", False):
            raise Break(f"{name} is marked as disabled")
        if is_library(function):
            raise Break(f"{function.__module__}.{name}, a library function, is not followed")
        reason = why_not(function.__code__, RULES, inlined=True)
        if reason or self.depth >= DEPTH:
            raise Break(f"{name} cannot be followed: {reason or 'the calls are nested too deeply'}")
        frame = self.inline_frame(function, args, kwargs)
        if function.__code__.co_flags & CO_GENERATOR:
            return named_generator(run_generator(frame, self), function)
        self.depth += 1
        try:
            return run(frame, self)
        finally:
            self.depth -= 1

    def inline_frame(self, function, args, kwargs):
        source = self.sources.get(id(function))
        defaults, named = function.__defaults__, function.__kwdefaults__
        if source:
            self.globals_sources.setdefault(id(function.__globals__), source.attr("__globals__"))
            for k, cell in enumerate(function.__closure__ or ()):
                self.cell_sources.setdefault(id(cell), source.attr("__closure__").item(k))
            at = source.attr("__defaults__")
            defaults = tuple(Lazy(v, at.item(k)) for k, v in enumerate(defaults or ()))
            at = source.attr("__kwdefaults__")
            named = {n: Lazy(v, at.item(n)) for n, v in (named or {}).items()}
        self.find_globals(function)
        return frame_of(function, args, kwargs, defaults or (), named or {})

    def find_globals(self, function):
        """A function that was found without a source: its globals may be those of a module."""
        name = function.__globals__.get("__name__")
        if id(function.__globals__) not in self.globals_sources:
            if function.__globals__ is not vars(sys.modules.get(name, types)):
                raise Break(f"no way to find the globals of {function.__qualname__} again")
            self.globals_sources[id(function.__globals__)] = Source(
                f"__import__('sys').modules[{name!r}].__dict__")

    def call_object(self, obj, args, kwargs, f):
        if isinstance(obj.real, torch.nn.Module) and obj.cls.__call__ is torch.nn.Module.__call__:
            self.check_hooks(obj)
            forward = self.getattr(obj, "forward")
            return self.call(forward, args, kwargs, f)
        return self.call(self.class_attribute(obj, "__call__"), args, kwargs, f)

    def check_hooks(self, obj):
        tables = vars(obj.real)
        own = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
        if any(tables[name] for name in own) or tables.get("_compiled_call_impl"):
            raise Break(f"hooks on a {obj.cls.__name__}")
        for name in own:
            self.guard(guards.Guard(obj.source.attr(name), f"not {obj.source}.{name}",
                                    lambda now: not now))
        if hooks_on_all():
            raise Break("hooks on every module")
        self.guard(guards.Guard(None, "no hooks on every module", lambda _: not hooks_on_all()))
        self.guard_class(obj, "__call__")

    def special(self, obj, name, *args):
        """A special method, looked up on the class as Python does."""
        if static(obj.cls, name) is MISSING:
            what = {"__len__": "object of type '{}' has no len()",
                    "__iter__": "'{}' object is not iterable"}.get(name)
            if what and not hasattr(obj.cls, "__getitem__"):
                self.guard_class(obj, name)
                raise TypeError(what.format(obj.cls.__name__))
            if name[2:-2] not in OPERATOR_NAMES:
                raise Break(f"{name} of a {obj.cls.__name__}")
            return NotImplemented
        return self.call(self.class_attribute(obj, name), list(args), {}, None)

    def compare_objects(self, obj, other):
        if obj.cls.__eq__ is not object.__eq__:
            return self.special(obj, "__eq__", other)
        self.guard_class(obj, "__eq__")
        return True if obj is other else NotImplemented

    def guard_class(self, obj, name):
        """What the class says about a special method, or that it says nothing."""
        if obj.source:
            source, found = obj.source.of("type({})"), getattr(obj.cls, name, MISSING)
            self.guard(guards.lacks(source, name) if found is MISSING else guards.identical(
                source.attr(name), found))

    # --- 2. Recorded ------------------------------------------------------------------------------

    def call_tensor_method(self, method, args, kwargs):
        tensor, name = method.tensor, method.name
        if name in NEVER or name.startswith("_"):
            raise Break(f"Tensor.{name}")
        return self.record("call_method", name, (tensor, *args), kwargs)

    def switch_gradients(self, method):
        switch = method.switch
        if method.name == "clone":
            if switch.cls is torch.set_grad_enabled:
                raise Break("set_grad_enabled as a decorator")
            return GradSwitch(switch.cls, switch.mode)
        if method.name == "__enter__":
            if switch.cls is torch.set_grad_enabled:    # it has switched when it was made
                return None
            switch.before = torch.is_grad_enabled()
        mode = switch.mode if method.name == "__enter__" else switch.before
        self.graph.call_function(torch._C._set_grad_enabled, (mode,))
        return torch._C._set_grad_enabled(mode)

    def leaver(self, f, manager):
        return self.context_method(f, manager, "__exit__")

    def enterer(self, f, manager):
        return self.context_method(f, manager, "__enter__")

    def context_method(self, f, manager, name):
        if type(manager) is not GradSwitch:
            if type(manager) is Obj and all(isinstance(static(manager.cls, n), types.FunctionType)
                                            for n in ("__enter__", "__exit__")):
                return self.class_attribute(manager, name)
            raise Break(f"`with` a {getattr(manager, '__class__', type(manager)).__name__}", False)
        here = f.program.handler(f.instruction.offset)
        outer = f.program.handler(f.program.instructions[f.at - 1].offset)
        if here and (outer is None or outer.target in f.grad_blocks):
            f.grad_blocks |= {here.target}
        return GradMethod(manager, name)

    # --- 3. Done at once --------------------------------------------------------------------------

    def call_native(self, function, args, kwargs):
        """A builtin on stand-ins. Those that take functions get them in a form that is traced."""
        if isinstance(function, type) and function not in PURE:
            return self.construct(function, args, kwargs)
        if function is object.__setattr__ and type(args[0]) is Obj:
            return self.setattr(*args, plain=True)
        silent = asks_stand_ins(function) or Obj not in map(type, args)
        if not (is_pure(function) and silent) or any(map(has_own_text, args)):
            raise Break(f"call of {guards.title(function)}")
        if function in HIGHER or getattr(function, "__name__", "") == "sort":
            args = [self.traceable(a) for a in args]
            kwargs = {name: self.traceable(a) for name, a in kwargs.items()}
        return function(*args, **kwargs)

    def traceable(self, value):
        ours = isinstance(value, FUNCTIONS) or id(value) in OPERATIONS or type(value) is Obj
        return Caller(self, value) if ours and callable(value) else value

    def construct(self, cls, args, kwargs):
        """An instance of a class: an exception, a namedtuple, or an object of the program's own."""
        plain = cls.__new__ in (object.__new__, BaseException.__new__) or issubclass(cls, Exception)
        init = static(cls, "__init__")
        if issubclass(cls, BaseException) and not isinstance(init, types.FunctionType):
            return cls(*args, **kwargs)
        if issubclass(cls, tuple) and hasattr(cls, "_fields") and str(
                cls.__new__.__module__).startswith("namedtuple_"):
            return cls(*args, **kwargs)
        known = id(cls) in self.sources and not issubclass(
            cls, (torch.nn.Module, torch.Tensor, BaseException, type, *CONTAINERS, *BASIC))
        if not plain or not known or type(cls) not in (type, ABCMeta) or is_constant(cls):
            raise Break(f"making a {cls.__qualname__}")
        made = Obj(self, cls)
        self.objects.append(made)
        if isinstance(init, types.FunctionType):
            result = self.call(self.class_attribute(made, "__init__"), args, kwargs, None)
            if result is not None:
                raise TypeError("__init__() should return None, not "
                                f"'{result.__class__.__name__}'")
        elif args or kwargs:
            raise Break(f"making a {cls.__qualname__}")
        return made
