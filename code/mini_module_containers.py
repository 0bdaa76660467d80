"""The level above mini_module: modules that hold modules, in a list or a dictionary.

Names and arguments are those of torch.nn. They add no table: what they hold lies in `_modules`.
"""
import operator
from collections import OrderedDict
from collections.abc import Mapping

from mini_module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class Numbered(Module):
    """Children under the names "0", "1", …, so that their order is that of a list."""

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        """As list.insert; in torch's ModuleList a negative index fails and one behind the end
        leaves a gap."""
        left = list(self)
        left.insert(index, module)
        self._number(left)

    def pop(self, index):
        """Take out a child or a slice of them, and return it."""
        popped = self[index]
        del self[index]
        return popped

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def _name(self, index):
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def _number(self, modules):
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __getitem__(self, index):
        """A child, or for a slice a container of the same type that shares the children."""
        if isinstance(index, slice):
            return type(self)._of(list(self._modules.items())[index])
        return self._modules[self._name(index)]

    def __setitem__(self, index, module):
        setattr(self, self._name(index), module)

    def __delitem__(self, index):
        """Take out a child or a slice of them; those behind it move up, and so do their names."""
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name(index)]
        for name in names:
            delattr(self, name)
        self._number(list(self))


class Sequential(Numbered):
    """Modules called one after the other; given an OrderedDict, under its names."""

    def __init__(self, *modules):
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], OrderedDict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self.extend(modules)

    @classmethod
    def _of(cls, items):
        return cls(OrderedDict(items))

    def forward(self, x):
        for module in self:
            x = module(x)
        return x

    def insert(self, index, module):
        """As list.insert, within the bounds. IndexError; AssertionError for what is no Module."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        super().insert(index, module)
        return self

    # + takes a Sequential, * a number of repetitions; the children are shared.
    def __add__(self, other):
        return Sequential(*self).__iadd__(other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError("add operator supports only objects of Sequential class, but "
                             f"{type(other)} is given.")
        return self.extend(other)

    def __mul__(self, times):
        return Sequential(*self).__imul__(times)

    __rmul__ = __mul__

    def __imul__(self, times):
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return self.extend(list(self) * (times - 1))


class ModuleList(Numbered):
    """A list whose modules are registered. It has no forward: what to call is up to its owner."""

    def __init__(self, modules=None):
        super().__init__()
        self.extend(() if modules is None else modules)

    @classmethod
    def _of(cls, items):
        return cls(module for _, module in items)

    def __add__(self, modules):
        return ModuleList([*self, *modules])

    def __iadd__(self, modules):
        return self.extend(modules)


class ModuleDict(Module):
    """A dictionary whose modules are registered; made of a mapping or of pairs."""

    def __init__(self, modules=None):
        super().__init__()
        self.update(() if modules is None else modules)

    def update(self, modules):
        """From a mapping, a ModuleDict or pairs. TypeError, ValueError for anything else."""
        for name, module in modules.items() if isinstance(
                modules, Mapping | ModuleDict) else modules:
            self[name] = module

    def pop(self, name):
        return self._modules.pop(name)

    def clear(self):
        self._modules.clear()

    def __getitem__(self, name):
        return self._modules[name]

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __delitem__(self, name):
        del self._modules[name]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, name):
        return name in self._modules

    def keys(self):
        return self._modules.keys()

    def values(self):
        return self._modules.values()

    def items(self):
        return self._modules.items()
