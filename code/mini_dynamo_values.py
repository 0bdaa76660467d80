"""What stands for a value while a function is traced.

Numbers, strings, lists, dicts, functions stay what they are in Python; a list made of traced
tensors is a list. Only three things need a stand-in: a tensor (Traced: a node of the graph, and a
fake tensor that knows shape and dtype but holds no numbers), an object from outside (Obj: its
attributes are read with a guard and written into a log), an argument that nobody has read (Lazy).
torch wraps every value instead, one class a type: torch/_dynamo/variables/.
"""
import enum
import operator
import types

import torch

from mini_dynamo_run import Break

CONSTANTS = (int, float, bool, str, bytes, complex, type(None), type(...), type(NotImplemented),
             range, torch.dtype, torch.device, torch.layout, torch.memory_format, torch.Size,
             torch.finfo, torch.iinfo)
CONTAINERS = (list, dict, set, tuple, frozenset)
TENSORS = (torch.Tensor, torch.nn.Parameter)


def is_constant(value):
    """Whether a guard can compare it and a graph can hold it."""
    if isinstance(value, enum.Enum) or type(value) in CONSTANTS:
        return True
    if type(value) in (tuple, frozenset):
        return all(map(is_constant, value))
    return type(value) is slice and all(map(is_constant, (value.start, value.stop, value.step)))


def has_identity(value):
    """Whether equal ones are one object: then a guard on the value is one on the identity."""
    return isinstance(value, (bool, enum.Enum, torch.dtype, torch.layout, torch.memory_format)) or (
        value in (None, ..., NotImplemented) or (type(value) is int and -5 <= value <= 256))


class Lazy:
    """A local that was not read so far: no guard is needed for it yet."""

    def __init__(self, value, source):
        self.value, self.source = value, source


class Traced:
    """A tensor in the making: `node` in the graph, `fake` for its properties."""

    def __init__(self, world, node, fake, source=None):
        self.world, self.node, self.fake, self.source = world, node, fake, source

    @property
    def __class__(self):                              # isinstance(x, torch.Tensor) is asked often
        return torch.nn.Parameter if isinstance(self.fake, torch.nn.Parameter) else torch.Tensor

    def __len__(self):
        return len(self.fake)

    def __iter__(self):
        if not self.fake.dim():
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.world.record("call_method", "unbind", (self, 0), {}))

    def __hash__(self):
        return id(self)


def _operator(name):
    function = getattr(operator, name)

    def method(self, *others):
        return self.world.record("call_function", function, (self, *others), {})

    def reflected(self, other):
        return self.world.record("call_function", function, (other, self), {})
    return method, reflected


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lshift",
              "rshift", "and_", "or_", "xor"):
    _bare = _name.rstrip("_")
    _method, _reflected = _operator(_name)
    setattr(Traced, f"__{_bare}__", _method)
    setattr(Traced, f"__r{_bare}__", _reflected)
    setattr(Traced, f"__i{_bare}__", _operator("i" + _bare)[0])
for _name in ("lt", "le", "eq", "ne", "gt", "ge", "neg", "pos", "invert", "abs", "getitem",
              "setitem"):
    setattr(Traced, f"__{_name}__", _operator(_name)[0])


def _needs_numbers(name, what):
    def method(self, *args):
        raise Break(f"data-dependent: {what} needs the numbers in a tensor")
    setattr(Traced, name, method)


for _name, _what in (("__bool__", "a truth test"), ("__int__", "int()"), ("__float__", "float()"),
                     ("__index__", "an index"), ("__complex__", "complex()"),
                     ("__contains__", "`in`"), ("__repr__", "repr()"), ("__str__", "str()"),
                     ("__format__", "formatting"), ("__round__", "round()"),
                     ("__divmod__", "divmod()"), ("__reversed__", "reversed()")):
    _needs_numbers(_name, _what)


class TensorMethod:
    """x.sin, before it is called."""

    def __init__(self, tensor, name):
        self.tensor, self.name = tensor, name

    def __call__(self, *args, **kwargs):
        return self.tensor.world.call(self, args, kwargs, None)


class GradSwitch:
    """torch.no_grad() and its kin: the mode to set, and the one to return to."""

    KINDS = (torch.no_grad, torch.enable_grad, torch.set_grad_enabled)

    def __init__(self, cls, mode, before=None):
        self.cls, self.mode, self.before = cls, mode, before


class GradMethod:
    """__enter__ or __exit__ of a GradSwitch."""

    def __init__(self, switch, name):
        self.switch, self.name = switch, name


class Super:
    """super(cls, this)."""

    def __init__(self, cls, this):
        self.cls, self.this = cls, this


DELETED = type("Deleted", (), {"__repr__": lambda self: "DELETED"})()


class Obj:
    """An object with attributes, from outside (`real`) or made while tracing (`real` is None).

    Nothing is written to the real one: `attrs` holds what was assigned, until the graph has run.
    """

    def __init__(self, world, cls, real=None, source=None):
        self.world, self.cls, self.real, self.source = world, cls, real, source
        self.attrs = {}

    @property
    def __class__(self):
        return self.cls

    def __hash__(self):
        if self.cls.__hash__ is not object.__hash__:
            raise Break(f"hash of a {self.cls.__name__}")
        return id(self)

    def __bool__(self):
        if hasattr(self.cls, "__bool__"):
            answer = self.world.special(self, "__bool__")
            if type(answer) is not bool:              # as CPython checks it
                raise TypeError("__bool__ should return bool, returned "
                                f"{answer.__class__.__name__}")
            return answer
        self.world.guard_class(self, "__bool__")
        if hasattr(self.cls, "__len__"):
            return len(self) != 0                     # len() checks what __len__ returns
        self.world.guard_class(self, "__len__")
        return True

    def __float__(self):
        answer = self.world.special(self, "__float__")
        if not isinstance(answer, float):
            raise TypeError(f"{self.cls.__name__}.__float__ returned non-float "
                            f"(type {answer.__class__.__name__})")
        return answer

    def __eq__(self, other):
        return self.world.compare_objects(self, other)

    def __ne__(self, other):
        if self.cls.__ne__ is object.__ne__:
            return object.__ne__(self, other)         # asks __eq__
        return self.world.special(self, "__ne__", other)

    def __call__(self, *args, **kwargs):
        return self.world.call(self, args, kwargs, None)


def _forward(name):
    def method(self, *args):
        return self.world.special(self, name, *args)
    setattr(Obj, name, method)


for _name in ("__len__", "__iter__", "__next__", "__getitem__", "__setitem__", "__delitem__",
              "__contains__", "__repr__", "__str__", "__format__", "__int__",
              "__index__", "__round__", "__reversed__", "__invert__", "__pos__",
              "__lt__", "__le__", "__gt__", "__ge__", "__neg__", "__abs__",
              *(f"__{way}{_op}__" for way in ("", "r", "i") for _op in (
                  "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or",
                  "xor", "lshift", "rshift", "divmod"))):
    _forward(_name)


class Caller:
    """A function given to map, sorted and their kin, so that calling it is traced too."""

    def __init__(self, world, function):
        self.world, self.function = world, function

    def __call__(self, *args, **kwargs):
        return self.world.call(self.function, list(args), kwargs, None)


FUNCTIONS = (types.FunctionType, types.MethodType, TensorMethod)
