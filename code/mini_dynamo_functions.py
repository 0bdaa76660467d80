"""Functions as bytecode sees them: arguments into a frame, MAKE_FUNCTION, unpacking.

Without torch, and below the interpreter. Where Python words an error, Python is asked to raise it.
Source: CPython's Python/ceval.c (initialize_locals), Python/bytecodes.c.
"""
import functools
import inspect
import types

from mini_dynamo_bytecode import Frame, decode


def frame_of(function, args, kwargs, defaults=None, kwdefaults=None):
    """A Frame for a call; raises what Python raises if the arguments do not fit."""
    code = function.__code__
    bound = bind(function, args, kwargs, function.__defaults__ if defaults is None else defaults,
                 function.__kwdefaults__ if kwdefaults is None else kwdefaults)
    bound.update(zip(code.co_freevars, function.__closure__ or (), strict=True))
    return Frame(decode(code), function.__globals__, bound, function=function)


def bind(function, args, kwargs, defaults, kwdefaults):
    """Arguments by parameter name; if they do not fit, Python itself writes the TypeError."""
    code = function.__code__
    if not all(isinstance(name, str) for name in kwargs):
        refuse(function, args, kwargs)
    names, kwonly = code.co_varnames, code.co_kwonlyargcount
    positional, rest = names[:code.co_argcount], dict(kwargs)
    bound = dict(zip(positional, args, strict=False))
    for name in positional[code.co_posonlyargcount:] + names[code.co_argcount:][:kwonly]:
        if name in rest and name in bound:
            refuse(function, args, kwargs)
        if name in rest:
            bound[name] = rest.pop(name)
    bound = {**dict(zip(reversed(positional), reversed(defaults or ()), strict=False)),
             **(kwdefaults or {}), **bound}
    end = code.co_argcount + kwonly
    if code.co_flags & inspect.CO_VARARGS:
        bound[names[end]] = tuple(args[code.co_argcount:])
        end += 1
    elif len(args) > code.co_argcount:
        refuse(function, args, kwargs)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        bound[names[end]] = rest
    elif rest:
        refuse(function, args, kwargs)
    if not bound.keys() >= {*names[:code.co_argcount + kwonly]}:
        refuse(function, args, kwargs)
    return bound


def refuse(function, args, kwargs):
    """Raise the TypeError of a call that does not fit: a twin without a body is really called."""
    code = function.__code__
    twin = types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__,
        function.__closure__)
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__ = function.__qualname__
    twin(*args, **kwargs)
    raise TypeError(f"{function.__qualname__}() got arguments that do not fit")


def made_function(f, code, parts):
    """The function of a MAKE_FUNCTION; from 3.13 on its closure follows in an instruction."""
    closure = parts.get("closure", tuple(types.CellType() for _ in code.co_freevars))
    made = types.FunctionType(code, f.globals, code.co_name, parts.get("defaults"), closure)
    made.__kwdefaults__ = parts.get("kwdefaults")
    made.__qualname__ = code.co_qualname
    return with_annotations(made, parts.get("annotations"))


def with_annotations(function, given):
    if isinstance(given, tuple):                      # names and values, one after the other
        given = dict(zip(given[::2], given[1::2], strict=True))
    if given is not None:
        function.__annotations__ = given
    return function


def set_function(function, name, value):
    """SET_FUNCTION_ATTRIBUTE; a closure can only be given when the function is made."""
    if name == "closure":
        new = types.FunctionType(function.__code__, function.__globals__, function.__name__,
                                 function.__defaults__, value)
        new.__kwdefaults__, new.__qualname__ = function.__kwdefaults__, function.__qualname__
        return with_annotations(new, dict(function.__annotations__) or None)
    if name == "annotations":
        return with_annotations(function, value)
    setattr(function, f"__{name}__", value)
    return function


def named_generator(generator, function):
    generator.__name__, generator.__qualname__ = function.__name__, function.__qualname__
    return generator


@functools.cache
def unpacker(before, after):
    """`a, b = v` or `a, *rest, b = v` as a function, so that errors are worded by Python."""
    names = [f"a{k}" for k in range(before)]
    if after is not None:
        names += ["*rest", *(f"b{k}" for k in range(after))]
    scope = {}
    exec(f"def unpack(v):\n    [{', '.join(names)}] = v\n    return [{', '.join(names)}]", scope)
    return scope["unpack"]


def function_name(function):
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", repr(function))
    return name if module in (None, "builtins") else f"{module}.{name}"
