"""One interpreter for two worlds: the step, the loop, and the real world.

Below the lesson, without torch. `step` looks a rule up in the table and runs it in a world. The
Real world does what Python does; the traced one is mini_dynamo_trace.Tracer.
Source: torch/_dynamo/symbolic_convert.py (InstructionTranslatorBase.step), CPython's ceval.c.
"""
import builtins
import operator
import sys

from mini_dynamo_bytecode import NULL, Frame
from mini_dynamo_functions import function_name, made_function, set_function, unpacker
from mini_dynamo_opcodes import RULES
from mini_dynamo_rules_control import Returned, Yielded


class Break(BaseException):
    """Tracing cannot go past this instruction. Not an Exception: no `except` of the traced program
    may catch it. `resumable`: whether a new graph may start right after the instruction;
    `hopeless`: the whole frame is to run as plain Python."""

    def __init__(self, reason, resumable=True, hopeless=False):
        super().__init__(reason)
        self.reason, self.resumable, self.hopeless = reason, resumable, hopeless


def step(f, w):
    """Run one instruction; an error goes to its handler in this frame, if there is one."""
    position = f.at
    f.at += 1
    inst = f.program.instructions[position]
    try:
        RULES[inst.opname](f, inst, w)
    except (Returned, Yielded, Break, *w.foreign):
        raise
    except BaseException as error:
        if error.__context__ is None and f.handling not in (None, error):
            error.__context__ = f.handling
        if not f.goto_handler(position, error):
            raise


def run(f, w):
    """Run a frame to its end; the value it returns."""
    try:
        while True:
            step(f, w)
    except Returned as end:
        return end.value


def run_generator(f, w):
    """A frame that yields, as a generator: between two values it rests."""
    while True:
        try:
            step(f, w)
        except Returned as end:
            return end.value
        except Yielded as rest:
            position = f.at - 1
            try:
                f.push((yield rest.value))
            except BaseException as error:            # throw() and close() arrive here
                if not f.goto_handler(position, error):
                    raise


class World:
    """What both worlds do alike: frames, formats, functions."""

    foreign = ()                     # errors that are no business of the program's

    def new_cell(self, cell):
        return cell

    def unbound(self, f, name):
        if name in f.code.co_freevars:
            return NameError(f"cannot access free variable '{name}' where it is not associated "
                             "with a value in enclosing scope", name=name)
        return UnboundLocalError(f"cannot access local variable '{name}' where it is not "
                                 "associated with a value")

    def make_function(self, f, code, parts):
        return made_function(f, code, parts)

    def set_function(self, function, name, value):
        return set_function(function, name, value)

    def convert(self, value, how):
        return self.call((None, str, repr, ascii)[how], [value], {}, None) if how else value

    def merge(self, f, into, new):
        """DICT_MERGE: keyword arguments from `**new`."""
        function = next(v for v in reversed(f.stack[:-2]) if v is not NULL)
        if not hasattr(new, "keys"):
            raise TypeError(f"{function_name(function)}() argument after ** must be a mapping, "
                            f"not {type(new).__name__}")
        for key in (new := dict(new)):
            if key in into:
                raise TypeError(f"{function_name(function)}() got multiple values for keyword "
                                f"argument '{key}'")
        into.update(new)

    def exception(self, error, cause=NULL):
        """What `raise error from cause` raises."""
        if isinstance(error, type) and issubclass(error, BaseException):
            error = self.call(error, [], {}, None)
        if not isinstance(error, BaseException):
            return TypeError("exceptions must derive from BaseException")
        if cause is not NULL:
            if isinstance(cause, type):
                cause = self.call(cause, [], {}, None)
            error.__cause__ = cause
        return error


class Real(World):
    """Python itself. `call_function(function, args, kwargs)` decides about calls, so that a callee
    can be compiled as a frame of its own."""

    def __init__(self, call_function):
        self.call_function = call_function

    def load_local(self, f, name):
        if name not in f.locals:
            raise self.unbound(f, name)
        return f.locals[name]

    def load_cell(self, f, name):
        try:
            return f.locals[name].cell_contents
        except (ValueError, KeyError):
            raise self.unbound(f, name) from None

    def store_cell(self, f, name, value):
        f.locals[name].cell_contents = value

    def load_global(self, f, name):
        if name in f.globals:
            return f.globals[name]
        scope = f.globals.get("__builtins__", builtins)
        scope = scope if isinstance(scope, dict) else vars(scope)
        if name in scope:
            return scope[name]
        raise NameError(f"name '{name}' is not defined", name=name)

    def store_global(self, f, name, value):
        f.globals[name] = value

    def delete_cell(self, f, name):
        self.load_cell(f, name)                       # raises if there is nothing
        del f.locals[name].cell_contents

    def delete_global(self, f, name):
        if name not in f.globals:
            raise NameError(f"name '{name}' is not defined", name=name)
        del f.globals[name]

    def import_name(self, f, name, names, level):
        return __import__(name, f.globals, None, names, level)

    def put(self, container, method, value):
        getattr(container, method)(value)

    def unpack(self, value, before, after=None):
        return unpacker(before, after)(value)

    def format(self, value, spec):
        return format(value, spec)

    def binary(self, function, a, b):
        return function(a, b)

    def unary(self, function, a):
        return function(a)

    def truth(self, value):
        return bool(value)

    def same(self, a, b):
        return a is b

    def contains(self, container, value):
        return value in container

    def setitem(self, container, key, value):
        operator.setitem(container, key, value)

    def delitem(self, container, key):
        operator.delitem(container, key)

    getattr, setattr, delattr = (staticmethod(f) for f in (getattr, setattr, delattr))
    iter, next, iterate = staticmethod(iter), staticmethod(next), staticmethod(iter)

    def super(self, cls, this):
        return super(cls, this)

    def call(self, function, args, kwargs, f):
        if function is super and not args:
            return super(*super_arguments(self, f))
        held = f and f.handling
        if held is None:
            return self.call_function(function, args, kwargs)
        seen = held.__context__, held.__traceback__
        try:
            raise held                                # so that the callee finds it, as in Python
        except BaseException:
            held.__context__, held.__traceback__ = seen
            return self.call_function(function, args, kwargs)

    def active(self, f):
        """What a bare `raise` means in a function that an `except` block called."""
        return sys.exc_info()[1] or RuntimeError("No active exception to reraise")

    def matches(self, error, kinds):
        for kind in kinds if isinstance(kinds, tuple) else (kinds,):
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                raise TypeError("catching classes that do not inherit from BaseException is not "
                                "allowed")
        return isinstance(error, kinds)

    def leaver(self, f, manager):
        return special(manager, "__exit__")

    def enterer(self, f, manager):
        return special(manager, "__enter__")

    def enter(self, f, manager):
        return self.call(self.enterer(f, manager), [], {}, f)


def special(manager, name):
    kind = type(manager)
    if not hasattr(kind, "__enter__") or not hasattr(kind, "__exit__"):
        missed = " (missed __exit__ method)" if hasattr(kind, "__enter__") else ""
        raise TypeError(f"'{kind.__name__}' object does not support the context manager "
                        f"protocol{missed}")
    return getattr(manager, name)


def super_arguments(w, f: Frame):
    """What `super()` without arguments means: the class whose body this is, and the first one."""
    if not f.code.co_argcount:
        raise RuntimeError("super(): no arguments")
    if "__class__" not in f.code.co_freevars:
        raise RuntimeError("super(): __class__ cell not found")
    first = f.code.co_varnames[0]
    this = w.load_cell(f, first) if first in f.code.co_cellvars else w.load_local(f, first)
    return w.load_cell(f, "__class__"), this
