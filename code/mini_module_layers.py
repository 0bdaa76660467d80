"""The level above mini_module: a few layers, all of them plain Modules, beside the containers.

Names, arguments and initial values are those of torch.nn, but for `device` and `dtype`, which `to`
chooses. What Linear and BatchNorm1d compute is in mini_layers.py.
"""
import math
import warnings

import torch

from mini_layers import batch_norm, linear
from mini_module import Module, Parameter
from mini_module_containers import ModuleDict, ModuleList, Sequential

__all__ = ["BatchNorm1d", "Dropout", "Linear", "ModuleDict", "ModuleList", "ReLU", "Sequential"]


class Linear(Module):
    """(*, in_features) to (*, out_features): x @ weight.T + bias.

    weight (out_features, in_features) and bias (out_features,) are drawn from the uniform
    distribution within 1 / sqrt(in_features). Source: torch/nn/modules/linear.py:Linear.
    """

    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(torch.empty(out_features, in_features))
        # Assigned as an attribute, None would be in no table, and a later Parameter a new entry.
        self.register_parameter("bias", Parameter(torch.empty(out_features)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw weight and bias again."""
        if not self.weight.numel():
            warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        bound = 1 / math.sqrt(self.in_features) if self.in_features else 0
        with torch.no_grad():
            for param in self.parameters():
                param.uniform_(-bound, bound)

    def forward(self, x):
        return linear(x, self.weight, self.bias)


class ReLU(Module):
    """Any shape: negative elements become 0, with `inplace` in x itself."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, x):
        return x.relu_() if self.inplace else x.relu()


class Dropout(Module):
    """Any shape: in training, elements become 0 with probability p, the others grow by 1/(1-p)."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, x):
        drop = torch.dropout_ if self.inplace else torch.dropout
        return drop(x, self.p, self.training)


class BatchNorm1d(Module):
    """(N, C) or (N, C, L), the same shape out: each channel with mean 0 and variance 1.

    In training the statistics are those of the batch, and the running ones follow them by
    `momentum`; None weighs all batches alike. In evaluation the running ones are used, if there
    are any. Where `track_running_stats` is switched off later, they stay as they are. ValueError
    where a channel of a batch has one value.
    Source: torch/nn/modules/batchnorm.py:_BatchNorm.
    """

    _version = 2    # since this version, num_batches_tracked is saved

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True,
                 track_running_stats=True, *, bias=True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        channels = torch.empty(num_features)
        for name, wanted in ("weight", affine), ("bias", affine and bias):
            self.register_parameter(name, Parameter(channels.clone()) if wanted else None)
        for name in "running_mean", "running_var":
            self.register_buffer(name, channels.clone() if track_running_stats else None)
        self.register_buffer("num_batches_tracked",
                             torch.tensor(0) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Weight 1, bias 0, and the statistics as before the first batch."""
        self.reset_running_stats()
        with torch.no_grad():
            for param, value in (self.weight, 1), (self.bias, 0):
                if param is not None:
                    param.fill_(value)

    def forward(self, x):
        if x.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {x.dim()}D input)")
        mean, var, momentum = self.running_mean, self.running_var, self.momentum
        of_batch = self.training or mean is None
        if self.training and not self.track_running_stats:      # perhaps only since it was made
            mean = var = None
        elif self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked += 1
            momentum = 1 / self.num_batches_tracked.item() if momentum is None else momentum
        return batch_norm(x, mean, var, self.weight, self.bias, of_batch, momentum, self.eps)

    def _load_own(self, state, prefix, metadata, report):
        count = self.num_batches_tracked
        if (metadata.get("version") or 1) < 2 and count is not None:
            # on meta it could not count, once assigned
            state.setdefault(f"{prefix}num_batches_tracked",
                             torch.tensor(0) if count.is_meta else count)
        super()._load_own(state, prefix, metadata, report)
