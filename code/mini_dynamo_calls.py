"""Calls in the traced world: record it, follow it, do it, or break.

A tensor operation is recorded. A Python function is followed (inlined) by the same interpreter. A
builtin that only moves values about is done at once, on the stand-ins. Anything else breaks.
Source: torch/_dynamo/trace_rules.py, variables/functions.py, variables/builtin.py, torch.py.
"""
import collections
import functools
import itertools
import math
import operator
import sysconfig
import types
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.modules import module as nn_module

import mini_dynamo_guards as guards
from mini_dynamo_attributes import MISSING, NEVER, static
from mini_dynamo_bytecode import CO_GENERATOR, frame_of, why_not
from mini_dynamo_opcodes import RULES
from mini_dynamo_run import Break, run, run_generator, super_arguments
from mini_dynamo_values import (
    CONSTANTS, CONTAINERS, FUNCTIONS, Caller, GradMethod, GradSwitch, Lazy, Obj, Super,
    TensorMethod, Traced, is_constant)

# --- 1. Which functions are which ----------------------------------------------------------------

_NOT_OPERATIONS = {"handle_torch_function", "has_torch_function", "has_torch_function_unary",
                   "has_torch_function_variadic", "boolean_dispatch", "assert_int_or_pair"}
OPERATIONS = {id(value): value for space, names in (
    (torch, dir(torch._C._VariableFunctions)), (torch, torch.functional.__all__),
    (F, dir(F)), (torch.linalg, dir(torch.linalg)), (torch.special, dir(torch.special)),
    (torch.fft, dir(torch.fft)), (torch._C._nn, dir(torch._C._nn)))
    for name in names if not name.startswith("_") and name not in _NOT_OPERATIONS
    and callable(value := getattr(space, name, None)) and not isinstance(value, type)
    and getattr(value, "__module__", "") != "typing"}
READS = {torch.is_grad_enabled, torch.get_default_dtype, torch.is_inference_mode_enabled}
HIGHER = {map, filter, sorted, min, max, functools.reduce, itertools.accumulate,
          itertools.starmap, itertools.takewhile, itertools.dropwhile, itertools.groupby}
PURE = {len, abs, min, max, sum, any, all, sorted, reversed, zip, enumerate, map, filter, range,
        list, tuple, dict, set, frozenset, int, float, bool, str, complex, bytes, iter, next, round,
        divmod, pow, ord, chr, slice, format, repr, ascii, isinstance, issubclass, object,
        collections.OrderedDict, functools.partial, functools.reduce, torch.Size, torch.device,
        *(f for f in vars(operator).values() if isinstance(f, types.BuiltinFunctionType)),
        *(f for f in vars(math).values() if callable(f)),
        *(f for f in vars(itertools).values() if callable(f))} - {collections.OrderedDict}
STANDARD = tuple(map(str, {Path(sysconfig.get_paths()["stdlib"]), Path(torch.__file__).parent,
                           Path(sysconfig.get_paths()["purelib"])}))
FOLLOWED = ("torch.nn.modules", "torch.utils._contextlib")
DEPTH = 60


def is_library(function):
    """Whether a function belongs to Python or an installed package, and so is not followed."""
    return function.__code__.co_filename.startswith((*STANDARD, "<frozen")) and not str(
        function.__module__).startswith(FOLLOWED)


