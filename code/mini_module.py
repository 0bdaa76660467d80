"""Module: torch.nn.Module again, small enough to read, over torch's own tensors.

Read it from top to bottom: the three tables, what an assignment does, the walk over the tree,
changing everything below, the call. Below it stand mini_module_tensors.py (Parameter and Buffer),
mini_module_state.py (state_dict and back), mini_module_hooks.py and mini_module_handy.py
(shorthands); above it stand mini_module_containers.py and mini_module_layers.py. It needs Python
and torch, and nothing from torch.nn. In a clone of the book, `python code/mini_module.py` also
gives a short tour (--lang zh or --lang en).
"""
import sys
from collections import OrderedDict

import torch

from mini_module_handy import Handy
from mini_module_hooks import BackwardHook, Hookable
from mini_module_state import Stateful
from mini_module_tensors import Buffer, Parameter, conversion, converted

__all__ = ["Buffer", "Module", "Parameter"]

# --- 1. The three tables -------------------------------------------------------------------------

class Module(Stateful, Hookable, Handy):
    """A node of a tree: parameters, buffers and child modules, each in a table by name.

    Subclasses call `super().__init__()`, assign what they own, and define `forward`.
    Source: torch/nn/modules/module.py:Module.
    """

    def __init__(self):
        # Not by assignment: __setattr__ below needs the tables that are made here.
        self.__dict__.update(
            training=True, _parameters={}, _buffers={}, _modules={},
            _non_persistent_buffers_set=set(), _forward_pre_hooks=OrderedDict(),
            _forward_hooks=OrderedDict(), _backward_hooks=OrderedDict())

    def register_parameter(self, name, param):
        """Add a parameter, or None for one that this module does without.

        Raises AttributeError before __init__, KeyError for a bad or taken name, TypeError for any
        other object, ValueError for the result of an operation.
        """
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"cannot assign '{torch.typename(param)}' object to parameter "
                            f"'{name}' (Parameter or None required)")
        if param is not None and param.grad_fn:
            raise ValueError(f"Cannot assign non-leaf Tensor to parameter '{name}'")
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add a tensor that moves with the module and, if persistent, is saved. Raises as above."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, torch.Tensor):
            raise TypeError(f"cannot assign '{torch.typename(tensor)}' object to buffer '{name}' "
                            "(torch Tensor or None required)")
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        """Add a child, or None. Raises as above."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{torch.typename(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, kind, name, table):
        """Refuse a name that no attribute could have, or that something else has already."""
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {torch.typename(name)}")
        if "." in name:                            # a dot separates the names of a path
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")

    # --- 2. What an assignment does --------------------------------------------------------------

    def __setattr__(self, name, value):
        """Put the value into the table of its type, or else make it an attribute: a Parameter under
        any name, a Module under any but a parameter's. For other values a name stays in its table
        and takes None, of a buffer also a tensor; TypeError otherwise."""
        tables = self.__dict__
        if isinstance(value, Parameter):
            self._remove(name, "_buffers", "_modules", before="parameters")
            self.register_parameter(name, value)
        elif name in tables.get("_parameters", ()):
            self._only_none("parameter", name, value, "Parameter")
            self.register_parameter(name, None)
        elif isinstance(value, Module):
            self._remove(name, "_parameters", "_buffers", before="module")
            self._modules[name] = value            # not through add_module: torch neither
        elif name in tables.get("_modules", ()):
            self._only_none("child module", name, value, "Module")
            self._modules[name] = None
        elif isinstance(value, torch.Tensor) and hasattr(value, "_is_buffer"):
            self.register_buffer(name, value, value.persistent)
        elif name in tables.get("_buffers", ()):
            if not isinstance(value, torch.Tensor):
                self._only_none("buffer", name, value, "Buffer, torch.Tensor")
            self.register_buffer(name, value, name not in self._non_persistent_buffers_set)
        else:
            super().__setattr__(name, value)

    def _remove(self, name, *others, before):
        """Forget what would hide the table: an attribute of this name (not the class's), another
        table."""
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {before} before Module.__init__() call")
        for table in (self.__dict__, *map(self.__dict__.get, others)):
            table.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _only_none(self, kind, name, value, wanted):
        if value is not None:
            raise TypeError(f"cannot assign '{torch.typename(value)}' as {kind} '{name}' "
                            f"({wanted} or None expected)")

    def __getattr__(self, name):
        """Python asks here only after it has found no attribute in the instance or its class."""
        for table in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__.get(table, ()):
                return self.__dict__[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    # --- 3. The walk over the tree ---------------------------------------------------------------

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """(path, module) for this module and all below it, each module once, parents first."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from child.named_modules(memo, path, remove_duplicate)

    def _named_members(self, table, prefix, recurse, remove_duplicate):
        """(path, tensor) from one table of all modules; a tied tensor under its first path."""
        memo = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules if recurse else [(prefix, self)]:
            for name, tensor in module.__dict__[table].items():
                if tensor is None or tensor in memo:
                    continue
                if remove_duplicate:
                    memo.add(tensor)
                yield (f"{path}.{name}" if path else name), tensor

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def parameters(self, recurse=True):
        return (param for _, param in self.named_parameters(recurse=recurse))

    def buffers(self, recurse=True):
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def modules(self):
        return (module for _, module in self.named_modules())

    def named_children(self):
        """(name, child), each child once, and no None."""
        memo = {None}
        for name, child in self._modules.items():
            if child not in memo:
                memo.add(child)
                yield name, child

    def children(self):
        return (child for _, child in self.named_children())

    # --- 4. Changing everything below ------------------------------------------------------------

    def train(self, mode=True):
        """Set the flag `training` here and below; what it changes is up to each layer."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for child in self.children():
            child.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def _apply(self, fn, recurse=True):
        """Replace the data of parameters and gradients by fn of it, and buffers by fn of them."""
        for child in self.children() if recurse else ():
            child._apply(fn)
        for name, param in self._parameters.items():
            if param is not None:
                self._parameters[name] = converted(param, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Move or cast in place, by the arguments of Tensor.to; only float and complex are cast."""
        return self._apply(conversion(*args, **kwargs))

    # --- 5. The call -----------------------------------------------------------------------------

    def __call__(self, *args, **kwargs):
        """forward, between the hooks; what a hook returns replaces what it was given."""
        backward = BackwardHook(self) if self._backward_hooks else None
        for hook in tuple(self._forward_pre_hooks.values()):
            if (new := hook(self, args)) is not None:
                args = new if isinstance(new, tuple) else (new,)
        if backward:
            args = backward.on_inputs(args)
        result = self.forward(*args, **kwargs)
        for hook in tuple(self._forward_hooks.values()):
            if (new := hook(self, args, result)) is not None:
                result = new
        return backward.on_outputs(result) if backward else result

    def forward(self, *args):
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function')


if __name__ == "__main__":
    try:
        from mini_module_tour import main
    except ModuleNotFoundError:                          # a download: the tour is not here
        sys.stderr.write("mini_module；下一步 · next: python3 check_modules.py\n")
        sys.exit(2)
    sys.exit(main())
