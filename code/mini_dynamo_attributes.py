"""Attributes in the traced world: read with a guard, written into a log.

Looking a name up follows Python's own order (data descriptor, instance, class, __getattr__),
because whatever that order depends on must be guarded. Source: torch/_dynamo/variables/tensor.py,
user_defined.py (UserDefinedObjectVariable.var_getattr), nn_module.py.
"""
import functools
import inspect
import types

import torch

import mini_dynamo_guards as guards
from mini_dynamo_builtins import MISSING, native_attribute, runs_code, static
from mini_dynamo_run import Break
from mini_dynamo_values import (
    CONTAINERS,
    DELETED,
    Obj,
    Super,
    TensorMethod,
    Traced,
    is_constant,
)

FACTS = {"shape", "dtype", "device", "ndim", "requires_grad", "layout", "is_cuda", "is_sparse",
         "is_quantized", "is_meta", "itemsize", "nbytes", "is_cpu", "is_complex"}
DERIVED = {"T", "mT", "H", "mH", "real", "imag"}
NEVER = {"item", "tolist", "numpy", "backward", "register_hook", "requires_grad_", "data_ptr",
         "retain_grad", "share_memory_", "untyped_storage", "storage", "set_", "resize_",
         "cpu_", "register_post_accumulate_grad_hook", "apply_", "map_", "__dlpack__", "swap_",
         "detach_", "record_stream", "as_subclass", "new", "type_as_", "pin_memory", "is_shared",
         "is_set_to", "rename_", "map2_", "t_", "transpose_", "swapaxes_", "swapdims_", "squeeze_",
         "unsqueeze_", "as_strided_", "resize_as_", "module_load", "storage_offset"}
TABLES = ("_parameters", "_buffers", "_modules")
NAMES = {"__name__", "__qualname__", "__module__"}




