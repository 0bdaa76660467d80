"""Which functions are which, and the builtins that ask about stand-ins.

Source: torch/_dynamo/trace_rules.py (what is recorded, followed, refused), variables/builtin.py.
"""
import enum
import functools
import inspect
import itertools
import math
import operator
import sysconfig
import types
from abc import ABCMeta
from collections import namedtuple
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.modules import module as nn_module

import mini_dynamo_guards as guards
from mini_dynamo_run import Break, super_arguments
from mini_dynamo_values import CONSTANTS, CONTAINERS, TENSORS, GradSwitch, Obj, Traced, is_constant

# --- 1. Which functions are which -----------------------------------------------------------------

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
        hex, bin, oct, torch.finfo, torch.iinfo, divmod, pow, ord, chr, slice, format, repr, ascii,
        isinstance, issubclass, object, functools.partial, functools.reduce, torch.Size,
        torch.device,
        *(f for f in vars(operator).values() if isinstance(f, types.BuiltinFunctionType)),
        *(f for f in vars(math).values() if callable(f)),
        *(f for f in vars(itertools).values() if callable(f))}
STANDARD = tuple(map(str, {Path(sysconfig.get_paths()["stdlib"]), Path(torch.__file__).parent,
                           Path(sysconfig.get_paths()["purelib"])}))
FOLLOWED = ("/torch/nn/modules/", "/torch/utils/_contextlib.py", "/contextlib.py",
            "/dataclasses.py", "/collections/__init__.py")


OWN = str(Path(__file__).with_name("mini_dynamo.py"))


def is_library(function):
    """Whether a function belongs to Python or an installed package, and so is not followed."""
    file = function.__code__.co_filename
    return file == OWN or (
        file.startswith((*STANDARD, "<frozen")) and not any(
        name in file for name in FOLLOWED))


def is_pure(function):
    """Whether calling it only reads and changes its arguments, which are ours."""
    try:
        if function in PURE:
            return True
    except TypeError:
        return False
    this = getattr(function, "__self__", None)
    if isinstance(function, (types.BuiltinMethodType, types.MethodWrapperType)):
        return this is not None and (             # None: a function of C that belongs to nothing
            type(this) in (*CONTAINERS, *CONSTANTS) or (isinstance(this, type) and (
                this in (*CONTAINERS, *CONSTANTS))) or type(this).__name__.endswith("iterator"))
    return isinstance(function, (types.MethodDescriptorType, types.WrapperDescriptorType)) and (
        function.__objclass__ in (*CONTAINERS, *CONSTANTS))


BASIC = (int, float, str, bytes, complex)
OPERATOR_NAMES = {f"{way}{op}" for way in ("", "r", "i") for op in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor",
    "lshift", "rshift", "divmod")} | {"lt", "le", "gt", "ge"}


ASK_STAND_INS = {len, iter, next, bool, str, repr, format, int, float, abs, list, tuple, sum,
                 enumerate, zip, map, filter, sorted, min, max, any, all, round, reversed, divmod,
                 hash, slice, isinstance, functools.reduce, functools.partial} | {
    f for f in vars(operator).values() if isinstance(f, types.BuiltinFunctionType)}


def asks_stand_ins(function):
    """Whether a builtin asks an Obj only for what Obj passes on to the class of the real one."""
    if isinstance(function, type) or not hasattr(function, "__self__") or isinstance(
            function.__self__, types.ModuleType):
        return function in ASK_STAND_INS or getattr(function, "__module__", "") == "itertools"
    return isinstance(function.__self__, CONTAINERS) and function.__name__ != "update"


# --- 2. What runs no line of the program's --------------------------------------------------------

MISSING = object()
WRITTEN_IN_C = (types.MethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
                types.WrapperDescriptorType, type(vars(namedtuple("Pair", "a"))["a"]))


def static(cls, name, after=None):
    """What the class says about a name, unbound; MISSING if nothing."""
    order = cls.__mro__
    for kind in order[order.index(after) + 1:] if after else order:
        if name in vars(kind):
            return vars(kind)[name]
    return MISSING


def native_attribute(owner, name):
    """Of a value that stands for itself: what C knows of it, and no line of the program's."""
    kind = type(owner)
    found = static(kind, name)
    if isinstance(owner, enum.Enum) and name in ("name", "value"):
        known = found is vars(enum.Enum)[name] and is_constant(getattr(owner, name))
    else:
        known = kind in (*CONSTANTS, *CONTAINERS) or kind.__module__ in (
            "builtins", "itertools") or isinstance(found, WRITTEN_IN_C) or name == "_fields"
    if not known:
        raise Break(f"attribute {name} of a {kind.__name__}")
    return getattr(owner, name)


def runs_code(owner, name):
    """Break if reading this attribute of a class or module runs a function of the program."""
    if isinstance(owner, enum.EnumMeta) and name in owner.__members__:
        return
    found = inspect.getattr_static(owner, name, MISSING)
    above = static(type(owner), name)
    if type(above) is property or isinstance(
            getattr(type(found), "__get__", None), types.FunctionType) or (found is MISSING and (
                hasattr(type(owner), "__getattr__") or "__getattr__" in vars(owner))):
        raise Break(f"attribute {name} of {guards.title(owner)} runs code")


def hooks_on_all():
    return any(getattr(nn_module, f"_global{name}") for name in (
        "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"))


def has_own_text(value):
    """An exception whose class the program wrote, with its own __str__ or __repr__."""
    return isinstance(value, BaseException) and any(
        isinstance(static(type(value), n), types.FunctionType) for n in ("__str__", "__repr__"))


# --- 3. Builtins that ask about stand-ins ---------------------------------------------------------

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
    """Asked of the class, because a stand-in has every method that some class may have."""
    if isinstance(kinds, (tuple, types.UnionType)):
        return any(special_isinstance(w, f, value, kind)
                   for kind in getattr(kinds, "__args__", kinds))
    cls = value.__class__ if type(value) in (Obj, Traced) else type(value)
    answers = getattr(type(kinds), "__instancecheck__", None)
    known = answers in (type.__instancecheck__, type(torch.nn.Parameter).__instancecheck__)
    abstract = type(kinds) is ABCMeta and kinds.__module__ in ("collections.abc", "numbers")
    if not isinstance(kinds, type) or (kinds not in TENSORS and not known and not abstract and not (
            answers is ABCMeta.__instancecheck__ and kinds in cls.__mro__)):
        raise Break(f"isinstance of {getattr(kinds, '__name__', kinds)}, which answers itself")
    return issubclass(cls, kinds)


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
