"""The level above mini_module: a few layers and the containers, all of them plain Modules.

Names, arguments and initial values are those of torch.nn; `to` chooses device and dtype. What
Linear and BatchNorm1d compute is in mini_layers.py.
"""
import math
from collections import OrderedDict
from collections.abc import Mapping

import torch

from mini_layers import batch_norm, linear
from mini_module import Module, Parameter

# --- 1. Layers -----------------------------------------------------------------------------------

class Linear(Module):
    """(*, in_features) to (*, out_features): x @ weight.T + bias.

    weight (out_features, in_features) and bias (out_features,) are drawn from the uniform
    distribution within 1 / sqrt(in_features). Source: torch/nn/modules/linear.py:Linear.
    """

    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        # Assigned as an attribute, None would be in no table, and a later Parameter a new entry.
        self.register_parameter(
            "bias", Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None)

    def forward(self, x):
        return linear(x, self.weight, self.bias)


class ReLU(Module):
    """Any shape: negative elements become 0."""

    def forward(self, x):
        return x.relu()


class Dropout(Module):
    """Any shape: in training, elements become 0 with probability p, the others grow by 1/(1-p)."""

    def __init__(self, p=0.5):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p

    def forward(self, x):
        return torch.dropout(x, self.p, self.training)


class BatchNorm1d(Module):
    """(N, C) or (N, C, L), the same shape out: each channel with mean 0 and variance 1.

    In training the statistics are those of the batch, and the running ones follow them by
    `momentum`, a number; in evaluation the running ones are used. ValueError where a channel of a
    batch has one value.
    Source: torch/nn/modules/batchnorm.py:_BatchNorm.
    """

    _version = 2    # since this version, num_batches_tracked is saved

    def __init__(self, num_features, eps=1e-5, momentum=0.1):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.weight = Parameter(torch.ones(num_features))
        self.bias = Parameter(torch.zeros(num_features))
        self.register_buffer("running_mean", torch.zeros(num_features))
        self.register_buffer("running_var", torch.ones(num_features))
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        if x.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {x.dim()}D input)")
        if self.training:
            self.num_batches_tracked += 1
        return batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias,
                          self.training, self.momentum, self.eps)

    def _load_own(self, state, prefix, metadata, report):
        if (metadata.get("version") or 1) < 2:
            count = self.num_batches_tracked           # on meta it could not count, once assigned
            state.setdefault(f"{prefix}num_batches_tracked",
                             torch.tensor(0) if count.is_meta else count)
        super()._load_own(state, prefix, metadata, report)


# --- 2. Containers -------------------------------------------------------------------------------

class Numbered(Module):
    """Children under the names "0", "1", …, so that their order is that of a list."""

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def _name(self, index):
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

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
        left = list(self._modules.values())
        self._modules = {str(i): module for i, module in enumerate(left)}


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


class ModuleList(Numbered):
    """A list whose modules are registered. It has no forward: what to call is up to its owner."""

    def __init__(self, modules=()):
        super().__init__()
        self.extend(modules)

    @classmethod
    def _of(cls, items):
        return cls(module for _, module in items)

    def __iadd__(self, modules):
        return self.extend(modules)

    def insert(self, index, module):
        """As list.insert; in torch a negative index fails and one behind the end leaves a gap."""
        left = list(self)
        left.insert(index, module)
        self._modules = {str(i): child for i, child in enumerate(left)}


class ModuleDict(Module):
    """A dictionary whose modules are registered; made of a mapping or of pairs."""

    def __init__(self, modules=()):
        super().__init__()
        self.update(modules)

    def update(self, modules):
        for name, module in modules.items() if isinstance(modules, Mapping | Module) else modules:
            self[name] = module

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