class Calls:

    def super(self, cls, this):
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

    # --- 2. Followed -----------------------------------------------------------------------------

    def inline(self, function, args, kwargs):
        """Run a Python function here, on its own frame. Any break in it is one at this call."""
        name = function.__qualname__
        if getattr(function, "_torchdynamo_disable", False):
            raise Break(f"{name} is marked as disabled")
        if is_library(function):
            raise Break(f"{function.__module__}.{name} is a library function, which is not followed")
        reason = why_not(function.__code__, RULES, inlined=True)
        if reason or self.depth >= DEPTH:
            raise Break(f"{name} cannot be followed: {reason or 'the calls are nested too deeply'}")
        frame = self.inline_frame(function, args, kwargs)
        if function.__code__.co_flags & CO_GENERATOR:
            return run_generator(frame, self)
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
        if id(function.__globals__) not in self.globals_sources:
            raise Break(f"no way to find the globals of {function.__qualname__} again")
        return frame_of(function, args, kwargs, defaults or (), named or {})

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
        if any(getattr(nn_module, f"_global{name}") for name in own[:3]):
            raise Break("hooks on every module")

    def special(self, obj, name, *args):
        """A special method, looked up on the class as Python does."""
        if static(obj.cls, name) is MISSING:
            what = {"__len__": "object of type '{}' has no len()",
                    "__iter__": "'{}' object is not iterable"}.get(name)
            if what:
                raise TypeError(what.format(obj.cls.__name__))
            if name[2:-2] not in OPERATOR_NAMES:
                raise Break(f"{name} of a {obj.cls.__name__}")
            return NotImplemented
        return self.call(self.class_attribute(obj, name), list(args), {}, None)

    def compare_objects(self, obj, other, name):
        if obj.cls.__eq__ is object.__eq__:
            return obj is other
        return self.special(obj, name, other)

    # --- 3. Recorded -----------------------------------------------------------------------------

    def call_tensor_method(self, method, args, kwargs):
        tensor, name = method.tensor, method.name
        if name in NEVER or name.startswith("_"):
            raise Break(f"Tensor.{name}")
        return self.record("call_method", name, (tensor, *args), kwargs)

    def switch_gradients(self, method):
        switch = method.switch
        if method.name == "__enter__":
            if switch.cls is torch.set_grad_enabled:    # it has switched when it was made
                return
            switch.before = torch.is_grad_enabled()
        mode = switch.mode if method.name == "__enter__" else switch.before
        self.graph.call_function(torch._C._set_grad_enabled, (mode,))
        torch._C._set_grad_enabled(mode)

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

    # --- 4. Done at once -------------------------------------------------------------------------

    def call_native(self, function, args, kwargs):
        """A builtin on stand-ins. Those that take functions get them in a form that is traced."""
        if isinstance(function, type) and function not in PURE:
            return self.construct(function, args, kwargs)
        if not is_pure(function):
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
        if issubclass(cls, tuple) and hasattr(cls, "_fields") and cls.__new__.__module__ != cls.__module__:
            return cls(*args, **kwargs)
        known = id(cls) in self.sources and not issubclass(
            cls, (torch.nn.Module, torch.Tensor, BaseException, type, *CONTAINERS, *BASIC))
        if not plain or not known or type(cls) is not type or is_constant(cls):
            raise Break(f"making a {cls.__qualname__}")
        made = Obj(self, cls)
        self.objects.append(made)
        if isinstance(init, types.FunctionType):
            self.call(self.class_attribute(made, "__init__"), args, kwargs, None)
        elif args or kwargs:
            raise Break(f"making a {cls.__qualname__}")
        return made


BASIC = (int, float, str, bytes, complex)
OPERATOR_NAMES = {f"{way}{op}" for way in ("", "r", "i") for op in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor")} | {
    "lt", "le", "gt", "ge"}


def is_pure(function):
    """Whether calling it only reads and changes its arguments, which are ours."""
    try:
        if function in PURE:
            return True
    except TypeError:
        return False
    this = getattr(function, "__self__", None)
    if isinstance(function, (types.BuiltinMethodType, types.MethodWrapperType)):
        return type(this) in (*CONTAINERS, *CONSTANTS) or isinstance(this, type) and (
            this in (*CONTAINERS, *CONSTANTS)) or type(this).__name__.endswith("iterator")
    return isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)) and (
        function.__objclass__ in (*CONTAINERS, *CONSTANTS))


# --- 5. Builtins that ask about stand-ins --------------------------------------------------------

def special_type(w, f, value, *more):
    if more:
        raise Break("making a class")
    if type(value) is Obj:
        return w.getattr(value, "__class__")
    return value.__class__ if type(value) is Traced else type(value)


def special_getattr(w, f, owner, name, *default):
    try:
        return w.getattr(owner, name)
    except AttributeError:
        if not default:
            raise
        return default[0]


def special_hasattr(w, f, owner, name):
    try:
        w.getattr(owner, name)
    except AttributeError:
        return False
    return True


def special_setattr(w, f, owner, name, value):
    w.setattr(owner, name, value)


def special_delattr(w, f, owner, name):
    w.delattr(owner, name)


def special_super(w, f, *args):
    return w.super(*(args or super_arguments(w, f)))


def special_callable(w, f, value):
    return callable(value.real if type(value) is Obj and value.real is not None else value)


def special_object(w, f, *args):
    raise Break("making an object")


def special_isinstance(w, f, value, kinds):
    for kind in kinds if isinstance(kinds, tuple) else (kinds,):
        if type(kind) is type and type(value) is Obj and kind in value.cls.__mro__:
            return True
    return isinstance(value, kinds)


def grad_switch(cls, mode=None):
    def make(w, f, *args):
        if mode is None:
            (wanted,) = args
            if not isinstance(wanted, bool):
                raise Break("set_grad_enabled of something else than a bool")
            switch = GradSwitch(cls, wanted, torch.is_grad_enabled())
            torch._C._set_grad_enabled(wanted)
            w.graph.call_function(torch._C._set_grad_enabled, (wanted,))
            return switch
        if args:
            raise Break(f"{cls.__name__} as a decorator")
        return GradSwitch(cls, mode)
    return make


SPECIAL = {type: special_type, getattr: special_getattr, hasattr: special_hasattr,
           setattr: special_setattr, delattr: special_delattr, super: special_super,
           callable: special_callable, object: special_object, isinstance: special_isinstance,
           torch.no_grad: grad_switch(torch.no_grad, False),
           torch.enable_grad: grad_switch(torch.enable_grad, True),
           torch.set_grad_enabled: grad_switch(torch.set_grad_enabled),
           **{f: (lambda get: lambda w, f: get())(f) for f in READS}}