class Attributes:

    def getattr(self, owner, name):
        if type(owner) is Traced:
            return self.tensor_attribute(owner, name)
        if type(owner) is Obj:
            return self.object_attribute(owner, name)
        if type(owner) is Super:
            return self.class_attribute(owner.this, name, after=owner.cls)
        if isinstance(owner, (type, types.ModuleType, types.FunctionType, functools.partial)):
            return self.static_attribute(owner, name)
        if is_constant(owner) or isinstance(owner, (*CONTAINERS, BaseException)) or (
                type(owner).__module__ in ("builtins", "itertools")):
            return native_attribute(owner, name)
        raise Break(f"attribute {name} of a {type(owner).__name__}")

    def static_attribute(self, owner, name):
        """Of a module, class or function from outside: the value is guarded like any other."""
        if isinstance(owner, types.ModuleType) and (id(vars(owner)), name) in self.global_writes:
            return self.global_writes[id(vars(owner)), name][1]
        runs_code(owner, name)
        try:
            value = getattr(owner, name)
        except AttributeError:
            if id(owner) not in self.sources:
                raise Break(f"no way to find {guards.title(owner)} again") from None
            self.guard(guards.lacks(self.sources[id(owner)], name))
            raise
        if name in NAMES or isinstance(value, types.WrapperDescriptorType):
            return value
        source = self.sources.get(id(owner))
        if source is None:
            if isinstance(owner, type) and owner.__module__ == "builtins":
                return value
            raise Break(f"no way to find {guards.title(owner)}.{name} again")
        return self.wrap(value, source.attr(name))

    # --- 1. Tensors -------------------------------------------------------------------------------

    def tensor_attribute(self, tensor, name):
        if name in FACTS:
            return getattr(tensor.fake, name)
        if name == "is_leaf":
            if tensor.source:
                self.guard(guards.equals(tensor.source.attr(name), tensor.fake.is_leaf))
            return tensor.fake.is_leaf
        if name in DERIVED:
            return self.record("call_function", getattr, (tensor, name), {})
        if name == "data":
            raise Break("attribute data of a tensor")
        if name == "grad" and tensor.source:
            return self.gradient(tensor)
        if name in NEVER or (name.startswith("_") and not name.startswith("__")):
            return self.refused(tensor, name)
        found = inspect.getattr_static(type(tensor.fake), name, MISSING)
        if found is MISSING:
            if tensor.source and name in vars(tensor.source.fetch(self.real_state)):
                raise Break(f"attribute {name} of a tensor")
            if tensor.source:
                self.guard(guards.lacks(tensor.source, name))
            raise AttributeError(f"'{tensor.__class__.__name__}' object has no attribute '{name}'")
        if not callable(found) or isinstance(found, type):
            raise Break(f"attribute {name} of a tensor")
        return TensorMethod(tensor, name)

    def gradient(self, tensor):
        return self.wrap(tensor.source.fetch(self.real_state).grad, tensor.source.attr("grad"))

    def refused(self, tensor, name):
        if callable(getattr(torch.Tensor, name, None)):
            return TensorMethod(tensor, name)         # it breaks when it is called, not here
        raise Break(f"attribute {name} of a tensor")

    # --- 2. Objects -------------------------------------------------------------------------------

    def object_attribute(self, obj, name):
        if name in obj.attrs:
            if obj.attrs[name] is DELETED:
                raise AttributeError(f"'{obj.cls.__name__}' object has no attribute '{name}'")
            return obj.attrs[name]
        if obj.cls.__getattribute__ is not object.__getattribute__:
            raise Break(f"__getattribute__ of {obj.cls.__name__}")
        if name == "__class__":
            self.sources.setdefault(id(obj.cls), self.class_source(obj))
            return obj.cls
        if name == "__dict__" or (name in TABLES and obj.attrs and isinstance(
                obj.real, torch.nn.Module)):
            raise Break(f"{name} of an object")
        found = static(obj.cls, name)
        if hasattr(type(found), "__set__") or isinstance(found, types.GetSetDescriptorType):
            return self.data_descriptor(obj, name, found)
        if obj.real is not None:
            value = self.instance_attribute(obj, name)
            if value is not MISSING:
                return value
            if obj.source:
                self.guard(guards.absent(obj.source, name))
            if found is MISSING:
                value = self.module_entry(obj, name)
                if value is not MISSING:
                    return value
        return self.class_attribute(obj, name)

    def data_descriptor(self, obj, name, found):
        if isinstance(found, property):
            getter = self.wrap(found.fget, self.class_source(obj).of(f"{{}}.{name}.fget"))
            return self.call(getter, [obj], {}, None)
        if isinstance(found, types.MemberDescriptorType) and obj.real is not None:   # __slots__
            return self.wrap(getattr(obj.real, name), obj.source.attr(name))
        raise Break(f"descriptor {name} of {obj.cls.__name__}")

    def instance_attribute(self, obj, name):
        own = getattr(obj.real, "__dict__", {})
        return self.wrap(own[name], obj.source.attr(name)) if name in own else MISSING

    def module_entry(self, obj, name):
        """A parameter, buffer or submodule: nn.Module.__getattr__ finds it, after the class."""
        if static(obj.cls, "__getattr__") is torch.nn.Module.__getattr__:
            own = vars(obj.real)
            for table in TABLES:
                if id(own.get(table)) in self.known:  # somebody has the table itself, and may
                    shadow = self.known[id(own[table])][1]             # have changed it
                    if name in shadow:
                        return shadow[name]
                elif name in own.get(table, ()):
                    self.guard(guards.lacks(obj.source.of("type({})"), name))
                    return self.wrap(own[table][name], obj.source.attr(table).item(name))
        return MISSING

    def class_attribute(self, obj, name, after=None):
        """A method or another value of the class, or of those behind `after` in its order."""
        cls = obj.cls if type(obj) is Obj else None
        if cls is None:
            raise Break("super() of a class")
        found = static(cls, name, after)
        if found is MISSING:
            return self.no_attribute(obj, name)
        source = self.class_source(obj)
        if after or isinstance(found, (staticmethod, classmethod)):
            first, at = cls.__mro__.index(after) + 1 if after else 0, place(cls, name, after)
            if at > first:
                self.guard(guards.nearest(source.attr("__mro__"), name, first, at))
            source = source.of(f"{{}}.__mro__[{at}].__dict__[{name!r}]")
        else:
            source = source.attr(name)
        if isinstance(found, types.FunctionType):
            return types.MethodType(self.wrap(found, source), obj)
        if isinstance(found, staticmethod):
            return self.wrap(found.__func__, source.attr("__func__"))
        if isinstance(found, classmethod):
            inner = self.wrap(found.__func__, source.attr("__func__"))
            self.sources.setdefault(id(cls), self.class_source(obj))
            return types.MethodType(inner, cls)
        if hasattr(type(found), "__get__") and not isinstance(found, type):
            if found is object.__init__:
                return lambda *args, **kwargs: None
            raise Break(f"{name} of {cls.__name__} is written in C")
        return self.wrap(found, source)

    def no_attribute(self, obj, name):
        fallback = static(obj.cls, "__getattr__")
        error = AttributeError(f"'{obj.cls.__name__}' object has no attribute '{name}'")
        if fallback is MISSING or fallback is torch.nn.Module.__getattr__:
            if obj.source:
                self.guard(guards.lacks(obj.source, name))
            raise error
        return self.call(self.class_attribute(obj, "__getattr__"), [name], {}, None)

    def class_source(self, obj):
        source = obj.source.of("type({})") if obj.source else self.sources.get(id(obj.cls))
        if source is None:
            raise Break(f"no way to find the class {obj.cls.__name__} again")
        return source

    # --- 3. Writing -------------------------------------------------------------------------------

    def setattr(self, owner, name, value, plain=False):
        if type(owner) is not Obj:
            raise Break(f"assignment to {name} of a {type(owner).__name__}")
        plain = plain or owner.cls.__setattr__ in (object.__setattr__, torch.nn.Module.__setattr__)
        found = static(owner.cls, name)
        if isinstance(found, property) and found.fset and plain:
            setter = self.wrap(found.fset, self.class_source(owner).of(f"{{}}.{name}.fset"))
            self.call(setter, [owner, value], {}, None)
            return
        slot = isinstance(found, types.MemberDescriptorType)
        if not plain or (not slot and (hasattr(type(found), "__set__")
                                       or not owner.cls.__dictoffset__)):
            raise Break(f"assignment to {name} of a {owner.cls.__name__}")
        if isinstance(owner.real, torch.nn.Module):
            self.check_module_write(owner.real, name, value)
        owner.attrs.pop(name, None)                   # the order of the log is that of the writes
        owner.attrs[name] = value

    def check_module_write(self, module, name, value):
        tables = vars(module)
        if isinstance(value, torch.nn.Module) or any(
                name in tables.get(t, ()) for t in ("_parameters", "_modules")) or isinstance(
                value, torch.nn.Parameter) or name in TABLES:
            raise Break(f"assignment to {name} of a module")

    def delattr(self, owner, name):
        if type(owner) is not Obj or owner.cls.__delattr__ is not object.__delattr__ or hasattr(
                type(static(owner.cls, name)), "__set__"):
            raise Break(f"del of the attribute {name} of a {type(owner).__name__}")
        self.object_attribute(owner, name)            # raises if there is none
        if name not in owner.attrs and name not in getattr(owner.real, "__dict__", ()):
            raise AttributeError(name)
        owner.attrs.pop(name, None)
        if owner.real is not None and name in vars(owner.real):
            owner.attrs[name] = DELETED


def place(cls, name, after):
    order = cls.__mro__
    start = order.index(after) + 1 if after else 0
    return next(k for k in range(start, len(order)) if name in vars(order[k]))
